"""Cross-encoders of the sentence-transformers package: a score per pair of texts, read together.

Strategy. The scale of a score is the model's own affair and is known before any text is seen: a model whose activation is a
sigmoid gives 0 to 1, one without an activation gives a logit, which becomes 0 to 1 by the sigmoid here, pair by pair. Guessing
the scale from the scores of a batch would make the score of one pair depend on the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._kernel._errors import InvalidInput
from .._kernel._model_traits import readable_texts
from .._kernel._requests import Reply
from ._local import LocalModel

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as SentenceTransformersCrossEncoder  # noqa: F401  in quotes below


class CrossEncoder(LocalModel["SentenceTransformersCrossEncoder"]):
    """A pair scorer that runs in this process; loaded when first used.

    Args:
        model: name on the Hugging Face Hub, a folder, or a loaded ``sentence_transformers.CrossEncoder``; one with one label.
        device: such as ``cpu`` or ``cuda``; default: the best there is.
        batch_size: pairs computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded one.
    """

    _kind = "CrossEncoder"

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Reply[list[float]]:
        """One number per pair, from 0 (unrelated) to 1 (same meaning).

        Raises:
            ModelError: the model cannot be loaded, or not on the device.
            InvalidInput: the model has several labels, or an activation whose scale is unknown.
        """
        items = [tuple(readable_texts(pair)) for pair in pairs]
        if not items:
            return Reply([])
        with self._lock:
            model = self._get()
            gives_logits = self._gives_logits(model)
            scores = model.predict(items, batch_size=self.batch_size, show_progress_bar=False).tolist()
        return Reply([sigmoid(score) for score in scores] if gives_logits else scores)

    def _gives_logits(self, model: Any) -> bool:
        labels = model.config.num_labels
        if labels != 1:
            raise InvalidInput(
                f"{self!r} has {labels} labels, but a similarity is one number: give a model with "
                "num_labels=1, such as 'cross-encoder/stsb-roberta-base'"
            )
        # before sentence-transformers 4 the attribute had the longer name
        activation = model.activation_fn if hasattr(model, "activation_fn") else model.default_activation_function
        name = type(activation).__name__
        if name not in ("Identity", "Sigmoid"):
            raise InvalidInput(
                f"{self!r} ends in the activation {name}, whose scale is unknown: load it with "
                "activation_fn=torch.nn.Sigmoid() and give the loaded model"
            )
        return name == "Identity"


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1 + power)
