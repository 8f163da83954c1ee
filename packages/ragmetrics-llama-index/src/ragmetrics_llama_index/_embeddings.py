"""Embeddings that are computed by any embedding model of LlamaIndex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

from llama_index.core import Settings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings.utils import resolve_embed_model

from ragmetrics_core import InvalidInput, ModelError, Reply, Usage
from ragmetrics_core.adapters import HomeLoop, in_own_thread, readable_texts

from ._calls import answers_to_any_name
from ._failures import explained
from ._identity import identity_of
from ._overriding import overrides
from ._patience import Patience

__all__ = ["LlamaIndexEmbeddings", "scorer_of"]


class LlamaIndexEmbeddings:
    """An embedding model that is called through LlamaIndex, so that its callbacks and caches take part.

    Args:
        embed_model: an embedding model of LlamaIndex, or what ``Settings.embed_model`` takes. None: ``Settings.embed_model``,
            looked up at every call.

    Raises:
        InvalidInput: ``embed_model`` is no embedding model.
    """

    def __init__(self, embed_model: Any = None) -> None:
        if embed_model is not None and not isinstance(embed_model, BaseEmbedding):
            embed_model = _resolved(embed_model)
        self._embed_model: BaseEmbedding | None = embed_model
        self._home = HomeLoop()
        self._patience = Patience()

    def without_retries(self) -> LlamaIndexEmbeddings:
        """The same model without the retries of its own, for ``evaluate``, which makes lost calls again itself."""
        other = copy(self)
        other._patience = self._patience.none()
        return other

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model that embeds.

        Raises:
            ModelError: none was given, and ``Settings.embed_model`` is not set.
        """
        if self._embed_model is not None:
            return self._embed_model
        try:
            return Settings.embed_model
        except (ImportError, ValueError) as error:
            problem = (str(error).strip().strip("*").strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            "no embedding model is set: give embed_model=... or set llama_index.core.Settings.embed_model "
            f"(its default cannot be loaded: {problem})",
            fatal=True,
        )

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a vector, and no key; None where the model cannot say what it is."""
        try:
            model = self.embed_model
        except ModelError:
            return None
        return identity_of(model, model.model_name)

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; lone surrogates, which no model can read, count as U+FFFD.

        Raises:
            ModelError: the model or its server failed.
            InvalidInput: a lone text instead of a list, or an item that is no text.
        """
        model = self.embed_model
        items = readable_texts(texts)
        attempt = explained(model, model.model_name)
        with attempt:
            return _counted(self._patience.of(model).get_text_embedding_batch(items) if items else [])
        raise attempt.problem

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        model = self.embed_model
        if not (has_own_async(model) and self._home.is_here()):
            return await in_own_thread(partial(self.embed, texts))
        items = readable_texts(texts)
        attempt = explained(model, model.model_name)
        with attempt:
            return _counted(await self._patience.of(model).aget_text_embedding_batch(items) if items else [])
        if attempt.is_of_other_loop:
            return await in_own_thread(partial(self.embed, texts))
        raise attempt.problem

    def __reduce__(self) -> tuple[Any, ...]:
        return (LlamaIndexEmbeddings, (self._embed_model,))  # its event loop belongs to this process

    def __deepcopy__(self, memo: Mapping[int, Any]) -> LlamaIndexEmbeddings:
        return self  # a handle: copies of what holds it share its model

    def __repr__(self) -> str:
        model = self._embed_model
        return f"LlamaIndexEmbeddings({'' if model is None else f'<{type(model).__name__} {model.model_name!r}>'})"


def has_own_async(model: BaseEmbedding) -> bool:
    """Whether the asynchronous methods do more than call the synchronous ones, as those of the base class do."""
    names = ("_aget_text_embedding", "_aget_text_embeddings")
    return any(overrides(type(model), BaseEmbedding, name) for name in names)


def _counted(vectors: list[list[float]]) -> Reply[list[list[float]]]:
    return Reply(vectors, Usage(calls=1))


def _resolved(embed_model: Any) -> BaseEmbedding:
    try:
        return resolve_embed_model(embed_model)
    except (AssertionError, AttributeError):
        kind = type(embed_model).__name__
    raise InvalidInput(f"LlamaIndexEmbeddings takes an embedding model of LlamaIndex, got {kind}")


def scorer_of(embed_model: Any) -> Any:
    """The model that embeds or compares; what has the methods of the core's models is one already."""
    own = any(hasattr(embed_model, name) for name in ("embed", "aembed", "compare", "acompare"))
    own = own and not answers_to_any_name(embed_model)
    return embed_model if own and not isinstance(embed_model, BaseEmbedding) else LlamaIndexEmbeddings(embed_model)
