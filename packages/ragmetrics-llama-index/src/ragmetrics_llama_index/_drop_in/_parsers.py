"""Parser functions of users, as LlamaIndex's evaluators take them, in the place of the core's own reading of replies.

Strategy. A parser becomes a reply format, so asking, the one re-ask and the record of failures stay the core's. What it cannot
read, by its own account or by a ``ValueError``, is an unreadable reply. Its numbers are on a scale that only its author knows,
so the metrics here are those of the core without their scale. A template of a user may name any scale too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.types import BaseOutputParser

from ragmetrics_core import BadReply, InvalidInput, Metric, Prompt
from ragmetrics_core.metrics import AnswerRelevanceRating, ContextRelevanceRating, Correctness
from ragmetrics_core.replies import ScoreReply

__all__ = [
    "CritiqueParser",
    "FreeAnswerRating",
    "FreeContextRating",
    "FreeCorrectness",
    "ScoreParser",
    "VerdictParser",
    "on_any_scale",
    "read_by",
    "with_fractions",
]

T = TypeVar("T")

UNREADABLE = "Unable to parse the output string."


@dataclass(frozen=True)
class Parser:
    """A reply format that leaves the form of the reply to the template that asks for it.

    Attributes:
        function: from the text of a reply to what its author reads in it.
    """

    function: Callable[[str], Any]
    schema: ClassVar[Mapping[str, Any] | None] = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput(f"a parser must be a function of the text of a reply, got {self.function!r}")

    def instructions(self) -> str:
        """Nothing: the template says how to reply."""
        return ""

    def parse(self, text: str) -> Any:
        """What the function reads; what it cannot read is a ``BadReply``."""
        return self._read(text)

    def _read(self, text: str) -> Any:
        try:
            return self.function(text)
        except (ValueError, OutputParserException) as error:
            raise BadReply(f"{UNREADABLE} {type(error).__name__}: {error}", text) from None


class ScoreParser(Parser):
    """A function to ``(score, reasoning)``."""

    def parse(self, text: str) -> tuple[float, str]:
        """The score and the reasoning; a reply without a score, or with one that is not finite, is a ``BadReply``."""
        score, reasoning = self._read(text)
        if score is None:
            raise BadReply(UNREADABLE, text)
        if not math.isfinite(score):
            raise BadReply(f"{score} is not a finite number", text)
        return float(score), reasoning or text


@dataclass(frozen=True)
class Verdict:
    """Which of two responses is better, and why."""

    better: str
    reason: str


class VerdictParser(Parser):
    """A function to ``(passing, score, feedback)`` of a comparison: score 1.0 for the first answer, 0.0 for the second."""

    def parse(self, text: str) -> Verdict:
        """The verdict; three times None is a ``BadReply``."""
        passing, score, feedback = self._read(text)
        value = score if score is not None else passing
        if value is None:
            raise BadReply(UNREADABLE, text)
        return Verdict("tie" if value == 0.5 else "A" if float(value) > 0.5 else "B", feedback or text)


class Critique(BaseModel):
    """A verdict by guidelines."""

    feedback: str
    passing: bool


class CritiqueParser(Parser):
    """The ``parse`` of an output parser, whose result has ``passing`` and ``feedback``."""

    @classmethod
    def of(cls, parser: BaseOutputParser) -> CritiqueParser:
        """The reply format that reads with this output parser."""
        if not hasattr(parser, "parse"):
            raise InvalidInput(f"output_parser must have a method parse, got {parser!r}")
        return cls(parser.parse)

    def parse(self, text: str) -> Critique:
        """The verdict and the feedback."""
        found = self._read(text)
        return Critique(feedback=found.feedback, passing=found.passing)


@dataclass(frozen=True)
class FreeCorrectness(Correctness):
    """Correctness on the scale of a parser function."""

    scale: ClassVar[tuple[float, float] | None] = None


@dataclass(frozen=True)
class FreeAnswerRating(AnswerRelevanceRating):
    """Answer relevance on the scale of a parser function."""

    scale: ClassVar[tuple[float, float] | None] = None


@dataclass(frozen=True)
class FreeContextRating(ContextRelevanceRating):
    """Context relevance on the scale of a parser function."""

    scale: ClassVar[tuple[float, float] | None] = None


M = TypeVar("M", bound=Metric)


def read_by(parser: Parser, metric: M, *prompts: str) -> M:
    """The metric with these prompts read by the parser."""
    changes: dict[str, Any] = {}
    for name in prompts:
        prompt: Prompt[Any] = getattr(metric, name)
        changes[name] = replace(prompt, reply=parser, check=None)
    return replace(metric, **changes)


@dataclass(frozen=True)
class AnyScore(ScoreReply):
    """A score on whatever scale the template names."""

    low: float = -1e9
    high: float = 1e9

    def instructions(self) -> str:
        """The shape of the reply, for templates that ask for it."""
        return 'Reply with one JSON object and nothing else: {"reason": "<why, in one or two sentences>", "score": <number>}'


def with_fractions(metric: M, *prompts: str) -> M:
    """The metric with prompts that may be answered with any number on the scale, as LlamaIndex has it."""
    changes: dict[str, Any] = {name: getattr(metric, name).replace(check=None) for name in prompts}
    return replace(metric, **changes)


def on_any_scale(metric: Metric, cls: type[Metric]) -> Metric:
    """The metric as one of this class, which has no scale; parser functions stay."""
    settings: dict[str, Any] = {item.name: getattr(metric, item.name) for item in fields(metric)}
    for name, value in settings.items():
        if isinstance(value, Prompt) and isinstance(value.reply, ScoreReply):
            settings[name] = replace(value, reply=AnyScore(), check=None)
    return cls(**settings)
