"""Advice for names that a module does not have: names of RAGAS with a direct replacement, and our names in another module.

Modules use it in ``__getattr__``. The error is an ``ImportError``, because ``from module import name`` drops the text of an
``AttributeError``. No name of RAGAS is an alias of one of ours, because the scores differ. The page for users of RAGAS lists all
its names, including those without a replacement.
"""

from __future__ import annotations

import importlib

OWN_MODULES = ("metrics", "llms", "embeddings", "replies", "testing")

REPLACEMENTS = {
    "Faithfulness": "faithfulness FaithfulnesswithHHEM",
    "AnswerRelevancy": "answer_relevancy ResponseRelevancy",
    "ContextPrecision": "context_precision LLMContextPrecisionWithReference ContextPrecisionWithReference",
    "ContextUtilization": "context_utilization LLMContextPrecisionWithoutReference ContextPrecisionWithoutReference",
    "ContextRecall": "context_recall LLMContextRecall",
    "ContextRelevance": "context_relevancy ContextRelevancy",
    "AnswerCorrectness": "answer_correctness",
    "SemanticSimilarity": "answer_similarity AnswerSimilarity",
    "NoiseSensitivity": "noise_sensitivity_relevant noise_sensitivity_irrelevant",
    'Precision(field="id")': "IDBasedContextPrecision",
    'Recall(field="id")': "IDBasedContextRecall",
    "AveragePrecision": "NonLLMContextPrecisionWithReference",
    "Recall": "NonLLMContextRecall",
    "TokenF1": "NonLLMStringSimilarity",
    "RubricScore": "RubricsScore DomainSpecificRubrics InstanceRubrics InstanceSpecificRubrics",
    "Guideline": "AspectCritic AspectCritique",
    "CustomJudge": "SimpleCriteria SimpleCriteriaScore DiscreteMetric NumericMetric",
    "evaluate(timeout=, max_retries=, max_concurrency=)": "RunConfig",
    "evaluate(run_dir=)": "DiskCacheBackend",
    "ragmetrics_core.Sample": "SingleTurnSample TestsetSample",
    "a list of dicts or Samples": "EvaluationDataset RagasDataset Dataset",
    "ragmetrics_core.Evaluation": "Result EvaluationResult",
    "ragmetrics_core.Score": "MetricResult",
    "ragmetrics_core.Prompt": "BasePrompt PydanticPrompt StringPrompt",
    "ragmetrics_core.generate_testset": "TestsetGenerator",
    "ragmetrics_core.llms.LLM": "BaseRagasLLM",
    "ragmetrics_core.embeddings.Embeddings": "BaseRagasEmbeddings",
    "ragmetrics_core.embeddings.SentenceTransformerEmbeddings": "HuggingfaceEmbeddings HuggingFaceEmbeddings",
    "ragmetrics_langchain.LangChainLLM": "LangchainLLMWrapper",
    "ragmetrics_langchain.LangChainEmbeddings": "LangchainEmbeddingsWrapper",
    "ragmetrics_langchain.MetricRunnable": "EvaluatorChain",
    "ragmetrics_llama_index.LlamaIndexLLM": "LlamaIndexLLMWrapper",
    "ragmetrics_llama_index.LlamaIndexEmbeddings": "LlamaIndexEmbeddingsWrapper",
    "ragmetrics_haystack.HaystackLLM": "HaystackLLMWrapper",
    "ragmetrics_haystack.HaystackEmbeddings": "HaystackEmbeddingsWrapper",
}
"""The names to use here, each with the names of RAGAS 0.1 to 0.4 that it replaces."""

REPLACED = {name: use for use, names in REPLACEMENTS.items() for name in names.split()}


def replacement_of(name: str) -> str | None:
    """Return a sentence on what to use instead of a name of RAGAS; None for other names."""
    return f"instead of RAGAS' {name}, use {REPLACED[name]}" if name in REPLACED else None


def no_attribute(module: str, name: str) -> Exception:
    """Return the error for a module without this attribute: with advice if there is any."""
    advice = replacement_of(name)
    if advice is None and name[:1].isupper():
        homes = (f"ragmetrics_core.{home}" for home in OWN_MODULES)
        home = next((home for home in homes if name in importlib.import_module(home).__all__), None)
        advice = home and f"it is in {home}: from {home} import {name}"
    if advice is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"cannot import name {name!r} from {module!r}: {advice}", name=module)
