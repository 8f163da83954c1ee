"""Adapters that make the ranking metrics of the core usable as retrieval metrics of LlamaIndex."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from ragmetrics_core import InvalidInput, Metric, MissingInput, Score
from ragmetrics_core import metrics as core


class Name:
    """The name of a class of metrics; an instance adds its settings to the name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, metric: RetrievalMetric | None, owner: type[RetrievalMetric]) -> str:
        return self._name if metric is None else metric._named(self._name)


class RetrievalMetric(BaseRetrievalMetric):
    """Any metric of the core that compares ``retrieved_documents`` with ``reference_documents``, by identifier.

    Attributes:
        metric: the metric, with ``field="id"``.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    metric_name: ClassVar[Any] = Name("retrieval_metric")
    metric: Any = Field(default_factory=lambda: core.NDCG(field="id"))

    def model_post_init(self, context: Any, /) -> None:
        """Check the metric.

        Raises:
            InvalidInput: it is not a ranking metric.
        """
        super().model_post_init(context)
        if not isinstance(self.metric, Metric) or "retrieved_documents" not in self.metric.inputs:
            raise InvalidInput(f"RetrievalMetric takes a ranking metric such as NDCG(field='id'), got {self.metric!r}")

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,  # noqa: ARG002  only identifiers are compared
        retrieved_texts: list[str] | None = None,  # noqa: ARG002
        **_: Any,
    ) -> RetrievalMetricResult:
        """Score one ranking; the metadata of the result holds the ranks of the hits.

        Raises:
            ValueError: ``retrieved_ids`` or ``expected_ids`` is missing, or no node is expected.
        """
        for name, ids in (("retrieved_ids", retrieved_ids), ("expected_ids", expected_ids)):
            if ids is None:
                raise MissingInput(self.metric_name, name)
        if not expected_ids:
            raise MissingInput(self.metric_name, "expected_ids", "is an empty list")
        score = self.metric.score(
            user_input=query, retrieved_documents=list(retrieved_ids or ()), reference_documents=expected_ids
        )
        if score.value is None:
            raise ValueError(f"{self.metric_name}: {score.error or score.reason}")
        return RetrievalMetricResult(score=self._value(score), metadata=dict(score.details))

    def _named(self, name: str) -> str:  # noqa: ARG002  for subclasses
        own: str = self.metric.name
        cut = getattr(self.metric, "k", None)
        return f"{own}@{cut}" if cut and own == self.metric.default_name() else own

    def _value(self, score: Score) -> float:
        """Return the value of the score; a subclass may compute a different value from the same evidence."""
        assert score.value is not None
        return score.value


class Ranking(RetrievalMetric):
    """A ranking metric that LlamaIndex can make by its name.

    Attributes:
        k: only the first k retrieved nodes count; None: all of them.
    """

    core_metric: ClassVar[type[Any]]
    k: int | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Make the metric of the core."""
        if "metric" in self.model_fields_set:
            name = type(self).__name__
            raise InvalidInput(
                f"{name} is created with {name}(k=...): for another metric write RetrievalMetric(metric=...)"
            )
        super().model_post_init(context)
        self.metric = self.core_metric(k=self.k, field="id")

    def _named(self, name: str) -> str:
        return name if self.k is None else f"{name}@{self.k}"


class HitRate(Ranking):
    """1.0 if any expected node is among the retrieved ones, else 0.0.

    Attributes:
        use_granular_hit_rate: instead, return the share of expected nodes that were retrieved.
    """

    metric_name = Name("hit_rate")
    core_metric = core.HitRate
    use_granular_hit_rate: bool = False

    def _value(self, score: Score) -> float:
        if not self.use_granular_hit_rate:
            return super()._value(score)
        return len(score.details["ranks"]) / float(score.details["relevant"])


class MRR(Ranking):
    """1 / rank of the first expected node; 0.0 if none was retrieved.

    Attributes:
        use_granular_mrr: instead, return the mean of 1 / rank over all expected nodes that were retrieved.
    """

    metric_name = Name("mrr")
    core_metric = core.ReciprocalRank
    use_granular_mrr: bool = False

    def _value(self, score: Score) -> float:
        ranks = score.details["ranks"]
        if not self.use_granular_mrr or not ranks:
            return super()._value(score)
        return sum(1 / rank for rank in ranks) / len(ranks)


class Precision(Ranking):
    """The number of expected nodes among the retrieved nodes (or the first k of them), divided by the number of the latter."""

    metric_name = Name("precision")
    core_metric = core.Precision


class Recall(Ranking):
    """The number of expected nodes that were retrieved, divided by the number of expected nodes."""

    metric_name = Name("recall")
    core_metric = core.Recall


class AveragePrecision(Ranking):
    """The sum of the precision at the rank of each hit, divided by the number of expected nodes."""

    metric_name = Name("ap")
    core_metric = core.AveragePrecision


class NDCG(Ranking):
    """Discounted cumulative gain / the gain of the ideal ranking, both cut at k.

    Attributes:
        mode: how a grade of relevance becomes a gain; as a node is either expected or not, both modes give the same value.
    """

    metric_name = Name("ndcg")
    core_metric = core.NDCG
    mode: Literal["linear", "exponential"] = "linear"


def register_retrieval_metrics(prefix: str = "ragmetrics_") -> list[str]:
    """Register the six ranking metrics for ``RetrieverEvaluator.from_metric_names``, and return their names.

    Args:
        prefix: is put before ``hit_rate``, ``mrr``, ``precision``, ``recall``, ``ap`` and ``ndcg``. An empty prefix replaces
            LlamaIndex's own metrics.
    """
    if not isinstance(prefix, str):
        raise InvalidInput(f"register_retrieval_metrics: prefix must be a str, got {type(prefix).__name__}")
    classes = {f"{prefix}{cls.metric_name}": cls for cls in (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG)}
    for name, cls in classes.items():
        attributes = {"metric_name": Name(name), "__module__": __name__}
        METRIC_REGISTRY[name] = type(cls.__name__, (cls,), attributes) if prefix else cls
    return list(classes)
