"""Hallucination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.claim_metric import UnfoundedClaims


@dataclass(frozen=True)
class Hallucination(UnfoundedClaims):
    """Share of the response's claims that neither a passage nor the reference supports. Low is good.

    Unsupported claims / claims of the response; a response without claims is unscored. A reference without claims supports
    nothing.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Hallucination".
    """

    right: ClassVar[bool] = False
    called: ClassVar[str] = "hallucinated"
