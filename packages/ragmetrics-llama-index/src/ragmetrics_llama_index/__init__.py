"""ragmetrics for LlamaIndex.

``MetricEvaluator`` makes a ``BaseEvaluator`` of any metric; the classes with LlamaIndex's own names replace LlamaIndex's
evaluators and retrieval metrics; ``QueryEvaluationHandler`` evaluates the queries of a running application in the background. The
other names of ``llama_index.core.evaluation`` can be imported from here as well, unchanged.
"""

from __future__ import annotations

from llama_index.core.evaluation import (
    BaseEvaluator,
    BaseRetrievalEvaluator,
    BatchEvalRunner,
    DatasetGenerator,
    EvaluationResult,
    MultiModalRetrieverEvaluator,
    QueryResponseDataset,
    RetrievalEvalResult,
    RetrievalMetricResult,
    RetrieverEvaluator,
    get_retrieval_results_df,
    resolve_metrics,
)

from ._datasets import (
    aevaluate_query_engine,
    aevaluate_retriever,
    agenerate_qa_pairs,
    evaluate_query_engine,
    evaluate_retriever,
    generate_qa_pairs,
)
from ._drop_in import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    QueryResponseEvaluator,
    RelevancyEvaluator,
    ResponseEvaluator,
    SemanticSimilarityEvaluator,
)
from ._evaluator import MetricEvaluator, MetricResult
from ._live import QueryEvaluation, QueryEvaluationHandler
from ._models import LlamaIndexEmbeddings, LlamaIndexLLM
from ._retrieval import (
    MRR,
    NDCG,
    AveragePrecision,
    HitRate,
    Precision,
    Recall,
    RetrievalMetric,
    register_retrieval_metrics,
)

__all__ = [
    "MRR",
    "NDCG",
    "AnswerRelevancyEvaluator",
    "AveragePrecision",
    "BaseEvaluator",
    "BaseRetrievalEvaluator",
    "BatchEvalRunner",
    "ContextRelevancyEvaluator",
    "CorrectnessEvaluator",
    "DatasetGenerator",
    "EvaluationResult",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "HitRate",
    "LlamaIndexEmbeddings",
    "LlamaIndexLLM",
    "MetricEvaluator",
    "MetricResult",
    "MultiModalRetrieverEvaluator",
    "PairwiseComparisonEvaluator",
    "Precision",
    "QueryEvaluation",
    "QueryEvaluationHandler",
    "QueryResponseDataset",
    "QueryResponseEvaluator",
    "Recall",
    "RelevancyEvaluator",
    "ResponseEvaluator",
    "RetrievalEvalResult",
    "RetrievalMetric",
    "RetrievalMetricResult",
    "RetrieverEvaluator",
    "SemanticSimilarityEvaluator",
    "aevaluate_query_engine",
    "aevaluate_retriever",
    "agenerate_qa_pairs",
    "evaluate_query_engine",
    "evaluate_retriever",
    "generate_qa_pairs",
    "get_retrieval_results_df",
    "register_retrieval_metrics",
    "resolve_metrics",
]

__version__ = "0.1.0"
