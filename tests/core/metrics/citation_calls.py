"""The recorded call of the metrics of citations: all statements against all passages."""

from __future__ import annotations

from core.metrics.claim_calls import WORDS as CLAIM_WORDS
from core.metrics.claim_calls import sides, verify
from recording import CONTEXTS, SAMPLE

WORDS = {"verify_claims": CLAIM_WORDS["verify_claims"]}

CITING = {
    **SAMPLE,
    "response": "She was born in London [1][2]. The year was 1815 [2]. Babbage built an engine [1, 3]. She died in 1852.",
}
"""Five citations in three of four statements; ``[3]`` is fabricated."""

STATEMENTS = ["She was born in London.", "The year was 1815.", "Babbage built an engine.", "She died in 1852."]
CHECKED = verify(CONTEXTS, STATEMENTS, sides([1], [1], [], []))
"""The first two are in the first passage, the others in none."""
