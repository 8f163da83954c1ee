"""``AnthropicLLM`` and ``GeminiLLM`` through the packages of their providers, against a server that speaks their protocols."""

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
from loopback import Faults, OpenAIServer, Response, gemini, judge, rate_limited, server_error
from loopback import error as refusal
from ragmetrics_core import BadReply, InvalidInput, Message, ModelError, evaluate
from ragmetrics_core.llms import AnthropicLLM, GeminiLLM, llm_factory
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import LLMContract

pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

KEY = "sk-ant-secret-4711-abcdefgh"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: body["messages"][-1]["content"].split()[-1]) as running:
        yield running


def claude(server: OpenAIServer, **settings: Any) -> AnthropicLLM:
    return AnthropicLLM("claude-x", base_url=server.base_url, api_key=KEY, **settings)


def gem(server: OpenAIServer, **settings: Any) -> GeminiLLM:
    return GeminiLLM("gemini-x", base_url=server.origin, api_key=KEY, **settings)


MODELS: dict[str, Callable[..., AnthropicLLM | GeminiLLM]] = {"Anthropic": claude, "Gemini": gem}
each = pytest.mark.parametrize("name", MODELS)


class TestClaude(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> AnthropicLLM:
        return claude(server)

    @pytest.fixture
    def failing_llm(self) -> AnthropicLLM:
        return AnthropicLLM("claude-x", api_key=KEY, base_url="http://127.0.0.1:9", max_retries=0)


class TestGemini(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> GeminiLLM:
        return gem(server)

    @pytest.fixture
    def failing_llm(self) -> GeminiLLM:
        return GeminiLLM("gemini-x", api_key=KEY, base_url="http://127.0.0.1:9", max_retries=0)


def both(llm: AnthropicLLM | GeminiLLM, ask: Any) -> list[Any]:
    """The reply, or the error, of both methods."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ModelError as error:
            return error

    return [outcome(lambda: llm.generate(ask)), outcome(lambda: asyncio.run(llm.agenerate(ask)))]


SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""What is sent for a reply with an answer."""


class TestRequests:
    def test_what_gemini_is_sent(self, server: OpenAIServer, ask: Asking) -> None:
        question = ask(schema={"type": "object", "properties": {"answer": {"type": "string"}}})
        gem(server, temperature=0, seed=7, extra_body={"x": 1}).generate(question)
        (request,) = server.requests
        assert request.path == "/v1beta/models/gemini-x:generateContent"
        assert request.headers["x-goog-api-key"] == KEY
        system, user = question.messages
        assert request.body["systemInstruction"]["parts"] == [{"text": system.content}]
        assert request.body["contents"] == [{"role": "user", "parts": [{"text": user.content}]}]
        form = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
        assert request.body["generationConfig"] == {"temperature": 0, "seed": 7, **form}
        assert request.body["x"] == 1

    def test_gemini_goes_down_the_ladder(self, server: OpenAIServer, ask: Asking) -> None:
        server.refuses = {"json_schema", "json_object"}
        llm = gem(server)
        for _ in range(3):
            assert llm.generate(ask(schema={"type": "object"})).value
        sent = [sorted(body.get("generationConfig") or {}) for body in server.chats]
        whole = [["responseJsonSchema", "responseMimeType"], ["responseMimeType"], []]
        assert sent == [*whole, *whole, []]

    def test_a_conversation_with_gemini(self, server: OpenAIServer, ask: Asking) -> None:
        question = ask()
        again = (*question.messages, Message("assistant", " "), Message("user", "Again."))
        assert gem(server).generate(replace(question, messages=again)).value == "Again."
        assert server.chats[0]["contents"][1:] == [
            {"role": "model", "parts": [{"text": "(empty)"}]},
            {"role": "user", "parts": [{"text": "Again."}]},
        ]

    def test_usage_of_gemini(self, server: OpenAIServer, ask: Asking) -> None:
        """Thoughts are paid for; tokens of the cache are among those of the prompt."""
        parts = [{"text": "Hm.", "thought": True}, {"text": "yes"}]
        usage = {
            "promptTokenCount": 3210,
            "cachedContentTokenCount": 3000,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 30,
        }
        answer = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage}
        server.queue.append(Response(body=json.dumps(answer)))
        reply = gem(server).generate(ask())
        assert (reply.value, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("yes", 3210, 37)

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
                    "schema": SCHEMA,
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
    @each
    def test_a_reply_that_is_cut(self, server: OpenAIServer, ask: Asking, name: str) -> None:
        server.queue.extend([Response("half", finish_reason="length")] * 2)
        replies = both(MODELS[name](server), ask())
        assert [(reply.value, reply.truncated) for reply in replies] == [("half", True)] * 2

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ({"candidates": [{"finishReason": "SAFETY"}]}, "gemini-x was stopped by a content filter"),
            (
                {"candidates": [{"content": {"parts": [{"text": "To be"}]}, "finishReason": "RECITATION"}]},
                "gemini-x was stopped because it recited a source: To be",
            ),
            (
                {"promptFeedback": {"blockReason": "SAFETY"}},
                "gemini-x was not asked, because a filter blocks the question (SAFETY)",
            ),
            ({"candidates": [{"finishReason": "STOP"}]}, "gemini-x answered without any text (finish reason 'STOP')"),
        ],
    )
    def test_no_answer_of_gemini(self, server: OpenAIServer, ask: Asking, answer: Any, reason: str) -> None:
        usage = {"usageMetadata": {"promptTokenCount": 9}}
        server.queue.extend([Response(body=json.dumps({**answer, **usage}))] * 2)
        for error in both(gem(server), ask()):
            assert isinstance(error, BadReply)
            assert error.reason == reason
            assert error.usage is not None
            assert error.usage.prompt_tokens == 9

    @pytest.mark.parametrize(
        ("details", "marks"),
        [
            ({"@type": "RetryInfo", "retryDelay": "37s"}, (True, 37.0)),
            ({"@type": "RetryInfo", "retryDelay": "soon"}, (True, None)),
        ],
    )
    def test_gemini_says_when_to_come_back(
        self, server: OpenAIServer, ask: Asking, details: Any, marks: tuple[Any, ...]
    ) -> None:
        server.queue.extend([gemini.failure(429, "Quota exceeded.", "RESOURCE_EXHAUSTED", details)] * 2)
        for error in both(gem(server, max_retries=0), ask()):
            assert (error.rate_limited, error.retry_after) == marks

    def test_a_wrong_key_of_gemini(self, server: OpenAIServer, ask: Asking) -> None:
        """It is refused with the status of a bad request."""
        details = {"@type": "ErrorInfo", "reason": "API_KEY_INVALID"}
        server.queue.append(gemini.failure(400, f"API key not valid: {KEY}", "INVALID_ARGUMENT", details))
        with pytest.raises(ModelError) as caught:
            gem(server).generate(ask())
        assert str(caught.value) == (
            f"gemini-x: {server.origin} refuses the API key (401): API key not valid: ***. "
            "Set the environment variable GEMINI_API_KEY, or give api_key."
        )
        assert caught.value.fatal

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
            (Response(reset=True), "cannot reach {origin}", (True, False, None, False)),
            (Response(body="<html>"), "does not follow the {name} protocol (it is an HTML page", (False, False, None, False)),
            (Response(body='{"content": [{"type": "text", "te'), "it is not a JSON object", (True, False, None, False)),
            (Response(body="[" * 100_000), "it is nested too deeply", (True, False, None, False)),
            (Response(body='"text"'), "it holds no c", (False, False, None, False)),
            (Response(status=302, headers={"Location": "http://x"}), "it redirects to http://x", (False, False, None, False)),
            (
                Response(body=gzip.compress(b"x" * 70_000_000), headers={"Content-Encoding": "gzip"}),
                "is longer than 64 MB",
                (False, False, None, False),
            ),
            (
                Response(status=401, body=json.dumps({"type": "error", "error": {"message": f"invalid {KEY}"}})),
                "refuses the API key (401): invalid ***. Set the environment variable {variable}_API_KEY, or give api_key.",
                (False, False, None, True),
            ),
            (
                Response(body=json.dumps({"type": "error", "error": {"code": 503, "message": "busy"}})),
                "is failing (503): busy.",
                (True, False, None, False),
            ),
        ],
    )  # fmt: skip
    @each
    def test_failures(
        self, server: OpenAIServer, ask: Asking, name: str, response: Response, message: str, marks: tuple[Any, ...]
    ) -> None:
        server.queue.extend([response] * 2)
        said = message.format(origin=server.origin, name=name, variable=name.upper())
        for error in both(MODELS[name](server, max_retries=0), ask()):
            assert said in str(error)
            assert (error.transient, error.rate_limited, error.retry_after, error.fatal) == marks
            assert KEY not in repr(error)
            assert error.__cause__ is None

    def test_an_account_of_anthropic_without_credit(self, server: OpenAIServer, ask: Asking) -> None:
        """It is refused with the status of a bad request, and every further call would be."""
        said = "Your credit balance is too low to access the Anthropic API."
        server.queue.extend([refusal(400, said, kind="invalid_request_error")] * 2)
        for error in both(claude(server), ask()):
            assert str(error) == (
                f"claude-x: {server.origin} refuses the request (400): {said} The account has no credit left."
            )
            assert (error.fatal, error.transient) == (True, False)

    @each
    def test_an_answer_that_never_ends(self, server: OpenAIServer, ask: Asking, name: str) -> None:
        server.queue.extend([Response(hang=True)] * 2)
        for error in both(MODELS[name](server, max_retries=0, timeout=0.3), ask()):
            assert "in time" in str(error)
            assert error.transient

    @each
    def test_a_failed_call_is_made_again(self, server: OpenAIServer, ask: Asking, name: str) -> None:
        server.queue.extend([server_error(), rate_limited("0")])
        assert MODELS[name](server).generate(ask()).value
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

    def test_gemini_by_name(self, server: OpenAIServer, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        """At the address of the other protocol, too."""
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        assert llm_factory("gemini-x", "gemini").identity == {  # type: ignore[attr-defined]
            "provider": "gemini",
            "model": "gemini-x",
            "base_url": "https://generativelanguage.googleapis.com",
            "structured": "schema",
            "parameters": {},
        }
        monkeypatch.setenv("GEMINI_BASE_URL", f"{server.origin}/v1beta/openai")
        assert llm_factory("gemini-x", "gemini", max_output_tokens=5).generate(ask(schema=None)).value
        assert server.chats[0]["generationConfig"] == {"maxOutputTokens": 5}
        assert server.requests[0].headers["x-goog-api-key"] == KEY

    def test_gemini_without_a_key(self, server: OpenAIServer, ask: Asking) -> None:
        with pytest.raises(ModelError) as caught:
            GeminiLLM("gemini-x", base_url=server.origin).generate(ask())
        assert str(caught.value) == (
            "no API key for Gemini: set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY, or give api_key=..."
        )

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
            ({"structured": "json"}, "structured must be schema or text: Anthropic does not take 'json'"),
            ({"max_tokens": 0}, "max_tokens must be a whole number from 1, got 0"),
            ({"temprature": 0}, "temprature is not a known parameter of Anthropic: did you mean 'temperature'? "),
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

    @each
    def test_no_secret_is_shown_or_pickled(self, server: OpenAIServer, name: str) -> None:
        llm = MODELS[name](server, extra_body={"api_key": "hidden-1234567"})
        assert KEY not in f"{llm!r}{llm.identity}"
        assert "hidden" not in f"{llm!r}{llm.identity}"
        assert copy.deepcopy(llm) is llm
        with pytest.raises(InvalidInput, match=f"{name.upper()}_API_KEY"):
            pickle.dumps(llm)
        open_one = type(llm)(llm.model, base_url=server.origin)
        assert pickle.loads(pickle.dumps(open_one)).identity == open_one.identity


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {"user_input": f"q{at}", "response": f"claim {at}. of it", "retrieved_contexts": ["c"]} for at in range(number)
    ]


@pytest.mark.slow
@each
def test_a_run_with_faults(server: OpenAIServer, name: str) -> None:
    """The scores are those of a run without faults."""
    llm = MODELS[name]
    server.responder = judge
    right = evaluate(rows(60), Faithfulness(), llm=llm(server), progress=False)
    mix = {"busy": 0.05, "failing": 0.03, "reset": 0.03, "malformed": 0.03, "truncated": 0.02}
    server.responder = faults = Faults(3, mix)
    found = evaluate(rows(60), Faithfulness(), llm=llm(server), progress=False)
    assert set(faults.met) > {"busy", "reset"}
    values = [
        (one.value, two.value) for one, two in zip(*(run.scores["faithfulness"] for run in (right, found)), strict=True)
    ]
    assert [pair for pair in values if pair[1] is not None and pair[0] != pair[1]] == []
    assert sum(two is None for _, two in values) <= 2
