"""Whole runs against a server that fails in every way real ones do: nothing lost, nothing invented, and one error for all."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from core.evaluate.doubles import Rated, SyncModel, questions
from core.llms.clients import NATIVE, WAYS, made
from killing import kept_replies
from loopback import Faults, OpenAIServer, Response, error, judge
from ragmetrics_core import Evaluation, ModelError, evaluate
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
from ragmetrics_core.metrics import Faithfulness, SemanticSimilarity
from waiting import until

pytestmark = pytest.mark.slow

MIX = {"busy": 0.02, "failing": 0.01, "reset": 0.01, "hang": 0.01, "malformed": 0.02, "truncated": 0.01}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(judge) as running:
        yield running


def samples(count: int) -> list[dict[str, Any]]:
    return [
        {
            "user_input": f"question {number}",
            "response": ". ".join(f"claim {number} of {part}" for part in range(1 + number % 5)),
            "retrieved_contexts": [f"context {number}"],
        }
        for number in range(count)
    ]


def score(server: OpenAIServer, count: int, **settings: Any) -> Evaluation:
    llm = OpenAIServerLLM(server.base_url, "judge")
    return evaluate(samples(count), Faithfulness(), llm=llm, **settings)


def values(evaluation: Evaluation) -> list[float | None]:
    return [item.value for item in evaluation.scores["faithfulness"]]


class TestFaults:
    @pytest.mark.parametrize("seed", [2])
    def test_every_sample_is_scored_as_without_faults_or_says_why_not(self, server: OpenAIServer, seed: int) -> None:
        right = values(score(server, 200))
        assert len({*right}) > 5
        assert None not in right
        server.responder = faults = Faults(seed, MIX)
        result = score(server, 200)
        assert set(faults.met) == {*MIX, "none"}, "every kind was met"
        wrong = [pair for pair in zip(values(result), right, strict=True) if pair[0] not in (None, pair[1])]
        assert wrong == []
        failed = [item.error for item in result.scores["faithfulness"] if item.value is None]
        assert len(failed) <= 2, failed
        assert all(text is not None and text.startswith(("BadReply: ", "ModelError: ")) for text in failed)
        assert result.stopped is None

    def test_replies_without_their_end_are_never_completed_by_guesswork(self, server: OpenAIServer) -> None:
        right = values(score(server, 500))
        server.responder = faults = Faults(7, {"malformed": 0.01}, stubborn=True)
        result = score(server, 500)
        assert faults.met["malformed"] >= 5
        assert sum(one == other for one, other in zip(values(result), right, strict=True)) >= 498
        assert [one for one, other in zip(values(result), right, strict=True) if one not in (None, other)] == []

    def test_one_that_is_always_cut_short_fails_in_words(self, server: OpenAIServer) -> None:
        server.responder = Faults(1, {"truncated": 1.0})
        result = score(server, 3)
        assert {item.error for item in result.scores["faithfulness"]} == {
            (
                "BadReply: the model's reply to the prompt 'extract_claims' is incomplete, twice: "
                "the reply was cut at the token limit"
            )
        }
        assert result.summary()["faithfulness"].usage.calls == 6

    @pytest.mark.parametrize("kind", WAYS)
    def test_hung_calls_do_not_delay_others(self, server: OpenAIServer, kind: str) -> None:
        settings: dict[str, Any] = {"api_key": "sk-test"}
        evaluate(samples(1), Faithfulness(), llm=made(kind, server.base_url, **settings))  # packages take time to start
        server.responder = faults = Faults(1, {"hang": 0.01}, delay=0.02)
        started = time.monotonic()
        result = evaluate(samples(100), Faithfulness(), llm=made(kind, server.base_url, **settings))
        assert time.monotonic() - started < 300, "without a limit learnt from the answers, each would take 600 s"
        assert faults.met["hang"] >= 1
        assert None not in values(result)

    def test_resumed_with_faults_it_still_ends_right(self, server: OpenAIServer, tmp_path: Any) -> None:
        right = values(score(server, 60))
        server.responder = Faults(3, {"malformed": 0.5, "failing": 0.1})
        first = score(server, 60, run_dir=tmp_path, max_retries=0)
        failed = values(first).count(None)
        assert failed > 5
        server.responder = judge
        before = len(server.requests)
        assert values(score(server, 60, run_dir=tmp_path)) == right
        # what was unreadable twice, or failed, is asked anew; all else is replayed
        assert failed <= len(server.requests) - before <= 2 * failed


class TestStopped:
    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (401, "refuses the API key (401): no. To this server no key of the environment is sent: give api_key."),
            (403, "forbids this (403): no. Does the key have access to it?"),
            (404, "has no such model or address (404): no. Check the model name and the base URL."),
        ],
    )
    def test_what_all_calls_would_meet_is_said_once(
        self, server: OpenAIServer, tmp_path: Any, status: int, words: str
    ) -> None:
        lock, answered = threading.Lock(), 0

        def respond(body: dict[str, Any]) -> Response:
            nonlocal answered
            with lock:
                answered += 1
                number = answered
            if number <= 60:
                return judge(body)
            assert until(lambda: kept_replies(tmp_path) == 60)  # else the run stops before it has read them all
            return error(status, "no")

        server.responder = respond
        with pytest.raises(ModelError) as caught:
            score(server, 500, run_dir=tmp_path, max_concurrency=8)
        assert str(caught.value).startswith(f"judge: {server.base_url} {words}")
        assert len(server.requests) <= 60 + 8, "not one error per row"
        kept = values(caught.value.partial)
        assert 20 <= len(kept) <= 30
        assert None not in kept
        server.responder = judge
        before = len(server.requests)
        assert None not in values(score(server, 500, run_dir=tmp_path))
        assert len(server.requests) - before == 1000 - 60

    def test_a_server_that_is_gone(self) -> None:
        with OpenAIServer(judge) as server:
            llm = OpenAIServerLLM(server.base_url, "judge")
        with pytest.raises(ModelError, match=r"The last 50 calls all failed, so a run stops here") as caught:
            evaluate(samples(300), Faithfulness(), llm=llm, max_concurrency=32, max_retries=0)
        assert "is a server listening there?" in str(caught.value)
        assert len(caught.value.partial) == 49


class TestRetriesAreTheRunsOwn:
    """The openai package repeats failed calls out of sight; in a run, only the run does so."""

    @pytest.mark.parametrize("kind", ["openai", "openai.OpenAI", "openai.AsyncOpenAI", *NATIVE])
    def test_of_llms(self, server: OpenAIServer, kind: str) -> None:
        settings: dict[str, Any] = {"base_url": server.base_url, "api_key": "sk-test"}
        if client := kind.partition(".")[2]:
            model: Any = OpenAILLM("judge", client=getattr(openai, client)(**settings))
        else:
            model = made(kind, server.base_url, api_key="sk-test", max_retries=5)
        server.responder = Faults(1, {"failing": 1.0})
        result = evaluate(samples(2), Faithfulness(), llm=model, max_retries=0)
        assert [item.state for item in result.scores["faithfulness"]] == ["failed", "failed"]
        assert len(server.requests) == 2
        server.responder = judge
        assert None not in values(evaluate(samples(2), Faithfulness(), llm=model, max_retries=0))
        before = len(server.requests)
        server.queue.append(Response(status=500, body="{}"))
        assert Faithfulness(llm=model).score(**samples(1)[0]).value is not None
        assert len(server.requests) == before + 3, "outside of a run the client repeats calls as its settings say"

    def test_of_embeddings(self, server: OpenAIServer) -> None:
        model = OpenAIEmbeddings("m", base_url=server.base_url, api_key="sk-test", max_retries=5)
        server.queue.extend([Response(status=500, body="{}")])
        rows = [{"response": "a b", "reference": "a b"}]
        assert evaluate(rows, SemanticSimilarity(), embeddings=model, max_retries=0).summary().metrics[0].failed == 1
        assert len(server.requests) == 1
        server.queue.extend([Response(status=500, body="{}")])
        assert model.embed(["a"]).value, "outside of a run the model repeats calls as its settings say"
        assert len(server.requests) == 3


class TestThreads:
    """Models that can only block: on threads, with the same rules."""

    def test_as_many_as_allowed_and_lost_ones_again(self) -> None:
        lost = ModelError("reset")
        lost.transient = True
        seen: set[str] = set()

        def answer(text: str) -> object:
            if int(text) % 10 == 3 and text not in seen:
                seen.add(text)
                return lost
            return "0.5"

        model = SyncModel(answer, delay=0.01)
        result = evaluate(questions(60), Rated(), llm=model, max_concurrency=6)
        assert [item.value for item in result.scores["rated"]] == [0.5] * 60
        assert len(model.asked) == 66
        assert model.most <= 6

    def test_one_that_hangs_is_left_behind(self) -> None:
        gate = threading.Event()
        tries: list[str] = []

        class Hanging(SyncModel):
            def generate(self, ask: Any) -> object:
                tries.append(ask.inputs["text"])
                if tries.count("7") == 1 and ask.inputs["text"] == "7":
                    gate.wait(60)
                return "0.5"

        started = time.monotonic()
        result = evaluate(
            questions(20), Rated(), llm=Hanging(), timeout=4
        )  # a quick one must not be late on any machine
        assert time.monotonic() - started < 50
        gate.set()
        assert [item.value for item in result.scores["rated"]] == [0.5] * 20
        assert tries.count("7") == 2
