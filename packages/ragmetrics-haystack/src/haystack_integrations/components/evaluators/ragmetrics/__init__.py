"""ragmetrics for Haystack: Haystack's nine evaluators as drop-in components, any metric as a component, and bridges to its models.

The nine replace the classes of the same names in ``haystack.components.evaluators``: constructors, sockets, outputs, errors and
saved form are Haystack's; metrics, prompts and reply formats are the core's. Rows are judged concurrently, and one bad row never
costs the others. Importing the package registers all components, so that Haystack can load a saved pipeline in a new process.
"""

from __future__ import annotations

from haystack.components.evaluators.document_recall import RecallMode

from ._answers import AnswerExactMatchEvaluator, SASEvaluator
from ._llm_evaluator import LLMEvaluator
from ._metric_evaluator import MetricEvaluator
from ._models import HaystackEmbeddings, HaystackLLM
from ._rankings import DocumentMAPEvaluator, DocumentMRREvaluator, DocumentNDCGEvaluator, DocumentRecallEvaluator
from ._scored import ContextRelevanceEvaluator, FaithfulnessEvaluator
from ._tracer import RagmetricsTracer, with_fields

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
    "RagmetricsTracer",
    "RecallMode",
    "SASEvaluator",
    "with_fields",
]
