"""Self-knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.metrics.claim_metric import UnfoundedClaims


@dataclass(frozen=True)
class SelfKnowledge(UnfoundedClaims):
    """Share of the response's claims that are right but that no passage supports: the generator knew them. Low is good.

    Claims that the reference supports and no passage does / claims of the response; a response without claims is unscored. Low is
    good for a system that must answer only from its documents.

    Attributes:
        window: most tokens of context per call, as in ``Faithfulness``.
        per_passage: check the claims against every passage in a separate call.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3, "Self-knowledge".
    """

    right: ClassVar[bool] = True
    called: ClassVar[str] = "known_without_contexts"
