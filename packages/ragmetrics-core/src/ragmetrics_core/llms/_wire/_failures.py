"""Error messages for every way in which a call to a server can fail. Each message names a cure.

A client turns the errors of its library into a ``Refused`` or into the arguments of one of these methods, so the messages are the
same for all clients. Servers echo keys, so every text from outside passes through ``mask``, and no secret is shown. Every error
carries ``transient`` (True if the same call may work later) and ``retry_after`` (seconds, or None) for a caller that retries.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..._support._secrets import LONGEST, mask
from ..._values._errors import BadReply, InvalidInput, ModelError, Setting

LARGEST = 64 * 2**20
"""The most bytes of a decompressed answer that are read. No judge writes more, and a few compressed bytes may expand to
gigabytes.
"""

GLIMPSE = 80
"""The most characters that are shown of an answer that is not JSON."""


class Place(Protocol):
    """The server that is called."""

    @property
    def base_url(self) -> str:
        """The address, without credentials and query."""
        ...

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must never be shown."""
        ...

    @property
    def key_cure(self) -> tuple[str | Setting, ...]:
        """The advice for a key that is refused."""
        ...

    @property
    def protocol(self) -> tuple[str, str]:
        """The name of the protocol, and what to check if the server does not follow it."""
        ...


OPENAI_PROTOCOL = "OpenAI", "does the base URL end in /v1, as it does for most servers?"


def set_key(variable: str = "OPENAI_API_KEY") -> tuple[str | Setting, ...]:
    """Return the advice for a key that is refused if the key may come from an environment variable."""
    return f"Set the environment variable {variable}", Setting("api_key", before=", or give "), "."


FATAL = {
    401: ("refuses the API key", ""),
    402: ("wants to be paid", "The account or the key has no credit left."),
    403: ("forbids this", "Does the key have access to it?"),
    404: ("has no such model or address", "Check the model name and the base URL."),
}
"""What the server does, and the advice, for each status after which every further call would fail too. "": the advice of the
place.
"""


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer with an error status, as it was received.

    Attributes:
        status: the HTTP status.
        body: the error object of the protocol, or any other content.
        reason: the text to show if the body says nothing.
        code, param: the two fields of the protocol that distinguish errors, if they are texts.
        retry_after: seconds that the server asks to wait, or None.
    """

    status: int
    body: Any
    reason: str
    code: str | None = None
    param: str | None = None
    retry_after: float | None = None

    @staticmethod
    def of(status: int, body: Any, reason: str, source: Any, retry_after: float | None = None) -> Refused:
        """Make an error whose ``code`` and ``param`` come from ``source``, an object or a mapping. LiteLLM writes "None" for
        unknown values.
        """
        get = source.get if isinstance(source, dict) else partial(getattr, source)
        code, param = (get(name, None) for name in ("code", "param"))
        code, param = (text if isinstance(text, str) and text != "None" else None for text in (code, param))
        return Refused(status, body, reason, code, param, retry_after)

    @property
    def is_fatal(self) -> bool:
        """Whether every further call would fail too."""
        return self.status in FATAL or self.code in ("model_not_found", "insufficient_quota")

    def error(self, *said: str | Setting) -> ModelError:
        """Return a ``ModelError`` with these words, marked so that a caller knows whether to retry."""
        transient = not self.is_fatal and (self.status in (408, 409, 429) or self.status >= 500)
        return ModelError(
            *said,
            fatal=self.is_fatal,
            transient=transient,
            rate_limited=transient and self.status == 429,
            retry_after=self.retry_after,
        )

    @property
    def message(self) -> str:
        """The server's own message, ended with a full stop."""
        body = self.body
        if isinstance(body, dict):
            said = body.get("message") or body.get("detail") or body.get("error") or body
            metadata = body.get("metadata")  # OpenRouter's own message is only "Provider returned error"
            raw = metadata.get("raw") if isinstance(metadata, dict) else None
            body = f"{said}: {raw}" if isinstance(raw, str) and raw else said
        text = " ".join(str(body or self.reason).split())
        return text if text.endswith((".", "!", "?")) else f"{text}."


@dataclass(frozen=True, slots=True)
class Failures:
    """Create the errors for one model on one server.

    Attributes:
        model: the name of the model.
        place: the server.
    """

    model: str
    place: Place

    @staticmethod
    def redirected(location: str | None) -> str:
        """Return the message for an answer that redirects. No redirect is followed."""
        return f"it redirects to {location}: give the address where the server is as the base URL"

    def refused(self, refused: Refused) -> ModelError:
        """Return the error for an answer with an error status."""
        message, url, status, code = self._masked(refused.message), self.place.base_url, refused.status, refused.code
        if code == "content_filter" and status not in FATAL:
            return BadReply(f"{self.model}: the content filter of {url} refuses the question: {message}")
        cure: tuple[str | Setting, ...] = ()
        if status in FATAL:
            does, what = FATAL[status]
            cure = (what,) if what else self.place.key_cure
        elif code == "model_not_found":  # some gateways answer with status 400
            does, cure = "has no such model", ("Check the model name.",)
        elif status == 429:
            does = "answers too many requests"
            cure = ("Ask fewer questions at a time, or try again later.",)
        elif status >= 500:
            does, cure = "is failing", ("Try again later.",)
        else:
            does = f"refuses the parameter {refused.param!r}" if refused.param else "refuses the request"
        if code == "insufficient_quota":
            cure = ("The account has no credit left.",)
        return refused.error(f"{self.model}: {url} {does} ({status}): {message}{' ' * bool(cure)}", *cure)

    def too_late(self) -> ModelError:
        """Return the error for no answer in time."""
        cure = "is the server overloaded? A longer timeout may help."
        return self._error(f"no answer from {self.place.base_url} in time: {cure}")

    def unreachable(self, cause: str) -> ModelError:
        """Return the error for a connection that failed or was lost."""
        where = f"{self.place.base_url} ({self._masked(cause)})"
        return self._error(f"cannot reach {where}: is a server listening there?")

    def no_http(self, cause: str) -> ModelError:
        """Return the error for an answer that violates HTTP, or ends too early."""
        where = f"{self.place.base_url} is broken ({self._masked(cause)})"
        return self._error(f"the answer of {where}: is it an HTTP server, or does a proxy truncate its answers?")

    def too_long(self) -> ModelError:
        """Return the error for an answer that is longer than the limit."""
        found = f"is longer than {LARGEST // 2**20} MB, which is more than is read"
        return self._error(f"the answer of {self.place.base_url} {found}", transient=False)

    def no_json(self, text: str) -> ModelError:
        """Return the error for an answer that is not JSON. An HTML page means a wrong address; other text may be truncated and
        is worth a retry.
        """
        shown = " ".join(text[:LONGEST].split())
        found = f"it is not a JSON object: {shown if len(shown) <= GLIMPSE else f'{shown[:GLIMPSE]} ...'}"
        if shown.startswith("<"):
            return self.other_protocol("it is an HTML page, not JSON")
        return self.other_protocol(found if shown else "it is empty", transient=True)

    def too_deep(self) -> ModelError:
        """Return the error for an answer that is nested too deeply."""
        return self.other_protocol("it is nested too deeply", transient=True)

    def unexpected(self, error: Exception) -> ModelError:
        """Return the error for any other exception of a client library. It may concern only this call."""
        said = self._masked(f"{type(error).__name__}: {first_line(error)}")
        return self._error(f"the call to {self.place.base_url} failed ({said})", transient=False)

    def other_protocol(self, found: str, transient: bool = False) -> ModelError:
        """Return the error for an answer that does not follow the protocol."""
        protocol, cure = self.place.protocol
        what = f"does not follow the {protocol} protocol ({self._masked(found)})"
        return self._error(f"the answer of {self.place.base_url} {what}: {cure}", transient)

    def _error(self, said: str, transient: bool = True) -> ModelError:
        return ModelError(f"{self.model}: {said}", transient=transient)

    def _masked(self, text: str) -> str:
        return mask(text, self.place.secrets)


def refused_in_body(error: Any) -> Refused | None:
    """Return the error inside an answer with status 200, which OpenRouter sends if a model fails later; None if there is no
    error.
    """
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    if type(status) is not int or not 400 <= status < 600:
        return None
    return Refused(status, error, "it gives no reason")


def root_of(error: BaseException) -> str:
    """Return the message of the innermost cause, such as "Connection refused"."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    if isinstance(error, ConnectionError | TimeoutError) and error.errno:
        return os.strerror(error.errno)  # asyncio's message repeats the address, but does not say what happened
    return first_line(error)


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_sendable(role: str, text: str) -> None:
    """Refuse a text that cannot be encoded as UTF-8.

    Raises:
        InvalidInput: the text contains a lone surrogate.
    """
    if text.isascii():  # Python stores this flag with every text, so the check is free
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the {role} message holds a lone surrogate (U+{ord(text[error.start]):04X}) at position {error.start}, which no "
            "server can be sent: remove it from the prompt"
        ) from None
