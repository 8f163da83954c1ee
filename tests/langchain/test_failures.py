"""Every way in which a model can fail, in words: by HTTP status, by lost connections, by any library's exceptions; and bugs."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from lc_models import KEY, chat, question
from lc_parts import Scripted

from loopback import OpenAIServer, Response, error, rate_limited, server_error
from ragmetrics_core import BadReply, ModelError
from ragmetrics_langchain import LangChainLLM

FAILURES = [
    (error(401, f"Incorrect API key provided: {KEY}."), "is refused: check the API key (401)", True, False, None),
    (error(403, "no"), "is forbidden", True, False, None),
    (error(404, "no such model"), "is not found", True, False, None),
    (rate_limited("7"), "gets too many requests", False, True, 7.0),
    (error(429, "no", code="insufficient_quota"), "has no credit left (429)", True, False, None),
    (error(400, "too long"), "refuses the request (400)", False, False, None),
    (server_error(500), "is failing: try again later (500)", False, True, None),
    (server_error(503), "is failing: try again later (503)", False, True, None),
    (Response(reset=True), "cannot be reached: ", False, True, None),
]


@pytest.mark.parametrize(("response", "message", "fatal", "transient", "wait"), FAILURES)
def test_failures_in_words(
    server: OpenAIServer, response: Response, message: str, fatal: bool, transient: bool, wait: float | None
) -> None:
    llm = LangChainLLM(chat(server))
    for call in (lambda: llm.generate(question()), lambda: asyncio.run(llm.agenerate(question()))):
        server.queue.append(response)
        with pytest.raises(ModelError) as caught:
            call()
        problem = caught.value
        assert str(problem).startswith(f"ChatOpenAI 'judge' {message}")
        assert (problem.fatal, problem.transient, problem.retry_after) == (fatal, transient, wait)
        assert problem.rate_limited is (wait is not None)
        assert (problem.__cause__, problem.__context__) == (None, None)
        assert KEY not in str(problem)


def test_a_content_filter_is_a_bad_reply(server: OpenAIServer) -> None:
    server.queue.append(error(400, "Filtered.", code="content_filter"))
    with pytest.raises(BadReply, match="^ChatOpenAI 'judge': the content filter refuses the question: "):
        LangChainLLM(chat(server)).generate(question())


def test_no_answer_in_time(server: OpenAIServer) -> None:
    server.responder = lambda body: Response(hang=True)
    with pytest.raises(ModelError, match=r"cannot be reached: (API|OpenAI)TimeoutError") as caught:
        LangChainLLM(chat(server, timeout=0.1)).generate(question())
    assert caught.value.transient


class HttpError(Exception):
    """As another provider's library may raise it."""

    def __init__(self, message: str, response: Any = None, **attributes: Any) -> None:
        super().__init__(message)
        self.response = response
        vars(self).update(attributes)


class Answer:
    def __init__(self, status: int, **headers: str) -> None:
        self.status_code = status
        self.headers = headers


@pytest.mark.parametrize(
    ("raised", "message", "transient", "wait"),
    [
        (HttpError("busy", Answer(429, **{"Retry-After": "2"})), "gets too many requests", True, 2.0),
        (HttpError("busy", Answer(429, **{"retry-after-ms": "1500"})), "gets too many", True, 1.5),
        (HttpError("busy", Answer(503, **{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})), "is failing", True, 0.0),
        (HttpError("busy", Answer(503, **{"Retry-After": "soon"})), "is failing", True, None),
        (HttpError("no", {"ResponseMetadata": {"HTTPStatusCode": 400}}), "refuses the request (400)", False, None),
        (HttpError("no", code=503), "is failing: try again later (503)", True, None),
        (HttpError("no", status=404), "is not found", False, None),
        (HttpError("", code="strange"), "failed: HttpError", False, None),
        (TimeoutError("slow"), "cannot be reached: TimeoutError: slow", True, None),
        (ConnectionResetError("gone"), "cannot be reached: ConnectionResetError: gone", True, None),
        (socket.gaierror("no name"), "cannot be reached: gaierror: no name", True, None),
        (ValueError("unreadable"), "failed: ValueError: unreadable", False, None),
        (RuntimeError("out of order"), "failed: RuntimeError: out of order", False, None),
    ],
)
def test_failures_of_other_libraries(raised: Exception, message: str, transient: bool, wait: float | None) -> None:
    with pytest.raises(ModelError) as caught:
        LangChainLLM(Scripted(says=raised)).generate(question())
    assert str(caught.value).startswith(f"Scripted {message}")
    assert (caught.value.transient, caught.value.retry_after) == (transient, wait)


@pytest.mark.parametrize(
    "raised", [TypeError("bug"), KeyError("bug"), AssertionError("bug"), NotImplementedError("bug")]
)
def test_bugs_are_no_model_errors(raised: Exception) -> None:
    with pytest.raises(type(raised)):
        LangChainLLM(Scripted(says=raised)).generate(question())
    with pytest.raises(type(raised)):
        asyncio.run(LangChainLLM(Scripted(says=raised)).agenerate(question()))
