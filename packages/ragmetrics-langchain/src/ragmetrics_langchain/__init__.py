"""RAG evaluation metrics in LangChain: metrics as Runnables, a callback that evaluates live chains, evaluators for LangSmith.

Depends only on langchain-core. The metrics themselves live in ``ragmetrics_core.metrics``.
"""

from __future__ import annotations

from ._callback import EvaluationRecord, RagEvaluationCallback
from ._evaluators import as_langsmith_evaluator, as_openevals, langsmith_feedback
from ._models import LangChainEmbeddings, LangChainLLM
from ._runnable import MetricRunnable
from ._runs import FinishedRun

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
