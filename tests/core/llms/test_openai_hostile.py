"""Servers of any protocol that answer without end, miscount or echo keys; keys in wrong places; headers that choose; pickles."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import pickle  # what is tested here must survive it
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from core.evaluate.doubles import Rated, questions
from core.llms.clients import WAYS, made
from loopback import OpenAIServer, Response
from ragmetrics_core import BadReply, InvalidInput, ModelError, Reply, Usage, evaluate
from ragmetrics_core.adapters import conceal, model_error
from ragmetrics_core.embeddings import HashingEmbeddings, OpenAIEmbeddings, SentenceTransformerEmbeddings
from ragmetrics_core.llms import LexicalJudge, OpenAILLM, OpenAIServerLLM
from ragmetrics_core.metrics import Correctness, Faithfulness


def mask(text: str, secrets: tuple[str, ...]) -> str:
    """A text from outside, as messages show it."""
    return str(model_error(ValueError(text), "m", secrets)).removeprefix("m failed: ValueError: ")


class TestMasking:
    @pytest.mark.parametrize("text", ["是", "x", "-", "aGVsbG8", "*", "**", "://", "?key", "sk-", "Bearer "])
    def test_takes_time_in_proportion_to_the_text(self, text: str) -> None:
        """The processor time of what was quadratic would be hours here; no machine is a thousand times slower than another."""
        started = time.process_time()
        conceal(text * (400_000 // len(text)))
        mask(text * (4_000_000 // len(text)), ("a-known-secret",))
        assert time.process_time() - started < 60

    @pytest.mark.parametrize("place", [0, 100, 480, 7_000, 7_160, 7_900, 8_150, 8_180, 8_191, 8_192, 20_000])
    @pytest.mark.parametrize(
        "secret",
        [
            "sk-abcdefghijklmnop",
            "a-known-secret-of-the-user",
            "https://me:password-of-mine@host/",
            "sk-p***************xyz",
        ],
    )
    @pytest.mark.parametrize("filling", ["words and ", "是", "***"])
    def test_no_part_of_a_key_is_shown_wherever_it_stands(self, place: int, secret: str, filling: str) -> None:
        text = (filling * 30_000)[:place] + " " + secret + " " + filling * 3000
        found = mask(text, ("a-known-secret-of-the-user",))
        for part in ("abcdefgh", "a-known", "password", "known-secret", "xyz"):
            assert part not in found
        assert len(found) <= 500 + len(" ...")

    def test_many_keys_before_one_that_is_cut(self) -> None:
        """What is masked is shorter, so more of the text is shown; never its end, which may be half a key."""
        text = "https://me:passwordofmine@h " * 291 + "https://me:" + "p" * 400 + "@h " + "x" * 9000
        assert "pp" not in mask(text, ())

    def test_what_was_masked_before_is_masked_now(self) -> None:
        assert conceal("Incorrect API key provided: sk-proj-********abcd.") == "Incorrect API key provided: ***"
        assert conceal(f"key {'a' * 100}***bcd") == f"key {'a' * 100}***"
        assert conceal("**bold** text") == "**bold** text"


@pytest.mark.parametrize("way", WAYS)
class TestAnswers:
    @pytest.mark.parametrize("usage", [99999999999999999999, 2**53 + 1, -5, 1.5])
    def test_counts_that_cannot_be(self, server: OpenAIServer, ask: Any, way: str, usage: Any) -> None:
        server.queue.append(Response(usage={"prompt_tokens": usage, "completion_tokens": 3}))
        reply = asyncio.run(made(way, server.base_url).agenerate(ask()))
        assert reply.usage == Usage(1, 0, 3)

    def test_a_refusal_that_echoes_the_key(self, server: OpenAIServer, ask: Any, way: str) -> None:
        said = "Bearer key-of-4711-mine is not welcome"
        bodies = {
            "anthropic": {"stop_reason": "refusal", "content": [{"type": "text", "text": said}]},
            "gemini": {"candidates": [{"finishReason": "LANGUAGE", "content": {"parts": [{"text": said}]}}]},
        }
        body = bodies.get(way, {"choices": [{"message": {"refusal": said}}]})
        server.api_key = None
        server.queue.append(Response(body=json.dumps(body)))
        llm = made(way, server.base_url, api_key="key-of-4711-mine")
        with pytest.raises(BadReply) as caught:
            asyncio.run(llm.agenerate(ask()))
        how = "refuses to answer in this language" if way == "gemini" else "refuses to answer"
        assert str(caught.value) == f"judge {how}: Bearer *** is not welcome"
        assert caught.value.raw == ("Bearer *** is not welcome",)


@pytest.mark.slow
def test_an_answer_without_end(server: OpenAIServer, ask: Any) -> None:
    """Few bytes on the way, and far too many when they are unpacked."""
    packed = gzip.compress(b" " * (80 * 2**20))
    server.queue.append(Response(body=packed, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ModelError) as caught:
        asyncio.run(OpenAIServerLLM(server.base_url, "judge").agenerate(ask()))
    assert (
        str(caught.value) == f"judge: the answer of {server.base_url} is longer than 64 MB, which is more than is read"
    )
    assert not caught.value.transient


class TestAddresses:
    @pytest.mark.parametrize("way", ["openai", "server"])
    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("sk-abcdef123456", ""),
            ("0123456789abcdef0123456789abcdef", ""),
            ("127.0.0.1/v1?api_key=sk-abcdef123456", ", got '127.0.0.1/v1'"),
            ("me:secret@host/v1", ", got 'host/v1'"),
            ("localhost:8000/v1", ", got 'localhost:8000/v1'"),
        ],
    )
    def test_a_key_in_the_place_of_an_address(self, way: str, url: str, words: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            made(way, url)
        assert str(caught.value) == f"base_url must start with http:// or https://{words}"

    @pytest.mark.parametrize("way", ["openai", "server"])
    def test_a_query_would_swallow_the_path(self, way: str) -> None:
        for url in ("http://localhost:1/v1?deployment=a", "http://localhost:1/v1#a"):
            with pytest.raises(InvalidInput) as caught:
                made(way, url)
            assert str(caught.value) == (
                "base_url must end with the path, such as /v1: leave out what starts with ? or #"
            )

    def test_one_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1?key=sk-abcdef123456")
        with pytest.raises(InvalidInput, match=r"^OPENAI_BASE_URL must end with the path, such as /v1: leave out what"):
            OpenAILLM("judge")


def behind(url: str, **headers: str) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=url, api_key="sk-test", default_headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


class TestHeaders:
    def test_who_is_reached_by_other_headers_is_another_model(self, server: OpenAIServer, tmp_path: Path) -> None:
        server.api_key, server.responder = None, lambda body: Response("0.5")
        one, same, other = (
            OpenAILLM("m", structured="text", client=behind(server.base_url, x_portkey_provider=name, x_api_key=key))
            for name, key in (("a", "key-1"), ("a", "key-2"), ("b", "key-1"))
        )
        assert one.identity == same.identity
        assert one.identity != other.identity
        assert one.identity["headers"] != other.identity["headers"]
        for llm, asked in ((one, 3), (same, 3), (other, 6)):
            evaluate(questions(3), Rated(), llm=llm, run_dir=tmp_path, replace=True)
            assert len(server.requests) == asked
        assert "headers" not in OpenAILLM("m", client=behind(server.base_url, Authorization="Bearer x")).identity
        assert "headers" not in OpenAILLM("m", base_url=server.base_url).identity

    def test_of_embeddings(self) -> None:
        url = "http://localhost:1/v1"
        one, other = (OpenAIEmbeddings("e", client=behind(url, cf_aig_provider=name)) for name in "ab")
        assert one.identity != other.identity

    def test_they_are_not_shown(self) -> None:
        llm = OpenAILLM("m", client=behind("http://localhost:1/v1", x_tenant="confidential"))
        assert "confidential" not in repr(llm.identity) + repr(llm)


class TestPickled:
    def test_models_without_their_connections(self, server: OpenAIServer) -> None:
        server.api_key, server.responder = None, lambda body: Response("0.5")
        for llm in (
            OpenAILLM("judge", base_url=server.base_url, seed=3),
            OpenAIServerLLM(server.base_url, "judge", seed=3),
        ):
            assert evaluate(questions(2), Rated(), llm=llm).summary()["rated"].scored == 2
            again = pickle.loads(pickle.dumps(llm))
            assert (again.identity, repr(again)) == (llm.identity, repr(llm))
            metric = pickle.loads(pickle.dumps(Rated(llm=llm)))
            assert metric == Rated()
            assert metric.score(user_input="x").value == 0.5

    @pytest.mark.parametrize(
        "model",
        [LexicalJudge(), HashingEmbeddings(64), OpenAIEmbeddings("e", base_url="http://localhost:1/v1")],
        ids=repr,
    )
    def test_others(self, model: Any) -> None:
        assert pickle.loads(pickle.dumps(model)).identity == model.identity
        assert repr(pickle.loads(pickle.dumps(Faithfulness(llm=LexicalJudge())))) == "Faithfulness()"

    def test_a_local_one_by_its_name(self) -> None:
        pytest.importorskip("sentence_transformers")
        model = pickle.loads(pickle.dumps(SentenceTransformerEmbeddings("no/such-model")))
        assert repr(model) == "SentenceTransformerEmbeddings('no/such-model')"

    @pytest.mark.parametrize(
        "model",
        [
            OpenAILLM("m", api_key="sk-secret-4711"),
            OpenAILLM("m", base_url="http://me:secret-4711@localhost:1/v1"),
            OpenAILLM("m", client=openai.OpenAI(api_key="sk-secret-4711")),
            OpenAIEmbeddings("e", api_key="sk-secret-4711"),
            OpenAIServerLLM("http://localhost:1/v1", "m", api_key="sk-secret-4711"),
            OpenAIServerLLM("http://me:secret-4711@localhost:1/v1", "m"),
        ],
        ids=["key", "login", "client", "embeddings", "server key", "server login"],
    )
    def test_a_key_is_never_written(self, model: Any) -> None:
        with pytest.raises(InvalidInput) as caught:
            pickle.dumps(model)
        assert str(caught.value) == (
            "a model that was given a key or a client cannot be pickled, for the key would be written: leave api_key and client "
            "out and set the environment variable OPENAI_API_KEY, or make the model in the other process"
        )


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_is_nested_without_end_fails_its_row_alone(way: str) -> None:
    with OpenAIServer(lambda body: "0.5") as server:
        server.queue.append(Response(body=b"[" * 100_000 + b"]" * 100_000))
        result = evaluate(
            questions(2),
            Rated(),
            llm=made(way, server.base_url, api_key="k"),
            max_concurrency=1,
            max_retries=0,
            progress=False,
        )
    first, second = result.scores["rated"]
    protocol = {"anthropic": "Anthropic", "gemini": "Gemini"}.get(way, "OpenAI")
    assert f"does not follow the {protocol} protocol" in (first.error or "")
    assert second.value == 0.5


@pytest.mark.parametrize("way", ["openai", "server"])
@pytest.mark.parametrize("finish_reason", ["stop", "length", "content_filter"])
def test_a_key_that_an_answer_quotes_is_not_kept(way: str, finish_reason: str, tmp_path: Path) -> None:
    key = "a-key-that-nobody-shall-read"
    with OpenAIServer(lambda body: Response(f"I will not, **{key}**.", finish_reason=finish_reason)) as server:
        llm = made(way, server.base_url, api_key=key)
        row = {"user_input": "q", "response": "a", "retrieved_contexts": ["c"]}
        result = evaluate([row], Faithfulness(), llm=llm, run_dir=tmp_path / "run", max_retries=0, progress=False)
    assert key not in repr(list(result.scores["faithfulness"]))
    kept = b"".join(file.read_bytes() for file in (tmp_path / "run").iterdir())
    assert key.encode() not in kept
    if finish_reason == "stop":
        assert b"I will not, *******." in kept, "all else stays"


ROW = {"user_input": "Where?", "response": "Paris.", "reference": "Paris."}
QUOTING = '{"reason": "by a-token-of-4711", "score": 4}'


@pytest.mark.parametrize("way", WAYS)
def test_a_key_of_the_environment_is_searched_once_in_a_reply(
    way: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_APP_TOKEN", "a-token-of-4711")
    secrets = importlib.import_module("ragmetrics_core._support._secrets")
    found, searches = secrets.environment_secrets, []
    monkeypatch.setattr(secrets, "environment_secrets", lambda: searches.append(1) or found())
    with OpenAIServer(lambda body: QUOTING) as server:
        llm = made(way, server.base_url, api_key="key-of-4711-mine")
        assert asyncio.run(llm.agenerate(ask())).value == '{"reason": "by ***", "score": 4}', "called without a run"
        assert len(searches) == 1
        score = Correctness(llm=llm).score(**ROW)
    assert (score.value, score.reason, len(searches)) == (4.0, "by ***", 2)


def test_a_reply_that_was_changed_is_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a model around one of ours, for instance."""
    monkeypatch.setenv("MY_APP_TOKEN", "a-token-of-4711")

    class Around:
        def generate(self, ask: Any) -> Reply[str]:
            return replace(Reply("4", searched="4"), value=QUOTING)

    assert Correctness(llm=Around()).score(**ROW).reason == "by ***"
