"""The key of a reply in the journal: a digest of everything that can change the reply, and of nothing else.

That is the model with its endpoint and parameters (its ``identity``), what is sent, the schema that the reply must have, and
the number of the repeat. Names of metrics, prompts and rows are no part of it: the same question is the same question.

``ReplyStore`` is the journal as the engine sees it; `_store` has one in a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Protocol

from .._values._errors import InvalidInput
from .._values._requests import Ask, Embed, Reply, Request

SIZE = 16
"""Bytes of a key: among a billion replies, two different ones share a key with a chance of 1e-21."""

MOST_FORMS = 64
"""Reply formats that are remembered: more than the metrics of a run have, unless they build a new one for each question."""


class Keys:
    """The keys of one model's replies.

    Args:
        identity: every setting of the model that can change a reply: plain JSON values, or a name.

    Raises:
        InvalidInput: the identity cannot be written as JSON.
    """

    def __init__(self, identity: Mapping[str, Any] | str) -> None:
        self._start = blake2b(_identity_text(identity), digest_size=SIZE)
        self._forms: dict[int, tuple[object, bytes]] = {}

    def key(self, request: Request, repeat: int) -> bytes:
        """The key of the reply to a request; ``repeat`` counts from 0."""
        digest = self._start.copy()
        if isinstance(request, Ask):
            digest.update(b"ask %d " % repeat)
            digest.update(self._form(request.reply))
            texts = [text for message in request.messages for text in (message.role, message.content)]
        elif isinstance(request, Embed):
            digest.update(b"embed ")
            texts = list(request.texts)
        else:
            digest.update(b"compare ")
            texts = [text for pair in request.pairs for text in pair]
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # lengths keep neighbours apart: ("ab", "c") is not ("a", "bc")
            digest.update(data)
        return digest.digest()

    def _form(self, reply: Any) -> bytes:
        """A digest of the schema, made once for every reply format."""
        known = self._forms.get(id(reply))
        if known is None or known[0] is not reply:  # the entry holds the format, so that its id stays its own
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            schema = json.dumps(reply.schema, sort_keys=True, default=str)
            known = self._forms[id(reply)] = (reply, blake2b(schema.encode(), digest_size=SIZE).digest())
        return known[1]


def _identity_text(identity: Mapping[str, Any] | str) -> bytes:
    try:
        return json.dumps(identity if isinstance(identity, str) else dict(identity), sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the identity of a model must be a mapping of plain JSON values, got {identity!r}: {error}"
        ) from None


class ReplyStore(Protocol):
    """Keeps replies by key.

    Each method may raise ``RagmetricsError`` where the store cannot be used; that ends the run.
    """

    def find(self, key: bytes) -> Reply[Any] | None:
        """The reply under this key, as it was when it was paid for; None where it is missing or damaged."""
        ...

    def keep(self, key: bytes, reply: Reply[Any], request: Request) -> Reply[Any]:
        """Write a reply before it is used, with the messages of its request.

        Returns the reply that counts, another process's if that came first.
        """
        ...

    def strike(self, keys: Iterable[bytes]) -> None:
        """Forget replies that proved to be of no use, so that a later run asks again."""
        ...

    def close(self) -> None:
        """Nothing more will be kept."""
        ...
