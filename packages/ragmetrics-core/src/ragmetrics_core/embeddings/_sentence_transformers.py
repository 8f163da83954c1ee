"""Bi-encoders of the sentence-transformers package: a vector per text, computed on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._kernel._model_traits import readable_texts
from .._kernel._requests import Reply
from ._local import LocalModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer  # noqa: F401  in quotes below


class SentenceTransformerEmbeddings(LocalModel["SentenceTransformer"]):
    """An embedding model that runs in this process; loaded when first used.

    Args:
        model: name on the Hugging Face Hub, a folder, or a loaded ``SentenceTransformer``.
        device: such as ``cpu`` or ``cuda``; default: the best there is.
        batch_size: texts computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded one.
    """

    _kind = "SentenceTransformer"

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; the same up to rounding whatever the other texts are.

        Raises:
            ModelError: the model cannot be loaded, or not on the device.
            InvalidInput: an item is not a text.
        """
        items = readable_texts(texts)
        if not items:
            return Reply([])
        with self._lock:
            vectors = self._get().encode(items, batch_size=self.batch_size, show_progress_bar=False)
        return Reply(vectors.tolist())
