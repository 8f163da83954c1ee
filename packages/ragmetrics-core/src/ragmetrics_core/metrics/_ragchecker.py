"""The eleven metrics of RAGChecker."""

from __future__ import annotations

from typing import Any

from ragmetrics_core import Metric
from ragmetrics_core.metrics import (
    ClaimUtilization,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
    Hallucination,
    NoiseSensitivity,
    PassagePrecision,
    SelfKnowledge,
)


def ragchecker_metrics(**settings: Any) -> list[Metric]:
    """Return the eleven metrics of RAGChecker, for ``evaluate``. They share their questions: 6 model calls per row in all (4 + 2n
    with ``per_passage=True``).

    Args:
        settings: for all metrics ``llm``, ``extract`` and ``verify``; for those that read passages also ``window`` and
            ``per_passage``.

    Source: Ru et al. 2024, RAGChecker, arXiv:2408.08067, section 3.3.
    """
    of_passages = {name: value for name, value in settings.items() if name in ("window", "per_passage")}
    of_all = {name: value for name, value in settings.items() if name not in of_passages}
    return [
        *(FactualCorrectness(mode=mode, name=f"factual_{mode}", **of_all) for mode in ("precision", "recall", "f1")),
        ContextRecall(**settings),
        PassagePrecision(**settings),
        ClaimUtilization(**settings),
        NoiseSensitivity(**settings, relevant=True),
        NoiseSensitivity(**settings, relevant=False),
        Hallucination(**settings),
        SelfKnowledge(**settings),
        Faithfulness(**settings),
    ]
