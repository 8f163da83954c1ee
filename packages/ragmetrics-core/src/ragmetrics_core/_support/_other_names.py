"""Names that people look for where they are not: RAGAS' names, with what to use instead, and ours, with their module.

A module asks here before it says that it has no such attribute. For a name in the table it raises an ``ImportError``, since the
text of an ``AttributeError`` is lost on the way out of ``from module import name``. The guide for users of RAGAS is written
from the same table.
"""

from __future__ import annotations

import importlib

__all__ = ["ELSEWHERE", "no_attribute", "where_it_is"]

OWN_MODULES = ("metrics", "llms", "embeddings", "replies", "testing")

NOT_HERE = "has no counterpart here"
RUBRIC = "RubricScore"
JUDGE = "CustomJudge, a question of your own over columns of your own"
CRITERION = "Guideline for a verdict by written guidelines, or CustomJudge"
OWN = "a metric of your own, see docs/own-metric.md, or CustomJudge"

ELSEWHERE: dict[str, str] = {
    # ragas.metrics, from 0.1 to 0.4, with what to use instead in ragmetrics_core.metrics
    "faithfulness": "Faithfulness()",
    "FaithfulnesswithHHEM": "Faithfulness",
    "answer_relevancy": "AnswerRelevancy()",
    "ResponseRelevancy": "AnswerRelevancy",
    "context_precision": "ContextPrecision()",
    "LLMContextPrecisionWithReference": "ContextPrecision",
    "ContextPrecisionWithReference": "ContextPrecision",
    "context_utilization": "ContextUtilization()",
    "LLMContextPrecisionWithoutReference": "ContextUtilization",
    "ContextPrecisionWithoutReference": "ContextUtilization",
    "context_recall": "ContextRecall()",
    "LLMContextRecall": "ContextRecall",
    "context_relevancy": "ContextRelevance()",
    "ContextRelevancy": "ContextRelevance",
    "answer_correctness": "AnswerCorrectness()",
    "answer_similarity": "SemanticSimilarity()",
    "AnswerSimilarity": "SemanticSimilarity",
    "IDBasedContextPrecision": 'Precision(field="id"), over retrieved_documents and reference_documents',
    "IDBasedContextRecall": 'Recall(field="id"), over retrieved_documents and reference_documents',
    "NonLLMContextPrecisionWithReference": "AveragePrecision, over retrieved_documents and reference_documents",
    "NonLLMContextRecall": "Recall, over retrieved_documents and reference_documents",
    "NonLLMStringSimilarity": "TokenF1",
    "RubricsScore": RUBRIC,
    "InstanceRubrics": RUBRIC,
    "DomainSpecificRubrics": RUBRIC,
    "InstanceSpecificRubrics": RUBRIC,
    "LabelledRubricsScore": RUBRIC,
    "ReferenceFreeRubricsScore": RUBRIC,
    "AspectCritic": CRITERION,
    "AspectCritique": CRITERION,
    "SimpleCriteria": JUDGE,
    "SimpleCriteriaScore": JUDGE,
    "DiscreteMetric": OWN,
    "NumericMetric": OWN,
    "RankingMetric": OWN,
    "discrete_metric": OWN,
    "numeric_metric": OWN,
    "ranking_metric": OWN,
    "MetricWithLLM": OWN,
    "SingleTurnMetric": OWN,
    "ContextEntityRecall": NOT_HERE,
    "context_entity_recall": NOT_HERE,
    "NoiseSensitivity": NOT_HERE,
    "SummarizationScore": NOT_HERE,
    "summarization_score": NOT_HERE,
    "SummaryScore": NOT_HERE,
    "BleuScore": NOT_HERE,
    "RougeScore": NOT_HERE,
    "ChrfScore": NOT_HERE,
    "CHRFScore": NOT_HERE,
    "StringPresence": NOT_HERE,
    "DataCompyScore": NOT_HERE,
    "LLMSQLEquivalence": NOT_HERE,
    "SQLSemanticEquivalence": NOT_HERE,
    "MultiModalFaithfulness": NOT_HERE,
    "MultiModalRelevance": NOT_HERE,
    "AgentGoalAccuracy": NOT_HERE,
    "AgentGoalAccuracyWithReference": NOT_HERE,
    "AgentGoalAccuracyWithoutReference": NOT_HERE,
    "TopicAdherence": NOT_HERE,
    "TopicAdherenceScore": NOT_HERE,
    "ToolCallAccuracy": NOT_HERE,
    "ToolCallF1": NOT_HERE,
    # the rest of ragas
    "SingleTurnSample": "ragmetrics_core.Sample, or a plain dict",
    "MultiTurnSample": "a Sample or a dict for each turn",
    "EvaluationDataset": "a list of dicts or Samples (evaluate takes RAGAS' own EvaluationDataset too)",
    "EvaluationResult": "ragmetrics_core.Evaluation",
    "RunConfig": "the arguments max_concurrency, timeout and max_retries of evaluate",
    "DiskCacheBackend": "evaluate(run_dir=), which keeps every reply",
    "TestsetGenerator": "ragmetrics_core.generate_testset",
    "LangchainLLMWrapper": "ragmetrics_langchain.LangChainLLM (pip install ragmetrics-langchain)",
    "LangchainEmbeddingsWrapper": "ragmetrics_langchain.LangChainEmbeddings (pip install ragmetrics-langchain)",
    "LlamaIndexLLMWrapper": "ragmetrics_llama_index.LlamaIndexLLM (pip install ragmetrics-llama-index)",
    "LlamaIndexEmbeddingsWrapper": "ragmetrics_llama_index.LlamaIndexEmbeddings (pip install ragmetrics-llama-index)",
    "HaystackLLMWrapper": "ragmetrics_haystack.HaystackLLM (pip install ragmetrics-haystack)",
    "HuggingfaceEmbeddings": "ragmetrics_core.embeddings.SentenceTransformerEmbeddings",
    "HuggingFaceEmbeddings": "ragmetrics_core.embeddings.SentenceTransformerEmbeddings",
}
"""RAGAS' names, and what to use instead."""


def where_it_is(name: str) -> str | None:
    """What to use instead of RAGAS' name, in words; None for other names."""
    use = ELSEWHERE.get(name)
    if use is None:
        return None
    return f"RAGAS' {name} {use}" if use == NOT_HERE else f"instead of RAGAS' {name}, use {use}"


def no_attribute(module: str, name: str) -> Exception:
    """The error for a module that has no such attribute."""
    advice = where_it_is(name)
    if advice is None and name[:1].isupper():
        home = next((home for home in OWN_MODULES if name in _names(home)), None)
        advice = home and f"it is in ragmetrics_core.{home}: from ragmetrics_core.{home} import {name}"
    if advice is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"cannot import name {name!r} from {module!r}: {advice}", name=module)


def _names(home: str) -> list[str]:
    names: list[str] = importlib.import_module(f"ragmetrics_core.{home}").__all__
    return names
