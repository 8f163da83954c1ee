"""What a LangChain model raises, as a ``ModelError``. The one place that decides what is the model's failure and what is a bug.

Strategy. Every provider brings exceptions of its own, and none of them may be imported here; but nearly all of them carry the
HTTP status under one of a few names. A status decides: 401, 403 and 404 fail for every further call, 408, 409, 429 and 5xx may
work later. Without one, lost connections and timeouts may work later, and what a library raises on purpose is a plain failure.
Errors of programming (``TypeError``, ``KeyError``, ...) are bugs: they propagate, or a broken adapter would look like a bad judge.

The original exception may hold the request with its headers, so it is never chained to what is raised; the trace has it.

    explained = Explained(name, secrets)
    with explained:
        return model.invoke(...)
    raise explained.problem
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from ragmetrics_core import ModelError, RagmetricsError

__all__ = ["Explained", "mask"]

MASKED = "***"
LOOKS_SECRET = re.compile(
    r"\b(?:sk|gsk|pk|key|lsv2|xai|hf)[-_][\w*.-]{6,}|(?<=Bearer )\S+|\bAIza[\w-]{20,}|[\w-]*\*{3,}[\w-]*"
)
LONGEST = 500
"""Characters of a provider's message that are worth showing."""

SHORTEST_SECRET = 8
"""Characters from which on a secret is looked for in texts: a shorter one is found in ordinary words too."""

BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    NotImplementedError,
    RecursionError,
    StopAsyncIteration,
    StopIteration,
    SyntaxError,
    TypeError,
)
"""What nobody raises to say that a server did not answer."""

LOST = (OSError, asyncio.TimeoutError, FutureTimeout)
NETWORK = re.compile(r"Timeout|Connection|Connect|Transport|Network|Unavailable|RemoteProtocol|ReadError|WriteError")
"""Words in the names of exceptions that stand for a connection that failed."""


class Explained:
    """A block in which a model may fail: the failure ends the block and is kept, in words, as ``problem``.

    It is not raised from here, so that the exception raised later has nothing attached.

    Args:
        model: its name.
        secrets: texts that must never be shown.

    Attributes:
        problem: the failure.
    """

    def __init__(self, model: str, secrets: Iterable[str]) -> None:
        self.problem = ModelError(f"{model} did not answer")
        self._model = model
        self._secrets = tuple(secrets)

    def __enter__(self) -> None:
        """Nothing has failed yet."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RagmetricsError):
            return False
        status = status_of(error)
        if status is None and isinstance(error, BUGS):
            return False
        said = mask(" ".join(str(error).split()) or type(error).__name__, self._secrets)
        self.problem = _refused(self._model, status, said, error) if status else _failed(self._model, said, error)
        return True


def _refused(model: str, status: int, said: str, error: Exception) -> ModelError:
    quota = status == 429 and "insufficient_quota" in f"{getattr(error, 'code', '')} {error}"
    problem = ModelError(
        f"{model} {_refusal(status, quota)} ({status}): {said}", fatal=status in (401, 403, 404) or quota
    )
    problem.transient = not problem.fatal and (status in (408, 409, 429) or status >= 500)
    problem.retry_after = _seconds_to_wait(_headers(error))
    return problem


def _refusal(status: int, quota: bool) -> str:
    if quota:
        return "has no credit left"
    known = {
        401: "is refused: check the API key",
        403: "is forbidden: does the API key have access to it?",
        404: "is not found: check the model name and the address",
        429: "gets too many requests: ask fewer at a time, or try again later",
    }
    return known.get(status, "is failing: try again later" if status >= 500 else "refuses the request")


def _failed(model: str, said: str, error: Exception) -> ModelError:
    chain = _chain(error)
    lost = any(isinstance(item, LOST) or NETWORK.search(type(item).__name__) for item in chain)
    problem = ModelError(f"{model} {'cannot be reached' if lost else 'failed'}: {type(error).__name__}: {said}")
    problem.transient = lost
    return problem


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it was raised from."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__
    return found


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, by one of the names that the providers' libraries use; None where it has none."""
    response = getattr(error, "response", None)
    places = [getattr(error, name, None) for name in ("status_code", "http_status", "status", "code")]
    places += [getattr(response, "status_code", None), getattr(response, "status", None)]
    if isinstance(response, Mapping):  # botocore
        metadata = response.get("ResponseMetadata")
        places.append(metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None)
    for value in places:
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return int(value)
    return None


def _headers(error: BaseException) -> Mapping[str, Any]:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _seconds_to_wait(headers: Mapping[str, Any]) -> float | None:
    """Seconds, never negative; None where the headers do not say. ``Retry-After`` holds seconds or a date (RFC 9110, 10.2.3)."""
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = lower.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None or not text else _until(text)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if abs(number) < float("inf") else None


def _until(date: str) -> float | None:
    from datetime import datetime, timezone  # noqa: PLC0415  rarely needed
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  costly to import

    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    if then.tzinfo is None:  # "-0000" in a date means UTC
        then = then.replace(tzinfo=timezone.utc)
    return max((then - datetime.now(timezone.utc)).total_seconds(), 0.0)


def mask(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, without anything shaped like a key, and not endlessly long."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, MASKED)
    text = LOOKS_SECRET.sub(MASKED, text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
