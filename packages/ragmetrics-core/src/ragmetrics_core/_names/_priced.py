"""Models by name for a price alone: nothing is called, so neither the package of a model nor its key need be there.

Where the package is missing, what stands in for the model says of itself what the model would, so that the price is the same, and
replies that an earlier run has kept are found.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._kernel._errors import MissingExtra
from ._models import embeddings_named, is_server, llm_named

NO_KEY = "none"
"""Stands in for the key of a server that answers nobody without one; it is never sent."""


class Uncalled:
    """What a model of OpenAI's protocol says of itself, with no way to call it.

    Args:
        missing: what a call would raise.
        model: its name.
        base_url: where it is.
        settings: what else identifies it.
    """

    def __init__(self, missing: MissingExtra, model: str, base_url: str, **settings: Any) -> None:
        self._missing = missing
        self.model = model
        self.identity = {"provider": "openai", "model": model, "base_url": base_url, **settings}

    def generate(self, _: object) -> NoReturn:
        """Say which package is missing."""
        raise self._missing

    embed = generate


def llm_to_price(model: Any, base_url: str | None = None) -> Any:
    """The LLM that a text names, or what stands in for it; anything but a text is returned unchanged.

    Raises:
        InvalidInput: as ``llm_named``.
        MissingExtra: it is at one of Azure's older addresses, and the openai package is not installed.
    """
    try:
        return llm_named(model, base_url, NO_KEY)
    except MissingExtra as missing:
        provider, _, name = model.strip().partition(":")
        known = provider in ("openai", "server") or is_server(provider)
        named = name.strip() if known and name else model.strip()
        return Uncalled(missing, named, _address(provider, base_url), structured="schema", parameters={})


def embeddings_to_price(model: Any, base_url: str | None = None) -> Any:
    """The embedding model that a text names, or what stands in for it; anything but a text is returned unchanged.

    Raises:
        InvalidInput: as ``embeddings_named``.
        MissingExtra: the package of a model that is computed here is not installed.
    """
    try:
        return embeddings_named(model, base_url)
    except MissingExtra as missing:
        provider, _, name = model.partition(":")
        if provider.strip() != "openai" and not is_server(provider):
            raise
        return Uncalled(
            missing, name.strip() or "text-embedding-3-small", _address(provider, base_url), dimensions=None
        )


def _address(provider: str, base_url: str | None) -> str:
    from ..llms._factory import address_of  # noqa: PLC0415  loaded where a name is used

    return address_of(provider, base_url)
