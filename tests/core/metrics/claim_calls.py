"""The recorded calls of metrics that take texts apart into claims and check these, and the words of the two prompts."""

from __future__ import annotations

import json
from typing import Any

from recording import CONTEXTS, QUESTION, REFERENCE, RESPONSE, Call

R1, R2 = "Ada Lovelace was born in London in 1815.", "Ada Lovelace died in 1852."
G1, G2 = "Ada Lovelace was born in London.", "Ada Lovelace was born on 10 December 1815."

WORDS = {
    "extract_claims": {"1": "afd143ae103473dd", "2": "786080196102f9a8"},
    "verify_claims": {"1": "34c1e0e3513b8152", "2": "2b15babe273b4442"},
}


def claims(*texts: str) -> str:
    return json.dumps({"claims": texts})


def verdicts(*supported: bool) -> str:
    rows = [{"number": n, "reason": f"reason {n}", "supported": value} for n, value in enumerate(supported, 1)]
    return json.dumps({"verdicts": rows})


def numbered(*texts: str) -> list[dict[str, Any]]:
    return [{"number": n, "text": text} for n, text in enumerate(texts, 1)]


EXTRACT_RESPONSE = Call("extract_claims", {"question": QUESTION, "answer": RESPONSE}, claims(R1, R2))
EXTRACT_REFERENCE = Call("extract_claims", {"question": QUESTION, "answer": REFERENCE}, claims(G1, G2))
RESPONSE_BY_CONTEXTS = Call("verify_claims", {"contexts": CONTEXTS, "claims": numbered(R1, R2)}, verdicts(True, False))
REFERENCE_BY_CONTEXTS = Call("verify_claims", {"contexts": CONTEXTS, "claims": numbered(G1, G2)}, verdicts(True, True))
RESPONSE_BY_REFERENCE = Call(
    "verify_claims", {"contexts": [REFERENCE], "claims": numbered(R1, R2)}, verdicts(True, False)
)
REFERENCE_BY_RESPONSE = Call(
    "verify_claims", {"contexts": [RESPONSE], "claims": numbered(G1, G2)}, verdicts(True, True)
)
FACTUAL = [EXTRACT_RESPONSE, EXTRACT_REFERENCE, RESPONSE_BY_REFERENCE, REFERENCE_BY_RESPONSE]
