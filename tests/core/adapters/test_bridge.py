"""One bridge for all frameworks, seen from a made-up framework: Acme, with a chat model and an embedding model."""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ragmetrics_core import Ask, BadReply, InvalidInput, Message, ModelError, Prompt, Reply, Usage
from ragmetrics_core.adapters import Attempts, EmbeddingsBridge, LLMBridge, is_judging, without_retries
from ragmetrics_core.replies import JsonReply, LinesReply, ObjectReply, ReplyFormat, WithReason, YesNoReply
from ragmetrics_core.testing import EmbeddingsContract, LLMContract

KEY = "a-key-without-any-shape"


class Chat:
    """A chat model of Acme; what it does is said by a function of what it is sent."""

    def __init__(self, answer: Callable[..., Any] = lambda *_, **__: "yes", api_key: str = KEY, url: str = "u") -> None:
        self.model, self.api_key, self.url, self.answer = "chat-1", api_key, url, answer
        self.ways: list[str] = []

    def chat(self, texts: list[str], **parameters: Any) -> Any:
        self.ways.append("blocking")
        return self.answer(*texts, **parameters)

    async def chat_async(self, texts: list[str], **parameters: Any) -> Any:
        self.ways.append("waiting")
        return self.answer(*texts, **parameters)


class AcmeLLM(LLMBridge):
    _provider = "acme"

    def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
        return model.chat([item.content for item in question.messages], **form.parameters())

    async def _ask_async(self, model: Any, question: Ask, form: Attempts) -> Any:
        return await model.chat_async([item.content for item in question.messages], **form.parameters())

    def _read(self, answer: Any) -> Reply[str]:
        if not answer:
            raise BadReply("no text")
        return Reply(answer, Usage(1, 2, len(answer)))

    def _settings(self, model: Any) -> dict[str, Any] | None:
        return {"model": model.model, "url": model.url, "api_key": model.api_key}


class AcmeEmbeddings(EmbeddingsBridge):
    _provider = "acme"

    def _embed(self, model: Any, texts: list[str]) -> Any:
        return [model(text) for text in texts]

    async def _embed_async(self, model: Any, texts: list[str]) -> Any:
        return self._embed(model, texts)

    def _read(self, answer: Any) -> Reply[list[list[float]]]:
        return Reply(answer, Usage(1))


def ask(reply: ReplyFormat[Any] | None = None) -> Ask:
    prompt = Prompt("Is it so?", YesNoReply() if reply is None else reply, name="is_it_so")
    return Ask(prompt.messages({"text": "?"}), prompt.reply, prompt, {})


class TestAcmeLLM(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self) -> AcmeLLM:
        return AcmeLLM(Chat(lambda *_, **__: "Iceland"))

    @pytest.fixture
    def failing_llm(self) -> AcmeLLM:
        return AcmeLLM(Chat(fail_with(ValueError(f"{KEY} is wrong"))))


def words(text: str) -> list[float]:
    return [text.count(letter) + 0.1 for letter in "abcdefghijklmnopqrstuvwxyz"]


class TestAcmeEmbeddings(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> AcmeEmbeddings:
        return AcmeEmbeddings(words)


def fail_with(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("asynchronous", [False, True])
def test_lone_surrogates_are_written_out_and_all_else_is_sent_as_it_is(*, asynchronous: bool) -> None:
    sent: list[tuple[str, ...]] = []
    llm = AcmeLLM(Chat(lambda *texts, **_: sent.append(texts) or "yes"))
    first = ask()
    again = replace(first, messages=(*first.messages, Message("assistant", "\ud800 é \U0001f600")))
    assert (asyncio.run(llm.agenerate(again)) if asynchronous else llm.generate(again)).value == "yes"
    assert sent == [(*(message.content for message in first.messages), "\\ud800 é \U0001f600")]
    assert again.messages[-1].content[0] == "\ud800"


def test_it_is_called_asynchronously_in_the_first_loop_and_on_threads_in_others() -> None:
    model = Chat()
    llm = AcmeLLM(model)
    for _ in range(2):
        assert asyncio.run(llm.agenerate(ask())).value == "yes"
    assert asyncio.run(llm.without_retries().agenerate(ask())).usage == Usage(1, 2, 3)
    assert model.ways == ["waiting", "blocking", "blocking"]


def test_a_connection_of_another_loop_is_gone_around() -> None:
    class Used(Chat):
        async def chat_async(self, texts: list[str], **parameters: Any) -> Any:
            raise RuntimeError("Event loop is closed")

    assert asyncio.run(AcmeLLM(Used()).agenerate(ask())).value == "yes"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_forms_that_are_refused(*, asynchronous: bool) -> None:
    received: list[str | None] = []

    class Refusal(Exception):
        status_code = 400

    def answer(*_: str, response_format: Any = None) -> str:
        received.append(response_format and response_format["type"])
        if response_format:
            raise Refusal("Bad Request")
        return "yes"

    llm = AcmeLLM(Chat(answer))
    for _ in range(3):
        reply = asyncio.run(llm.agenerate(ask())) if asynchronous else llm.generate(ask())
        assert reply.value == "yes"
    assert received == ["json_schema", "json_object", None] * 2 + [None]


class Strangers:
    """A format of a user, which says by itself whether it is JSON."""

    schema: ClassVar[Any] = None

    def __init__(self, is_json: bool | None = None) -> None:
        if is_json is not None:
            self.is_json = is_json

    def instructions(self) -> str:
        return "Reply."

    def parse(self, text: str) -> str:
        return text


class WithSchema(Strangers):
    schema: ClassVar[Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_format_says_whether_it_is_json() -> None:
    from pydantic import BaseModel

    class Free(BaseModel):
        values: dict[str, Any]

    formats: dict[ReplyFormat[Any], str | None] = {
        YesNoReply(): "json_schema",
        WithReason(YesNoReply()): "json_schema",
        ObjectReply(("a",)): "json_object",
        WithReason(ObjectReply(("a",))): "json_object",
        JsonReply(Free): "json_object",
        LinesReply(): None,
        Strangers(): None,
        Strangers(is_json=True): "json_object",
        WithSchema(): "json_schema",
        WithSchema(is_json=False): None,
    }
    for reply, form in formats.items():
        received: list[Any] = []
        AcmeLLM(
            Chat(lambda *_, response_format=None, received=received: received.append(response_format) or "yes")
        ).generate(ask(reply))
        assert [item and item["type"] for item in received] == [form], reply
        assert ask(reply).wants_json is (form is not None)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_failures_bugs_and_bad_replies(*, asynchronous: bool) -> None:
    def call(error: BaseException) -> Any:
        llm = AcmeLLM(Chat(fail_with(error)))
        return asyncio.run(llm.agenerate(ask())) if asynchronous else llm.generate(ask())

    with pytest.raises(ModelError, match=r"^chat-1 cannot be reached: TimeoutError: \*\*\* is slow$") as caught:
        call(TimeoutError(f"{KEY} is slow"))
    assert caught.value.transient
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(TypeError, match="a bug"):
        call(TypeError("a bug"))
    with pytest.raises(BadReply, match="no text"):
        AcmeLLM(Chat(lambda *_, **__: "")).generate(ask())


def test_a_judge_at_work_is_marked() -> None:
    seen: list[bool] = []
    llm = AcmeLLM(Chat(lambda *_, **__: seen.append(is_judging()) or "yes"))
    llm.generate(ask())
    asyncio.run(llm.agenerate(ask()))
    assert (seen, is_judging()) == ([True, True], False)


@pytest.mark.parametrize(("overlap", "most"), [(None, 1), (False, 1), (True, 3)])
def test_models_without_asynchronous_methods_take_turns(overlap: bool | None, most: int) -> None:
    busy = 0
    highest = 0
    lock = threading.Lock()
    together = threading.Barrier(most, timeout=60)  # no call returns before so many are made at the same time

    def answer(*_: Any, **__: Any) -> str:
        nonlocal busy, highest
        with lock:
            busy += 1
            highest = max(highest, busy)
        together.wait()
        time.sleep(0.05)  # one more would come meanwhile
        with lock:
            busy -= 1
        return "yes"

    class Blocking(AcmeLLM):
        def _has_async(self, model: Any) -> bool:
            return False

    async def three(llm: AcmeLLM) -> None:
        await asyncio.gather(*(llm.agenerate(ask()) for _ in range(3)))

    model = Chat(answer)
    asyncio.run(three(Blocking(model, overlap=overlap)))
    assert (highest, model.ways) == (most, ["blocking"] * 3)


def test_what_it_is() -> None:
    llm = AcmeLLM(Chat())
    assert llm.identity == {"provider": "acme", "class": f"{__name__}.Chat", "model": "chat-1", "url": "u"}
    assert AcmeLLM(Chat(api_key="another")).identity == llm.identity == llm.without_retries().identity
    assert AcmeLLM(Chat(url="v")).identity != llm.identity
    assert AcmeLLM(Chat(url=object())).identity is None  # type: ignore[arg-type]
    assert AcmeEmbeddings(words).identity is None
    assert repr(llm) == "AcmeLLM(<Chat 'chat-1'>)"
    assert copy.deepcopy([llm]) == [llm]


class Client:
    def __init__(self, max_retries: int) -> None:
        self.max_retries = max_retries

    def with_options(self, max_retries: int) -> Client:
        return Client(max_retries)


def test_retries_of_a_model_that_is_no_pydantic_one() -> None:
    model = SimpleNamespace(max_retries=None, client=Client(5), async_client=None, raise_on_failure=False)
    other = without_retries(model)
    assert (other.max_retries, other.client.max_retries, other.raise_on_failure) == (0, 0, True)
    assert (model.max_retries, model.client.max_retries, model.raise_on_failure) == (None, 5, False)
    for left in (SimpleNamespace(max_retries=0, client=Client(0)), SimpleNamespace(max_retries=3, client=object())):
        assert without_retries(left) is left


def test_the_copy_that_is_called_outlives_a_run() -> None:
    called: list[Any] = []

    class Noting(AcmeLLM):
        def _ask(self, model: Any, question: Ask, form: Attempts) -> Any:
            called.append(model)
            return "yes"

    model: Any = Chat()
    model.max_retries, model.client = 3, Client(3)
    llm = Noting(model)
    for each in (llm, llm.without_retries(), llm.without_retries().without_retries()):
        each.generate(ask())
    assert called[0] is model
    assert called[1] is called[2] is not model
    assert (called[1].client.max_retries, model.client.max_retries) == (0, 3)


def test_embeddings() -> None:
    bridge = AcmeEmbeddings(words)
    for vectors in (bridge.embed(["a \ud800"]), asyncio.run(bridge.aembed(["a \ud800"]))):
        assert vectors.value == [words("a \ufffd")]
    assert bridge.embed([]) == asyncio.run(bridge.aembed([])) == Reply([], Usage())
    with pytest.raises(InvalidInput, match="^embed takes a list of texts, got a single str"):
        bridge.embed("text")


def test_what_an_adapter_left_out() -> None:
    with pytest.raises(NotImplementedError, match="^LLMBridge has no _ask$"):
        LLMBridge(Chat()).generate(ask())
    with pytest.raises(NotImplementedError, match="^LLMBridge has no _ask_async$"):
        asyncio.run(LLMBridge(Chat()).agenerate(ask()))
    with pytest.raises(NotImplementedError, match="^EmbeddingsBridge has no _embed$"):
        EmbeddingsBridge(words).embed(["a"])
    with pytest.raises(NotImplementedError, match="^EmbeddingsBridge has no _embed_async$"):
        asyncio.run(EmbeddingsBridge(words).aembed(["a"]))
    with pytest.raises(NotImplementedError, match="^Silent has no _read$"):
        Silent(Chat()).generate(ask())


class Silent(LLMBridge):
    def _ask(self, model: Any, question: Ask, form: Attempts) -> str:
        return "yes"
