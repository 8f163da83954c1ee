"""Semantic answer similarity (SAS)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmetrics_core import InvalidInput, Metric, ModelError, Models, Score, Steps, compare


@dataclass(frozen=True)
class SemanticSimilarity(Metric):
    """How close the response is to the reference in meaning (-1 to 1), by an embedding model or a pair scorer.

    With an embedding model (bi-encoder) the value is the cosine of the two texts, -1 to 1. With a pair scorer (cross-encoder) it
    is the model's score for the pair (response, reference), in this order, usually 0 to 1.

    Args:
        model: the embedding model or pair scorer. It means the same as ``embeddings=``; without either, ``evaluate`` provides the
            model.

    Raises:
        InvalidInput: ``model`` and ``embeddings`` are both given and differ.

    Source: Risch, Möller, Gutsch, Pietsch 2021, Semantic Answer Similarity for Evaluating Question Answering Models,
    arXiv:2108.06130, MRQA 2021, pages 149 to 157.
    """

    scale: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    calls: ClassVar[str] = "1 embedding or pair-scorer request"

    # not part of equality, repr or the settings, because a model may hold a key
    model: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.model, str):
            raise InvalidInput(
                f"semantic_similarity: model must be a model, got the text {self.model!r}: write "
                f"SentenceTransformerEmbeddings({self.model!r}) or CrossEncoder({self.model!r})"
            )
        super().__post_init__()
        if self.model is not None and self.embeddings not in (None, self.model):
            raise InvalidInput(f"{self.name}: 'model' and 'embeddings' mean the same here: give only one")

    @property
    def models(self) -> Models:
        """The metric's own models."""
        return Models(self.llm, self.embeddings if self.model is None else self.model, self.name)

    def measure(self, response: str, reference: str) -> Steps[Score]:
        """Ask for the similarity of response and reference."""
        (similarity,) = yield from compare([(response, reference)])
        if not -1 <= similarity <= 1:
            raise ModelError(
                f"the pair scorer gave {similarity:g}, but a similarity lies between -1 and 1: does a logit lack its activation?"
            )
        return Score(similarity, details={"similarity": similarity})
