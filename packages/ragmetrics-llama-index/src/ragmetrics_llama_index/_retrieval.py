"""The ranking metrics of the core as retrieval metrics of LlamaIndex.

They compare identifiers of nodes. As trec_eval has it, a node that is retrieved twice counts once, at its first rank, so no
value exceeds 1; an empty result is 0.0 and no error.
"""

from __future__ import annotations

from typing import Any, ClassVar

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from ragmetrics_core import InvalidInput, Metric, MissingInput
from ragmetrics_core import metrics as core

__all__ = [
    "MRR",
    "NDCG",
    "AveragePrecision",
    "HitRate",
    "Precision",
    "Recall",
    "RetrievalMetric",
    "register_retrieval_metrics",
]


class RetrievalMetric(BaseRetrievalMetric):
    """Any metric of the core that compares ``retrieved_documents`` with ``reference_documents``, by identifier.

    Attributes:
        metric: the metric, with ``field="id"``.
    """

    metric_name: ClassVar[str] = "retrieval_metric"
    metric: Any = Field(default_factory=lambda: core.NDCG(field="id"))

    def model_post_init(self, context: Any, /) -> None:
        """Check the metric.

        Raises:
            InvalidInput: it does not compare rankings.
        """
        super().model_post_init(context)
        if not isinstance(self.metric, Metric) or "retrieved_documents" not in self.metric.inputs:
            raise InvalidInput(f"RetrievalMetric takes a ranking metric such as NDCG(field='id'), got {self.metric!r}")

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,  # noqa: ARG002  nodes are the same when their identifiers are
        retrieved_texts: list[str] | None = None,  # noqa: ARG002
        **_: Any,
    ) -> RetrievalMetricResult:
        """Score one ranking; the metadata holds the ranks of the hits.

        Raises:
            ValueError: no identifiers are given, or no expected one.
        """
        for name, ids in (("retrieved_ids", retrieved_ids), ("expected_ids", expected_ids)):
            if ids is None:
                raise MissingInput(self.metric_name, name)
        score = self.metric.score(
            user_input=query, retrieved_documents=list(retrieved_ids or ()), reference_documents=expected_ids
        )
        if score.value is None:
            raise ValueError(f"{self.metric_name}: {score.error or score.reason}")
        return RetrievalMetricResult(score=score.value, metadata=dict(score.details))


class Ranking(RetrievalMetric):
    """A ranking metric that is made by name, as LlamaIndex makes its own.

    Attributes:
        k: look at the first k retrieved nodes only; None for all.
    """

    core_metric: ClassVar[type[Any]] = core.NDCG
    k: int | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Make the metric of the core from the setting."""
        super().model_post_init(context)
        self.metric = self.core_metric(k=self.k, field="id")


class HitRate(Ranking):
    """1.0 if any expected node is among the retrieved ones, else 0.0."""

    metric_name: ClassVar[str] = "hit_rate"
    core_metric: ClassVar[type[Any]] = core.HitRate


class MRR(Ranking):
    """1 / rank of the first expected node, 0.0 without any."""

    metric_name: ClassVar[str] = "mrr"
    core_metric: ClassVar[type[Any]] = core.ReciprocalRank


class Precision(Ranking):
    """Expected nodes among the retrieved ones / retrieved (or the first k)."""

    metric_name: ClassVar[str] = "precision"
    core_metric: ClassVar[type[Any]] = core.Precision


class Recall(Ranking):
    """Expected nodes that were retrieved / expected nodes."""

    metric_name: ClassVar[str] = "recall"
    core_metric: ClassVar[type[Any]] = core.Recall


class AveragePrecision(Ranking):
    """Sum over hits of precision at their ranks / number of expected nodes."""

    metric_name: ClassVar[str] = "ap"
    core_metric: ClassVar[type[Any]] = core.AveragePrecision


class NDCG(Ranking):
    """Discounted cumulative gain / that of the ideal ranking, cut at the same k."""

    metric_name: ClassVar[str] = "ndcg"
    core_metric: ClassVar[type[Any]] = core.NDCG


def register_retrieval_metrics(prefix: str = "ragmetrics_") -> list[str]:
    """Make the six ranking metrics known to ``RetrieverEvaluator.from_metric_names``; the names they are known by.

    Args:
        prefix: put before ``hit_rate``, ``mrr``, ``precision``, ``recall``, ``ap`` and ``ndcg``. An empty one takes the places of
            LlamaIndex's own metrics.
    """
    if not isinstance(prefix, str):
        raise InvalidInput(f"register_retrieval_metrics: prefix must be a str, got {type(prefix).__name__}")
    for cls in (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG):
        name = f"{prefix}{cls.metric_name}"
        METRIC_REGISTRY[name] = (
            type(cls.__name__, (cls,), {"metric_name": name, "__module__": __name__}) if prefix else cls
        )
    return [f"{prefix}{cls.metric_name}" for cls in (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG)]
