"""ragmetrics for Haystack.

The classes live in ``haystack_integrations.components.evaluators.ragmetrics``, because Haystack loads saved pipelines from
there without being told to trust it; this is the short way to import them.
"""

from __future__ import annotations

from haystack_integrations.components.evaluators.ragmetrics import (
    AnswerExactMatchEvaluator,
    ContextRelevanceEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
    FaithfulnessEvaluator,
    HaystackEmbeddings,
    HaystackLLM,
    LLMEvaluator,
    MetricEvaluator,
    RecallMode,
    SASEvaluator,
)

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

__version__ = "0.1.0"
