"""Relevant statements (Haystack's context relevance)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

from ragmetrics_core import BadReply, Example, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics.squad import words
from ragmetrics_core.replies import JsonReply, real_items

COPIED = 0.8
"""The least share of a statement's words that one context must have, if the statement is not an exact copy."""

QUOTES = re.compile("[\"'`´“”„‟«»‹›‘’‚「」『』]")


class Relevant(BaseModel):
    """The statements that help."""

    relevant_statements: list[str]


def check_copied(reply: Relevant, inputs: Mapping[str, Any]) -> None:
    """Check that every statement occurs in a context. A remark, or a statement that the judge invents, was not retrieved."""
    contexts = [plain(text) for text in inputs["contexts"]]
    for statement in real_items(reply.relevant_statements):
        text = plain(statement)
        copied = bool(text) and any(text in context for context in contexts)
        if not copied and not shares_words(statement, contexts):
            raise BadReply(f"{statement[:80]!r} is in no context: copy statements word for word, or give an empty list")


def shares_words(statement: str, contexts: Sequence[str]) -> bool:
    """Whether one context has most words of the statement."""
    needed = set(words(statement))
    return bool(needed) and any(len(needed & set(words(text))) >= COPIED * len(needed) for text in contexts)


def plain(text: str) -> str:
    """Return the text in lower case, without quotes and final marks, with single blanks."""
    return " ".join(QUOTES.sub("", text).casefold().split()).rstrip(".,;:!?…。！？ ")


FIND_RELEVANT_STATEMENTS = Prompt(
    name="find_relevant_statements",
    version="5",
    instructions=(
        "Find the statements in the contexts that are needed to answer the question, and copy each of them word for word. A "
        "statement that only shares the subject does not count. If there is none, give an empty list, not a remark."
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
        Example(
            {"question": "Who painted the ceiling?", "contexts": ["The museum has three floors and a café."]},
            Relevant(relevant_statements=[]),
        ),
    ),
    check=check_copied,
)


@dataclass(frozen=True)
class RelevantStatements(Metric):
    """Whether the retrieved contexts contain anything that is needed to answer the question: 1.0 or 0.0.

    The judge copies the needed statements from the contexts, and the details keep them. The value is 1.0 if there are any. A
    statement that is in no context is a bad reply.

    Source: the definition of Haystack's ContextRelevanceEvaluator,
    https://docs.haystack.deepset.ai/docs/contextrelevanceevaluator.
    """

    calls: ClassVar[str] = "1"
    two_valued: ClassVar[bool] = True

    find: Prompt[Relevant] = FIND_RELEVANT_STATEMENTS

    def measure(self, user_input: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Ask once."""
        reply = yield from self.find.ask(question=user_input, contexts=list(retrieved_contexts))
        statements = real_items(reply.relevant_statements)
        return Score(1.0 if statements else 0.0, details={"relevant_statements": statements})
