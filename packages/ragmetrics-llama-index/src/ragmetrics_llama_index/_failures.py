"""What a model of LlamaIndex raises, in the words and with the marks of a ``ModelError``.

Strategy. LlamaIndex passes on whatever the client library of a model raises, so there is no common base class to catch. Three
kinds are failures of the model: an exception that carries an HTTP status, one that tells of a lost connection or of a timeout by
its name, and any other class that an installed library defines. Everything else, from ``TypeError`` to an exception of the user's
own code, is a bug or a wrong setting and propagates as it is. The original exception may hold the request with its key, so
it is never chained, and no secret of the model is left in the text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from ragmetrics_core import BadReply, ModelError

from ._secrets import concealed, secrets_of

__all__ = ["Explained"]

LONGEST = 500
"""Characters of a message that are worth showing."""

NO_CLIENTS = frozenset({"llama_index", "pydantic", "pydantic_core", "_pytest", "pytest"})
OTHER_LOOP = ("Event loop is closed", "different event loop", "different loop")
LOST = ("Connect", "Timeout", "URLError", "HTTPException", "RemoteProtocolError")


class Explained:
    """A block in which a model may fail: the failure ends the block and is kept, in words, as ``problem``.

    It is not raised from here, so that nothing is attached to the exception raised later.

    Attributes:
        problem: the failure; None while there was none.
        is_of_other_loop: whether the cause is a connection that belongs to another event loop, or to one that has ended.
    """

    def __init__(self, model: Any, name: str) -> None:
        self.problem: ModelError | None = None
        self.is_of_other_loop = False
        self._model = model
        self._name = name

    def __enter__(self) -> None:
        self.problem = None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, ModelError):
            return False
        self.is_of_other_loop = any(mark in str(cause) for cause in causes_of(error) for mark in OTHER_LOOP)
        self.problem = self._explain(error)
        return self.problem is not None

    def failure(self) -> ModelError:
        """The failure that ended the block."""
        assert self.problem is not None
        return self.problem

    def _explain(self, error: Exception) -> ModelError | None:
        status = status_of(error)
        lost = any(mark in cls.__name__ for cls in type(error).__mro__ for mark in LOST)
        if status is None and not lost and not is_of_client(error):
            return None
        text = concealed(" ".join(str(error).split()), secrets_of(self._model))
        text = f"{text[:LONGEST]} ..." if len(text) > LONGEST else text
        said = f"{self._name}: {type(error).__name__}{f': {text}' if text else ''}"
        if status is None:
            return _marked(ModelError(said), transient=lost)
        code = getattr(error, "code", None)
        if code == "content_filter":
            return BadReply(f"the content filter refuses the question: {said}")
        fatal = status in (401, 403, 404) or code == "insufficient_quota"
        transient = not fatal and (status in (408, 409, 429) or status >= 500)
        return _marked(
            ModelError(said, fatal=fatal),
            transient=transient,
            rate_limited=status == 429 and not fatal,
            retry_after=seconds_to_wait(headers_of(error)),
        )


def causes_of(error: BaseException | None) -> Iterator[RuntimeError]:
    """The runtime errors among an exception and what led to it."""
    while error is not None:
        if isinstance(error, RuntimeError):
            yield error
        error = error.__cause__ or error.__context__


def is_of_client(error: Exception) -> bool:
    """Whether an installed library defines the exception, other than those that have nothing to do with a server."""
    name = type(error).__module__
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    installed = {"site-packages", "dist-packages"} & set(Path(file).parts)
    return bool(installed) and name.partition(".")[0] not in NO_CLIENTS


def _marked(
    error: ModelError, *, transient: bool, rate_limited: bool = False, retry_after: float | None = None
) -> ModelError:
    error.transient, error.rate_limited, error.retry_after = transient, rate_limited, retry_after
    return error


def status_of(error: Exception) -> int | None:
    """The HTTP status that an exception carries, under any of the names that client libraries use."""
    response = getattr(error, "response", None)
    found: list[Any] = [getattr(error, name, None) for name in ("status_code", "http_status", "status", "code")]
    found.append(getattr(response, "status_code", None))
    if isinstance(response, dict):  # botocore
        found.append((response.get("ResponseMetadata") or {}).get("HTTPStatusCode"))
    statuses: Iterable[int] = (value for value in found if isinstance(value, int) and 400 <= value < 600)
    return next(iter(statuses), None)


def headers_of(error: Exception) -> dict[str, str]:
    """The headers of the answer that an exception carries, in lower case."""
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None) or {}
    return {str(name).lower(): str(headers[name]) for name in headers}


def seconds_to_wait(headers: dict[str, str]) -> float | None:
    """Seconds that a server asks to wait (RFC 9110, 10.2.3); None where it does not say."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            return max(float(text) / unit, 0.0)
        except ValueError:
            continue
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=timezone.utc)
    return max((then - datetime.now(timezone.utc)).total_seconds(), 0.0)
