"""Faithfulness in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from ragmetrics_core import BadReply, Example, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.rules import CLAIMS, CONTEXTS_ALONE, SUPPORT
from ragmetrics_core.replies import JsonReply, real_items


class Statements(BaseModel):
    """The statements of an answer, with a score for each."""

    statements: list[str]
    reasons: list[str] = Field(default_factory=list, description="per statement, what the contexts say about it")
    statement_scores: list[Literal[0, 1]] = Field(description="per statement, 1 if the contexts support it, else 0")


def check_lengths(reply: Statements, inputs: Mapping[str, Any]) -> None:  # noqa: ARG001
    """Check that there are as many scores as statements, since otherwise it is unknown which score belongs to which statement."""
    if not all(statement.strip() for statement in reply.statements):
        raise BadReply("a statement is blank")
    if reply.statements and not real_items(reply.statements):
        return  # the list says that there are no statements
    counts = len(reply.statements), len(reply.statement_scores)
    if counts[0] != counts[1]:
        raise BadReply(f"there must be one score per statement, got {counts[0]} statements and {counts[1]} scores")


SPLIT_AND_CHECK = Prompt(
    name="split_and_check",
    version="5",
    instructions=(
        f"Split the answer into claims, in its order and language, and judge each by the contexts. {CLAIMS}\n"
        "For each claim, in the same order, give a reason and a score: 1 if the contexts support it, even if another context "
        f"contradicts it, else 0. {SUPPORT} {CONTEXTS_ALONE} Without claims: empty lists."
    ),
    reply=JsonReply(Statements),
    examples=(
        Example(
            {
                "question": "When did the observatory open, and who runs it?",
                "contexts": ["The observatory on the hill opened in 1931."],
                "answer": "It opened in 1931 and is run by volunteers.",
            },
            Statements(
                statements=["The observatory opened in 1931.", "The observatory is run by volunteers."],
                reasons=["The year is stated.", "Nothing is said about who runs it."],
                statement_scores=[1, 0],
            ),
        ),
    ),
    check=check_lengths,
)


@dataclass(frozen=True)
class SinglePassFaithfulness(Metric):
    """Faithfulness in one call that both splits the response and checks it: cheaper and coarser than ``Faithfulness``.

    Statements with the score 1 / statements. A response without statements is unscored.

    Source: the definition of Haystack's FaithfulnessEvaluator, https://docs.haystack.deepset.ai/docs/faithfulnessevaluator.
    """

    calls: ClassVar[str] = "1"

    judge: Prompt[Statements] = SPLIT_AND_CHECK

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask once."""
        reply = yield from self.judge.ask(question=user_input, contexts=list(retrieved_contexts), answer=response)
        if not real_items(reply.statements):
            return Score.unscored("the response makes no statements")
        return Score(sum(reply.statement_scores) / len(reply.statements), details=reply.model_dump())
