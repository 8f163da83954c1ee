"""What a component of Haystack raises, in the words and with the marks of a ``ModelError``.

Strategy. Haystack's components pass on whatever their client library raises, wrap it in an error of their own, or raise a plain
``ValueError`` or ``RuntimeError``, so there is no class that tells a failing server. What does tell is the opposite: errors of
programming (``TypeError``, ``KeyError``, ``AssertionError``, a package that is not installed, ...), which propagate as they are.
All else is a failure of the model. An HTTP status, here or in what led to the error, decides whether to ask again. The original
exception may hold the request with its key, so it is never chained, and no secret of the component is left in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from ragmetrics_core import BadReply, ModelError

from ._identity import conceal, name_of, secrets_of

__all__ = ["Explained", "is_of_other_loop", "marks_of"]

BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
)
LOST = ("Connect", "Timeout", "URLError", "HTTPException", "RemoteProtocolError")
OTHER_LOOP = ("Event loop is closed", "different event loop", "different loop")
NUMBER = re.compile(r"\d{1,9}(\.\d*)?")
LONGEST = 500
"""Characters of a message that are worth showing."""


class Explained:
    """A block in which a component may fail: the failure ends the block and is kept, in words, as ``problem``.

    It is not raised from here, so that nothing is attached to the exception raised later.

    Args:
        model: the component.
        fatal: whether whatever goes wrong will go wrong with every further call, as where a client cannot be made.
    """

    def __init__(self, model: Any, *, fatal: bool = False) -> None:
        self._model = model
        self._fatal = fatal
        self._problem: ModelError | None = None
        self.is_of_other_loop = False

    def __enter__(self) -> None:
        self._problem = None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, (ModelError, *BUGS)):
            return False
        self.is_of_other_loop = is_of_other_loop(error)
        self._problem = self._explain(error)
        return True

    @property
    def problem(self) -> ModelError:
        """The failure that ended the block."""
        assert self._problem is not None
        return self._problem

    def _explain(self, error: Exception) -> ModelError:
        text = conceal(" ".join(str(error).split()), secrets_of(self._model))
        text = f"{text[:LONGEST]} ..." if len(text) > LONGEST else text
        said = f"{name_of(self._model)}: {type(error).__name__}{f': {text}' if text else ''}"
        marks = marks_of(error)
        if marks["code"] == "content_filter":
            return BadReply(f"the content filter refuses the question: {said}")
        problem = ModelError(said, fatal=self._fatal or marks["fatal"])
        problem.transient = marks["transient"] and not problem.fatal
        problem.rate_limited = marks["rate_limited"] and not problem.fatal
        problem.retry_after = marks["retry_after"]
        return problem


def marks_of(error: Exception) -> dict[str, Any]:
    """What the HTTP status of an exception, or its class, says about asking again: fatal, transient, rate_limited, retry_after."""
    status, source = next(((found, item) for item in _chain(error) if (found := _status(item))), (None, error))
    code = getattr(source, "code", None)
    if status is None:
        lost = any(mark in cls.__name__ for item in _chain(error) for cls in type(item).__mro__ for mark in LOST)
        return {"fatal": False, "transient": lost, "rate_limited": False, "retry_after": None, "code": code}
    fatal = status in (401, 403, 404) or code == "insufficient_quota"
    return {
        "fatal": fatal,
        "transient": not fatal and (status in (408, 409, 429) or status >= 500),
        "rate_limited": not fatal and status == 429,
        "retry_after": _seconds_to_wait(_headers(source)),
        "code": code,
    }


def is_of_other_loop(error: BaseException) -> bool:
    """Whether the cause is a connection that belongs to another event loop, or to one that has ended."""
    return any(
        isinstance(item, RuntimeError) and any(mark in str(item) for mark in OTHER_LOOP) for item in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and what led to it."""
    at: BaseException | None = error
    while at is not None:
        yield at
        at = at.__cause__ or at.__context__


def _status(error: BaseException) -> int | None:
    """The HTTP status that an exception carries, under any of the names that client libraries use."""
    response = getattr(error, "response", None)
    found: list[Any] = [getattr(error, name, None) for name in ("status_code", "http_status", "status", "code")]
    found.append(getattr(response, "status_code", None))
    if isinstance(response, Mapping):  # botocore
        found.append((response.get("ResponseMetadata") or {}).get("HTTPStatusCode"))
    return next((value for value in found if isinstance(value, int) and 400 <= value < 600), None)


def _headers(error: BaseException) -> dict[str, str]:
    """The headers of the answer that an exception carries, in lower case."""
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None) or {}
    return {str(name).lower(): str(headers[name]) for name in headers}


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait (RFC 9110, 10.2.3); None where it does not say."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if NUMBER.fullmatch(headers.get(name, "")):
            return float(headers[name]) / unit
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=timezone.utc)
    return max((then - datetime.now(timezone.utc)).total_seconds(), 0.0)
