"""Sinks that send scores to servers: what they send, and what a server that fails costs."""

from __future__ import annotations

import base64
import json
import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from loopback import OpenAIServer, Response
from ragmetrics_core import InvalidInput, ModelError, RagmetricsError
from ragmetrics_core.adapters import LangfuseSink, PhoenixSink, in_span, observe
from ragmetrics_core.metrics import ExactMatch
from sink_records import SCORES, SPAN, TRACE, Judged

PUBLIC, SECRET = "pk-lf-public-4711", "sk-lf-secret-4711"
OF_LANGFUSE = '{"successes": [], "errors": []}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    for name in ("LANGFUSE_HOST", "LANGFUSE_BASE_URL", "PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_API_KEY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with OpenAIServer() as running:
        running.refusal_of = lambda request: Response(body='{"data": []}' if "span" in request.path else OF_LANGFUSE)
        yield running


def langfuse(server: OpenAIServer, **settings: Any) -> LangfuseSink:
    return LangfuseSink(PUBLIC, SECRET, server.origin, **settings)


def test_what_langfuse_gets(server: OpenAIServer) -> None:
    langfuse(server)(Judged(SCORES))
    (request,) = server.requests
    assert request.path == "/api/public/ingestion"
    assert base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode() == f"{PUBLIC}:{SECRET}"
    scored, failed = request.body["batch"]
    assert (scored["type"], scored["timestamp"][-6:]) == ("score-create", "+00:00")
    assert scored["id"] != failed["id"]
    assert scored["body"] == {
        "id": scored["body"]["id"],
        "traceId": TRACE,
        "observationId": SPAN,
        "name": "faithfulness",
        "value": 0.5,
        "dataType": "NUMERIC",
        "comment": "1 of 2 claims",
        "metadata": {"passing": False, "label": "fail", "scale": [0, 1]},
    }
    assert failed["body"] == {
        "id": failed["body"]["id"],
        "traceId": TRACE,
        "observationId": SPAN,
        "name": "relevancy.error",
        "value": "ModelError",
        "dataType": "CATEGORICAL",
        "comment": "failed: ModelError: judge cannot be reached",
        "metadata": {},
    }


def test_scores_that_are_sent_again_have_the_same_ids(server: OpenAIServer) -> None:
    sink = langfuse(server)
    for metadata in ({"trace_id": TRACE}, {"trace_id": TRACE}, {"trace_id": TRACE, "span_id": SPAN}):
        sink(Judged(SCORES, metadata))
    first, again, of_span = [[item["body"] for item in request.body["batch"]] for request in server.requests]
    assert [body["id"] for body in first] == [body["id"] for body in again]
    assert len({body["id"] for body in first + of_span}) == 4
    assert "observationId" not in first[0]


def test_what_phoenix_gets(server: OpenAIServer) -> None:
    PhoenixSink(server.origin, "phoenix-key-4711")(Judged(SCORES))
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/span_annotations", "Bearer phoenix-key-4711")
    common = {"span_id": SPAN, "annotator_kind": "LLM", "identifier": "ragmetrics"}
    assert request.body["data"] == [
        {
            **common,
            "name": "faithfulness",
            "result": {"label": "fail", "score": 0.5, "explanation": "1 of 2 claims"},
            "metadata": {"scale": [0, 1]},
        },
        {
            **common,
            "name": "relevancy",
            "result": {"label": "failed", "explanation": "failed: ModelError: judge cannot be reached"},
            "metadata": {"error": "ModelError: judge cannot be reached", "error.type": "ModelError"},
        },
        {
            **common,
            "name": "recall",
            "result": {"label": "no_reference", "explanation": "not scored: no reference"},
            "metadata": {},
        },
    ]


def test_the_current_span_comes_first(server: OpenAIServer) -> None:
    with in_span(("1" * 32, "2" * 16)):
        langfuse(server)(Judged(SCORES))
        PhoenixSink(server.origin)(Judged(SCORES))
    of_langfuse, of_phoenix = server.requests
    body = of_langfuse.body["batch"][0]["body"]
    assert (body["traceId"], body["observationId"]) == ("1" * 32, "2" * 16)
    assert of_phoenix.body["data"][0]["span_id"] == "2" * 16
    assert "authorization" not in of_phoenix.headers


@pytest.mark.parametrize(
    "metadata", [{}, {"trace_id": "x", "span_id": 7}, {"trace_id": TRACE[:-1], "span_id": f"{SPAN}0"}]
)
def test_a_record_without_a_span(server: OpenAIServer, metadata: Mapping[str, Any]) -> None:
    with pytest.raises(RagmetricsError) as of_langfuse:
        langfuse(server)(Judged(SCORES, metadata))
    with pytest.raises(RagmetricsError) as of_phoenix:
        PhoenixSink(server.origin)(Judged(SCORES, metadata))
    assert (
        str(of_langfuse.value) == "the scores belong to no trace: run the call in a span, or give metadata a trace_id"
    )
    assert str(of_phoenix.value) == "the scores belong to no span: run the call in a span, or give metadata a span_id"
    assert server.requests == []


def test_nothing_is_sent_where_there_is_nothing_to_say(server: OpenAIServer) -> None:
    langfuse(server)(Judged({"recall": SCORES["recall"], "skipped": SCORES["skipped"]}))
    PhoenixSink(server.origin)(Judged({"skipped": SCORES["skipped"]}))
    assert server.requests == []


def test_scores_that_langfuse_refuses(server: OpenAIServer) -> None:
    refused = [{"id": "1", "status": 400, "message": f"bad key {SECRET}"}]
    server.queue.append(Response(status=207, body=json.dumps({"successes": [], "errors": refused})))
    with pytest.raises(RagmetricsError) as caught:
        langfuse(server)(Judged(SCORES))
    assert str(caught.value) == (
        "Langfuse did not accept scores: [{'id': '1', 'status': 400, 'message': 'bad key ***'}]"
    )


def echoed(request: Any) -> Response:
    return Response(status=401, body=f"refused: {request.headers['authorization']}")


ODD = {
    "500": (Response(status=500, body="<html>oops</html>"), "answers 500: <html>oops</html>"),
    "garbage": (Response(body=b"\xff\xfe{"), "gives no valid answer: UnicodeDecodeError: "),
    "no JSON": (Response(body="hello"), "gives no valid answer: JSONDecodeError: Expecting value: "),
    "a list": (Response(body="[]"), "gives an answer without 'NEEDED': is the address right?"),
    "another server": (Response(body="{}"), "gives an answer without 'NEEDED': is the address right?"),
    "elsewhere": (Response(status=307, headers={"Location": "http://127.0.0.1:9/"}, body=""), "answers 307:"),
    "hangs": (Response(hang=True), "gives no valid answer: TimeoutError: timed out"),
    "reset": (Response(reset=True), "gives no valid answer: "),
    "cut": (Response(headers={"Transfer-Encoding": "chunked"}, body="x"), "gives no valid answer: "),
}
MAKE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Langfuse": ("successes", lambda address: LangfuseSink(PUBLIC, SECRET, address, timeout=0.3)),
    "Phoenix": ("data", lambda address: PhoenixSink(address, SECRET, timeout=0.3)),
}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("fault", ODD)
def test_a_server_that_fails(server: OpenAIServer, name: str, fault: str) -> None:
    response, problem = ODD[fault]
    needed, make = MAKE[name]
    server.queue.append(response)
    with pytest.raises(RagmetricsError) as caught:
        make(server.origin)(Judged(SCORES))
    assert str(caught.value).startswith(f"{name} {problem.replace('NEEDED', needed)}")
    assert len(server.requests) == 1
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", MAKE)
def test_keys_are_never_shown(server: OpenAIServer, name: str) -> None:
    _, make = MAKE[name]
    server.refusal_of = echoed
    sink = make(server.origin)
    with pytest.raises(RagmetricsError) as caught:
        sink(Judged(SCORES))
    kind = "Basic" if name == "Langfuse" else "Bearer"
    assert str(caught.value) == f"{name} answers 401: refused: {kind} ***"
    assert SECRET not in repr(sink)


def warnings_of_a_dead(name: str, address: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says if a sink gets ten records; all of them are judged."""
    observer = observe(ExactMatch(), sinks=[MAKE[name][1](address)])
    for number in range(10):
        with observer as record:
            record.update(answer=f"{number}", reference="a", trace_id=TRACE, span_id=SPAN)
    assert observer.flush(60)
    assert observer.counts["scored"] == 10
    assert observer.stats()["causes"] == {f"sinks[0] ({name}Sink): RagmetricsError": 10}
    assert SECRET not in caplog.text
    assert [item.exc_info for item in caplog.records] == [None] * len(caplog.records)
    return [item.getMessage() for item in caplog.records if item.levelno >= logging.WARNING]


@pytest.mark.parametrize("name", MAKE)
def test_a_server_that_is_gone_costs_one_warning(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        (warning,) = warnings_of_a_dead(name, f"http://127.0.0.1:{closed.getsockname()[1]}", caplog)
    assert warning.startswith(f"sinks[0] ({name}Sink) failed: {name} cannot be reached: ")
    assert warning.endswith("; further failures are not logged")


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("fault", ["500", "hangs", "garbage"])
def test_a_server_that_always_fails_costs_one_warning(
    server: OpenAIServer, name: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    response, problem = ODD[fault]
    server.refusal_of = lambda request: response
    (warning,) = warnings_of_a_dead(name, server.origin, caplog)
    assert warning.startswith(f"sinks[0] ({name}Sink) failed: {name} {problem}")


def test_scores_of_live_evaluation_arrive(server: OpenAIServer) -> None:
    observer = observe(ExactMatch(), sinks=[langfuse(server), PhoenixSink(server.origin)])
    with observer as record:
        record.update(answer="a", reference="b", trace_id=TRACE, span_id=SPAN)
    assert observer.flush(60)
    found = {request.path: request.body for request in server.requests}
    assert found["/api/public/ingestion"]["batch"][0]["body"]["value"] == 0.0
    assert found["/v1/span_annotations"]["data"][0]["result"]["score"] == 0.0


def test_settings_of_the_environment(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    monkeypatch.setenv("LANGFUSE_HOST", f"{server.origin}/")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", f"{server.origin}/s/space")
    monkeypatch.setenv("PHOENIX_API_KEY", SECRET)
    LangfuseSink()(Judged(SCORES))
    PhoenixSink()(Judged(SCORES))
    assert [request.path for request in server.requests] == ["/api/public/ingestion", "/s/space/v1/span_annotations"]
    assert server.requests[1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LangfuseSink("", SECRET),
            "Langfuse needs its keys: give public_key and secret_key, or set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY",
        ),
        (
            lambda: LangfuseSink(PUBLIC, SECRET, "http://langfuse.example"),
            "host must start with https://, because a key is sent there, got 'http://langfuse.example'",
        ),
        (
            lambda: PhoenixSink("http://phoenix.example:6006", SECRET),
            "endpoint must start with https://, because a key is sent there, got 'http://phoenix.example:6006'",
        ),
        (
            lambda: PhoenixSink("ftp://phoenix.example"),
            "endpoint must start with http:// or https://, got 'ftp://phoenix.example'",
        ),
        (
            lambda: PhoenixSink("http://localhost", timeout=0),
            "timeout must be a positive number of seconds, got 0",
        ),
    ],
)
def test_mistakes(make: Callable[[], Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == message


def test_a_key_that_no_header_may_have() -> None:
    with pytest.raises(ModelError) as caught:
        PhoenixSink("http://localhost", "phoenix\nkey")
    assert "phoenix\nkey" not in str(caught.value)
    assert str(caught.value).startswith("api_key contains a character that is not allowed in a header (position 7)")


def test_plain_http_is_accepted_without_a_key_and_https_with_one() -> None:
    assert PhoenixSink("http://phoenix.example:6006")
    assert PhoenixSink("https://phoenix.example", SECRET)
    assert LangfuseSink(PUBLIC, SECRET, "https://langfuse.example")
