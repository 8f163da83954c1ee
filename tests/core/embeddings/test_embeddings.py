"""OpenAIEmbeddings against a loopback server, HashingEmbeddings, and the factories."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import os
import subprocess
import sys
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from loopback import OpenAIServer, Response, error, hashed_vector
from ragmetrics_core import InvalidInput, MissingExtra, ModelError, Models, Reply, Usage, compare, run
from ragmetrics_core.embeddings import (
    HashingEmbeddings,
    OpenAIEmbeddings,
    SentenceTransformerEmbeddings,
    embedding_factory,
)
from ragmetrics_core.llms import LexicalJudge, OpenAILLM, llm_factory

Way = pytest.mark.parametrize("way", ["sync", "async"])


def embed(model: OpenAIEmbeddings, texts: Any, way: str) -> Reply[list[list[float]]]:
    return model.embed(texts) if way == "sync" else asyncio.run(model.aembed(texts))


@Way
def test_texts_are_sent_in_batches_and_come_back_in_order(server: OpenAIServer, key: str, way: str) -> None:
    texts = [f"text number {number}" for number in range(7)]
    model = OpenAIEmbeddings("small", base_url=server.base_url, api_key=key, batch_size=3, dimensions=32)
    reply = embed(model, texts, way)
    assert reply.usage == Usage(calls=3, prompt_tokens=21)
    for text, vector in zip(texts, reply.value, strict=True):
        assert vector == pytest.approx(hashed_vector(text, 32), abs=1e-6)
    assert [body["input"] for body in server.embedded] == [texts[:3], texts[3:6], texts[6:]]
    assert {(body["model"], body["dimensions"]) for body in server.embedded} == {("small", 32)}


@Way
def test_the_order_is_that_of_the_index_and_lists_are_read_too(server: OpenAIServer, key: str, way: str) -> None:
    data = [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    server.queue.append(Response(body=json.dumps({"object": "list", "data": data, "model": "small"})))
    reply = embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a", "b"], way)
    assert reply == Reply([[1.0, 0.0], [0.0, 2.0]], Usage(calls=1))
    assert "dimensions" not in server.embedded[0]


@Way
def test_broken_text_is_sent_with_the_replacement_sign(server: OpenAIServer, key: str, way: str) -> None:
    embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a \ud800 b"], way)
    assert server.embedded[0]["input"] == ["a \ufffd b"]


WRONG_ANSWERS = [
    (Response(body='{"data": []}'), "small: the answer of {url} has 0 vectors for 1 texts"),
    (
        Response(body='{"error": {"message": "no deployment"}}'),
        "small: the answer of {url} has the error {{'message': 'no deployment'}}",
    ),
    (
        Response(body="<html>", headers={"Content-Type": "text/html"}),
        "small: the answer of {url} has 0 vectors for 1 texts",
    ),
    (
        Response(body='{"data": [{"index": 0, "embedding": "AAA"}]}'),
        "small: the answer of {url} has a vector that cannot be read: Incorrect padding",
    ),
    (
        Response(body='{"data": [{"index": 0, "embedding": "AAAAAAA="}]}'),
        "small: the answer of {url} has a vector that cannot be read: unpack requires a buffer of 4 bytes",
    ),
    (Response(body="[1, 2]"), "small: the answer of {url} has 0 vectors for 1 texts"),
    (Response(body='{"data": "A"}'), "small: the answer of {url} has no list of vectors for 1 texts: data is a str"),
    (
        Response(body='{"data": {"index": 0}}'),
        "small: the answer of {url} has no list of vectors for 1 texts: data is a dict",
    ),
    (
        error(404, "unknown"),
        "small: {url} has no such model or address (404): unknown. Check the model name and the base URL.",
    ),
]


@Way
@pytest.mark.parametrize(("response", "message"), WRONG_ANSWERS)
def test_wrong_answers(server: OpenAIServer, key: str, way: str, response: Response, message: str) -> None:
    server.queue.append(response)
    with pytest.raises(ModelError) as caught:
        embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a"], way)
    assert str(caught.value) == message.format(url=server.base_url)


def answer(*items: Any, **fields: Any) -> Response:
    return Response(body=json.dumps({"object": "list", "data": items, "model": "small", **fields}))


@Way
@pytest.mark.parametrize("index", [{}, {"index": None}])
def test_without_any_index_the_order_is_kept(server: OpenAIServer, key: str, way: str, index: Any) -> None:
    server.queue.append(answer({"embedding": [1.0, 0.0], **index}, {"embedding": [0, 2], **index}, usage="none"))
    reply = embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a", "b"], way)
    assert reply == Reply([[1.0, 0.0], [0.0, 2.0]], Usage(calls=1))


@Way
@pytest.mark.parametrize(
    "indices", [("0", "1"), (0, 0), (0, None), (0, "1"), (1, 2), (-1, 0), (False, True), (0.0, 1.0), ([0], 1)]
)
def test_an_order_that_is_not_complete_is_not_believed(server: OpenAIServer, key: str, way: str, indices: Any) -> None:
    server.queue.append(answer(*({"index": index, "embedding": [1.0]} for index in indices)))
    with pytest.raises(ModelError) as caught:
        embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a", "b"], way)
    assert str(caught.value) == (
        f"small: the answer of {server.base_url} has wrong indices {list(indices)}: "
        "each of 0 to 1 must occur once, or all be left out"
    )


@Way
@pytest.mark.parametrize("embedding", [None, [None, 1.0], [[1.0, 2.0]], {"a": 1}, 7, ["1.0"]])
def test_what_is_no_vector(server: OpenAIServer, key: str, way: str, embedding: Any) -> None:
    server.queue.append(answer({"index": 0, "embedding": embedding}))
    with pytest.raises(ModelError) as caught:
        embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a"], way)
    assert str(caught.value) == (
        f"small: the answer of {server.base_url} has no vector as data item 0: embedding must be numbers or base64, "
        f"got {embedding!r}"
    )
    assert caught.value.__context__ is None


@Way
@pytest.mark.parametrize("item", ["a text", None, 3, [1.0, 2.0], {"index": 0}])
def test_items_that_hold_no_vector(server: OpenAIServer, key: str, way: str, item: Any) -> None:
    server.queue.append(answer(item))
    with pytest.raises(ModelError, match=r"has no vector as data item 0: embedding must be .*, got "):
        embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key), ["a"], way)


@pytest.mark.parametrize(
    ("embedding", "said"),
    [
        ([], "an empty vector as data item 0"),
        ("", "an empty vector as data item 0"),
    ],
)
def test_vectors_that_cannot_be_used(server: OpenAIServer, key: str, embedding: Any, said: str) -> None:
    server.queue.append(answer({"index": 0, "embedding": embedding}))
    with pytest.raises(ModelError) as caught:
        OpenAIEmbeddings("small", base_url=server.base_url, api_key=key).embed(["a"])
    assert str(caught.value) == f"small: the answer of {server.base_url} has {said}"


def test_counts_that_are_none_are_not_added(server: OpenAIServer, key: str) -> None:
    server.queue.append(answer({"index": 0, "embedding": [1.0]}, usage={"prompt_tokens": "3"}))
    reply = OpenAIEmbeddings("small", base_url=server.base_url, api_key=key).embed(["a"])
    assert reply == Reply([[1.0]], Usage(calls=1))


@Way
def test_after_a_failed_batch_nothing_more_is_sent(server: OpenAIServer, key: str, way: str) -> None:
    server.queue.extend([answer({"index": 0, "embedding": [1.0]}), error(404, "unknown")])
    with pytest.raises(ModelError, match="has no such model or address"):
        embed(OpenAIEmbeddings("small", base_url=server.base_url, api_key=key, batch_size=1), ["a", "b", "c"], way)
    assert [body["input"] for body in server.embedded] == [["a"], ["b"]]


@pytest.mark.parametrize("kind", ["sync", "async", "sync that cannot be rebuilt"])
def test_any_client_serves_both_ways(server: OpenAIServer, key: str, kind: str) -> None:
    http_client = openai.DefaultHttpxClient() if "cannot" in kind else None
    made: Any = openai.AsyncOpenAI if kind == "async" else openai.OpenAI
    client = made(base_url=server.base_url, api_key=key, **({"http_client": http_client} if http_client else {}))
    model = OpenAIEmbeddings("small", client=client)

    async def main() -> list[list[float]]:
        vectors = (await model.aembed(["a"])).value
        if kind == "async":
            await client.close()
        return vectors

    assert model.embed(["a"]).value == asyncio.run(main())
    if kind != "async":
        client.close()


def test_openai_settings(server: OpenAIServer) -> None:
    model = OpenAIEmbeddings(base_url=server.base_url, api_key="sk-2", dimensions=64)
    assert model.identity == {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "base_url": server.base_url,
        "dimensions": 64,
    }
    assert repr(model) == f"OpenAIEmbeddings('text-embedding-3-small', base_url='{server.base_url}', dimensions=64)"
    assert repr(OpenAIEmbeddings("e")) == "OpenAIEmbeddings('e', base_url='https://api.openai.com/v1')"
    assert copy.deepcopy(model) is model
    with pytest.raises(InvalidInput, match="batch_size must be a whole number from 1, got 0"):
        OpenAIEmbeddings(batch_size=0)
    with pytest.raises(InvalidInput, match="batch_size must be a whole number from 1, got '3'"):
        OpenAIEmbeddings(batch_size="3")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="dimensions must be a whole number from 1, got 0"):
        OpenAIEmbeddings(dimensions=0)
    with pytest.raises(InvalidInput, match="model must be the name of a model, got ' '"):
        OpenAIEmbeddings(" ")
    with pytest.raises(InvalidInput, match=r"embed takes a list of texts, got a single str: write \[text\]"):
        model.embed("one text")
    with pytest.raises(InvalidInput, match=r"embed: text \[1\] must be a str, got int"):
        model.embed(["a", 2])  # type: ignore[list-item]


def similarity(one: str, two: str) -> float:
    return run(compare([(one, two)]), Models(embeddings=HashingEmbeddings()))[0]


def test_hashing_finds_shared_words_and_stems() -> None:
    question = "When was the first Super Bowl played?"
    assert similarity(question, question) == 1.0
    assert similarity(question, "WHEN WAS THE FIRST SUPER BOWL PLAYED") > 0.99
    assert similarity(question, "The first Super Bowl was played in 1967.") > 0.6
    assert abs(similarity(question, "Photosynthesis turns light into sugar.")) < 0.15
    assert similarity("evaluation", "evaluations") > similarity("evaluation", "elevator")
    assert similarity("東京は日本の首都です", "日本の首都は東京") > similarity("東京は日本の首都です", "猫が好き")


@examples(200)
@given(st.text())
def test_hashing_gives_a_unit_vector_for_any_text(text: str) -> None:
    (vector,) = HashingEmbeddings(16).embed([text]).value
    assert len(vector) == 16
    assert math.isclose(math.hypot(*vector), 1.0)


@pytest.mark.parametrize("text", ["", " \n", "!?", "...", "\x00", "\ud800", "🙂🙂"])
def test_hashing_knows_texts_without_words(text: str) -> None:
    (vector,) = HashingEmbeddings().embed([text]).value
    assert math.isclose(math.hypot(*vector), 1.0)


def test_features_that_cancel_out_leave_a_vector_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    signs = {"wa": (0, 1), "n a ": (0, -1)}
    monkeypatch.setattr("ragmetrics_core.embeddings._hashing.NGRAM_WEIGHT", 1.0)
    monkeypatch.setattr(HashingEmbeddings, "_place", lambda self, feature: signs.get(feature, (3, 1)))
    assert HashingEmbeddings(16).embed(["a"]).value == [[0.0] * 3 + [1.0] + [0.0] * 12]


def test_hashing_is_the_same_in_every_process() -> None:
    code = "from ragmetrics_core.embeddings import HashingEmbeddings as H; print(H(16).embed(['Ada Lovelace']).value)"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{HashingEmbeddings(16).embed(['Ada Lovelace']).value}\n"}


def test_hashing_settings() -> None:
    assert HashingEmbeddings(64) == HashingEmbeddings(64) != HashingEmbeddings(65)
    assert len({HashingEmbeddings(64), HashingEmbeddings(64)}) == 1
    assert repr(HashingEmbeddings()) == "HashingEmbeddings(dimensions=512)"
    assert HashingEmbeddings().identity == {"provider": "hashing", "version": 1, "dimensions": 512}
    assert HashingEmbeddings.instant
    with pytest.raises(InvalidInput, match="dimensions must be an integer of at least 16, got 8"):
        HashingEmbeddings(8)


def test_llm_factory(server: OpenAIServer, key: str) -> None:
    with openai.OpenAI(base_url=server.base_url, api_key=key) as client:
        llm = llm_factory("gpt-4o-mini", client=client)
        assert isinstance(llm, OpenAILLM)
        assert repr(llm) == f"OpenAILLM('gpt-4o-mini', base_url='{server.base_url}')"
        assert repr(llm_factory("gpt-4o-mini", "openai", client)) == repr(llm)
    tuned = llm_factory("llama", base_url=server.base_url, temperature=0.2)
    assert repr(tuned) == f"OpenAILLM('llama', base_url='{server.base_url}', temperature=0.2)"
    assert isinstance(llm_factory("lexical"), LexicalJudge)
    assert isinstance(llm_factory("any", provider="lexical"), LexicalJudge)


def test_embedding_factory(server: OpenAIServer, key: str) -> None:
    with openai.OpenAI(base_url=server.base_url, api_key=key) as client:
        made = embedding_factory("openai", model="e", client=client)
        assert repr(made) == f"OpenAIEmbeddings('e', base_url='{server.base_url}')"
    assert (
        repr(embedding_factory()) == "OpenAIEmbeddings('text-embedding-3-small', base_url='https://api.openai.com/v1')"
    )
    assert embedding_factory("hashing", dimensions=32) == HashingEmbeddings(32)
    azure = openai.AzureOpenAI(azure_endpoint="https://mine.openai.azure.com", api_version="1", api_key=key)
    for settings_ in ({"client": azure}, {"base_url": "https://mine.openai.azure.com/openai/v1"}):
        made = embedding_factory("azure", "e", **settings_)
        assert "mine.openai.azure.com" in repr(made)
    azure.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: llm_factory("m", "cohere"), "unknown provider 'cohere': use 'openai' (with base_url="),
        (lambda: llm_factory("m", object()), "provider must be a str, got object: write client=... by name"),  # type: ignore[arg-type]
        (lambda: llm_factory("lexical", temperature=0), "the lexical judge runs offline and takes no temperature"),
        (lambda: llm_factory("lexical", client=object()), "the lexical judge runs offline and takes no client"),
        (
            lambda: embedding_factory("cohere"),
            (
                "unknown provider 'cohere': use 'openai', 'anthropic', 'azure', 'bedrock', 'deepseek', 'fireworks', 'gemini', "
                "'groq', 'mistral', 'ollama', 'vllm', 'llamacpp', 'lmstudio', 'openrouter', 'together', 'litellm', "
                "'sentence-transformers', 'huggingface' or 'hashing'"
            ),
        ),
        (
            lambda: embedding_factory("hashing", dimension=3),
            "the provider 'hashing' has no setting 'dimension': it takes dimensions",
        ),
        (
            lambda: embedding_factory("openai", temperature=0),
            "the provider 'openai' has no setting 'temperature': it takes base_url, api_key, dimensions, batch_size, timeout",
        ),
        (
            lambda: embedding_factory("huggingface", "m", dimensions=3),
            "the provider 'huggingface' has no setting 'dimensions': it takes device, batch_size",
        ),
        *(
            (
                lambda more=more: embedding_factory("azure", "e", api_key="k", **more),
                (
                    "the provider 'azure' needs an address "
                    "(set the environment variable AZURE_OPENAI_ENDPOINT, or give base_url=...)"
                ),
            )
            for more in ({}, {"base_url": None}, {"base_url": ""})
        ),
        (
            lambda: embedding_factory("hashing", client=object()),
            "the provider 'hashing' takes no client: leave client out",
        ),
        (lambda: embedding_factory("hashing", model="m"), "hashing uses no model: leave model out"),
        (
            lambda: embedding_factory("huggingface"),
            "'huggingface' needs model=..., such as 'sentence-transformers/all-MiniLM-L6-v2'",
        ),
    ],
)
def test_factories_say_what_they_cannot_make(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for make in (lambda: SentenceTransformerEmbeddings("m"), lambda: embedding_factory("huggingface", "m")):
        with pytest.raises(MissingExtra) as caught:
            make()
        assert str(caught.value) == (
            'the sentence-transformers package is not installed: pip install "ragmetrics-core[sentence-transformers]"'
        )


def test_the_interface_argument_of_ragas_is_understood() -> None:
    assert isinstance(embedding_factory("hashing", interface="modern"), HashingEmbeddings)
    with pytest.raises(InvalidInput, match="interface 'legacy' is RAGAS' legacy one and does not exist here"):
        embedding_factory("hashing", interface="legacy")
