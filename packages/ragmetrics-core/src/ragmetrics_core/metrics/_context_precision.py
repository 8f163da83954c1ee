"""Context precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, Field

from ragmetrics_core import Example, Metric, Prompt, Score, Steps, together
from ragmetrics_core.replies import JsonReply

__all__ = ["ContextPrecision"]


class Usefulness(BaseModel):
    """Whether one context was useful."""

    reason: str = Field("", description="what the context gives for the answer, in one short sentence")
    useful: bool


JUDGE_USEFULNESS = Prompt(
    name="judge_usefulness",
    version="2",
    instructions=(
        "Is the context useful for arriving at the answer to the question? It is useful if it states at least a part of what "
        'the answer says, or a fact that the answer rests on; one useful sentence is enough. For "yes" and "no" it is useful if '
        "it decides the question. It is not useful if it is only about the same subject. An answer that gives no information "
        "makes every context not useful."
    ),
    reply=JsonReply(Usefulness),
    examples=(
        Example(
            {
                "question": "How tall is the lighthouse of Lindau?",
                "answer": "It is 33 metres tall.",
                "context": "The lighthouse of Lindau was built from 1853 to 1856 at the entrance of the harbour.",
            },
            Usefulness(reason="It tells when the lighthouse was built, but not how tall it is.", useful=False),
        ),
        Example(
            {
                "question": "Can I walk to the lighthouse?",
                "answer": "Yes.",
                "context": "The harbour has 300 berths. A footpath leads along the pier to the lighthouse.",
            },
            Usefulness(reason="The footpath is what makes the answer yes.", useful=True),
        ),
    ),
)


@dataclass(frozen=True)
class ContextPrecision(Metric):
    """Average precision of the retrieved contexts: are the useful ones ranked first?

    Every context is judged useful or not for the reference answer, all concurrently. With v_k = 1 for a useful context at rank
    k and 0 otherwise: sum over k of precision@k * v_k / sum of v. No useful context: 0.0.

    Source: the RAGAS documentation, "Context Precision", https://docs.ragas.io; average precision as in Manning, Raghavan and
    Schütze 2008, Introduction to Information Retrieval, p. 159.
    """

    calls: ClassVar[str] = "n"

    judge: Prompt[Usefulness] = JUDGE_USEFULNESS

    def measure(self, user_input: str, reference: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Judge every context against the reference."""
        return (yield from self.judge_contexts(user_input, reference, retrieved_contexts))

    def judge_contexts(self, question: str, answer: str, contexts: Sequence[str]) -> Steps[Score]:
        """Judge every context against the answer given, and average."""
        questions = (self.judge.ask(question=question, answer=answer, context=context) for context in contexts)
        verdicts = yield from together(*questions)
        found = [verdict.model_dump() for verdict in verdicts]
        details = {"verdicts": found, "reasons": [verdict.get("reason", "") for verdict in found]}
        return Score(average_precision([verdict.useful for verdict in verdicts]), details=details)


def average_precision(useful: Sequence[bool]) -> float:
    """Mean of the precision at the rank of each useful item; 0.0 if there is none."""
    ranks = [rank for rank, hit in enumerate(useful, 1) if hit]
    return sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0
