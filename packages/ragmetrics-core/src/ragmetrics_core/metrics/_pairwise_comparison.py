"""Pairwise comparison of two responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from ragmetrics_core import InvalidInput, Metric, Prompt, Score, Steps, together
from ragmetrics_core.replies import JsonReply

__all__ = ["PairwiseComparison"]

FINAL_MARK = re.compile(r"\[\[([ABC])\]\][\s.*]*\Z")
MENU = re.compile(
    r"\[\[[ABC]\]\][\s,/|'\"]*(?:(?:or|and)[\s'\"]*)?\Z"
)  # what stands before the last mark of an echoed choice
MARKS: Mapping[str, Literal["A", "B", "tie"]] = {"A": "A", "B": "B", "C": "tie"}
VALUES = {"first": 1.0, "second": 0.0, "tie": 0.5}
PASSING = {"first": True, "second": False, "tie": None}


class Comparison(BaseModel):
    """Which of two responses is better."""

    reason: str = Field("", description="what speaks for each response, in one or two sentences")
    better: Literal["A", "B", "tie"]


COMPARISON = JsonReply(Comparison)


@dataclass(frozen=True)
class ComparisonReply:
    """A JSON object, or prose that ends in ``[[A]]``, ``[[B]]`` or ``[[C]]`` for a tie, as MT-bench asks for it.

    A mark that is only quoted on the way to the verdict does not count, and an echo of the choice is no verdict.
    """

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """An object with the reason first and the verdict last."""
        return COMPARISON.schema

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return COMPARISON.instructions()

    def parse(self, text: str) -> Comparison:
        """The verdict and its reason.

        Raises:
            BadReply: the reply gives no verdict.
        """
        mark = FINAL_MARK.search(text)
        if mark is None or MENU.search(text[: mark.start()]):
            return COMPARISON.parse(text)
        return Comparison(reason=text[: mark.start()].strip(), better=MARKS[mark[1]])


COMPARE_RESPONSES = Prompt(
    name="compare_responses",
    version="1",
    instructions=(
        "Two responses answer the same query. Which one is better? Weigh whether they are correct (by the reference, where there "
        "is one), whether they answer what was asked, and how helpful and how precise they are. Neither the order in which they "
        "stand nor their length says anything about their quality. Call it a tie if neither is better."
    ),
    reply=ComparisonReply(),
)


@dataclass(frozen=True)
class PairwiseComparison(Metric):
    """Whether the response is better than a second one: 1.0 if it wins, 0.0 if the second wins, 0.5 for a tie.

    The second response is the sample's column ``second_response``. Judges lean towards one of the two places, so both orders
    are asked, at once: where they agree, that is the verdict; where only one of them is decisive, its winner wins; where they
    contradict each other, it is a tie. Passing is true for a win, false for a defeat and open for a tie.

    Attributes:
        enforce_consensus: ask both orders; False asks only the given one, at half the price.

    Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, arXiv:2306.05685, section 3.4 (swapping
    positions); LlamaIndex, PairwiseComparisonEvaluator.
    """

    calls: ClassVar[str] = "2 (1 without consensus)"

    enforce_consensus: bool = True
    compare: Prompt[Comparison] = COMPARE_RESPONSES

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.enforce_consensus, bool):
            raise InvalidInput(f"{self.name}: enforce_consensus must be true or false, got {self.enforce_consensus!r}")

    def measure(
        self, user_input: str, response: str, second_response: str, reference: str | None = None
    ) -> Steps[Score]:
        """Ask for both orders in one round."""
        shown = {"query": user_input, "reference": reference}
        questions = [self.compare.ask(**shown, response_a=response, response_b=second_response)]
        if self.enforce_consensus:
            questions.append(self.compare.ask(**shown, response_a=second_response, response_b=response))
        replies: list[Comparison] = yield from together(*questions)
        places: list[dict[str, str]] = [{"A": "first", "B": "second"}, {"A": "second", "B": "first"}]
        verdicts = [
            {"winner": place.get(reply.better, "tie"), "reason": reply.reason}
            for place, reply in zip(places, replies, strict=False)
        ]
        source, winner, reason = consensus(*verdicts)
        details = {**dict(zip(("original", "flipped"), verdicts, strict=False)), "source": source, "winner": winner}
        return Score(VALUES[winner], passing=PASSING[winner], reason=reason or None, details=details)


def consensus(original: Mapping[str, str], flipped: Mapping[str, str] | None = None) -> tuple[str, str, str]:
    """Whose verdict counts (original, flipped or neither), the winner, and why."""
    if flipped is None or flipped["winner"] in ("tie", original["winner"]):
        return "original", original["winner"], original["reason"]
    if original["winner"] == "tie":
        reason = flipped["reason"] and f"with the second response shown as A: {flipped['reason']}"
        return "flipped", flipped["winner"], reason
    place = "A" if original["winner"] == "first" else "B"
    return "neither", "tie", f"the judge prefers whichever response is shown as {place}"
