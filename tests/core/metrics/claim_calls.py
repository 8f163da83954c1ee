"""The recorded calls of metrics that take texts apart into claims and check these, and the words of the two prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from recording import CONTEXTS, QUESTION, REFERENCE, RESPONSE, Call

R1, R2 = "Ada Lovelace was born in London in 1815.", "Ada Lovelace died in 1852."
G1, G2 = "Ada Lovelace was born in London.", "Ada Lovelace was born on 10 December 1815."

WORDS = {
    "extract_claims": {
        "1": "afd143ae103473dd",
        "2": "786080196102f9a8",
        "3": "01ef0c7d1afac995",
        "4": "8e5177fea0bbc46c",
        "5": "2a1979a12e5bd4ac",
    },
    "verify_claims": {
        "1": "34c1e0e3513b8152",
        "2": "2b15babe273b4442",
        "3": "f9127dcc4ddaa015",
        "4": "1e996a8a244b8c18",
        "5": "e100c668644ffb25",
        "6": "719b853c45128f17",
    },
}


def claims(*texts: str) -> str:
    return json.dumps({"claims": texts})


def verdicts(*supported: bool) -> str:
    rows = [{"number": n, "reason": f"reason {n}", "supported": value} for n, value in enumerate(supported, 1)]
    return json.dumps({"verdicts": rows})


def sides(*supporting: Sequence[int], against: Mapping[int, Sequence[int]] | None = None) -> str:
    """The verdicts in the form that is asked for: the contexts that support each claim, and those that contradict it, by claim."""
    rows = [
        {
            "number": number,
            "reason": f"reason {number}",
            "for": list(contexts),
            "against": list((against or {}).get(number, ())),
        }
        for number, contexts in enumerate(supporting, 1)
    ]
    return json.dumps({"verdicts": rows})


def numbered(*texts: str) -> dict[str, str]:
    return {str(n): text for n, text in enumerate(texts, 1)}


def verify(contexts: Sequence[str], claims: Sequence[str], reply: str) -> Call:
    """The call that checks claims against contexts."""
    data = {"question": QUESTION, "contexts": numbered(*contexts), "claims": numbered(*claims)}
    return Call("verify_claims", data, reply)


EXTRACT_RESPONSE = Call("extract_claims", {"question": QUESTION, "answer": RESPONSE}, claims(R1, R2))
EXTRACT_REFERENCE = Call("extract_claims", {"question": QUESTION, "answer": REFERENCE}, claims(G1, G2))
RESPONSE_BY_CONTEXTS = verify(CONTEXTS, [R1, R2], sides([1], []))
REFERENCE_BY_CONTEXTS = verify(CONTEXTS, [G1, G2], sides([1], [1]))
RESPONSE_BY_REFERENCE = verify([REFERENCE], [R1, R2], sides([1], []))
REFERENCE_BY_RESPONSE = verify([RESPONSE], [G1, G2], sides([1], [1]))
FACTUAL = [EXTRACT_RESPONSE, EXTRACT_REFERENCE, RESPONSE_BY_REFERENCE, REFERENCE_BY_RESPONSE]
