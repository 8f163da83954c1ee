"""Whether a text holds what a form of reply would read as a verdict: a key or a label, a colon, and a value.

A summary counts such rows, since a judge that copies from them is asked again. Every row is looked at, so only what stands around a
colon is.
"""

from __future__ import annotations

import re
from typing import Any

from ._sample import Document, Sample

_LABELS = (
    "verdict verdicts answer score rating grade judg(?:e)?ment passing useful supported better feedback claims statements "
    "noncommittal contexts_suffice response_declines urteil antwort bewertung punkte punktzahl note bestanden belegt réponse "
    "notation réussi veredicto respuesta puntuación calificación"
)
_VALUES = (
    r"yes|no|true|false|pass(?:ed)?|fail(?:ed)?|(?:un)?supported|ja|nein|wahr|falsch|oui|non|vrai|faux|s[íi]|verdadero|falso|"
    r"belegt|widerlegt|[AB]|tie|\d{1,3}(?:[.,]\d)?|\{|\[\[?"
)
_VERDICT = re.compile(
    rf"(?<!\w)(?:{'|'.join(_LABELS.split())})(?:\s(?:finale?|definitiv[oa]))?[\\\"'*_`\s]{{0,8}}[:：][\\\"'*_`\s]{{0,12}}(?:{_VALUES})(?!\w)",
    re.IGNORECASE,
)
_BEFORE, _BEHIND = 40, 40
_MAX_COLONS = 2000


def holds_verdict(text: str) -> bool:
    """Whether the text holds an object with a verdict, or a label with one."""
    for colon in ":：":
        at = text.find(colon)
        for _ in range(_MAX_COLONS):
            if at < 0:
                break
            if _VERDICT.search(text, max(0, at - _BEFORE), at + _BEHIND):
                return True
            at = text.find(colon, at + 1)
    return False


def judged_text(sample: Sample) -> str:
    """The texts of a row that judges are shown, as one."""
    texts: list[Any] = [sample.user_input, sample.response, sample.reference]
    for found in (sample.retrieved_contexts, sample.reference_contexts, sample.retrieved_documents):
        if isinstance(found, (list, tuple)):
            texts += found
    contents = (item.content if isinstance(item, Document) else item for item in texts)
    return "\n".join(item for item in contents if isinstance(item, str))
