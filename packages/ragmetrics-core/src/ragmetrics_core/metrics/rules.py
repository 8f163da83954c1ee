"""Sentences that several prompts share, so that one rule has the same words everywhere.

The page "What judges go by" (docs/guideline.md) gives every rule with an example for and one against.
"""

from __future__ import annotations

from ragmetrics_core import Prompt

__all__ = ["ALTERNATIVES", "CLAIMS", "CONTEXTS_ALONE", "NO_CLAIMS", "SUPPORT", "judged_by"]

CLAIMS = (
    "A claim is one fact that is true or false alone. Take the answer as it is, right or wrong, and add nothing. Replace a pronoun "
    "by the name that the answer or the question gives; without a name, keep it. Complete a bare word (yes, a name) from the "
    'question. Keep conditions, hedges and times ("if it rains", "perhaps", "last year") in their claim. Alternatives '
    '("1983; June 1983") are one claim.'
)

NO_CLAIMS = (
    'Claims: facts, also about the writer; advice; evaluations ("X is important"). No claims: feelings and praise ("I love X"), '
    'greetings, offers, questions, remarks on the answer ("here is a summary"), and that something is unknown or not stated.'
)

SUPPORT = (
    "Contexts support a claim if they state it in any words, alone or together, or if it follows from them in one step. If a name, "
    "number, date or place is missing or different, they do not support it. A plan does not support a deed. Praise and emphasis "
    "need no support."
)

CONTEXTS_ALONE = "Judge by the contexts alone, not by what you know."

ALTERNATIVES = 'If the reference lists alternatives ("1983; June 1983"), one of them is enough.'


def judged_by(name: str) -> str:
    """The notice that declares the data to be data, except the input of this name, in which the user says what to judge by."""
    first, rest = Prompt.notice.split(" It may ")
    return f"{first} Judge by the {name} in it. The rest may {rest}"
