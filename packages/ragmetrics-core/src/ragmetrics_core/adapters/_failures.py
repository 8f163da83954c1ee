"""Turn the exceptions of the libraries behind the frameworks into a ``ModelError``. Only this module distinguishes a failing
model from a bug.

Every provider has its own exceptions, and none of them may be imported here, but nearly all of them have the HTTP status under
one of a few names. A status decides: 401, 403 and 404 will fail for every further call; 408, 409, 429 and 5xx may work later.
Without a status, lost connections and timeouts may work later (known by class or class name), and what a library raises on
purpose is a plain failure. Programming errors (``TypeError``, ``KeyError``, ...) are bugs: they propagate, because a broken
adapter would look like a bad judge.

Frameworks wrap errors, so status and lost connections are searched for in the causes too. The context is not searched: it may be
an exception that the caller was handling. Only the class of the exception itself decides whether it is a bug.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._support._retry_after import seconds_to_wait
from .._support._secrets import mask
from .._values._errors import BadReply, ModelError, RagmetricsError
from ..llms._wire._failures import Refused
from ._answers import usage_of

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
"""Errors that no library raises to say that a server did not answer."""

OF_FILES = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
NETWORK = re.compile(
    r"^\w*Transport|Timeout|Connect|Network|Unavailable|gaierror|URLError|HTTPException|RemoteProtocol|ReadError|WriteError"
    "|ChunkedEncoding"
)
"""Words in the names of an exception's classes, its own first, that stand for a connection that failed."""

ENDED_EARLY = {
    "LengthFinishReasonError": "the reply was cut at the token limit: allow it more tokens",
    "ContentFilterFinishReasonError": "a content filter stopped the reply",
}
"""Answers that OpenAI's client raises, by the name of the exception, where it was asked for a form of reply."""

OURS = ("ragmetrics", "haystack_integrations.components.evaluators.ragmetrics")
STANDARD_LIBRARY = str(Path(traceback.__file__).parent)

OTHER_LOOP = ("Event loop is closed", "different event loop", "different loop")
CURES = {
    401: "is refused: check the API key",
    403: "is forbidden: does the API key have access to it?",
    404: "is not found: check the model name and the address",
    429: "gets too many requests: ask fewer at a time, or try again later",
}


def is_bug(error: BaseException) -> bool:
    """Whether an exception is a programming error, judged by its class: libraries do not raise such classes when a server fails
    to answer.
    """
    return isinstance(error, BUGS)


def is_of_a_client(error: BaseException, but: Container[str] = ()) -> bool:
    """Whether the exception is defined by an installed library that may be the client of a server.

    Args:
        error: the exception.
        but: packages that are not clients of a server.
    """
    name = type(error).__module__
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return _is_installed(file) and name.partition(".")[0] not in but


def _is_installed(file: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)


def is_failure(error: Exception, is_bug: Callable[[Exception], bool]) -> bool:
    """Whether an exception says that a call failed and is not a bug: it has a status, is a lost connection, or comes from a
    library.
    """
    if _status(error) is not None or _is_lost(error) or not is_bug(error) or _is_raised_in_library(error):
        return True
    return type(error) is RuntimeError and is_of_other_loop(error)


def _is_raised_in_library(error: Exception) -> bool:
    """Whether the exception was raised in an installed library, or in the standard library when an installed library called it;
    not in our code and not in the user's.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        name, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
        if name.startswith(OURS):
            return False
        if _is_installed(file):
            return True
        if not file.startswith((STANDARD_LIBRARY, "<")):
            return False
    return False


def is_of_other_loop(error: BaseException) -> bool:
    """Whether the cause is a connection of another event loop, or of a closed one."""
    return any(
        isinstance(item, RuntimeError) and any(mark in str(item) for mark in OTHER_LOOP)
        for item in _chain(error, lambda item: item.__cause__ or item.__context__)
    )


def model_error(error: Exception, model: str, secrets: Iterable[str] = ()) -> ModelError:
    """Describe an exception of any library as a ``ModelError``, with the attributes that say whether to try again.

    The exception is not chained, because it may hold the request with its key.

    Args:
        error: the exception.
        model: name of the model; the message begins with it.
        secrets: texts that must never be shown.

    Returns:
        A ``BadReply`` if a content filter refused the question or stopped the reply, or if the reply was cut. ``fatal``,
        ``transient``, ``rate_limited`` and ``retry_after`` (seconds) follow from the HTTP status and the headers; a lost
        connection is ``transient``.
    """
    if type(error).__name__ in ENDED_EARLY:
        ended = BadReply(f"{model}: {ENDED_EARLY[type(error).__name__]}")
        ended.usage = usage_of(getattr(error, "completion", None))
        return ended
    text = mask(" ".join(str(error).split()), secrets)
    refused = refused_by(error)
    if refused is None:
        lost = any(map(_is_lost, _chain(error, lambda item: item.__cause__)))
        description = f"{type(error).__name__}: {text}" if text else type(error).__name__
        return ModelError(f"{model} {'cannot be reached' if lost else 'failed'}: {description}", transient=lost)
    if refused.code == "content_filter":
        return BadReply(f"{model}: the content filter refuses the question: {text}")
    if refused.status == 429 and "insufficient_quota" in refused.reason:
        refused = replace(refused, code="insufficient_quota")
    cure = CURES.get(refused.status, "is failing: try again later" if refused.status >= 500 else "refuses the request")
    if refused.code == "insufficient_quota":
        cure = "has no credit left"
    return refused.error(f"{model} {cure} ({refused.status}): {text or type(error).__name__}")


def refused_by(error: Exception) -> Refused | None:
    """Return the server's answer that an exception contains, with the fields of OpenAI's protocol; None if there is none."""
    for item in _chain(error, lambda item: item.__cause__):
        if (status := _status(item)) is not None:
            wait = seconds_to_wait(_headers(item))
            return Refused.of(status, getattr(item, "body", None), str(item), item, wait)
    return None


def _chain(error: BaseException, before: Callable[[BaseException], BaseException | None]) -> Iterator[BaseException]:
    """Return an exception and the exceptions that led to it, each once."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and not any(current is item for item in seen):
        seen.append(current)
        yield current
        current = before(current)


def _is_lost(error: BaseException) -> bool:
    # without a number it is not the system's, but a library's that says so of a model it cannot find, say
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, OF_FILES):
        return True
    return NETWORK.search(" ".join(cls.__name__ for cls in type(error).__mro__)) is not None


def _status(error: BaseException) -> int | None:
    """Return the HTTP status in an exception, under one of the names that the providers' libraries use."""
    response = getattr(error, "response", None)
    places = [getattr(error, name, None) for name in ("status_code", "http_status", "status", "code")]
    places += [getattr(response, "status_code", None), getattr(response, "status", None)]
    places.append(_metadata(response).get("HTTPStatusCode"))
    statuses = (value for value in places if isinstance(value, int) and not isinstance(value, bool))
    return next((int(value) for value in statuses if 400 <= value < 600), None)


def _headers(error: BaseException) -> dict[str, str]:
    """Return the headers of the answer in an exception, with names in lower case."""
    response = getattr(error, "response", None)
    places = [getattr(owner, "headers", None) for owner in (response, error)]
    places.append(_metadata(response).get("HTTPHeaders"))
    headers: Any = next((place for place in places if place and hasattr(place, "items")), {})
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _metadata(response: Any) -> Mapping[str, Any]:
    """Return the metadata of an answer from botocore."""
    found = response.get("ResponseMetadata") if isinstance(response, Mapping) else None
    return found if isinstance(found, Mapping) else {}


class Explained:
    """A context manager for a block in which a model may fail. A failure ends the block and is kept as ``problem``.

    It is not raised from here, so that nothing is attached to the exception that is raised later: the original may hold the key.
    Errors of ``ragmetrics_core``, bugs, cancellation and Ctrl-C pass through. ::

        explained = Explained("ChatOpenAI 'judge'", secret_texts(vars(chat_model)))
        with explained:
            return Reply(chat_model.invoke(...))
        raise explained.problem

    Args:
        model: name of the model; messages begin with it.
        secrets: texts that must never be shown.
        fatal: whether any failure here would recur in every further call, for example because a client cannot be made.
        is_bug: decides which exceptions pass through, unless they have an HTTP status or are a lost connection; default:
            programming errors.

    Attributes:
        is_of_other_loop: whether the cause is a connection of another event loop, or of a closed one.
        refused: the answer with an error status, if there was one.
    """

    def __init__(
        self,
        model: str,
        secrets: Iterable[str] = (),
        *,
        fatal: bool = False,
        is_bug: Callable[[Exception], bool] = is_bug,
    ) -> None:
        self.is_of_other_loop = False
        self.refused: Refused | None = None
        self._problem: ModelError | None = None
        self._model = model
        self._secrets = tuple(secrets)
        self._fatal = fatal
        self._is_bug = is_bug

    @property
    def problem(self) -> ModelError:
        """The failure that ended the block.

        Raises:
            RuntimeError: nothing has failed.
        """
        if self._problem is None:
            raise RuntimeError(f"{self._model} has not failed, so there is no problem: end the block with a return")
        return self._problem

    def __enter__(self) -> None:
        self._problem = self.refused = None
        self.is_of_other_loop = False

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        is_ours = isinstance(error, RagmetricsError)
        if not isinstance(error, Exception) or is_ours or not is_failure(error, self._is_bug):
            return False
        self.is_of_other_loop = is_of_other_loop(error)
        self.refused = refused_by(error)
        self._problem = model_error(error, self._model, self._secrets)
        if self._fatal:
            self._problem.fatal, self._problem.transient, self._problem.rate_limited = True, False, False
        return True
