"""Names that are not where they are looked for: those of RAGAS with a direct replacement, and ours in another module.

A module asks here before it says that it has no such attribute. The error is an ``ImportError``, since the text of an
``AttributeError`` is lost on the way out of ``from module import name``. No name of RAGAS becomes an alias of ours, as the scores
differ. The page for users of RAGAS has all of their names, with those that have no replacement.
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
"""What to use here, and the names of RAGAS 0.1 to 0.4 that it replaces."""

REPLACED = {name: use for use, names in REPLACEMENTS.items() for name in names.split()}


def replacement_of(name: str) -> str | None:
    """What to use instead of a name of RAGAS, in words; None for other names."""
    return f"instead of RAGAS' {name}, use {REPLACED[name]}" if name in REPLACED else None


def no_attribute(module: str, name: str) -> Exception:
    """The error for a module that has no such attribute."""
    advice = replacement_of(name)
    if advice is None and name[:1].isupper():
        homes = (f"ragmetrics_core.{home}" for home in OWN_MODULES)
        home = next((home for home in homes if name in importlib.import_module(home).__all__), None)
        advice = home and f"it is in {home}: from {home} import {name}"
    if advice is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return ImportError(f"cannot import name {name!r} from {module!r}: {advice}", name=module)
