"""Haystack's two evaluators that compare an answer with the expected one: exact match and semantic similarity.

Strategy. The model of similarity is loaded as Haystack loads it (device, token, kind of model by its architecture). The core then
computes the cosine, or the cross-encoder's score. A cross-encoder without an activation gets the sigmoid for each pair on its own;
in Haystack, whether it is applied depends on the other pairs of the batch.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

from haystack import component, default_from_dict, default_to_dict
from ragmetrics_core import Models, compare, run
from ragmetrics_core.embeddings import CrossEncoder, SentenceTransformerEmbeddings

from ._models import HOME


@component
class AnswerExactMatchEvaluator:
    """Whether each predicted answer equals the expected one, character by character."""

    __module__ = HOME

    @component.output_types(individual_scores=list[int], score=float)
    def run(self, ground_truth_answers: list[str], predicted_answers: list[str]) -> dict[str, Any]:
        """Compare the answers pair by pair.

        Args:
            ground_truth_answers: the expected answers.
            predicted_answers: the answers to judge, in the same order.

        Returns:
            ``individual_scores``: 1 or 0 for each pair; ``score``: their mean.

        Raises:
            ValueError: a list is empty, or the lists differ in length.
        """
        if len(ground_truth_answers) == 0 or len(predicted_answers) == 0:
            raise ValueError("ground_truth_answers and predicted_answers must be provided.")
        if len(ground_truth_answers) != len(predicted_answers):
            raise ValueError("The length of ground_truth_answers and predicted_answers must be the same.")
        # not the core's ExactMatch, which compares texts only: Haystack also takes numbers, lists and None
        pairs = zip(ground_truth_answers, predicted_answers, strict=True)
        scores = [1 if expected == predicted else 0 for expected, predicted in pairs]
        return {"individual_scores": scores, "score": sum(scores) / len(scores)}


@component
class SASEvaluator:
    """How close each predicted answer is to the expected one in meaning, by a model that runs in this process.

    Args:
        model: name on the Hugging Face Hub, or a folder: a bi-encoder (cosine, -1 to 1) or a cross-encoder with one label
            (0 to 1, for the pair of prediction and expected answer, in this order).
        batch_size: texts or pairs computed at once.
        device: where the model computes; None: the best there is.
        token: the token of the Hub.

    Raises:
        ImportError: the sentence-transformers package is not installed.
    """

    __module__ = HOME

    def __init__(
        self,
        model: str = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
        batch_size: int = 32,
        device: ComponentDevice | None = None,
        token: Secret = Secret.from_env_var(["HF_API_TOKEN", "HF_TOKEN"], strict=False),  # noqa: B008  as in Haystack
    ) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ImportError("SASEvaluator needs a package: run 'pip install \"sentence-transformers>=5.0.0\"'")
        self._model = model
        self._batch_size = batch_size
        self._device = device
        self._token = token
        self._similarity_model: CrossEncoder | SentenceTransformerEmbeddings | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values, as Haystack saves it."""
        return default_to_dict(
            self, model=self._model, batch_size=self._batch_size, device=self._device, token=self._token
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SASEvaluator:
        """Make the component that ``to_dict`` wrote; ``data`` is not changed."""
        return default_from_dict(cls, {**data, "init_parameters": dict(data.get("init_parameters", {}))})

    def warm_up(self) -> None:
        """Load the model if it is not loaded yet."""
        if self._similarity_model is None:
            self._similarity_model = self._load()

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, ground_truth_answers: list[str], predicted_answers: list[str]) -> dict[str, Any]:
        """Compare the answers pair by pair.

        Args:
            ground_truth_answers: the expected answers.
            predicted_answers: the answers to judge, in the same order.

        Returns:
            ``individual_scores``: one similarity per pair; ``score``: their mean. Without pairs, both are 0, as in Haystack.

        Raises:
            ValueError: the lists differ in length, an answer is not a text, or the cross-encoder has several labels.
        """
        if len(ground_truth_answers) != len(predicted_answers):
            raise ValueError("The number of predictions and labels must be the same.")
        if any(answer is None for answer in predicted_answers):
            raise ValueError("Predicted answers must not contain None values.")
        if len(predicted_answers) == 0:
            return {"score": 0.0, "individual_scores": [0.0]}
        self.warm_up()
        pairs = zip(predicted_answers, ground_truth_answers, strict=True)
        scores = run(compare(pairs), Models(embeddings=self._similarity_model))
        return {"score": sum(scores) / len(scores), "individual_scores": scores}

    def _load(self) -> CrossEncoder | SentenceTransformerEmbeddings:
        import sentence_transformers  # noqa: PLC0415  heavy
        from transformers import AutoConfig  # noqa: PLC0415  heavy

        token = self._token.resolve_value() if self._token else None
        config = AutoConfig.from_pretrained(self._model, token=token)
        settings = {"device": ComponentDevice.resolve_device(self._device).to_torch_str(), "token": token}
        if any(name.endswith("ForSequenceClassification") for name in config.architectures or ()):
            return CrossEncoder(
                sentence_transformers.CrossEncoder(self._model, **settings), batch_size=self._batch_size
            )
        model = sentence_transformers.SentenceTransformer(self._model, **settings)
        return SentenceTransformerEmbeddings(model, batch_size=self._batch_size)
