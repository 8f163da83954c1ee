"""LangChain's models as judges, real clients against the loopback server: the core's contract, and every way to fail."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from lc_models import KEY, chat, question, short_lived
from lc_parts import Scripted

from loopback import OpenAIServer, Response, error, server_error
from ragmetrics_core import BadReply, InvalidInput, ModelError
from ragmetrics_core.testing import EmbeddingsContract, LLMContract
from ragmetrics_langchain import LangChainEmbeddings, LangChainLLM


class TestChatModel(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> LangChainLLM:
        return LangChainLLM(chat(server))

    @pytest.fixture
    def failing_llm(self, server: OpenAIServer) -> LangChainLLM:
        server.models = {"another"}
        return LangChainLLM(chat(server))


class TestChatModelWithSettings(TestChatModel):
    @pytest.fixture
    def llm(self, server: OpenAIServer) -> LangChainLLM:
        return LangChainLLM(chat(server).bind(temperature=0).with_config(tags=["x"]).with_retry())


class TestUnreachableChatModel(TestChatModel):
    @pytest.fixture
    def failing_llm(self) -> LangChainLLM:
        return LangChainLLM(
            ChatOpenAI(
                model="judge",
                base_url="http://127.0.0.1:9/v1",
                api_key=KEY,
                max_retries=0,
                http_async_client=short_lived(),
            )
        )


class TestFakeChatModel(LLMContract):
    counts_tokens = False

    @pytest.fixture
    def llm(self) -> LangChainLLM:
        return LangChainLLM(FakeListChatModel(responses=["Iceland"]))

    @pytest.fixture
    def failing_llm(self) -> LangChainLLM:
        return LangChainLLM(Scripted(says=ValueError("out of order")))


class TestCompletionModel(TestFakeChatModel):
    @pytest.fixture
    def llm(self) -> LangChainLLM:
        return LangChainLLM(FakeListLLM(responses=["Iceland"]))


class TestEmbeddings(EmbeddingsContract):
    secrets = (KEY,)

    @pytest.fixture
    def embeddings(self, server: OpenAIServer) -> LangChainEmbeddings:
        return LangChainEmbeddings(embedder(server.base_url))

    @pytest.fixture
    def failing_embeddings(self, server: OpenAIServer) -> LangChainEmbeddings:
        server.queue.extend([server_error()] * 2)
        return LangChainEmbeddings(embedder(server.base_url))


def embedder(base_url: str) -> OpenAIEmbeddings:
    return OpenAIEmbeddings(
        model="small",
        dimensions=64,
        base_url=base_url,
        api_key=KEY,
        check_embedding_ctx_length=False,
        max_retries=0,
        http_async_client=short_lived(),
    )


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (AIMessage("", additional_kwargs={"refusal": "I cannot."}), "Scripted refuses to answer: I cannot."),
        (
            AIMessage("x", response_metadata={"finish_reason": "content_filter"}),
            "a content filter stopped the answer of Scripted",
        ),
        (
            AIMessage("", response_metadata={"stop_reason": "end_turn"}),
            "Scripted answered without any text (finish reason 'end_turn')",
        ),
    ],
)
def test_answers_that_are_none(message: AIMessage, problem: str) -> None:
    message.usage_metadata = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    with pytest.raises(BadReply) as caught:
        LangChainLLM(Scripted(says=message)).generate(question())
    assert str(caught.value) == problem
    assert caught.value.usage.prompt_tokens == 3


def test_what_an_answer_says_of_itself(server: OpenAIServer) -> None:
    server.responder = lambda body: Response(
        "Reykja", finish_reason="length", usage={"prompt_tokens": 5, "completion_tokens": 2}
    )
    reply = LangChainLLM(chat(server)).generate(question())
    assert (reply.value, reply.truncated) == ("Reykja", True)
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 5, 2)
    cut = AIMessage("", response_metadata={"finish_reason": "length"})
    assert LangChainLLM(Scripted(says=cut)).generate(question()).truncated
    blocks = AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Reykjavik"}])
    assert LangChainLLM(Scripted(says=blocks)).generate(question()).value == "Reykjavik"


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match="LangChainLLM takes a LangChain chat model, got str"):
        LangChainLLM("gpt")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="LangChainEmbeddings takes a LangChain embedding model, got str"):
        LangChainEmbeddings("small")  # type: ignore[arg-type]
    structured = FakeListChatModel(responses=["x"]) | (lambda message: {"x": message})
    with pytest.raises(InvalidInput, match="answers with dict instead of a message: give the model itself"):
        LangChainLLM(structured).generate(question())


def test_identities(server: OpenAIServer) -> None:
    plain = LangChainLLM(chat(server, temperature=0.5)).identity
    assert plain is not None
    assert plain["class"].endswith("ChatOpenAI")
    assert plain["parameters"]["model_name"] == "judge"
    assert plain["parameters"]["temperature"] == 0.5
    assert server.base_url in plain["address"].values()
    others = [chat(server, temperature=0.6), chat(server, base_url="http://elsewhere/v1"), chat(server).bind(seed=1)]
    assert all(LangChainLLM(other).identity != plain for other in others)
    same = LangChainLLM(chat(server, temperature=0.5, api_key="sk-another-key")).identity
    assert same == plain, "another key is the same model"
    secret = chat(
        server, model_kwargs={"extra_headers": {"Authorization": KEY}}, base_url=f"http://u:{KEY}@h/v1?key={KEY}"
    )
    assert KEY not in str(LangChainLLM(secret).identity)
    assert LangChainLLM(Scripted()).identity is None
    assert LangChainLLM(chat(server).with_fallbacks([chat(server)])).identity is None
    small = LangChainEmbeddings(embedder(server.base_url)).identity
    assert small is not None
    assert (small["parameters"]["model"], small["parameters"]["dimensions"]) == ("small", 64)
    assert small != LangChainEmbeddings(embedder("http://elsewhere/v1")).identity
    assert LangChainEmbeddings(DeterministicFakeEmbedding(size=4)).identity is None


def test_reprs_name_the_model(server: OpenAIServer) -> None:
    assert repr(LangChainLLM(chat(server).bind(seed=1))) == "LangChainLLM(ChatOpenAI 'judge')"
    assert repr(LangChainEmbeddings(embedder(server.base_url))) == "LangChainEmbeddings(OpenAIEmbeddings 'small')"
    assert repr(LangChainLLM(Scripted())) == "LangChainLLM(Scripted)"


def test_a_real_completion_model(server: OpenAIServer) -> None:
    """It gets one text; the loopback server knows no completions, so the failure shows that it was asked."""
    server.queue.append(error(404, "no such address"))
    model = OpenAI(model="old", base_url=server.base_url, api_key=KEY, max_retries=0)
    with pytest.raises(ModelError, match=r"OpenAI 'old' is not found"):
        LangChainLLM(model).generate(question())
    (asked,) = server.requests[0].body["prompt"]
    assert asked.startswith("System: Name a city.")


def test_embeddings_refuse_what_is_no_list_of_texts() -> None:
    class Small(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0]

    model = LangChainEmbeddings(Small())
    assert model.embed(["a \ud800"]).value == [[1.0]]
    with pytest.raises(InvalidInput, match="got a single str"):
        model.embed("text")
    with pytest.raises(InvalidInput, match=r"text \[1\] must be a str, got int"):
        asyncio.run(model.aembed(["a", 1]))  # type: ignore[list-item]


def test_other_loops_get_the_synchronous_call() -> None:
    """Connections belong to the loop that opened them; later calls use a thread."""
    ways: list[str] = []

    class Noting(Scripted):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            ways.append("async")
            return Scripted._generate(self, messages)

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            ways.append("sync" if threading.current_thread() is threading.main_thread() else "thread")
            return Scripted._generate(self, messages)

    class Vectors(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            ways.append("thread")
            return [[1.0] for _ in texts]

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            ways.append("async")
            return [[1.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0]

    llm = LangChainLLM(Noting(says="Reykjavik"))
    vectors = LangChainEmbeddings(Vectors())

    async def twice() -> None:
        for _ in range(2):
            assert (await llm.with_config({"tags": ["x"]}).agenerate(question())).value == "Reykjavik"
            await vectors.aembed(["x"])

    asyncio.run(twice())
    asyncio.run(twice())
    assert ways == ["async"] * 4 + ["thread"] * 4


def test_connections_of_a_loop_that_has_ended_are_gone_around() -> None:
    """An earlier caller may have used the model in another loop."""

    class Used(Scripted):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError("Connection error.") from RuntimeError("Event loop is closed")

    class Vectors(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] for _ in texts]

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            raise RuntimeError("Event loop is closed")

        def embed_query(self, text: str) -> list[float]:
            return [1.0]

    assert asyncio.run(LangChainLLM(Used(says="Reykjavik")).agenerate(question())).value == "Reykjavik"
    assert asyncio.run(LangChainEmbeddings(Vectors()).aembed(["x"])).value == [[1.0]]


def test_an_error_in_the_other_loop_is_the_same() -> None:
    llm = LangChainLLM(Scripted(says=ValueError("out of order")))
    for _ in range(2):
        with pytest.raises(ModelError, match="out of order"):
            asyncio.run(llm.agenerate(question()))


def test_models_on_one_address_share_a_home(server: OpenAIServer) -> None:
    """As they may share connections, each loop but the first goes around the asynchronous client, whichever model object asks."""
    shared = httpx.AsyncClient()

    async def ask(*, last: bool) -> None:
        assert (await LangChainLLM(chat(server, http_async_client=shared)).agenerate(question())).value
        if last:
            await shared.aclose()  # as good as closed is also what the end of the loop leaves behind

    for number in range(3):
        asyncio.run(ask(last=number == 0))
        assert len(server.chats) == number + 1


def test_embeddings_on_one_address_share_a_home(server: OpenAIServer) -> None:
    shared = httpx.AsyncClient()

    async def embed(*, last: bool) -> None:
        model = OpenAIEmbeddings(
            model="vectors",
            base_url=server.base_url,
            api_key=KEY,  # type: ignore[arg-type]
            max_retries=0,
            check_embedding_ctx_length=False,
            http_async_client=shared,
        )
        assert len((await LangChainEmbeddings(model).aembed(["a", "b"])).value) == 2
        if last:
            await shared.aclose()

    for number in range(3):
        asyncio.run(embed(last=number == 0))
