"""Bi-encoders of the sentence-transformers package: a vector per text, computed on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._requests import Reply
from ._local import LocalModel
from ._texts import readable_texts

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["SentenceTransformerEmbeddings"]


class SentenceTransformerEmbeddings:
    """An embedding model that runs in this process; loaded when first used.

    Args:
        model: name on the Hugging Face Hub, a folder, or a loaded ``SentenceTransformer``.
        device: such as ``cpu`` or ``cuda``; default: the best there is.
        batch_size: texts computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded one.
    """

    def __init__(
        self, model: str | Path | SentenceTransformer, *, device: str | None = None, batch_size: int = 32
    ) -> None:
        self.batch_size = batch_size
        self._model = LocalModel("SentenceTransformer", model, device, batch_size)

    @property
    def identity(self) -> dict[str, Any] | None:
        """The model by name; None for a loaded one, which does not say where its weights come from."""
        return self._model.identity

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; the same up to rounding whatever the other texts are.

        Raises:
            ModelError: the model cannot be loaded.
            InvalidInput: an item is not a text.
        """
        items = readable_texts(texts)
        if not items:
            return Reply([])
        with self._model.lock:
            vectors = self._model.get().encode(items, batch_size=self.batch_size, show_progress_bar=False)
        return Reply(vectors.tolist())

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """The same, in a thread, so that the running loop goes on."""
        import asyncio  # noqa: PLC0415  costs more to import than all of this package

        return await asyncio.to_thread(self.embed, texts)

    def __deepcopy__(self, memo: Any) -> SentenceTransformerEmbeddings:
        return self  # copies of what holds it share the weights

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"
