"""A LangChain embedding model as the core's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from langchain_core.embeddings import Embeddings

from ragmetrics_core import InvalidInput, Reply, Usage

from ._failures import Explained
from ._home import Home, in_own_thread
from ._identity import identity_of, name_of, secrets_of

__all__ = ["LangChainEmbeddings"]

SURROGATE = re.compile("[\ud800-\udfff]")


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
        self.embeddings = embeddings
        self._home = Home()

    @property
    def identity(self) -> dict[str, Any] | None:
        """Every setting that can change a vector, without secrets; None for a model that does not tell."""
        return identity_of(self.embeddings)

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, in order; the usage counts one call, as LangChain reports no more.

        Raises:
            ModelError: the model could not be reached or refused.
            InvalidInput: a lone text instead of a list, or an item that is no text.
        """
        items = _readable(texts)
        if not items:
            return Reply([], Usage())
        explained = Explained(name_of(self.embeddings), secrets_of(self.embeddings))
        with explained:
            return Reply(self.embeddings.embed_documents(items))
        raise explained.problem

    async def aembed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """One vector per text, without blocking the running loop; otherwise the same as ``embed``."""
        if not self._home.is_here():
            return await in_own_thread(partial(self.embed, texts))
        items = _readable(texts)
        if not items:
            return Reply([], Usage())
        explained = Explained(name_of(self.embeddings), secrets_of(self.embeddings))
        with explained:
            return Reply(await self.embeddings.aembed_documents(items))
        raise explained.problem

    def __deepcopy__(self, memo: Any) -> LangChainEmbeddings:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        return f"{type(self).__name__}({name_of(self.embeddings)})"


def _readable(texts: Iterable[str]) -> list[str]:
    """The texts, with lone surrogates replaced by U+FFFD, the sign for what is no character: no model can read them."""
    if isinstance(texts, str):
        raise InvalidInput("embed takes a list of texts, got one str: write [text]")
    items = list(texts)
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"embed: text [{index}] must be a str, got {type(item).__name__}")
    return [SURROGATE.sub("\ufffd", item) for item in items]
