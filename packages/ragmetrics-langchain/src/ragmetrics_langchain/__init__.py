"""RAG evaluation metrics in LangChain: every metric a Runnable, a callback that evaluates live chains, evaluators for LangSmith.

Depends on langchain-core alone. The metrics themselves live in ``ragmetrics_core.metrics``.
"""

from __future__ import annotations

from ._live._callback import RagEvaluationCallback
from ._live._record import EvaluationRecord
from ._live._tree import FinishedRun
from ._metric._evaluators import as_langsmith_evaluator, as_openevals, langsmith_feedback
from ._metric._runnable import MetricRunnable
from ._model._models import LangChainEmbeddings, LangChainLLM

__all__ = [
    "EvaluationRecord",
    "FinishedRun",
    "LangChainEmbeddings",
    "LangChainLLM",
    "MetricRunnable",
    "RagEvaluationCallback",
    "as_langsmith_evaluator",
    "as_openevals",
    "langsmith_feedback",
]

__version__ = "0.1.0"
