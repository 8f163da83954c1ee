"""Every way in which a call to a server of the OpenAI protocol can fail, said in words that name the cure. The only such place.

Whoever makes the calls turns what its library reports into a ``Refused`` or into the arguments of one of these methods; the words
are the same for all. No secret leaves: servers echo keys, so every text from outside passes through ``mask``. Every error
carries ``transient`` (True where the same call may work later) and ``retry_after`` (seconds, or None) for a caller that tries
again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

from ..._support._secrets import LONGEST, mask
from ..._values._errors import BadReply, InvalidInput, ModelError, Setting


def set_key(variable: str = "OPENAI_API_KEY") -> tuple[str | Setting, ...]:
    """What to do about a key that is refused, where it may come from an environment variable."""
    return f"Set the environment variable {variable}", Setting("api_key", before=", or give "), "."


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

    def __post_init__(self) -> None:
        for name in ("code", "param"):
            if getattr(self, name) == "None":  # LiteLLM writes what it does not know so
                object.__setattr__(self, name, None)

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
        key_cure: what to do about a key that is refused.
    """

    model: str
    place: Place
    key_cure: tuple[str | Setting, ...] = set_key()

    @staticmethod
    def redirected(location: str | None) -> str:
        """What to say of an answer that leads elsewhere: no redirect is followed."""
        return f"it redirects to {location}: give the address where the server is as the base URL"

    def refused(self, refused: Refused) -> ModelError:
        """An answer with an error status."""
        problem = self._refused(refused, mask(refused.message, self.place.secrets))
        problem.transient = not problem.fatal and (refused.status in (408, 409, 429) or refused.status >= 500)
        problem.rate_limited = problem.transient and refused.status == 429
        problem.retry_after = refused.retry_after
        return problem

    def too_late(self) -> ModelError:
        """No answer in time."""
        return ModelError(
            f"{self.model}: no answer from {self.place.base_url} in time: is the server overloaded? A longer timeout may help.",
            transient=True,
        )

    def unreachable(self, cause: str) -> ModelError:
        """No connection, or one that was lost."""
        cause = mask(cause, self.place.secrets)
        return ModelError(
            f"{self.model}: cannot reach {self.place.base_url} ({cause}): is a server listening there?", transient=True
        )

    def no_http(self, cause: str) -> ModelError:
        """An answer that breaks the rules of HTTP, or breaks off."""
        cause = mask(cause, self.place.secrets)
        return ModelError(
            f"{self.model}: the answer of {self.place.base_url} is broken ({cause}): is it a server of HTTP, and does a proxy cut "
            "its answers?",
            transient=True,
        )

    def too_long(self, most: int = LARGEST) -> ModelError:
        """An answer that is longer than anybody could want."""
        return ModelError(
            f"{self.model}: the answer of {self.place.base_url} is longer than {most // 2**20} MB, and was given up"
        )

    def no_json(self, text: str) -> ModelError:
        """An answer that is no JSON: a page, where the address is wrong; or one cut short, which is worth another call."""
        return self.other_protocol(_not_json(text), transient=not text.lstrip().startswith("<"))

    def too_deep(self) -> ModelError:
        """An answer with more lists in lists than can be read."""
        return self.other_protocol("it is nested too deeply", transient=True)

    def unexpected(self, error: Exception) -> ModelError:
        """Any other exception of a client library, which only one call may have met."""
        said = mask(f"{type(error).__name__}: {first_line(error)}", self.place.secrets)
        return ModelError(f"{self.model}: the call to {self.place.base_url} failed ({said})")

    def other_protocol(self, found: str, transient: bool = False) -> ModelError:
        """An answer that says something else."""
        return ModelError(
            f"{self.model}: the answer of {self.place.base_url} is not one of the OpenAI protocol "
            f"({mask(found, self.place.secrets)}): does the base URL end in /v1, as it does for most servers?",
            transient=transient,
        )

    def _refused(self, refused: Refused, said: str) -> ModelError:
        who, status = f"{self.model}: {self.place.base_url}", refused.status
        if status == 401:
            return ModelError(f"{who} refuses the API key (401): {said} ", *self.key_cure, fatal=True)
        if status == 402:
            return ModelError(
                f"{who} wants to be paid (402): {said} The account or the key has no credit left.", fatal=True
            )
        if status == 403:
            return ModelError(f"{who} forbids this (403): {said} Does the key have access to it?", fatal=True)
        if status == 404:
            return ModelError(
                f"{who} has no such model or address (404): {said} Check the model name and the base URL.", fatal=True
            )
        if refused.code == "model_not_found":  # some gateways say it with status 400
            return ModelError(f"{who} has no such model ({status}): {said} Check the model name.", fatal=True)
        if refused.code == "content_filter":
            return BadReply(f"{self.model}: the content filter of {self.place.base_url} refuses the question: {said}")
        if status == 429:
            quota = refused.code == "insufficient_quota"
            cure = "The account has no credit left." if quota else "Ask fewer questions at a time, or try again later."
            return ModelError(f"{who} answers too many requests (429): {said} {cure}", fatal=quota)
        if status >= 500:
            return ModelError(f"{who} is failing ({status}): {said} Try again later.")
        if refused.param:
            return ModelError(f"{who} refuses the parameter {refused.param!r} ({status}): {said}")
        return ModelError(f"{who} refuses the request ({status}): {said}")


def refused_in_body(error: Any) -> Refused | None:
    """The error that an answer with status 200 holds, as OpenRouter sends it when a model fails later; None where it is none."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
    if type(status) is not int or not 400 <= status < 600:
        return None
    return Refused(status, error, "it gives no reason")


def _not_json(text: str) -> str:
    """What came instead of a JSON object, in words."""
    text = " ".join(text[:LONGEST].split())
    if not text:
        return "it is empty"
    if text.startswith("<"):
        return "it is an HTML page, not JSON"
    return f"it is not a JSON object: {text if len(text) <= GLIMPSE else f'{text[:GLIMPSE]} ...'}"


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
