"""A judge that the user defines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ragmetrics_core import BadReply, Example, Input, InvalidInput, Metric, Prompt, Score, Steps
from ragmetrics_core.replies import ObjectReply


@dataclass(frozen=True)
class CustomJudge(Metric):
    """The user's own question about declared inputs, with named outputs.

    The value is the output called ``score``. On a range from 0 to 1, yes and true count as 1, no and false as 0. Without such an
    output the sample is unscored, and the outputs are in the details. Instructions and examples are literal text: no template
    language runs over them.

    Attributes:
        instructions: the question, in plain words.
        inputs: the sample fields or columns to judge: names, or ``(name, type)`` pairs with ``str`` or ``list[str]``.
        outputs: names of the values that the model gives, in the order in which it should think of them.
        examples: mappings ``{"inputs": {...}, "outputs": {...}}`` with exactly these names.
        score_range: lowest and highest value of the output ``score``; a score outside is a bad reply.

    Source: the definition of Haystack's LLMEvaluator, https://docs.haystack.deepset.ai/docs/llmevaluator.
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1"

    instructions: str
    inputs: Any = field()  # overrides a property of the base class; a tuple of Input after it was checked
    outputs: Sequence[str]
    examples: Sequence[Mapping[str, Any]] = ()
    score_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.instructions, str) or not self.instructions.strip():
            raise InvalidInput(f"{self.name}: instructions must be a text")
        object.__setattr__(self, "inputs", _inputs(self.name, self.inputs))
        object.__setattr__(self, "outputs", _names(self.name, "outputs", self.outputs))
        object.__setattr__(self, "examples", tuple(self.examples))
        bounds = self.score_range
        numbers = isinstance(bounds, tuple | list) and [item for item in bounds if isinstance(item, int | float)]
        if not numbers or len(bounds) != 2 or not -math.inf < numbers[0] < numbers[-1] < math.inf:
            raise InvalidInput(f"{self.name}: score_range must be (lowest, highest), got {bounds!r}")
        object.__setattr__(self, "score_range", (float(bounds[0]), float(bounds[1])))
        for index, example in enumerate(self.examples):
            self._check_example(index, example)

    @classmethod
    def declared_inputs(cls) -> tuple[Input, ...]:
        """No inputs: every instance declares its own."""
        return ()

    @cached_property
    def prompt(self) -> Prompt[dict[str, Any]]:
        """The prompt that results from the settings."""
        form = ObjectReply(tuple(self.outputs), (("score", self._scale_in_words()),))
        unworded: Prompt[dict[str, Any]] = Prompt("", form, name=self.name, version="5", check=self._check_score)
        # a copy with other words, so that judges with different words have different versions
        examples = tuple(Example(item["inputs"], dict(item["outputs"])) for item in self.examples)
        return unworded.replace(instructions=self.instructions, examples=examples)

    def measure(self, **inputs: Any) -> Steps[Score]:
        """Ask once."""
        outputs = yield from self.prompt.ask(**inputs)
        details = {"outputs": outputs}
        if "score" not in outputs:
            return Score.unscored("no output is called 'score'; the outputs are in the details", details=details)
        value = as_number(outputs["score"], self.score_range)
        reason = outputs["reason"] if isinstance(outputs.get("reason"), str) else ""
        return Score(value, reason=reason or None, details={**details, "reasons": [reason]}, scale=self.score_range)

    def _scale_in_words(self) -> str:
        low, high = self.score_range
        number = f"number from {low:g} to {high:g}"
        return f"{number}, 1 for yes and 0 for no" if (low, high) == (0, 1) else number

    def _check_score(self, outputs: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        if "score" not in outputs:
            return
        value = as_number(outputs["score"], self.score_range)
        low, high = self.score_range
        if value is None or not low <= value <= high:
            raise BadReply(f"score must be a number from {low:g} to {high:g}, got {outputs['score']!r}")

    def _check_example(self, index: int, example: Any) -> None:
        wanted = {"inputs": {item.name for item in self.inputs}, "outputs": set(self.outputs)}
        for part, names in wanted.items():
            given = example.get(part) if isinstance(example, Mapping) else None
            if not isinstance(given, Mapping) or set(given) != names:
                raise InvalidInput(
                    f"{self.name}: examples[{index}] must be {{'inputs': ..., 'outputs': ...}} and its {part} must be a mapping "
                    f"with exactly the keys {sorted(names)}"
                )


def as_number(value: Any, scale: tuple[float, float]) -> float | None:
    """Return the number that an output is or means, or None. Only on a scale from 0 to 1, yes and true mean 1, and no and false
    mean 0.
    """
    word = value.strip().lower() if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else ""
    if word in ("yes", "true", "no", "false"):
        return float(word in ("yes", "true")) if scale == (0.0, 1.0) else None
    if "_" in word:  # only Python reads 1_0 as ten
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _names(metric: str, setting: str, names: Any) -> tuple[Any, ...]:
    good = isinstance(names, list | tuple) and all(isinstance(name, str) and name.strip() for name in names)
    if not good or not names or len(set(names)) != len(names):
        raise InvalidInput(f"{metric}: {setting} must be a list of different names, got {names!r}")
    return tuple(names)


def _inputs(metric: str, declared: Any) -> tuple[Input, ...]:
    items = list(declared.items()) if isinstance(declared, Mapping) else declared
    inputs = [_input(metric, item) for item in items] if isinstance(items, list | tuple) else items
    return _names(metric, "inputs", inputs)


def _input(metric: str, item: Any) -> Input:
    if isinstance(item, Input):
        return item
    if isinstance(item, str):
        return Input.named(item)
    if isinstance(item, Mapping) and "name" in item:  # as to_dict() writes them
        return Input(**item)
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        return Input.named(*item)
    raise InvalidInput(f"{metric}: an input is a name or a (name, type) pair, got {item!r}")
