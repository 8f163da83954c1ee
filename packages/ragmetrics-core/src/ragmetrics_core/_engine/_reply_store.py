"""Where replies outlive the run that paid for them, as the engine sees it. `_store` has a journal in a file for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from .._kernel._requests import Reply


class ReplyStore(Protocol):
    """Keeps replies by key.

    Each method may raise ``RagmetricsError`` where the store cannot be used; that ends the run.
    """

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for; None where it is missing or damaged."""
        ...

    def keep(self, key: bytes, reply: Reply[Any], question: bytes | None = None) -> Reply[Any]:
        """Write a reply before anybody works with it; returns the one that counts, another process's if that came first.

        ``question`` is what it can be looked up by without the model that gave it.
        """
        ...

    def strike(self, keys: Iterable[bytes]) -> None:
        """Forget replies that proved to be of no use, so that a later run asks again."""
        ...

    def close(self) -> None:
        """Nothing more will be kept."""
        ...
