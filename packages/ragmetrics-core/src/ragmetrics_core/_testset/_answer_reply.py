"""How the answer from a document is asked for, and how it is read.

An object with the evidence is asked for. Many models answer with a plain sentence instead. That is an answer too, only without
its evidence, so it is accepted, unless it is a refusal, the error of a server or broken JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from .._kernel._errors import BadReply
from ..replies import JsonReply, answer_text

REFUSAL = re.compile(
    r"(?:i(?:'m| am) )?(?:(?:so |very )?sorry|unable|not able)\b|(?:i|we) (?:cannot|can't|can not|could not|couldn't|won't)\b|"
    r"as an ai\b|unfortunately\b|(?:http )?[45]\d\d (?:bad|internal|too|service|gateway|forbidden|unauthorized|not found|error)|"
    r"error\b|internal server|bad gateway|rate limit|too many requests|service unavailable|timeout\b|<",
    re.IGNORECASE,
)
NO_ANSWER = re.compile(
    r"(?:(?:the|this|given|provided) ){1,2}(?:document|text|passage|context)\b[^.\n]{0,30}\b(?:does not|doesn't|did not|is silent|"
    r"says nothing|contains no|provides no|gives no)\b|(?:there is )?no (?:answer|information)\b|"
    r"(?:it is )?not (?:mentioned|stated|specified|answered|given|available)\b|(?:none|n/?a|unknown|empty|null|nothing)\W*\Z",
    re.IGNORECASE,
)
LABEL = re.compile(r"\A[*_#\s]*answer[*_\s]*[:：][*_\s]*", re.IGNORECASE)
STRUCTURE = re.compile(r"[{}]|\A\s*\[")


class DocumentAnswer(BaseModel):
    """The answer that a document gives."""

    evidence: str = Field(
        "",
        description="the words of the document that answer the question, copied letter for letter; empty if there are none",
    )
    answer: str = Field(description="the answer, complete and to the point; empty if the document does not answer")


ANSWER = JsonReply(DocumentAnswer)


@dataclass(frozen=True)
class AnswerReply:
    """An object with ``evidence`` and ``answer``, or the answer in plain text."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """An object with the evidence first and the answer last."""
        return ANSWER.schema

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return ANSWER.instructions()

    def parse(self, text: str) -> DocumentAnswer:
        """The answer; empty where the reply says that the document does not answer.

        Raises:
            BadReply: the reply is empty, refuses, reports an error, or is broken JSON.
        """
        prose = LABEL.sub("", answer_text(text)).strip()
        try:
            return ANSWER.parse(text)
        except BadReply:
            if STRUCTURE.search(prose) or REFUSAL.match(prose) or not any(map(str.isalnum, prose)):
                raise
        return DocumentAnswer(evidence="", answer="" if NO_ANSWER.match(prose) else prose)
