"""Relevant statements (Haystack's context relevance)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel

from ragmetrics_core import Example, Metric, Prompt, Score, Steps
from ragmetrics_core.replies import JsonReply

__all__ = ["RelevantStatements"]


class Relevant(BaseModel):
    """The statements that help."""

    relevant_statements: list[str]


FIND_RELEVANT_STATEMENTS = Prompt(
    name="find_relevant_statements",
    version="1",
    instructions=(
        "Find the statements in the contexts that help to answer the question, and copy each of them word for word. If no "
        "statement helps, give an empty list."
    ),
    reply=JsonReply(Relevant),
    examples=(
        Example(
            {
                "question": "What is the museum's entrance fee?",
                "contexts": [
                    "The museum has three floors. Adults pay 9 euros. Children get in free.",
                    "It has a café.",
                ],
            },
            Relevant(relevant_statements=["Adults pay 9 euros.", "Children get in free."]),
        ),
    ),
)


@dataclass(frozen=True)
class RelevantStatements(Metric):
    """Whether the retrieved contexts contain anything that helps to answer the question: 1.0 or 0.0.

    The statements that help are copied from the contexts and kept in the details; 1.0 if there is any.

    Source: the definition of Haystack's ContextRelevanceEvaluator, https://docs.haystack.deepset.ai/docs/contextrelevanceevaluator.
    """

    calls: ClassVar[str] = "1"

    find: Prompt[Relevant] = FIND_RELEVANT_STATEMENTS

    def measure(self, user_input: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask once."""
        reply = yield from self.find.ask(question=user_input, contexts=list(retrieved_contexts))
        statements = [statement for statement in reply.relevant_statements if statement.strip()]
        return Score(1.0 if statements else 0.0, details={"relevant_statements": statements})
