"""The metrics that share the eight calls of a row: RAGChecker's eleven, diagnosis, abstention and citations."""

from __future__ import annotations

from ragmetrics_core import Metric
from ragmetrics_core.metrics import (
    AnswerOrAbstain,
    CitationPrecision,
    CitationRecall,
    Diagnosis,
    FabricatedCitations,
    Misattribution,
    UncitedClaims,
    ragchecker_metrics,
)

__all__ = ["EVERYTHING"]

EVERYTHING: list[Metric] = [
    *ragchecker_metrics(),
    Diagnosis(),
    AnswerOrAbstain(),
    CitationRecall(),
    CitationPrecision(),
    Misattribution(),
    FabricatedCitations(),
    UncitedClaims(),
]
