"""ragmetrics for Haystack: Haystack's nine evaluators as drop-in components, any metric as a component, and bridges to its models.

``AnswerExactMatchEvaluator`` to ``SASEvaluator`` take the places of the classes of ``haystack.components.evaluators``: the same
constructors, sockets, outputs, errors and saved form, over the metrics, prompts and reply formats of ``ragmetrics_core``. Rows are
judged concurrently, and one bad row never costs the others.
"""

from __future__ import annotations

from ._context_relevance import ContextRelevanceEvaluator
from ._embeddings import HaystackEmbeddings
from ._exact_match import AnswerExactMatchEvaluator
from ._faithfulness import FaithfulnessEvaluator
from ._llm import HaystackLLM
from ._llm_evaluator import LLMEvaluator
from ._metric_evaluator import MetricEvaluator
from ._ndcg import DocumentNDCGEvaluator
from ._ranking import DocumentMAPEvaluator, DocumentMRREvaluator
from ._recall import DocumentRecallEvaluator, RecallMode
from ._sas import SASEvaluator

__all__ = [
    "AnswerExactMatchEvaluator",
    "ContextRelevanceEvaluator",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentRecallEvaluator",
    "FaithfulnessEvaluator",
    "HaystackEmbeddings",
    "HaystackLLM",
    "LLMEvaluator",
    "MetricEvaluator",
    "RecallMode",
    "SASEvaluator",
]
