"""Every way in which a call to a server of the OpenAI protocol can fail, said in words that name the cure. The only such place.

Whoever makes the calls turns what its library reports into a ``Refused`` or into the arguments of one of these methods; the words
are the same for all. No secret leaves: servers echo keys, so every text from outside passes through ``mask``. Every error
carries ``transient`` (True where the same call may work later) and ``retry_after`` (seconds, or None) for a caller that tries
again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..._support._secrets import LONGEST, mask
from ..._values._errors import BadReply, InvalidInput, ModelError, Setting

LARGEST = 64 * 2**20
"""The most bytes that are read of an unpacked answer: no judge says more, and a few packed bytes may hold gigabytes."""

GLIMPSE = 80
"""How much of an answer that is not JSON is shown, in characters."""


class Place(Protocol):
    """Where the calls go."""

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
        """What to do about a key that is refused."""
        ...


def set_key(variable: str = "OPENAI_API_KEY") -> tuple[str | Setting, ...]:
    """What to do about a key that is refused, where it may come from an environment variable."""
    return f"Set the environment variable {variable}", Setting("api_key", before=", or give "), "."


FATAL = {
    401: ("refuses the API key", ""),
    402: ("wants to be paid", "The account or the key has no credit left."),
    403: ("forbids this", "Does the key have access to it?"),
    404: ("has no such model or address", "Check the model name and the base URL."),
}
"""What a server does that answers with such a status, and what to do about it; every further call would fail too."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer with an error status, as it came.

    Attributes:
        status: the HTTP status.
        body: the error object of the protocol, or whatever else was sent.
        reason: what to show where the body says nothing.
        code, param: the two fields of the protocol that tell errors apart, where they are texts.
        retry_after: seconds that the server asks to wait, where it does so.
    """

    status: int
    body: Any
    reason: str
    code: str | None = None
    param: str | None = None
    retry_after: float | None = None

    @staticmethod
    def of(status: int, body: Any, reason: str, source: Any, retry_after: float | None = None) -> Refused:
        """With the two fields of the source, an object or a mapping; LiteLLM writes "None" for what it does not know."""
        get = source.get if isinstance(source, dict) else partial(getattr, source)
        code, param = (get(name, None) for name in ("code", "param"))
        code, param = (text if isinstance(text, str) and text != "None" else None for text in (code, param))
        return Refused(status, body, reason, code, param, retry_after)

    @property
    def is_fatal(self) -> bool:
        """Whether every further call would fail too."""
        return self.status in FATAL or self.code in ("model_not_found", "insufficient_quota")

    def error(self, *said: str | Setting) -> ModelError:
        """The error that says this, with the marks that tell a caller whether to try again."""
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
        """What the server said, closed with a full stop."""
        body = self.body
        if isinstance(body, dict):
            said = body.get("message") or body.get("detail") or body.get("error") or body
            metadata = body.get("metadata")  # of OpenRouter, whose own words are "Provider returned error"
            raw = metadata.get("raw") if isinstance(metadata, dict) else None
            body = f"{said}: {raw}" if isinstance(raw, str) and raw else said
        text = " ".join(str(body or self.reason).split())
        return text if text.endswith((".", "!", "?")) else f"{text}."


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of one model at one place, as errors.

    Attributes:
        model: its name.
        place: where it is called.
    """

    model: str
    place: Place

    @staticmethod
    def redirected(location: str | None) -> str:
        """What to say of an answer that leads elsewhere: no redirect is followed."""
        return f"it redirects to {location}: give the address where the server is as the base URL"

    def refused(self, refused: Refused) -> ModelError:
        """An answer with an error status."""
        said, url, status, code = self._masked(refused.message), self.place.base_url, refused.status, refused.code
        if code == "content_filter" and status not in FATAL:
            return BadReply(f"{self.model}: the content filter of {url} refuses the question: {said}")
        cure: tuple[str | Setting, ...] = ()
        if status in FATAL:
            does, what = FATAL[status]
            cure = (what,) if what else self.place.key_cure
        elif code == "model_not_found":  # some gateways say it with status 400
            does, cure = "has no such model", ("Check the model name.",)
        elif status == 429:
            does = "answers too many requests"
            cure = ("Ask fewer questions at a time, or try again later.",)
            if refused.is_fatal:
                cure = ("The account has no credit left.",)
        elif status >= 500:
            does, cure = "is failing", ("Try again later.",)
        else:
            does = f"refuses the parameter {refused.param!r}" if refused.param else "refuses the request"
        return refused.error(f"{self.model}: {url} {does} ({status}): {said}{' ' * bool(cure)}", *cure)

    def too_late(self) -> ModelError:
        """No answer in time."""
        cure = "is the server overloaded? A longer timeout may help."
        return self._error(f"no answer from {self.place.base_url} in time: {cure}")

    def unreachable(self, cause: str) -> ModelError:
        """No connection, or one that was lost."""
        where = f"{self.place.base_url} ({self._masked(cause)})"
        return self._error(f"cannot reach {where}: is a server listening there?")

    def no_http(self, cause: str) -> ModelError:
        """An answer that breaks the rules of HTTP, or breaks off."""
        where = f"{self.place.base_url} is broken ({self._masked(cause)})"
        return self._error(f"the answer of {where}: is it a server of HTTP, and does a proxy cut its answers?")

    def too_long(self) -> ModelError:
        """An answer that is longer than any judge's."""
        found = f"is longer than {LARGEST // 2**20} MB, and was given up"
        return self._error(f"the answer of {self.place.base_url} {found}", transient=False)

    def no_json(self, text: str) -> ModelError:
        """An answer that is no JSON: a page, where the address is wrong; or one cut short, which is worth another call."""
        shown = " ".join(text[:LONGEST].split())
        found = f"it is not a JSON object: {shown if len(shown) <= GLIMPSE else f'{shown[:GLIMPSE]} ...'}"
        if shown.startswith("<"):
            return self.other_protocol("it is an HTML page, not JSON")
        return self.other_protocol(found if shown else "it is empty", transient=True)

    def too_deep(self) -> ModelError:
        """An answer with more lists in lists than can be read."""
        return self.other_protocol("it is nested too deeply", transient=True)

    def unexpected(self, error: Exception) -> ModelError:
        """Any other exception of a client library, which only one call may have met."""
        said = self._masked(f"{type(error).__name__}: {first_line(error)}")
        return self._error(f"the call to {self.place.base_url} failed ({said})", transient=False)

    def other_protocol(self, found: str, transient: bool = False) -> ModelError:
        """An answer that says something else."""
        what = f"is not one of the OpenAI protocol ({self._masked(found)})"
        cure = "does the base URL end in /v1, as it does for most servers?"
        return self._error(f"the answer of {self.place.base_url} {what}: {cure}", transient)

    def _error(self, said: str, transient: bool = True) -> ModelError:
        return ModelError(f"{self.model}: {said}", transient=transient)

    def _masked(self, text: str) -> str:
        return mask(text, self.place.secrets)


def refused_in_body(error: Any) -> Refused | None:
    """The error that an answer with status 200 holds, as OpenRouter sends it when a model fails later; None where it is none."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    if type(status) is not int or not 400 <= status < 600:
        return None
    return Refused(status, error, "it gives no reason")


def root_of(error: BaseException) -> str:
    """The innermost cause in words, such as "Connection refused"."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    if isinstance(error, ConnectionError | TimeoutError) and error.errno:
        return os.strerror(error.errno)  # asyncio's own words name the address once more, but not what happened
    return first_line(error)


def first_line(error: BaseException) -> str:
    """What an exception says, in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_sendable(role: str, text: str) -> None:
    """Refuse what cannot travel as UTF-8.

    Raises:
        InvalidInput: the text holds a lone surrogate.
    """
    if text.isascii():  # Python knows this of every text, so asking costs nothing
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the {role} message holds a lone surrogate (U+{ord(text[error.start]):04X}) at position {error.start}, which no "
            "server can be sent: remove it from the prompt"
        ) from None
