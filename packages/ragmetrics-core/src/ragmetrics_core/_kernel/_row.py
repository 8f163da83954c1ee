"""One row of a run: a sample, where it stands in the input, and why it could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from ._errors import InvalidInput, MissingInput
from ._sample import Sample


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input.

    Attributes:
        index: its position, from 0.
        place: where it stands, for messages: ``questions.jsonl, line 7`` or ``row 3``.
        sample: what it holds; an empty sample (with the id, if there is one) where it cannot be read.
        problem: why it cannot be read; the message starts with the place.
        asked: names of the metrics that are asked about it; None: all.
    """

    index: int
    place: str
    sample: Sample
    problem: InvalidInput | None = None
    asked: frozenset[str] | None = None

    def is_asked(self, metric: str) -> bool:
        """Whether the metric of this name is asked about the row."""
        return self.asked is None or metric in self.asked

    def locate(self, error: InvalidInput | MissingInput) -> InvalidInput | MissingInput:
        """The same error, naming the row as well."""
        if isinstance(error, MissingInput):
            return MissingInput(error.metric, error.field, f"{error.problem} in {self.place}", error.cure)
        return InvalidInput(f"{self.place}: {error}")
