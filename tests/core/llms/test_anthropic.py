"""``AnthropicLLM`` through the package anthropic, against a server that speaks the Messages API."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from core.conftest import Asking
from loopback import Faults, OpenAIServer, Response, judge, rate_limited, server_error
from ragmetrics_core import BadReply, InvalidInput, Message, ModelError, evaluate
from ragmetrics_core.llms import AnthropicLLM, llm_factory
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import LLMContract

pytest.importorskip("anthropic")

KEY = "sk-ant-secret-4711-abcdefgh"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: body["messages"][-1]["content"].split()[-1]) as running:
        yield running


def claude(server: OpenAIServer, **settings: Any) -> AnthropicLLM:
    return AnthropicLLM("claude-x", base_url=server.base_url, api_key=KEY, **settings)


class TestContract(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> AnthropicLLM:
        return claude(server)

    @pytest.fixture
    def failing_llm(self) -> AnthropicLLM:
        return AnthropicLLM("claude-x", api_key=KEY, base_url="http://127.0.0.1:9", max_retries=0)


def both(llm: AnthropicLLM, ask: Any) -> list[Any]:
    """The reply, or the error, of both methods."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ModelError as error:
            return error

    return [outcome(lambda: llm.generate(ask)), outcome(lambda: asyncio.run(llm.agenerate(ask)))]


class TestRequests:
    def test_what_is_sent(self, server: OpenAIServer, ask: Asking) -> None:
        question = ask(schema={"type": "object", "properties": {"answer": {"type": "string"}}})
        claude(server, temperature=0, top_k=5).generate(question)
        (request,) = server.requests
        assert request.path == "/v1/messages"
        assert KEY in {request.headers.get("x-api-key"), request.headers.get("authorization", "")[7:]}
        system, user = question.messages
        assert request.body == {
            "model": "claude-x",
            "max_tokens": 8192,
            "temperature": 0,
            "top_k": 5,
            "system": [{"type": "text", "text": system.content, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": user.content}],
            "output_config": {
                "format": {
                    "type": "json_schema",
                    "schema": {
                        "type": "object",
                        "properties": {"answer": {"type": "string"}},
                        "required": ["answer"],
                        "additionalProperties": False,
                    },
                }
            },
        }

    def test_without_cache_and_schema(self, server: OpenAIServer, ask: Asking) -> None:
        claude(server, cache=False, structured="text", max_tokens=10).generate(ask(schema={"type": "object"}))
        assert "output_config" not in server.chats[0]
        assert "cache_control" not in server.chats[0]["system"][0]
        assert server.chats[0]["max_tokens"] == 10

    def test_a_refused_schema_is_left_out_from_then_on(self, server: OpenAIServer, ask: Asking) -> None:
        server.refuses = {"json_schema"}
        llm = claude(server)
        for _ in range(3):
            assert llm.generate(ask(schema={"type": "object"})).value
        assert ["output_config" in body for body in server.chats] == [True, False, True, False, False]

    def test_an_empty_reply_is_sent_back_as_such(self, server: OpenAIServer, ask: Asking) -> None:
        """The API refuses messages without text."""
        question = ask()
        again = (*question.messages, Message("assistant", " "), Message("user", "Again."))
        assert claude(server).generate(replace(question, messages=again)).value == "Again."
        assert server.chats[0]["messages"][1] == {"role": "assistant", "content": "(empty)"}

    def test_usage_has_the_tokens_of_the_cache(self, server: OpenAIServer, ask: Asking) -> None:
        server.queue.append(
            Response(
                body=json.dumps(
                    {
                        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "yes"}],
                        "stop_reason": "end_turn",
                        "usage": {
                            "input_tokens": 10,
                            "cache_creation_input_tokens": 200,
                            "cache_read_input_tokens": 3000,
                            "output_tokens": 7,
                        },
                    }
                )
            )
        )
        reply = claude(server).generate(ask())
        assert (reply.value, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("yes", 3210, 7)


class TestAnswers:
    def test_a_reply_that_is_cut(self, server: OpenAIServer, ask: Asking) -> None:
        server.queue.extend([Response("half", finish_reason="length")] * 2)
        assert [(reply.value, reply.truncated) for reply in both(claude(server), ask())] == [("half", True)] * 2

    @pytest.mark.parametrize(
        ("response", "message", "transient"),
        [
            (Response("I must not.", finish_reason="content_filter"), "claude-x refuses to answer: I must not.", False),
            (Response("", finish_reason="content_filter"), "claude-x refuses to answer", False),
            (
                Response(message={"content": []}),
                "claude-x answered without any text (stop reason 'end_turn')",
                False,
            ),
        ],
    )
    def test_no_answer(
        self, server: OpenAIServer, ask: Asking, response: Response, message: str, transient: bool
    ) -> None:
        server.queue.extend([response] * 2)
        for error in both(claude(server), ask()):
            assert isinstance(error, BadReply)
            assert (error.reason, error.transient) == (message, transient)
            assert error.usage is not None
            assert error.usage.prompt_tokens > 0

    @pytest.mark.parametrize(
        ("response", "message", "marks"),
        [
            (rate_limited("3"), "answers too many requests (429)", (True, True, 3.0, False)),
            (server_error(529), "is failing (529)", (True, False, None, False)),
            (Response(reset=True), "cannot reach {}", (True, False, None, False)),
            (Response(body="<html>"), "does not follow the Anthropic protocol (it is an HTML page", (False, False, None, False)),
            (Response(body='{"content": [{"type": "text", "te'), "it is not a JSON object", (True, False, None, False)),
            (Response(body="[" * 100_000), "it is nested too deeply", (True, False, None, False)),
            (Response(body='"text"'), "it holds no content", (False, False, None, False)),
            (Response(status=302, headers={"Location": "http://x"}), "it redirects to http://x", (False, False, None, False)),
            (
                Response(body=gzip.compress(b"x" * 70_000_000), headers={"Content-Encoding": "gzip"}),
                "is longer than 64 MB",
                (False, False, None, False),
            ),
            (
                Response(status=401, body=json.dumps({"type": "error", "error": {"message": f"invalid {KEY}"}})),
                "refuses the API key (401): invalid ***. Set the environment variable ANTHROPIC_API_KEY, or give api_key.",
                (False, False, None, True),
            ),
            (
                Response(body=json.dumps({"type": "error", "error": {"code": 503, "message": "busy"}})),
                "is failing (503): busy.",
                (True, False, None, False),
            ),
        ],
    )  # fmt: skip
    def test_failures(
        self, server: OpenAIServer, ask: Asking, response: Response, message: str, marks: tuple[Any, ...]
    ) -> None:
        server.queue.extend([response] * 2)
        for error in both(claude(server, max_retries=0), ask()):
            assert message.format(server.origin) in str(error)
            assert (error.transient, error.rate_limited, error.retry_after, error.fatal) == marks
            assert KEY not in repr(error)
            assert error.__cause__ is None

    def test_an_answer_that_never_ends(self, server: OpenAIServer, ask: Asking) -> None:
        server.queue.extend([Response(hang=True)] * 2)
        for error in both(claude(server, max_retries=0, timeout=0.3), ask()):
            assert "in time" in str(error)
            assert error.transient

    def test_a_failed_call_is_made_again(self, server: OpenAIServer, ask: Asking) -> None:
        server.queue.extend([server_error(), rate_limited("0")])
        assert claude(server).generate(ask()).value
        assert len(server.requests) == 3


class TestSettings:
    def test_by_name(self, server: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        assert llm_factory("claude-x", "anthropic").identity == {  # type: ignore[attr-defined]
            "provider": "anthropic",
            "model": "claude-x",
            "base_url": "https://api.anthropic.com",
            "structured": "schema",
            "parameters": {"max_tokens": 8192},
        }
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        assert llm_factory("claude-x", "anthropic", max_tokens=5).generate(ask()).value
        assert server.chats[0]["max_tokens"] == 5

    def test_without_a_key(self, server: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
        with pytest.raises(ModelError) as caught:
            AnthropicLLM("claude-x", base_url=server.base_url).generate(ask())
        assert str(caught.value) == (
            "no API key for Anthropic: set the environment variable ANTHROPIC_API_KEY, or give api_key=..."
        )
        assert (caught.value.fatal, caught.value.needs_key, server.requests) == (True, True, [])

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"structured": "json"}, "structured must be schema or text: Anthropic has no JSON mode"),
            ({"max_tokens": 0}, "max_tokens must be a whole number from 1, got 0"),
            ({"temprature": 0}, "temprature is not a parameter of the Messages API: did you mean 'temperature'? "),
            ({"system": "x"}, "system cannot be set here: it comes from the metrics"),
            ({"stream": True}, "stream cannot be set here: a metric reads whole replies"),
            ({"base_url": "api.anthropic.com"}, "base_url must start with http:// or https://"),
            ({"timeout": 0}, "timeout must be "),
        ],
    )
    def test_impossible(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            AnthropicLLM("claude-x", **settings)
        assert str(caught.value).startswith(message)

    def test_no_secret_is_shown_or_pickled(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        llm = claude(server, metadata={"api_key": "hidden-1234567"})
        assert KEY not in f"{llm!r}{llm.identity}"
        assert "hidden" not in f"{llm!r}{llm.identity}"
        assert copy.deepcopy(llm) is llm
        with pytest.raises(InvalidInput, match="ANTHROPIC_API_KEY"):
            pickle.dumps(llm)
        other = pickle.loads(pickle.dumps(AnthropicLLM("claude-x", base_url=server.base_url)))
        assert other.identity == AnthropicLLM("claude-x", base_url=server.base_url).identity


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {"user_input": f"q{at}", "response": f"claim {at}. of it", "retrieved_contexts": ["c"]} for at in range(number)
    ]


@pytest.mark.slow
def test_a_run_with_faults(server: OpenAIServer) -> None:
    """The scores are those of a run without faults."""
    server.responder = judge
    right = evaluate(rows(60), Faithfulness(), llm=claude(server), progress=False)
    mix = {"busy": 0.05, "failing": 0.03, "reset": 0.03, "malformed": 0.03, "truncated": 0.02}
    server.responder = faults = Faults(3, mix)
    found = evaluate(rows(60), Faithfulness(), llm=claude(server), progress=False)
    assert set(faults.met) > {"busy", "reset"}
    values = [
        (one.value, two.value) for one, two in zip(*(run.scores["faithfulness"] for run in (right, found)), strict=True)
    ]
    assert [pair for pair in values if pair[1] is not None and pair[0] != pair[1]] == []
    assert sum(two is None for _, two in values) <= 2
