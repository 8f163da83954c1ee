"""Semantic similarity by the embedding model that LlamaIndex uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from llama_index.core.base.embeddings.base import SimilarityMode, similarity

from ragmetrics_core import InvalidInput, Metric, Score, Steps, embed
from ragmetrics_core.metrics import SemanticSimilarity

from .._metric._evaluator import MetricEvaluator, OnError

__all__ = ["SemanticSimilarityEvaluator"]


@dataclass(frozen=True)
class VectorSimilarity(Metric):
    """Similarity of response and reference by any function of their two vectors; it has no bounds.

    Attributes:
        function: from two vectors to a number.
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1 embedding request"

    function: Callable[..., float] = field(default=similarity, repr=False, compare=False)

    def measure(self, response: str, reference: str) -> Steps[Score]:
        """Embed both texts, compare their vectors."""
        left, right = yield from embed([response, reference])
        value = float(self.function(left, right))
        return Score(value, details={"similarity": value})


class SemanticSimilarityEvaluator(MetricEvaluator):
    """How close the response is to the reference in meaning; takes the place of LlamaIndex's class of this name.

    Args:
        embed_model: the embedding model; None: ``Settings.embed_model``, looked up when it is asked.
        similarity_fn: from two vectors to a number, instead of a mode.
        similarity_mode: ``cosine`` (the default, clipped to -1 to 1), ``dot_product`` or ``euclidean`` (the negative distance).
        similarity_threshold: lowest passing similarity.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.

    Raises:
        InvalidInput: both a function and a mode are given.
    """

    positional = ("reference",)

    def __init__(
        self,
        embed_model: Any = None,
        similarity_fn: Callable[..., float] | None = None,
        similarity_mode: SimilarityMode | str | None = None,
        similarity_threshold: float = 0.8,
        *,
        on_error: OnError = "raise",
    ) -> None:
        if similarity_fn is not None and similarity_mode is not None:
            raise InvalidInput("Cannot specify both similarity_fn and similarity_mode: leave one of them out")
        if similarity_fn is not None and not callable(similarity_fn):
            raise InvalidInput(f"similarity_fn must be a function of two vectors, got {similarity_fn!r}")
        mode = SimilarityMode(similarity_mode or SimilarityMode.DEFAULT)
        metric: Metric = SemanticSimilarity()
        if similarity_fn is not None or mode is not SimilarityMode.DEFAULT:
            function = similarity_fn or partial(similarity, mode=mode)
            metric = VectorSimilarity(function, name=metric.name)
        super().__init__(metric, embed_model=embed_model, threshold=similarity_threshold, on_error=on_error)
