"""A LangChain embedding model as the core's."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.embeddings import Embeddings

from ragmetrics_core import InvalidInput, Reply, Usage
from ragmetrics_core.adapters import in_own_thread, judging, readable_texts, without_retries

from ._homes import home_of
from ._identity import explained, identity_of, name_of

__all__ = ["LangChainEmbeddings"]


class LangChainEmbeddings:
    """An embedding model behind any LangChain ``Embeddings``.

    Args:
        embeddings: the model, such as ``OpenAIEmbeddings()`` of langchain-openai.

    Raises:
        InvalidInput: it is no LangChain embedding model.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        if not isinstance(embeddings, Embeddings):
            raise InvalidInput(
                f"LangChainEmbeddings takes a LangChain embedding model, got {type(embeddings).__name__}"
            )
        self.embeddings = self._original = embeddings
        self._home = home_of(embeddings)

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a vector, without secrets; None for a model that does not tell."""
        return identity_of(self._original)

    def without_retries(self) -> LangChainEmbeddings:
        """The same model without the retries of its own client, for ``evaluate``, which makes lost calls again itself."""
        other = copy.copy(self)
        other.embeddings = without_retries(self.embeddings)
        return other

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; the usage counts one call, as LangChain reports no more.

        Raises:
            ModelError: the model could not be reached or refused.
            InvalidInput: a lone text instead of a list, or an item that is no text.
        """
        items = readable_texts(texts)
        if not items:
            return Reply([], Usage())
        attempt = explained(self.embeddings)
        with attempt, judging():
            return Reply(self.embeddings.embed_documents(items))
        raise attempt.problem

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        if not self._home.is_here():
            return await in_own_thread(partial(self.embed, texts))
        items = readable_texts(texts)
        if not items:
            return Reply([], Usage())
        attempt = explained(self.embeddings)
        with attempt, judging():
            return Reply(await self.embeddings.aembed_documents(items))
        if attempt.is_of_other_loop:
            return await in_own_thread(partial(self.embed, texts))
        raise attempt.problem

    def __deepcopy__(self, memo: Any) -> LangChainEmbeddings:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        return f"{type(self).__name__}({name_of(self.embeddings)})"
