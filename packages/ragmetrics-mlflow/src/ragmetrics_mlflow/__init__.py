"""ragmetrics for MLflow: scorers for ``mlflow.genai.evaluate``, and whole evaluations as runs."""

from __future__ import annotations

from ._runs import from_mlflow, log_evaluation
from ._scorers import RagmetricsScorer, scorer, scorers

__all__ = ["RagmetricsScorer", "from_mlflow", "log_evaluation", "scorer", "scorers"]

__version__ = "0.1.0"
