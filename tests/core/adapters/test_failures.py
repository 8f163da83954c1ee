"""Exceptions of any library: which of them are failures of a model, in what words, and with which marks."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from email.message import Message
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from ragmetrics_core import BadReply, InvalidInput, ModelError
from ragmetrics_core.adapters import Explained, is_bug, is_of_other_loop, model_error

KEY = "sk-secret-4711-abcdefghijklmnop"


class HttpError(Exception):
    """As the library of a provider may raise it."""

    def __init__(self, message: str = "", response: Any = None, **attributes: Any) -> None:
        super().__init__(message)
        self.response = response
        vars(self).update(attributes)


def answer(status: int, **headers: str) -> SimpleNamespace:
    return SimpleNamespace(status_code=status, headers=headers)


def botocore(status: int, **headers: str) -> dict[str, Any]:
    return {"ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers}}


def urllib_headers(seconds: str) -> Message:
    headers = Message()
    headers["Retry-After"] = seconds
    return headers


def caused(error: Exception, by: Exception) -> Exception:
    error.__cause__ = by
    return error


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (HttpError("no", answer(401)), "judge is refused: check the API key (401): no"),
        (HttpError("no", answer(403)), "judge is forbidden: does the API key have access to it? (403): no"),
        (HttpError("no", answer(404)), "judge is not found: check the model name and the address (404): no"),
        (HttpError("no", answer(429), code="insufficient_quota"), "judge has no credit left (429): no"),
        (HttpError("insufficient_quota", answer(429)), "judge has no credit left (429): insufficient_quota"),
        (HttpError("no", code="insufficient_quota", status=402), "judge has no credit left (402): no"),
    ],
)
def test_what_fails_for_every_further_call(raised: Exception, message: str) -> None:
    problem = model_error(raised, "judge")
    assert str(problem) == message
    assert (problem.fatal, problem.transient, problem.rate_limited, problem.retry_after) == (True, False, False, None)


@pytest.mark.parametrize(
    ("raised", "message", "transient", "wait"),
    [
        (
            HttpError("busy", answer(503, **{"Retry-After": "soon"})),
            "is failing: try again later (503): busy",
            True,
            None,
        ),
        (HttpError("busy", answer(500)), "is failing: try again later (500): busy", True, None),
        (HttpError("odd", answer(400)), "refuses the request (400): odd", False, None),
        (HttpError("slow", answer(408)), "refuses the request (408): slow", True, None),
        (HttpError("no", botocore(409, **{"retry-after": "4"})), "refuses the request (409): no", True, 4.0),
        (HttpError("no", {"ResponseMetadata": None}, code=503), "is failing: try again later (503): no", True, None),
        (HttpError("no", http_status=502), "is failing: try again later (502): no", True, None),
        (HttpError("no", SimpleNamespace(status=504)), "is failing: try again later (504): no", True, None),
        (
            HttpError("", code=HTTPStatus.SERVICE_UNAVAILABLE),
            "is failing: try again later (503): HttpError",
            True,
            None,
        ),
        (
            HttpError("no", status=503, headers=urllib_headers("2")),
            "is failing: try again later (503): no",
            True,
            2.0,
        ),
        (
            caused(ValueError("wrapped"), HttpError("x", answer(503, **{"Retry-After": "3"}))),
            "is failing: try again later (503): wrapped",
            True,
            3.0,
        ),
        (HttpError("", code="strange"), "failed: HttpError", False, None),
        (HttpError("", status=True, code=200), "failed: HttpError", False, None),
        (ValueError("two\n  lines"), "failed: ValueError: two lines", False, None),
        (TimeoutError("slow"), "cannot be reached: TimeoutError: slow", True, None),
        (asyncio.TimeoutError(), "cannot be reached: TimeoutError", True, None),
        (ConnectionResetError("gone"), "cannot be reached: ConnectionResetError: gone", True, None),
        (socket.gaierror("no name"), "cannot be reached: gaierror: no name", True, None),
        (
            OSError(errno.ENETUNREACH, "away"),
            f"cannot be reached: OSError: [Errno {errno.ENETUNREACH}] away",
            True,
            None,
        ),
        (httpx.ReadError("cut"), "cannot be reached: ReadError: cut", True, None),
        (httpx.UnsupportedProtocol("ftp"), "failed: UnsupportedProtocol: ftp", False, None),
        (caused(ValueError("odd"), TimeoutError("slow")), "cannot be reached: ValueError: odd", True, None),
        (FileNotFoundError("model.bin"), "failed: FileNotFoundError: model.bin", False, None),
        (OSError("no model of this name"), "failed: OSError: no model of this name", False, None),
    ],
)
def test_what_one_call_comes_to(raised: Exception, message: str, transient: bool, wait: float | None) -> None:
    problem = model_error(raised, "judge")
    assert str(problem) == f"judge {message}"
    assert (problem.transient, problem.retry_after, problem.fatal, problem.rate_limited) == (
        transient,
        wait,
        False,
        False,
    )


def test_a_rate_limit() -> None:
    problem = model_error(HttpError("busy", answer(429, **{"retry-after-ms": "1500", "Retry-After": "9"})), "judge")
    assert str(problem) == "judge gets too many requests: ask fewer at a time, or try again later (429): busy"
    assert (problem.transient, problem.rate_limited, problem.retry_after) == (True, True, 1.5)


def test_a_content_filter_is_a_bad_reply() -> None:
    problem = model_error(HttpError("violence", answer(400), code="content_filter"), "judge")
    assert isinstance(problem, BadReply)
    assert str(problem) == "judge: the content filter refuses the question: violence"


def test_the_context_of_an_exception_is_not_its_cause() -> None:
    """It may be what the caller was busy with."""
    error = ValueError("unreadable")
    error.__context__ = HttpError("no", answer(401))
    assert str(model_error(error, "judge")) == "judge failed: ValueError: unreadable"


def test_causes_in_a_circle() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert str(model_error(one, "judge")) == "judge failed: ValueError: one"


def test_messages_are_short_and_hold_no_secret() -> None:
    error = HttpError(f"{KEY} and my-own-word {'x' * 600}", answer(400))
    text = str(model_error(error, "judge", ["my-own-word"]))
    assert text.startswith("judge refuses the request (400): *** and *** xxx")
    assert text.endswith("x ...")
    assert len(text) < 560


BUGS = [TypeError("bug"), KeyError("bug"), AssertionError(), NotImplementedError(), ImportError("x"), RecursionError()]


@pytest.mark.parametrize("bug", BUGS)
def test_bugs_go_through(bug: Exception) -> None:
    assert is_bug(bug)
    with pytest.raises(type(bug)) as caught, Explained("judge"):
        raise bug
    assert caught.value is bug


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), asyncio.CancelledError(), InvalidInput("x"), ModelError("x")])
def test_what_is_said_already_goes_through(raised: BaseException) -> None:
    with pytest.raises(type(raised)) as caught, Explained("judge"):
        raise raised
    assert caught.value is raised


def attempt(function: Callable[[], Any], explained: Explained) -> Any:
    with explained:
        return function()
    raise explained.problem


def raising(error: Exception) -> Callable[[], Any]:
    def function() -> Any:
        raise error

    return function


def test_a_failure_holds_nothing_of_the_original() -> None:
    explained = Explained("judge", iter(["my-own-word"]))
    for _ in range(2):
        with pytest.raises(ModelError, match=r"^judge failed: HttpError: \*\*\*$") as caught:
            attempt(raising(HttpError("my-own-word")), explained)
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_block_that_succeeds_has_no_problem() -> None:
    explained = Explained("judge")
    with pytest.raises(ModelError):
        attempt(raising(ValueError("once")), explained)
    assert attempt(lambda: 42, explained) == 42
    with pytest.raises(RuntimeError, match="judge has not failed"):
        explained.problem  # noqa: B018


def test_what_will_fail_every_time() -> None:
    explained = Explained("judge", fatal=True)
    with pytest.raises(ModelError, match="gets too many requests") as caught:
        attempt(raising(HttpError("busy", answer(429))), explained)
    assert (caught.value.fatal, caught.value.transient, caught.value.rate_limited) == (True, False, False)


def test_other_rules_of_what_is_a_bug() -> None:
    """They never count for a status or a lost connection."""
    explained = Explained("judge", is_bug=lambda error: True)
    with pytest.raises(ValueError, match="mine"):
        attempt(raising(ValueError("mine")), explained)
    for failure in (HttpError("x", answer(500)), TimeoutError(), RuntimeError("Event loop is closed")):
        with pytest.raises(ModelError):
            attempt(raising(failure), explained)


def test_connections_of_another_loop() -> None:
    closed = RuntimeError("Event loop is closed")
    wrapped = caused(ConnectionError("Connection error."), closed)
    assert is_of_other_loop(wrapped)
    assert not is_of_other_loop(ConnectionError("Event loop is closed"))
    explained = Explained("judge")
    for error, expected in [(wrapped, True), (closed, True), (ValueError("x"), False)]:
        with pytest.raises(ModelError):
            attempt(raising(error), explained)
        assert explained.is_of_other_loop is expected
