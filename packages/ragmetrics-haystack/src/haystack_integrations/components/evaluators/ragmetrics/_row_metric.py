"""What one row of an evaluator asks, and in which form the user's values and examples go into the question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core import Example, Metric, Prompt, Score, Steps

from ._replies import for_row

__all__ = ["NamedOutputs", "RowMetric", "as_examples", "readable", "texts"]


@dataclass(frozen=True)
class RowMetric(Metric):
    """A metric of one row of an evaluator.

    Attributes:
        prompt: the question that each row is asked.
    """

    calls: ClassVar[str] = "1"

    prompt: Prompt[Any]


@dataclass(frozen=True)
class NamedOutputs(RowMetric):
    """The outputs that a model gives by name, whatever they are; there is no value."""

    def measure(self, row: Any) -> Steps[Score]:
        """Ask once."""
        outputs = yield from for_row(self.prompt, row.number).ask(**row.values)
        return Score.unscored("the outputs are in the details", details={"outputs": readable(outputs)})


def as_examples(examples: Sequence[Mapping[str, Any]], names: Mapping[str, str] | None = None) -> tuple[Example, ...]:
    """Examples of Haystack as examples of a prompt, with the inputs renamed."""
    names = names or {}
    return tuple(
        Example(
            {str(names.get(name, name)): readable(value) for name, value in item["inputs"].items()},
            {name: readable(value) for name, value in item["outputs"].items()},
        )
        for item in examples
    )


def readable(value: Any) -> Any:
    """The value as JSON has it; what JSON has not is shown as text, as Haystack shows it."""
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if not isinstance(value, float) and hasattr(value, "tolist"):
        return readable(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): readable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return str(value)


def texts(contexts: Any) -> list[Any]:
    """The contexts of a row as a list, whatever the user gave."""
    if contexts is None:
        return []
    return contexts if isinstance(contexts, list) else [contexts]
