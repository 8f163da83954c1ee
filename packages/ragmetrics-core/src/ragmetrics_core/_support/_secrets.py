"""What is secret: by the name of a setting, by its value, and by its shape. The one place that hides it in texts.

Strategy. Servers echo keys and libraries quote the request with its headers, so every text from outside passes through here before
it is shown or stored. Hiding too much costs a few words of a message; hiding too little costs a key.

A block that keeps what was raised in it, for those who must not raise from where it was caught.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

MASKED = "***"
LONGEST = 500
"""Characters of a server's message that are worth showing."""

SEARCHED, UNSURE = 8192, 1024
"""Characters of such a message that are searched, and how many at their end are dropped, as they may be half of a secret."""

SHORTEST_SECRET = 8
"""The length from which a secret is looked for in texts: shorter ones occur in ordinary words too."""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET = (
    *("key", "keys", "token", "secret", "secrets", "password", "authorization", "credential", "credentials"),
    "headers",  # all of them, as the name of a header need not tell that it authorises
)
NOT_SECRET = frozenset({"prompt_cache_key"})
LOOKS_SECRET = re.compile(
    r"\b(?:sk|gsk|pk|hf|lsv2|xai)[-_][\w*.-]{6,}|\bkey-[\w*.-]{6,}|\bAIza[\w-]{20,}"
    r"|(?<=Bearer )\S+|(?<![\w-])[\w-]{0,64}\*{3,}[\w-]{0,64}|\*{3,}[\w-]{0,64}|(?<=://)[^/\s@]+(?=@)"
)
AUTHORISATION = re.compile(
    r"(^|[-_])(authorization|cookie|api[-_]?key|subscription[-_]key|token|secret|password)$", re.IGNORECASE
)
"""Names of headers that say who asks, not who answers."""

IN_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password|sig|signature)=)[^&#\s'\"]+", re.IGNORECASE)


def is_secret(name: object) -> bool:
    """Whether a setting of this name holds a secret, such as ``api_key``; counts such as ``max_tokens`` do not."""
    return name not in NOT_SECRET and any(word.lower().endswith(SECRET) for word in WORD.findall(str(name)))


def routing_digest(headers: Mapping[str, str]) -> str | None:
    """A digest of the headers that may decide who answers, as gateways have them; None if there are no such headers.

    Those that authorise are left out: another key of the same account changes no reply.
    """
    routing = sorted((name.lower(), value) for name, value in headers.items() if not AUTHORISATION.search(name))
    if not routing:
        return None
    return f"sha256:{hashlib.sha256(json.dumps(routing).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def conceal(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the secrets and without anything shaped like a key, or like a password in an address.

    Args:
        text: any text from outside.
        secrets: texts that must never be shown; those of fewer than 8 characters are not looked for.
    """
    return IN_QUERY.sub(rf"\1{MASKED}", LOOKS_SECRET.sub(MASKED, without_secrets(text, secrets)))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets themselves; everything else, which may be an answer that was paid for, stays as it is."""
    known = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
    # the longest first, so that no secret is cut in two by one that is a part of it
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, MASKED)
    return text


def mask(text: str, secrets: Iterable[str]) -> str:
    """The same as ``conceal``, with a long text cut short."""
    text = without_secrets(text, secrets)  # first, so that the cut below never leaves half of one
    if len(text) > SEARCHED:
        return f"{conceal(text[:SEARCHED])[:-UNSURE][:LONGEST]} ..."
    text = conceal(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


class Kept:
    """A block that keeps the exception that ended it, as ``error``, for later. Cancellation and Ctrl-C go through."""

    error: Exception

    def __enter__(self) -> None:
        """Nothing has been raised yet."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True
