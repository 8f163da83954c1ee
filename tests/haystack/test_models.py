"""The bridges to models: what is sent, what is read, how failures look, and that they keep the contract of the core."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from haystack.components.embedders import (
    MockTextEmbedder,
    OpenAITextEmbedder,
)
from haystack.components.generators.chat import AzureOpenAIChatGenerator, MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils.auth import Secret

from loopback import OpenAIServer, error, rate_limited, server_error
from ragmetrics_core import Ask, BadReply, InvalidInput, ModelError, Prompt
from ragmetrics_core.replies import ObjectReply, YesNoReply
from ragmetrics_haystack import HaystackEmbeddings, HaystackLLM

KEY = "sk-secret-4711-abcdefghijklmnop"


QUESTION = Prompt("Is it so?", YesNoReply(), name="is_it_so")


OBJECT = Prompt("Is it so?", ObjectReply(("so",)), name="is_it_so")


def ask(prompt: Prompt[Any] = QUESTION, text: str = "yes?") -> Ask:
    return Ask(prompt.messages({"text": text}), prompt.reply, prompt, {"text": text})


def test_what_is_sent(server: OpenAIServer, openai: Any) -> None:
    reply = HaystackLLM(openai(server)).generate(ask())
    assert reply.value == "YES"
    assert reply.usage.prompt_tokens > 0
    assert not reply.truncated
    first, second = ask().messages
    assert server.chats[0]["messages"] == [
        {"role": "system", "content": first.content},
        {"role": "user", "content": second.content},
    ]


@pytest.mark.parametrize(
    ("settings", "json_mode", "formats"),
    [
        ({}, None, ["json_object", None]),
        ({"generation_kwargs": {"response_format": {"type": "json_object"}, "seed": 1}}, None, ["json_object", "text"]),
        ({}, False, [None, None]),
        ({"generation_kwargs": {"response_format": {"type": "text"}}}, True, ["json_object", "text"]),
    ],
)
def test_json_mode(
    server: OpenAIServer, openai: Any, settings: dict[str, Any], json_mode: bool | None, formats: list[Any]
) -> None:
    llm = HaystackLLM(openai(server, **settings), json_mode=json_mode)
    llm.generate(ask(OBJECT))
    asyncio.run(llm.agenerate(ask(QUESTION)))
    assert [(chat.get("response_format") or {}).get("type") for chat in server.chats] == formats
    assert [chat.get("seed") for chat in server.chats] == [settings.get("generation_kwargs", {}).get("seed")] * 2


def test_json_mode_of_other_generators(judge: Any) -> None:
    generator = judge("YES")
    assert HaystackLLM(generator).generate(ask(OBJECT)).value == "YES"  # takes no settings at all
    heard = []
    generator = SimpleNamespace(
        run=lambda messages, generation_kwargs: heard.append(generation_kwargs) or {"replies": []}
    )
    with pytest.raises(BadReply, match="^the chat generator gave no reply$"):
        HaystackLLM(generator, json_mode=True).generate(ask(OBJECT))
    assert heard == [{"response_format": {"type": "json_object"}}]


@pytest.mark.parametrize(
    ("answer", "marks"),
    [
        (error(401, "no such key"), {"fatal": True, "transient": False}),
        (error(403, "no"), {"fatal": True, "transient": False}),
        (error(404, "no such model"), {"fatal": True, "transient": False}),
        (
            error(429, "no credit", code="insufficient_quota"),
            {"fatal": True, "transient": False, "rate_limited": False},
        ),
        (rate_limited(retry_after=7), {"transient": True, "rate_limited": True, "retry_after": 7.0, "fatal": False}),
        (server_error(), {"transient": True, "rate_limited": False, "fatal": False, "retry_after": None}),
        (error(400, "bad request"), {"transient": False, "fatal": False}),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_errors_of_servers(
    server: OpenAIServer, openai: Any, answer: Any, marks: dict[str, Any], *, asynchronous: bool
) -> None:
    server.queue.append(answer)
    llm = HaystackLLM(openai(server))
    with pytest.raises(ModelError) as caught:
        asyncio.run(llm.agenerate(ask())) if asynchronous else llm.generate(ask())
    assert {name: getattr(caught.value, name) for name in marks} == marks
    assert str(caught.value).startswith("judge ")
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert (llm.generate(ask()) if not asynchronous else asyncio.run(llm.agenerate(ask()))).value == "YES"


def test_a_content_filter_is_a_bad_reply(server: OpenAIServer, openai: Any) -> None:
    server.queue.append(error(400, "filtered", code="content_filter"))
    with pytest.raises(BadReply, match="^judge: the content filter refuses the question: "):
        HaystackLLM(openai(server)).generate(ask())


class Wrapped(Exception):
    pass


def test_errors_that_wrap_others(judge: Any) -> None:
    cause = RuntimeError("throttled")
    cause.response = {"ResponseMetadata": {"HTTPStatusCode": 429}}  # type: ignore[attr-defined]  as botocore has it
    wrapped = Wrapped("Could not generate")
    wrapped.__cause__ = cause
    with pytest.raises(
        ModelError, match=r"^AsyncJudge gets too many requests: .* \(429\): Could not generate$"
    ) as caught:
        HaystackLLM(judge(wrapped)).generate(ask())
    assert caught.value.rate_limited
    for lost in (ConnectionResetError("reset"), TimeoutError("late")):
        with pytest.raises(ModelError) as caught:
            HaystackLLM(judge(lost)).generate(ask())
        assert caught.value.transient
        assert not caught.value.rate_limited


@pytest.mark.parametrize("bug", [TypeError("x"), KeyError("x"), AssertionError("x"), ImportError("pip install y")])
def test_bugs_are_no_model_errors(judge: Any, bug: Exception) -> None:
    with pytest.raises(type(bug)) as caught:
        HaystackLLM(judge(bug)).generate(ask())
    assert caught.value is bug


def test_a_key_that_is_not_set() -> None:
    llm = HaystackLLM(OpenAIChatGenerator())
    for call in (lambda: llm.generate(ask()), lambda: asyncio.run(llm.agenerate(ask()))):
        with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
            call()
        assert caught.value.fatal
    embeddings = HaystackEmbeddings(OpenAITextEmbedder(Secret.from_env_var("A_KEY_THAT_IS_NOT_SET")))
    with pytest.raises(ModelError, match="A_KEY_THAT_IS_NOT_SET"):
        embeddings.embed(["a"])


def test_no_secret_is_shown(judge: Any) -> None:
    generator = judge(RuntimeError(f"key {KEY} and Bearer abcdefgh and http://user:pass@host are wrong"))
    generator.api_key = Secret.from_token("a-secret-without-any-shape")
    generator.http_client_kwargs = {"headers": {"Authorization": "another-secret"}}
    generator.run_async = None
    with pytest.raises(ModelError) as caught:
        HaystackLLM(generator).generate(ask())
    assert str(caught.value) == "AsyncJudge failed: RuntimeError: key *** and Bearer *** and http://***@host are wrong"
    generator = judge(RuntimeError("a-secret-without-any-shape another-secret"))
    generator.api_key = Secret.from_token("a-secret-without-any-shape")
    generator.http_client_kwargs = {"headers": {"Authorization": "another-secret"}}
    with pytest.raises(ModelError, match=r"RuntimeError: \*\*\* \*\*\*$"):
        HaystackLLM(generator).generate(ask())


def test_identity() -> None:
    generator = OpenAIChatGenerator(
        Secret.from_token(KEY), model="m", api_base_url="http://u:p@h/v1", generation_kwargs={"seed": 1, "api_key": KEY}
    )
    identity = HaystackLLM(generator).identity
    assert identity == {
        "provider": "haystack",
        "class": "haystack.components.generators.chat.openai.OpenAIChatGenerator",
        "settings": {
            "model": "m",
            "api_base_url": "http://***@h/v1",
            "organization": None,
            "generation_kwargs": {"seed": 1},
            "tools": None,
            "tools_strict": False,
        },
        "json_mode": True,
    }
    assert KEY not in json.dumps(identity)
    other = OpenAIChatGenerator(Secret.from_token("other"), model="m", api_base_url="http://u:p@h/v1", timeout=3)
    assert HaystackLLM(other).identity != identity
    other.generation_kwargs = {"seed": 1}
    assert HaystackLLM(other).identity == identity
    assert HaystackLLM(MockChatGenerator("a")).identity is None  # keeps its parameter under another name
    assert (
        HaystackEmbeddings(MockTextEmbedder(dimension=8)).identity
        != HaystackEmbeddings(MockTextEmbedder(dimension=9)).identity
    )
    assert repr(HaystackLLM(generator)) == "HaystackLLM(<OpenAIChatGenerator 'm'>)"
    assert repr(HaystackEmbeddings(MockTextEmbedder())) == "HaystackEmbeddings(<MockTextEmbedder 'mock-model'>)"


def test_azure_is_told_the_form() -> None:
    azure = AzureOpenAIChatGenerator(azure_endpoint="https://h", api_key=Secret.from_token("k"))
    identity = HaystackLLM(azure).identity
    assert identity is None or identity["json_mode"]


def test_a_cut_reply_is_marked(judge: Any) -> None:
    cut = ChatMessage.from_assistant(
        "YE", meta={"finish_reason": "length", "usage": {"input_tokens": 3, "output_tokens": 1}}
    )
    reply = HaystackLLM(judge(cut)).generate(ask())
    assert reply.truncated
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (3, 1)


def test_a_reply_that_is_no_message(judge: Any) -> None:
    with pytest.raises(BadReply, match="^the chat generator replied with a str, not with a ChatMessage$"):
        HaystackLLM(judge({"replies": ["yes"]})).generate(ask())


def test_what_is_no_model() -> None:
    for wrong in ("gpt-4o", OpenAIChatGenerator, None, SimpleNamespace()):
        with pytest.raises(
            InvalidInput, match=r"^HaystackLLM takes a chat generator such as OpenAIChatGenerator\(\), got "
        ):
            HaystackLLM(wrong)
        with pytest.raises(InvalidInput, match="^HaystackEmbeddings takes a text embedder or a document embedder"):
            HaystackEmbeddings(wrong)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("Fri, 01 Jan 2021 00:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2021 00:00:00", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_how_long_to_wait(judge: Any, header: str, seconds: float | None) -> None:
    problem = RuntimeError("busy")
    problem.status_code, problem.headers = 503, {"Retry-After": header}  # type: ignore[attr-defined]
    with pytest.raises(ModelError) as caught:
        HaystackLLM(judge(problem)).generate(ask())
    assert caught.value.retry_after == seconds


def test_tracers_see_the_calls(judge: Any) -> None:
    from haystack.tracing.utils import coerce_tag_value  # noqa: F401  as a tracer would use it

    from haystack import tracing

    spans: list[Any] = []

    class Span(tracing.Span):
        def __init__(self, name: str, tags: Any) -> None:
            self.name, self.tags = name, dict(tags or {})

        def set_tag(self, key: str, value: Any) -> None:
            self.tags[key] = value

    class Tracer(tracing.Tracer):
        def trace(self, operation_name: str, tags: Any = None, parent_span: Any = None) -> Any:
            from contextlib import nullcontext

            spans.append(Span(operation_name, tags))
            return nullcontext(spans[-1])

        def current_span(self) -> Any:
            return None

    tracing.enable_tracing(Tracer())
    tracing.tracer.is_content_tracing_enabled = True
    try:
        HaystackLLM(judge("YES")).generate(ask())
    finally:
        tracing.disable_tracing()
        tracing.tracer.is_content_tracing_enabled = False
    (span,) = spans
    assert span.name == "haystack.chat_generator.run"
    assert span.tags["haystack.component.type"] == "AsyncJudge"
    assert span.tags["haystack.component.output"]["replies"][0].text == "YES"
