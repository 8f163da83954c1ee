"""The key of a reply in the journal: a digest of everything that can change the reply, and of nothing else.

The digest covers the model with its endpoint and parameters (its ``identity``), the text sent, the schema of the reply and the
number of the repeat. It does not cover the names of metrics, prompts and rows, so equal questions have equal keys.

``ReplyStore`` is the interface of the journal and of other stores; `_store` implements it with files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Protocol

from .._values._errors import InvalidInput
from .._values._requests import Ask, Embed, Reply, Request

SIZE = 16
"""Bytes of a key: the probability that any two of a billion different replies share a key is about 1e-21."""

MOST_FORMS = 64
"""The number of reply formats in the cache: more than a run needs, unless a metric builds a new format for each question."""


class Keys:
    """The keys of one model's replies.

    Args:
        identity: every setting of the model that can change a reply: a mapping of plain JSON values, or a name.

    Raises:
        InvalidInput: the identity cannot be written as JSON.
    """

    def __init__(self, identity: Mapping[str, Any] | str) -> None:
        self._start = blake2b(_identity_text(identity), digest_size=SIZE)
        self._forms: dict[int, tuple[object, bytes]] = {}

    def key(self, request: Request, repeat: int) -> bytes:
        """Return the key of the reply to a request; ``repeat`` counts from 0."""
        digest = self._start.copy()
        if isinstance(request, Ask):
            digest.update(b"ask %d " % repeat)
            digest.update(self.form(request.reply))
            texts = [text for message in request.messages for text in (message.role, message.content)]
        elif isinstance(request, Embed):
            digest.update(b"embed ")
            texts = list(request.texts)
        else:
            digest.update(b"compare ")
            texts = [text for pair in request.pairs for text in pair]
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))  # with the lengths, ("ab", "c") and ("a", "bc") differ
            digest.update(data)
        return digest.digest()

    @property
    def model(self) -> str:
        """A digest of the identity of the model."""
        return self._start.hexdigest()

    def form(self, reply: Any) -> bytes:
        """Return a digest of the schema; it is computed once for each reply format."""
        known = self._forms.get(id(reply))
        if known is None or known[0] is not reply:  # the entry holds the format, so that its id is not reused
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            schema = json.dumps(reply.schema, sort_keys=True, default=str)
            known = self._forms[id(reply)] = (reply, blake2b(schema.encode(), digest_size=SIZE).digest())
        return known[1]


def _identity_text(identity: Mapping[str, Any] | str) -> bytes:
    try:
        return json.dumps(identity if isinstance(identity, str) else dict(identity), sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a model's identity must be a mapping of JSON values, got {identity!r}: {error}") from None


class ReplyStore(Protocol):
    """Keeps replies by key, so that no question is paid for twice.

    A key has 16 bytes: a digest of everything that can change the reply. The value of a reply is a text, a list of floats, or a
    list of vectors, which are lists of floats. It must come back exactly as it was: lone surrogates, and every bit of a float.

    Methods are called by one thread at a time, in its event loop, so they should return at once: ``find`` is called for every
    question. Each may raise ``RagmetricsError`` if the store cannot be used; this ends the run. A reply that cannot be read is no
    such error: it is missing, and is asked for again. ``ReplyStoreContract`` of ``ragmetrics_core.testing`` tests your own store.
    """

    def find(self, key: bytes) -> Reply[Any] | None:
        """Return the reply under this key, with the usage of the original call; None if it is missing, damaged or was struck."""
        ...

    def keep(self, key: bytes, reply: Reply[Any], request: Request) -> Reply[Any]:
        """Write a reply before it is used.

        Args:
            key: the key of the reply.
            reply: the reply, with the usage of its call.
            request: what the reply answers, for a store that wants to show it; it may be ignored.

        Returns:
            The reply to use. If the store has one under this key, which another process may have written meanwhile, that one counts
            and is not replaced; it is returned with the usage of ``reply``. Otherwise ``reply``.
        """
        ...

    def strike(self, keys: Iterable[bytes]) -> None:
        """Remove replies that could not be parsed, so that a later run asks again. A key without a reply is ignored."""
        ...

    def close(self) -> None:
        """Write what is not written yet, and close the store. No other method is called afterwards; closing twice is allowed."""
        ...
