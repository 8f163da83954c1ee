"""Every way in which a call through the openai package can fail, said in words that name the cure. The only such place.

Two rules. No secret leaves: servers echo keys, so every text from outside passes through ``mask``, and the original exception,
which holds the request with its headers, is never chained. And only what the openai package raises on purpose is
translated: anything else is a bug and propagates.

    explained = Explained(model, clients)
    with explained:
        answer = client.embeddings.create(...)
    if explained.problem: raise explained.problem
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._errors import BadReply, InvalidInput, ModelError

if TYPE_CHECKING:
    from ._openai_clients import Clients

__all__ = ["Explained", "check_sendable", "mask", "message_of"]

MASKED = "***"
LOOKS_SECRET = re.compile(r"(?:\b(?:sk|gsk|pk|key)-[\w*.-]{6,})|(?<=Bearer )\S+|[\w-]*\*{3,}[\w-]*")
LONGEST = 500
"""Characters of a server's message that are worth showing."""


class Explained:
    """A block in which the openai package may fail: the failure ends the block and is kept, in words, as ``problem``.

    It is not raised from here, so that the exception raised later has nothing attached: the original holds the key.
    """

    def __init__(self, model: str, clients: Clients) -> None:
        import openai  # noqa: PLC0415  heavy

        self.model = model
        self.clients = clients
        self.problem: ModelError | None = None
        self._expected: tuple[type[Exception], ...] = (openai.OpenAIError, json.JSONDecodeError)

    def failed(self, error: Exception) -> None:
        """Keep the explanation of a failure."""
        self.problem = explain(error, self.model, self.clients)

    def __enter__(self) -> None:
        self.problem = None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, self._expected):
            return False
        self.failed(error)
        return True


def mask(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, without anything shaped like a key, and not endlessly long."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASKED)
    text = LOOKS_SECRET.sub(MASKED, text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def explain(error: Any, model: str, clients: Clients) -> ModelError:
    """The ``ModelError`` that stands for an exception of the openai package.

    It carries ``transient`` (True where the same call may work later) and ``retry_after`` (seconds, or None) for whoever
    calls again.
    """
    import openai  # noqa: PLC0415  heavy

    transient, seconds = False, None
    if isinstance(error, openai.APIStatusError):
        problem = _status(error, model, clients)
        transient = not problem.fatal and (error.status_code in (408, 409, 429) or error.status_code >= 500)
        seconds = retry_after(error)
    elif isinstance(error, openai.APITimeoutError):
        problem = ModelError(
            f"{model}: no answer from {clients.base_url} in time: is the server overloaded? Pass a longer timeout=..."
        )
        transient = True
    elif isinstance(error, openai.APIConnectionError):
        cause = mask(_root(error), clients.secrets)
        problem = ModelError(f"{model}: cannot reach {clients.base_url} ({cause}): is a server listening there?")
        transient = True
    else:
        problem = ModelError(
            f"{model}: the answer of {clients.base_url} is not one of the OpenAI protocol "
            f"({mask(_first_line(error), clients.secrets)}): does base_url end in /v1, as it does for most servers?"
        )
    vars(problem).update(transient=transient, retry_after=seconds)
    return problem


def _status(error: Any, model: str, clients: Clients) -> ModelError:
    said = mask(message_of(error), clients.secrets)
    where, status = clients.base_url, error.status_code
    if status == 401:
        return ModelError(
            f"{model}: {where} refuses the API key (401): {said} Set OPENAI_API_KEY, or pass api_key=...", fatal=True
        )
    if status == 403:
        return ModelError(f"{model}: {where} forbids this (403): {said} Does the key have access to it?", fatal=True)
    if status == 404:
        return ModelError(
            f"{model}: {where} has no such model or address (404): {said} Check the model name and base_url.",
            fatal=True,
        )
    if error.code == "content_filter":
        return BadReply(f"{model}: the content filter of {where} refuses the question: {said}")
    if status == 429:
        quota = error.code == "insufficient_quota"
        cure = "The account has no credit left." if quota else "Ask fewer questions at a time, or try again later."
        return ModelError(f"{model}: {where} answers too many requests (429): {said} {cure}", fatal=quota)
    if status >= 500:
        return ModelError(f"{model}: {where} is failing ({status}): {said} Try again later.")
    if error.param:
        return ModelError(f"{model}: {where} refuses the parameter {error.param!r} ({status}): {said}")
    return ModelError(f"{model}: {where} refuses the request ({status}): {said}")


def message_of(error: Any) -> str:
    """What the server said, closed with a full stop."""
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error") or body
    text = " ".join(str(body or error.message).split())
    return text if text.endswith((".", "!", "?")) else f"{text}."


def retry_after(error: Any) -> float | None:
    """The seconds that the server asks to wait, where it does so in seconds."""
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _root(error: BaseException) -> str:
    """The innermost cause in words, such as "Connection refused"."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_sendable(role: str, text: str) -> None:
    """Refuse what cannot travel as UTF-8.

    Raises:
        InvalidInput: the text holds a lone surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the {role} message holds a lone surrogate (U+{ord(text[error.start]):04X}) at position {error.start}, which no "
            "server can be sent: remove it from the prompt"
        ) from None
