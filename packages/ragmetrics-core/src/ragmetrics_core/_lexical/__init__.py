"""Text analysis without a model: claims, support, relevance and agreement by the words that texts share.

Pure functions of their arguments: the same texts give the same answer, on every machine. They are a baseline, meant to
be measured against people's judgement and to be beaten by a real judge.
"""

from __future__ import annotations

from ._claims import sentence_ends, split_claims
from ._ratings import (
    agreement,
    check_cloze,
    cloze_questions,
    fill_in,
    noncommittal,
    questions_from,
    relevance,
    relevant_sentences,
)
from ._support import Support, support, verify

__all__ = [
    "VERSION",
    "Support",
    "agreement",
    "check_cloze",
    "cloze_questions",
    "fill_in",
    "noncommittal",
    "questions_from",
    "relevance",
    "relevant_sentences",
    "sentence_ends",
    "split_claims",
    "support",
    "verify",
]

VERSION = "7"  # of the rules: raised by every change that can change an answer
