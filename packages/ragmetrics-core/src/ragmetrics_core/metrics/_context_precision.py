"""Context precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from ragmetrics_core import Metric, Prompt, Score, Steps, together
from ragmetrics_core.metrics.checks import check_one_each
from ragmetrics_core.metrics.settings import check_switch
from ragmetrics_core.replies import JsonReply


class Usefulness(BaseModel):
    """Whether one context was useful."""

    reason: str = Field("", description="briefly")
    useful: bool


class NumberedUsefulness(BaseModel):
    """Whether the context of this number was useful."""

    number: int
    reason: str = Field("", description="briefly")
    useful: bool


class UsefulnessOfAll(BaseModel):
    """One verdict per context."""

    verdicts: list[NumberedUsefulness]


def check_usefulness(reply: UsefulnessOfAll, inputs: Mapping[str, Any]) -> None:
    """Check that every context has exactly one verdict.

    Raises:
        BadReply: a context has none, or two.
    """
    check_one_each((verdict.number for verdict in reply.verdicts), len(inputs["contexts"]), "contexts")


RULE = (
    "It is if it states part of the answer, states a fact behind the answer, or settles a yes/no question. Sharing the subject is "
    "not enough."
)

JUDGE_USEFULNESS = Prompt(
    name="judge_usefulness",
    version="5",
    instructions=f"Is the context useful for reaching the given answer? {RULE}",
    reply=JsonReply(Usefulness),
)

JUDGE_USEFULNESS_OF_ALL = Prompt(
    name="judge_usefulness_of_all",
    version="3",
    instructions=(
        f"Judge each context by itself: is it useful for reaching the given answer? {RULE} Give one verdict per context."
    ),
    reply=JsonReply(UsefulnessOfAll),
    check=check_usefulness,
    numbered=("contexts",),
)


@dataclass(frozen=True)
class ContextPrecision(Metric):
    """Average precision of the retrieved contexts: are the useful contexts ranked first?

    Every context is judged useful or not useful for the reference answer, all concurrently. With v_k = 1 for a useful context at
    rank k and 0 otherwise, the value is the sum over k of precision@k * v_k, divided by the sum of v. Without a useful context:
    0.0.

    Attributes:
        per_passage: judge every context in a separate call, so that no context influences the verdict on another. False: all of
            them in one call, which costs about a third less for five contexts of 150 words.

    Raises:
        InvalidInput: ``per_passage`` is not True or False.

    Source: the RAGAS documentation, "Context Precision", https://docs.ragas.io; average precision as in Manning, Raghavan and
    Schütze 2008, Introduction to Information Retrieval, p. 159.
    """

    calls: ClassVar[str] = "n (1 with per_passage=False)"

    judge: Prompt[Usefulness] = JUDGE_USEFULNESS
    judge_all: Prompt[UsefulnessOfAll] = field(default=JUDGE_USEFULNESS_OF_ALL, kw_only=True)
    per_passage: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch(self.name, "per_passage", self.per_passage)

    def measure(self, user_input: str, reference: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Judge every context against the reference."""
        return (yield from self.judge_contexts(user_input, reference, retrieved_contexts))

    def judge_contexts(self, question: str, answer: str, contexts: Sequence[str]) -> Steps[Score]:
        """Judge every context for the given answer, and compute the average precision."""
        verdicts: Sequence[Usefulness | NumberedUsefulness]
        if self.per_passage:
            questions = (self.judge.ask(question=question, answer=answer, context=context) for context in contexts)
            verdicts = yield from together(*questions)
        else:
            reply = yield from self.judge_all.ask(question=question, answer=answer, contexts=list(contexts))
            verdicts = sorted(reply.verdicts, key=attrgetter("number"))
        found = [verdict.model_dump(exclude={"number"}) for verdict in verdicts]
        details = {"verdicts": found, "reasons": [verdict.get("reason", "") for verdict in found]}
        return Score(average_precision([verdict.useful for verdict in verdicts]), details=details)


def average_precision(useful: Sequence[bool]) -> float:
    """Return the mean of the precision at the rank of each useful item; 0.0 without useful items."""
    ranks = [rank for rank, hit in enumerate(useful, 1) if hit]
    return sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
