"""The contract suites, run on every model there is, and on broken ones, which they must catch."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from loopback import OpenAIServer
from ragmetrics_core import ModelError, Reply
from ragmetrics_core.embeddings import HashingEmbeddings, OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM
from ragmetrics_core.testing import (
    EmbeddingsContract,
    LLMContract,
    ReplyStoreContract,
    ScriptedEmbeddings,
    ScriptedLLM,
)

KEY = "sk-secret-4711-abcdefghijklmnop"


class WithKey:
    secrets = (KEY,)


class TestOpenAILLM(WithKey, LLMContract):
    @pytest.fixture
    def llm(self, server: OpenAIServer) -> OpenAILLM:
        return OpenAILLM("judge", base_url=server.base_url, api_key=KEY)

    @pytest.fixture
    def failing_llm(self, server: OpenAIServer) -> OpenAILLM:
        server.models = {"another"}
        return OpenAILLM("judge", base_url=server.base_url, api_key=KEY)


class TestOpenAILLMWithSyncClient(TestOpenAILLM):
    @pytest.fixture
    def llm(self, server: OpenAIServer) -> OpenAILLM:
        return OpenAILLM("judge", client=openai.OpenAI(base_url=server.base_url, api_key=KEY))


class TestOpenAILLMWithSyncClientThatCannotBeRebuilt(TestOpenAILLM):
    @pytest.fixture
    def llm(self, server: OpenAIServer) -> Any:
        http_client = openai.DefaultHttpxClient()
        yield OpenAILLM("judge", client=openai.OpenAI(base_url=server.base_url, api_key=KEY, http_client=http_client))
        http_client.close()


class TestScriptedLLM(LLMContract):
    counts_tokens = False

    @pytest.fixture
    def llm(self) -> ScriptedLLM:
        return ScriptedLLM({"contract": "Iceland"})

    @pytest.fixture
    def failing_llm(self) -> ScriptedLLM:
        return ScriptedLLM({"contract": ModelError("out of order")})


class TestOpenAIEmbeddings(WithKey, EmbeddingsContract):
    counts_tokens = True

    @pytest.fixture
    def embeddings(self, server: OpenAIServer) -> OpenAIEmbeddings:
        return OpenAIEmbeddings("small", base_url=server.base_url, api_key=KEY, batch_size=3, dimensions=64)

    @pytest.fixture
    def failing_embeddings(self, server: OpenAIServer) -> OpenAIEmbeddings:
        return OpenAIEmbeddings("small", base_url=server.base_url, api_key="sk-wrong")


class TestHashingEmbeddings(EmbeddingsContract):
    tolerance = 0.0
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> HashingEmbeddings:
        return HashingEmbeddings()


class TestScriptedEmbeddings(EmbeddingsContract):
    @pytest.fixture
    def embeddings(self) -> ScriptedEmbeddings:
        return ScriptedEmbeddings(lambda text: [float(len(set(text))), float(text.count("1815")) * 20, 1.0])

    @pytest.fixture
    def failing_embeddings(self) -> ScriptedEmbeddings:
        def fail(text: str) -> list[float]:
            raise ModelError("out of order")

        return ScriptedEmbeddings(fail)


class Dictionary:
    """A store that keeps the contract as long as its dictionary lives."""

    def __init__(self, kept: dict[bytes, Any]) -> None:
        self.kept = kept

    def find(self, key: bytes) -> Any:
        return self.kept.get(key)

    def keep(self, key: bytes, reply: Reply[Any], request: Any) -> Reply[Any]:
        there = self.kept.setdefault(key, reply)
        return Reply(there.value, reply.usage, there.truncated)

    def strike(self, keys: Any) -> None:
        for key in keys:
            self.kept.pop(key, None)

    def close(self) -> None:
        pass


class TestDictionary(ReplyStoreContract):
    @pytest.fixture
    def open_store(self) -> Any:
        kept: dict[bytes, Any] = {}
        return lambda: Dictionary(kept)


class Lossy(Dictionary):
    def find(self, key: bytes) -> Any:
        reply = self.kept.get(key)
        return Reply(reply.value.replace("\r", ""), reply.usage) if reply and type(reply.value) is str else reply


class Latest(Dictionary):
    def keep(self, key: bytes, reply: Reply[Any], request: Any) -> Reply[Any]:
        self.kept[key] = reply
        return reply


class Unstruck(Dictionary):
    def strike(self, keys: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("broken", "forgets", "name"),
    [
        (Dictionary, True, "test_values_come_back_as_they_were"),
        (Lossy, False, "test_values_come_back_as_they_were"),
        (Latest, False, "test_the_earliest_reply_counts"),
        (Unstruck, False, "test_a_struck_reply_stays_struck"),
        (Unstruck, False, "test_it_does_what_a_dictionary_does"),
    ],
)
def test_a_broken_store_is_caught(broken: type[Dictionary], forgets: bool, name: str) -> None:
    kept: dict[bytes, Any] = {}
    with pytest.raises(AssertionError):
        getattr(ReplyStoreContract(), name)(lambda: broken({} if forgets else kept))


class Broken:
    """Does everything wrong that one line can do wrong."""

    secrets = (KEY,)

    def __repr__(self) -> str:
        return f"Broken({KEY})"

    @property
    def identity(self) -> dict[str, str]:
        return {"key": KEY}

    def generate(self, ask: Any) -> Any:
        return Reply("sync")

    async def agenerate(self, ask: Any) -> Any:
        await asyncio.sleep(0)
        return Reply("async")


class Contract(LLMContract):
    secrets = (KEY,)


@pytest.mark.parametrize(
    "name",
    [
        "test_sync_and_async_answer_the_same",
        "test_it_counts_what_an_answer_costs",
        "test_it_answers_many_at_once",
        "test_identity_is_plain_and_holds_no_secret",
        "test_repr_holds_no_secret",
    ],
)
def test_a_broken_llm_is_caught(name: str) -> None:
    with pytest.raises(AssertionError):
        getattr(Contract(), name)(Broken())


class SilentLLM:
    def generate(self, ask: Any) -> Any:
        return None


def test_an_llm_that_says_nothing_is_caught() -> None:
    with pytest.raises(AssertionError, match="an LLM answers with a Reply or a str, got None"):
        Contract().test_it_answers_with_text(SilentLLM())
    with pytest.raises(AssertionError, match="has generate"):
        Contract().test_it_has_a_method_that_answers(object())


class WrongErrorLLM:
    def generate(self, ask: Any) -> Any:
        raise ModelError(f"the key {KEY} is refused")


class CheerfulLLM:
    def generate(self, ask: Any) -> Any:
        return "all is well"


@pytest.mark.parametrize("failing", [WrongErrorLLM(), CheerfulLLM()])
def test_a_bad_failure_is_caught(failing: Any) -> None:
    class Request:
        def getfixturevalue(self, name: str) -> Any:
            return failing

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        Contract().test_failures_are_model_errors(Request())


class ShuffledEmbeddings:
    """Returns the vectors in the order of the lengths of the texts, a classic bug of batching."""

    def embed(self, texts: Any) -> list[list[float]]:
        return HashingEmbeddings().embed(sorted(texts, key=len)).value


class ZeroEmbeddings:
    def embed(self, texts: Any) -> list[list[float]]:
        return [[0.0, 0.0] for _ in texts]


def test_broken_embeddings_are_caught() -> None:
    contract = EmbeddingsContract()
    with pytest.raises(AssertionError, match="depends on its batch"):
        contract.test_a_vector_depends_on_its_text_alone(ShuffledEmbeddings())
    with pytest.raises(AssertionError, match="the vector is zero"):
        contract.test_there_is_one_vector_per_text(ZeroEmbeddings())
    with pytest.raises(ModelError, match="zero vector"):
        contract.test_similar_texts_are_more_similar(ZeroEmbeddings())
