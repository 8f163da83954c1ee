"""Find secrets by the name of a setting, by value and by shape, and mask them in texts.

Servers echo keys, and libraries quote requests with their headers, so every text from outside is masked here before it is shown or
stored. Masking too much costs a few words of a message; masking too little costs a key.

Keys are in environment variables. The value of every variable whose name says that it is
a secret, as the names of the key variables of all providers do, is masked in every text. The variables are read each time, because
a program may set them at any time.

``Kept`` is a context manager that keeps an exception, so that it can be raised later, outside of the ``except`` block.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

MASKED = "***"
LONGEST = 500
"""The largest number of characters of a server's message that are shown."""

SEARCHED, UNSURE = 8192, 1024
"""The characters of a message that are searched, and the characters dropped at their end, which may be part of a secret."""

SHORTEST_SECRET = 8
"""The least length of a secret that is searched for: shorter ones also occur in ordinary words."""

DIGIT = re.compile("[0-9]")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET = (
    *("key", "keys", "token", "secret", "secrets", "password", "authorization", "credential", "credentials"),
    "headers",  # all headers, because a name does not always show that a header authorizes
)
NOT_SECRET = frozenset({"prompt_cache_key"})
LOOKS_SECRET = re.compile(
    r"\b(?:sk|gsk|pk|hf|lsv2|xai)[-_][\w*.-]{6,}|\bkey-[\w*.-]{6,}|\bAIza[\w-]{20,}"
    r"|(?<=Bearer )\S+|(?<![\w-])[\w-]{0,64}\*{3,}[\w-]{0,64}|\*{3,}[\w-]{0,64}|(?<=://)[^/\s@]+(?=@)"
)
AUTHORISATION = re.compile(
    r"(^|[-_])(authorization|cookie|api[-_]?key|subscription[-_]key|token|secret|password)$", re.IGNORECASE
)
"""Names of headers that authorize the caller, and do not choose the model that answers."""

IN_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password|sig|signature)=)[^&#\s'\"]+", re.IGNORECASE)


def is_secret(name: object) -> bool:
    """Whether a setting of this name holds a secret, such as ``api_key``; counts such as ``max_tokens`` do not."""
    return name not in NOT_SECRET and any(word.lower().endswith(SECRET) for word in WORD.findall(str(name)))


def routing_digest(headers: Mapping[str, str]) -> str | None:
    """Return a digest of the headers that may decide which model answers, as with gateways; None if there are none.

    Headers that authorize are left out, because another key of the same account does not change a reply.
    """
    routing = sorted((name.lower(), value) for name, value in headers.items() if not AUTHORISATION.search(name))
    if not routing:
        return None
    import hashlib  # noqa: PLC0415  costly to import, rarely needed

    return f"sha256:{hashlib.sha256(json.dumps(routing).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def conceal(text: str, secrets: Iterable[str] = ()) -> str:
    """Mask the given secrets in a text, those in the environment, everything that looks like a key, and every password in an
    address.

    Args:
        text: any text from outside.
        secrets: texts that must never be shown; texts of fewer than 8 characters are not masked.
    """
    return IN_QUERY.sub(rf"\1{MASKED}", LOOKS_SECRET.sub(MASKED, without_secrets(text, secrets)))


@lru_cache(4096)
def _holds_secret(variable: str) -> bool:
    return is_secret(variable)


def environment_secrets() -> list[str]:
    """Return the secrets in environment variables: the words of their values that look like keys.

    A key has a digit and at least 8 characters. Paths, and words such as ``none`` and ``not-needed``, are not secret.
    """
    return [
        word
        for name in os.environ
        if _holds_secret(name)
        for word in os.environ[name].split()
        if len(word) >= SHORTEST_SECRET and not word.startswith(("/", "~")) and DIGIT.search(word)
    ]


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Mask only the given secrets and those in the environment; the rest of the text, which may be an answer that was paid for,
    is not changed.
    """
    known = [secret for secret in (*secrets, *environment_secrets()) if len(secret) >= SHORTEST_SECRET]
    # the longest first: a secret may be part of another one
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, MASKED)
    return text


def mask(text: str, secrets: Iterable[str]) -> str:
    """Mask secrets like ``conceal``, and shorten a long text."""
    text = without_secrets(text, secrets)  # first, so that the cut below never leaves a part of a secret
    if len(text) > SEARCHED:
        return f"{conceal(text[:SEARCHED])[:-UNSURE][:LONGEST]} ..."
    text = conceal(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def conceal_record(record: Any) -> bool:
    """Mask secrets in the message and the traceback of a log record: a filter for loggers whose messages quote exceptions."""
    import logging  # noqa: PLC0415  costly to import, and imported by those who log

    record.msg, record.args = conceal(record.getMessage()), None
    if record.exc_info and not record.exc_text:
        record.exc_text = conceal(logging.Formatter().formatException(record.exc_info))
    return True


class Kept:
    """A context manager that keeps the exception of its block in ``error``; cancellation and Ctrl-C are passed on."""

    error: Exception

    def __enter__(self) -> None:
        """Clear the stored exception."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True
