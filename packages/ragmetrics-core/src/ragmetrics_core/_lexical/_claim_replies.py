"""What the offline judge answers about claims: which there are, and what contexts say about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._claims import split_claims
from ._support import Support, verify

Data = Mapping[str, Any]


def extract_claims(data: Data) -> str:
    return json.dumps({"claims": split_claims(data["question"], data["answer"])})


def verify_claims(data: Data) -> str:
    claims, contexts = data["claims"], data["contexts"]
    together = verify(claims, contexts)
    alone = [verify(claims, [context]) for context in contexts] if len(contexts) > 1 else [together]
    rows = [
        _verdict(number, support, each) for number, (support, *each) in enumerate(zip(together, *alone, strict=True), 1)
    ]
    return json.dumps({"verdicts": rows})


def _verdict(number: int, together: Support, alone: Sequence[Support]) -> dict[str, Any]:
    """What all contexts say about a claim, and which of them; what one supports is supported."""
    by = [index for index, each in enumerate(alone, 1) if each.supported]
    if together.supported and not by:  # they share it out
        by = [index for index, each in enumerate(alone, 1) if each.share] or [*range(1, len(alone) + 1)]
    told = alone[by[0] - 1] if by and not together.supported else together
    return {
        "number": number,
        "reason": told.reason,
        "for": by,
        "against": [index for index, each in enumerate(alone, 1) if each.denied and index not in by],
    }


def split_and_check(data: Data) -> str:
    claims = split_claims(data["question"], data["answer"])
    found = verify(claims, data["contexts"])
    return json.dumps(
        {
            "statements": claims,
            "reasons": [support.reason for support in found],
            "statement_scores": [int(support.supported) for support in found],
        }
    )
