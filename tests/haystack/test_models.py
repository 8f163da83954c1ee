"""The bridges to models: what is sent, what is read, how failures look, and that they keep the contract of the core."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from haystack.components.embedders import (
    MockTextEmbedder,
    OpenAIDocumentEmbedder,
    OpenAITextEmbedder,
)
from haystack.components.generators.chat import AzureOpenAIChatGenerator, MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils.auth import Secret
from pydantic import BaseModel

from exchanges import EXCHANGES
from loopback import OpenAIServer, Response, error, rate_limited, server_error
from ragmetrics_core import Ask, BadReply, InvalidInput, Metric, ModelError, Prompt
from ragmetrics_core.metrics import Relevancy, SemanticSimilarity
from ragmetrics_core.replies import LinesReply, ObjectReply, YesNoReply
from ragmetrics_haystack import HaystackEmbeddings, HaystackLLM, MetricEvaluator

KEY = "sk-secret-4711-abcdefghijklmnop"
NOT_KEPT = {"headers": {"Connection": "close"}}


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


LINES = Prompt("What is it?", LinesReply(), name="what_is_it")
SCHEMA = {"type": "json_schema", "json_schema": {"name": "mine", "schema": {"type": "object"}}}


class MyAnswer(BaseModel):
    """The form of the user's own application."""

    answer: str


@pytest.mark.parametrize(
    ("own", "json_mode", "formats"),
    [
        (None, None, ["json_object", "json_object", None]),
        ({"type": "json_object"}, None, ["json_object", "json_object", None]),
        ({"type": "text"}, None, ["json_object", "json_object", None]),
        (SCHEMA, None, ["json_object", "json_object", None]),
        (MyAnswer, None, ["json_object", "json_object", None]),
        ({"type": "text"}, True, ["json_object", "json_object", None]),
        (None, False, [None, None, None]),
        ({"type": "json_object"}, False, ["json_object"] * 3),
    ],
    ids=str,
)
def test_json_mode(server: OpenAIServer, openai: Any, own: Any, json_mode: bool | None, formats: list[Any]) -> None:
    settings = {"seed": 1} if own is None else {"seed": 1, "response_format": own}
    generator = openai(server, generation_kwargs=settings)
    llm = HaystackLLM(generator, json_mode=json_mode)
    llm.generate(ask(OBJECT))
    asyncio.run(llm.agenerate(ask(QUESTION)))
    llm.generate(ask(LINES))
    assert [(chat.get("response_format") or {}).get("type") for chat in server.chats] == formats
    assert [chat.get("seed") for chat in server.chats] == [1] * 3
    assert generator.generation_kwargs == settings


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_server_that_refuses_json_mode(server: OpenAIServer, openai: Any, asynchronous: bool) -> None:
    """It is asked without, and that is remembered, by copies of the model too."""
    server.refuses = {"json_object", "text"}
    llm = HaystackLLM(openai(server))
    for each in (llm, llm.without_retries(), llm):
        reply = asyncio.run(each.agenerate(ask())) if asynchronous else each.generate(ask())
        assert reply.value == "YES"
    formats = [(chat.get("response_format") or {}).get("type") for chat in server.chats]
    assert formats == ["json_object", None, None, None]


def test_a_provider_that_refuses_json_mode_in_its_own_words(server: OpenAIServer, openai: Any) -> None:
    class OtherProvider(OpenAIChatGenerator):
        pass

    server.responder = lambda body: error(400, "Bad Request") if body.get("response_format") else "YES"
    generator = OtherProvider(
        Secret.from_token(KEY), api_base_url=server.base_url, http_client_kwargs=NOT_KEPT, max_retries=0
    )
    llm = HaystackLLM(generator)
    for _ in range(3):
        assert llm.generate(ask()).value == "YES"
    assert [bool(chat.get("response_format")) for chat in server.chats] == [True, False, True, False, False]


@pytest.mark.parametrize("metric", [exchange.metric for exchange in EXCHANGES], ids=lambda metric: metric.name)
def test_every_metric_asks_for_json(metric: Metric) -> None:
    heard: list[Any] = []
    generator = SimpleNamespace(
        run=lambda messages, generation_kwargs: heard.append(generation_kwargs) or {"replies": []}
    )
    sample = next(exchange.sample for exchange in EXCHANGES if exchange.metric is metric)
    with pytest.raises(BadReply, match="the chat generator gave no reply$"):
        replace(metric, llm=HaystackLLM(generator, json_mode=True)).score(sample)
    assert heard
    assert all(item == {"response_format": {"type": "json_object"}} for item in heard)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_retries_do_not_multiply(server: OpenAIServer, openai: Any, asynchronous: bool) -> None:
    """A row whose calls are all lost costs as many as the run allows, whatever the client would do by itself."""
    server.responder = lambda body: server_error()
    generator = openai(server, max_retries=None)
    evaluator = MetricEvaluator(
        Relevancy(), chat_generator=generator, max_retries=1, progress_bar=False, raise_on_failure=False
    )
    inputs = {"user_input": ["q"], "response": ["a"], "retrieved_contexts": [["c"]]}
    outputs = asyncio.run(evaluator.run_async(**inputs)) if asynchronous else evaluator.run(**inputs)
    assert outputs["results"][0]["state"] == "failed"
    assert len(server.chats) == 2
    assert generator.max_retries is None
    client = generator.async_client if asynchronous else generator.client
    assert client.max_retries == 5, "the user's own calls are still made again"
    assert HaystackLLM(generator).without_retries().identity == HaystackLLM(generator).identity


def test_retries_of_embedders_do_not_multiply(server: OpenAIServer) -> None:
    server.queue.extend(server_error() for _ in range(20))
    embedder = OpenAITextEmbedder(Secret.from_token(KEY), api_base_url=server.base_url, http_client_kwargs=NOT_KEPT)
    evaluator = MetricEvaluator(
        SemanticSimilarity(), embedder=embedder, max_retries=0, progress_bar=False, raise_on_failure=False
    )
    outputs = evaluator.run(response=["a"], reference=["b"])
    assert outputs["results"][0]["state"] == "failed"
    assert len(server.requests) <= 2  # one for each of the two texts
    assert embedder.client.max_retries == 5


def test_a_lost_call_of_a_document_embedder_is_made_again(server: OpenAIServer) -> None:
    """Such an embedder only logs what its client could not mend, which gets no retries."""
    server.queue.append(server_error())
    embedder = OpenAIDocumentEmbedder(
        Secret.from_token(KEY), api_base_url=server.base_url, http_client_kwargs=NOT_KEPT, progress_bar=False
    )
    evaluator = MetricEvaluator(SemanticSimilarity(), embedder=embedder, max_retries=1, progress_bar=False)
    assert evaluator.run(response=["a"], reference=["a"])["score"] == pytest.approx(1.0)
    assert not embedder.raise_on_failure
    server.queue.extend(server_error() for _ in range(9))
    with pytest.raises(ModelError, match=r"is failing: try again later \(500\)"):
        evaluator.run(response=["a"], reference=["a"])


def test_a_generator_whose_client_cannot_be_changed_is_left_unchanged(judge: Any) -> None:
    generator = judge("YES")
    generator.max_retries, generator.client = 3, object()
    llm = HaystackLLM(generator).without_retries()
    assert llm.generate(ask()).value == "YES"
    assert (generator.warmed_up, generator.max_retries, len(generator.conversations)) == (1, 3, 1)


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
        (error(413, "too large"), {"transient": False, "fatal": False}),
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


def test_azure_gets_the_form() -> None:
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


@pytest.mark.parametrize(
    ("finish_reason", "problem"),
    [
        ("length", "judge: the reply was cut at the token limit: allow it more tokens"),
        ("content_filter", "judge: a content filter stopped the reply"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_reply_in_json_mode_that_ended_early(
    server: OpenAIServer, openai: Any, finish_reason: str, problem: str, *, asynchronous: bool
) -> None:
    """OpenAI's client raises an exception then; what the answer cost is counted, as far as the exception tells."""
    server.responder = lambda body: Response('{"reason": "so', finish_reason=finish_reason)
    llm = HaystackLLM(openai(server))
    with pytest.raises(BadReply) as caught:
        asyncio.run(llm.agenerate(ask())) if asynchronous else llm.generate(ask())
    assert str(caught.value) == problem
    assert caught.value.usage.calls == 1
    if finish_reason == "length":  # the other exception holds the answer from openai 3 on
        assert caught.value.usage.prompt_tokens > 0


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
