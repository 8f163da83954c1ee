"""Pairwise comparison of two responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from ragmetrics_core import Metric, Prompt, Score, Steps, together
from ragmetrics_core.metrics.settings import check_switch
from ragmetrics_core.replies import JsonReply, read_prose

MARK = re.compile(r"\[\[([ABC])\]\]")
OBJECT = re.compile(r"[\"']better[\"']\s*:")
NAMES = re.compile(r"\b(?:(?:assistant|response|answer|model)\s)?(?<!\[)[AB]\b(?!\])(?=(?:\s\w+){0,3}?\s\w+s\b)")
SIGNS = " \t*_`'\"#>.!)"
ENDS = re.compile(rf"[\s{SIGNS}]*\Z")
MARKS_ALONE = re.compile(rf"^[{SIGNS}]*(?:\[\[[ABC]\]\][{SIGNS}]*)+$", re.MULTILINE)
# the text before the last mark of an echoed choice
MENU = re.compile(r"\[\[[ABC]\]\][\s,/|'\"]*(?:(?:or|and)[\s'\"]*)?\Z")
DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor|if|unless|rather than|instead of)\b|n't\b)[^.!?:;\n]{0,60}\Z", re.IGNORECASE
)
DENIED_AFTER = re.compile(
    r"['\"]?\s(?:is|was|would be|would have been|seems)\s(?:not|wrong|incorrect|too)\b", re.IGNORECASE
)
ANNOUNCED = re.compile(r"(?:\A|(?<=[.!?\n]))[^.!?\n]*(?:[:：]|\bis)\s*\Z")  # "Final verdict:", of which nothing is left
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
    """A JSON object, or prose with ``[[A]]``, ``[[B]]``, or ``[[C]]`` for a tie, as MT-bench asks for it.

    Prose may give one such verdict anywhere. If it quotes other verdicts before, the verdict at the end of the reply counts. A
    mark that is negated ("not [[A]]") does not count, and neither does an echo of the choice.
    """

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of an object with the reason first and the verdict last."""
        return COMPARISON.schema

    def instructions(self) -> str:
        """Return a description of the reply, for the system message."""
        return COMPARISON.instructions()

    def parse(self, text: str) -> Comparison:
        """Read the verdict and its reason.

        Raises:
            BadReply: the reply gives no verdict, or one that may be quoted from a response.
        """
        if OBJECT.search(text):
            return COMPARISON.parse(text)
        letter, prose = read_prose(text, verdict_in, NAMES)
        return COMPARISON.parse(text) if letter is None else Comparison(reason=reason_in(prose), better=MARKS[letter])


def verdict_in(prose: str) -> str | None:
    """Return the letter of the one verdict in prose; None if there is no verdict, or several."""
    marks = [
        mark
        for mark in MARK.finditer(prose)
        if not DENIED_BEFORE.search(prose, max(0, mark.start() - 80), mark.start())
        and not DENIED_AFTER.match(prose, mark.end())
    ]
    if len({mark[1] for mark in marks}) == 1:
        return marks[0][1]
    ends = marks and ENDS.match(prose, marks[-1].end())
    return marks[-1][1] if ends and not MENU.search(prose[: marks[-1].start()]) else None


def reason_in(prose: str) -> str:
    """Return the prose without the verdict, if the verdict stands alone or at the end. A sentence that continues after the verdict
    stays whole.
    """
    rest = MARKS_ALONE.sub("", prose).strip()
    last = next(reversed(list(MARK.finditer(rest))), None)
    if last and ENDS.match(rest, last.end()):
        rest = rest[: last.start()]
    if rest != prose.strip():
        rest = ANNOUNCED.sub("", rest.rstrip(" *_`'\"#>\n"))
    return rest.strip()


COMPARE_RESPONSES = Prompt(
    name="compare_responses",
    version="5",
    instructions=(
        "Two responses answer the same query. Which one is better? Weigh whether they are correct (by the reference, if there is "
        "one), whether they answer the query, and how helpful and how precise they are. Their order and their length say nothing "
        "about their quality. If neither is better, it is a tie."
    ),
    reply=ComparisonReply(),
)


@dataclass(frozen=True)
class PairwiseComparison(Metric):
    """Whether the response is better than a second one: 1.0 if it wins, 0.0 if the second wins, 0.5 for a tie.

    The second response is the sample's column ``second_response``. Judges prefer one of the two positions, so both orders are
    asked, in one round. If the verdicts agree, that is the result. If only one of them is decisive, its winner wins. If they
    contradict each other, it is a tie. ``passing`` is True for a win, False for a defeat and None for a tie.

    Attributes:
        enforce_consensus: ask both orders. False: ask only the given order, at half the price.

    Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, arXiv:2306.05685, section 3.4 (swapping
    positions); LlamaIndex, PairwiseComparisonEvaluator.
    """

    calls: ClassVar[str] = "2 (1 without consensus)"

    enforce_consensus: bool = True
    compare: Prompt[Comparison] = COMPARE_RESPONSES

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch(self.name, "enforce_consensus", self.enforce_consensus)

    def measure(
        self, user_input: str, response: str, second_response: str, reference: str | None = None
    ) -> Steps[Score]:
        """Ask for both orders in one round."""
        inputs = {"query": user_input, "reference": reference}
        questions = [self.compare.ask(**inputs, response_a=response, response_b=second_response)]
        if self.enforce_consensus:
            questions.append(self.compare.ask(**inputs, response_a=second_response, response_b=response))
        replies: list[Comparison] = yield from together(*questions)
        orders: list[dict[str, str]] = [{"A": "first", "B": "second"}, {"A": "second", "B": "first"}]
        verdicts = [
            {"winner": order.get(reply.better, "tie"), "reason": reply.reason}
            for order, reply in zip(orders, replies, strict=False)
        ]
        source, winner, reason = consensus(*verdicts)
        details: dict[str, Any] = dict(zip(("original", "flipped"), verdicts, strict=False))
        details |= {"source": source, "winner": winner, "reasons": [reply.reason for reply in replies]}
        return Score(VALUES[winner], passing=PASSING[winner], reason=reason or None, details=details)


def consensus(original: Mapping[str, str], flipped: Mapping[str, str] | None = None) -> tuple[str, str, str]:
    """Which verdict counts (original, flipped or neither), the winner, and the reason."""
    if flipped is None or flipped["winner"] in ("tie", original["winner"]):
        return "original", original["winner"], original["reason"]
    if original["winner"] == "tie":
        reason = flipped["reason"] and f"with the second response shown as A: {flipped['reason']}"
        return "flipped", flipped["winner"], reason
    letter = "A" if original["winner"] == "first" else "B"
    return "neither", "tie", f"the judge prefers whichever response is shown as {letter}"
