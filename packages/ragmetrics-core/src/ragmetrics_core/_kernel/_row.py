"""One row of a run: a sample, where it stands in the input, and why it could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ._errors import InvalidInput, MissingInput
from ._sample import ALIASES, Sample

__all__ = ["Row", "similar_column"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input.

    Attributes:
        index: its position, from 0.
        place: where it stands, for messages: ``questions.jsonl, line 7`` or ``row 3``.
        sample: what it holds; an empty sample (with the id, if there is one) where it cannot be read.
        problem: why it cannot be read; the message starts with the place.
    """

    index: int
    place: str
    sample: Sample
    problem: InvalidInput | None = None

    def locate(self, error: InvalidInput | MissingInput) -> InvalidInput | MissingInput:
        """The same error, naming the row as well."""
        if isinstance(error, MissingInput):
            column = similar_column(error.field, self.sample.metadata)
            cure = (
                error.cure if column is None else f"did you mean the column {column!r} for {error.field!r}? rename it"
            )
            return MissingInput(error.metric, error.field, f"{error.problem} in {self.place}", cure)
        return InvalidInput(f"{self.place}: {error}")


def similar_column(field: str, columns: Iterable[object]) -> str | None:
    """The column whose name would mean the field, were it not for case, spaces or dashes."""
    for column in columns:
        name = "_".join(str(column).lower().replace("-", " ").replace("_", " ").split())
        if column != field and ALIASES.get(name, name) == field:
            return str(column)
    return None
