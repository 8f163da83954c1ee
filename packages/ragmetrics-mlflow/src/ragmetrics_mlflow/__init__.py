"""ragmetrics for MLflow: scorers for ``mlflow.genai.evaluate``."""

from __future__ import annotations

from ._scorers import RagmetricsScorer, scorer, scorers

__all__ = ["RagmetricsScorer", "scorer", "scorers"]

__version__ = "0.1.0"
