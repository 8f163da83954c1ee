"""Queries of a running application, evaluated in the background."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.evaluation import FaithfulnessEvaluator as TheirFaithfulness
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.query_engine import CustomQueryEngine, TransformQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from growth import slowness
from llama_index.doubles import Completions, openai_like
from loopback import OpenAIServer
from ragmetrics_core import Evaluation, InvalidInput, ModelError
from ragmetrics_core.adapters import JsonlSink, LiveSettings
from ragmetrics_core.metrics import NDCG, ContextRecall, ExactMatch, RefineFaithfulness, TokenF1
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_llama_index import MetricEvaluator, QueryEvaluation, QueryEvaluationHandler
from ragmetrics_llama_index._live import SpanListener
from waiting import given_up, until

KEY = "sk-secret-4711-abcdefghijklmnop"
YES = Completions("yes")

pytestmark = pytest.mark.usefixtures("nothing_stays_attached")


class Echo(CustomQueryEngine):
    """A query engine that takes no time."""

    def custom_query(self, query_str: str) -> Response:
        return Response(f"answer to {query_str}", source_nodes=[])


def test_a_query_is_evaluated(index: Any) -> None:
    with QueryEvaluationHandler([RefineFaithfulness(), ExactMatch()], llm=YES) as handler:
        with instrument_tags({"reference": "London", "example_id": 7, "response": "ignored"}):
            response = index.as_query_engine(llm=Completions("London")).query("Where was Ada born?")
        assert handler.flush(60)
    (evaluation,) = handler.results
    assert isinstance(evaluation, QueryEvaluation)
    assert (evaluation.query, evaluation.response) == ("Where was Ada born?", "London")
    assert evaluation.contexts == [node.get_content() for node in response.source_nodes]
    assert evaluation.tags["example_id"] == 7
    assert str(evaluation.span_id).startswith("RetrieverQueryEngine.query")
    assert {name: result.score for name, result in evaluation.results.items()} == {
        "refine_faithfulness": 1.0,
        "exact_match": 1.0,
    }
    assert (handler.counts, handler.errors, handler.pending) == ({"evaluated": 1}, [], 0)


def test_a_file_of_scores(index: Any, tmp_path: Path) -> None:
    """Metrics of the core keep scale, evidence and usage; a judge that fails and an evaluator of LlamaIndex have scores too."""
    down = ScriptedLLM(lambda ask: ModelError("down"))
    metrics = [ExactMatch(), NDCG(), ContextRecall(llm=down), TheirFaithfulness(llm=Completions("yes"))]
    sink = JsonlSink(tmp_path / "live.jsonl")
    with QueryEvaluationHandler(metrics, llm=YES, sinks=[sink]) as handler:
        for reference in ("London", "Paris"):
            with instrument_tags({"reference": reference, "example_id": 7, "response": "ignored"}):
                index.as_query_engine(llm=Completions("London")).query("Where was Ada born?")
        assert handler.flush(60)
    run = Evaluation.load(tmp_path / "live.jsonl")
    values = {name: [score.value for score in scores] for name, scores in run.scores.items()}
    assert sorted(values["exact_match"], key=str) == [0.0, 1.0]
    assert values["context_recall"] == [None, None]
    assert {score.error for score in run.scores["context_recall"]} == {"ModelError: down"}
    assert [score.scale for score in run.scores["exact_match"]] == [(0.0, 1.0)] * 2
    assert {record.sample.response for record in run.records} == {"London"}
    assert {record.sample.metadata["example_id"] for record in run.records} == {7}
    assert values["FaithfulnessEvaluator"] == [1.0, 1.0]


def test_a_query_comes_back_from_the_spool(index: Any, tmp_path: Path) -> None:
    """With its documents, tags and time: the same evaluation as without the spool."""
    metrics = [ExactMatch(), NDCG(), RefineFaithfulness()]
    hangs, free = threading.Event(), threading.Event()
    tags = {
        "reference": "London",
        "reference_documents": ["Ada Lovelace was born in London in 1815."],
        "session_id": "s",
    }

    def query(handler: QueryEvaluationHandler) -> None:
        with handler, instrument_tags(tags):
            index.as_query_engine(llm=Completions("London")).query("Where was Ada born?")

    first = QueryEvaluationHandler(
        metrics, llm=ScriptedLLM(lambda _: hangs.set() or free.wait(60) or "no"), spool=tmp_path
    )
    query(first)
    assert hangs.wait(60)
    plain = QueryEvaluationHandler(metrics, llm=YES)
    query(plain)
    assert plain.flush(60)
    assert until(lambda: given_up(tmp_path) == 1)
    second = QueryEvaluationHandler(metrics, llm=YES, spool=tmp_path)
    query(second)
    assert until(lambda: len(second.results) == 2)
    free.set()
    (expected,) = plain.results
    for found in second.results:
        assert (found.query, found.response, found.contexts) == (expected.query, expected.response, expected.contexts)
        assert dict(found.tags) == {**tags, **({"history": None} if "history" in found.tags else {})}
        assert [found.results[name].score for name in found.results] == [1.0, expected.results["ndcg"].score, 1.0]
    assert expected.results["ndcg"].score is not None
    assert len({found.timestamp for found in second.results}) == 2


async def test_fifty_queries_at_once_give_fifty_consistent_results(server: OpenAIServer, index: Any) -> None:
    def respond(body: dict[str, Any]) -> str:
        text = body["messages"][-1]["content"]
        if text.startswith('{"information"'):
            return "yes" if '"information": "answer ' in text else "no"
        return f"answer {text.partition('number ')[2].partition('?')[0]}"

    server.responder = respond
    llm = openai_like(server, KEY)
    with QueryEvaluationHandler([RefineFaithfulness(), TokenF1()], llm=llm) as handler:
        engine = index.as_query_engine(llm=llm)

        async def ask(number: int) -> str:
            with instrument_tags({"reference": f"answer {number}", "number": number}):
                return str(await engine.aquery(f"What is number {number}?"))

        answers = await asyncio.gather(*(ask(number) for number in range(50)))
        assert await asyncio.to_thread(handler.flush, 30)
    assert answers == [f"answer {number}" for number in range(50)]
    assert handler.counts == {"evaluated": 50}
    for evaluation in handler.results:
        number = evaluation.tags["number"]
        assert evaluation.query == f"What is number {number}?"
        assert evaluation.response == f"answer {number}"
        assert evaluation.results["token_f1"].score == 1.0
        assert evaluation.results["refine_faithfulness"].score == 1.0
    assert sorted(evaluation.tags["number"] for evaluation in handler.results) == list(range(50))


async def test_only_the_outermost_query_counts(index: Any) -> None:
    inner = index.as_query_engine(llm=Completions("London"))
    outer = TransformQueryEngine(inner, HyDEQueryTransform(llm=Completions("Ada was born.")))
    with QueryEvaluationHandler([RefineFaithfulness()], llm=YES) as handler:
        outer.query("Where?")
        await outer.aquery("When?")
        inner.query("Who?")
        assert handler.flush(60)
    assert sorted(item.query for item in handler.results) == ["When?", "Where?", "Who?"]


class Failing(CustomQueryEngine):
    def custom_query(self, query_str: str) -> str:
        raise RuntimeError("no answer")


class Asking(CustomQueryEngine):
    inner: Any

    def custom_query(self, query_str: str) -> Response:
        with contextlib.suppress(RuntimeError):
            self.inner.query(f"inner {query_str}")
        return Response("found out otherwise")


async def test_queries_that_fail_leave_nothing_behind() -> None:
    with QueryEvaluationHandler([ExactMatch()]) as handler:
        for engine in (Failing(), Asking(inner=Failing()), Echo(), Asking(inner=Echo())):
            with contextlib.suppress(RuntimeError):
                engine.query("?")
            with contextlib.suppress(RuntimeError):
                await engine.aquery("?")
        assert handler.flush(60)
    assert handler.counts["evaluated"] == 6
    assert not [item.query for item in handler.results if item.query.startswith("inner")]


def test_streams_are_judged_when_the_user_has_read_them(index: Any) -> None:
    engine = index.as_query_engine(llm=Completions("She was born in London"), streaming=True)
    with QueryEvaluationHandler([RefineFaithfulness()], llm=YES) as handler:
        response = engine.query("Where?")
        assert handler.flush(60)
        assert handler.results == []
        assert list(response.response_gen) == ["She", " was", " born", " in", " London"]
        assert str(engine.query("Again?")) == "She was born in London"
        assert engine.query("More?").get_response().response == "She was born in London"
        assert handler.flush(60)
        left = engine.query("Left?")
        next(left.response_gen)
        left.response_gen.close()
        del left
        gc.collect()
        assert handler.flush(60)
    assert [item.response for item in handler.results] == ["She was born in London"] * 3
    assert handler.counts == {"evaluated": 3, "abandoned": 1}


async def test_asynchronous_streams(index: Any) -> None:
    engine = index.as_query_engine(llm=Completions("She was born"), streaming=True)
    with QueryEvaluationHandler([RefineFaithfulness()], llm=YES) as handler:
        response = await engine.aquery("Where?")
        tokens = [token async for token in response.async_response_gen()]
        assert tokens == ["She", " was", " born"]
        assert await asyncio.to_thread(handler.flush, 60)
        left = await engine.aquery("Left?")
        async for _ in left.response_gen:
            break
        await left.response_gen.aclose()
    assert [item.response for item in handler.results] == ["She was born"]
    assert handler.counts == {"evaluated": 1, "abandoned": 1}


def test_the_queries_of_judges_are_never_evaluated(index: Any) -> None:
    """LlamaIndex's own evaluator judges by a query engine."""
    theirs = TheirFaithfulness(llm=YES)
    with QueryEvaluationHandler({"theirs": theirs}) as handler:
        index.as_query_engine(llm=Completions("London")).query("Where?")
        assert handler.flush(60)
        time.sleep(0.05)
        assert handler.flush(60)
    assert [(item.query, item.results["theirs"].score) for item in handler.results] == [("Where?", 1.0)]
    assert handler.counts == {"evaluated": 1}


class Verdict(BaseModel):
    city: str


class Other(CustomQueryEngine):
    """Its responses are of whatever kind it is given."""

    response: Any

    def custom_query(self, query_str: str) -> Any:
        return self.response


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("London", "London"),
        (PydanticResponse(Verdict(city="London"), source_nodes=[]), '{"city":"London"}'),
        (Response(None, source_nodes=[]), ""),
        (Verdict(city="London"), "city='London'"),
    ],
)
def test_other_kinds_of_responses(response: Any, text: str) -> None:
    with QueryEvaluationHandler([ExactMatch()]) as handler, instrument_tags({"reference": "London"}):
        assert Other(response=response).query("Where?") is not None
        assert handler.flush(60)
    (evaluation,) = handler.results
    assert evaluation.response == text
    assert evaluation.results["exact_match"].score == (1.0 if text == "London" else 0.0 if text else None)


def test_failing_judges_are_recorded(index: Any) -> None:
    broken = MetricEvaluator(RefineFaithfulness(name="broken"), llm=Completions([TypeError("a bug")]))
    with QueryEvaluationHandler(
        [RefineFaithfulness(name="down"), ContextRecall(), broken], llm=Completions([TimeoutError("down")] * 3)
    ) as handler:
        index.as_query_engine(llm=Completions("London")).query("Where?")
        assert handler.flush(60)
    (evaluation,) = handler.results
    assert "TimeoutError: down" in str(evaluation.results["down"].invalid_reason)
    assert "needs 'reference'" in str(evaluation.results["context_recall"].invalid_reason)
    assert repr(evaluation.errors["broken"]) == "TypeError('a bug')"
    assert handler.errors == [evaluation.errors["broken"]]


def test_on_result_and_its_errors() -> None:
    received: list[str] = []

    def tell(evaluation: QueryEvaluation) -> None:
        received.append(evaluation.query)
        raise RuntimeError("the listener is broken")

    begun = datetime.now(timezone.utc)
    with QueryEvaluationHandler([ExactMatch()], on_result=tell) as handler:
        Echo().query("?")
        assert handler.flush(60)
    assert begun <= handler.results[0].timestamp <= datetime.now(timezone.utc)
    assert received == ["?"]
    assert [str(error) for error in handler.errors] == ["the listener is broken"]
    assert handler.counts == {"evaluated": 1, "missing": 1, "failed": 1}
    assert len(handler.results) == 1


def test_the_queries_of_on_result_are_never_evaluated() -> None:
    with QueryEvaluationHandler([ExactMatch()], on_result=lambda evaluation: Echo().query("again")) as handler:
        Echo().query("?")
        assert handler.flush(60)
        time.sleep(0.05)
        assert handler.flush(60)
    assert [item.query for item in handler.results] == ["?"]


def test_sampling_is_repeatable() -> None:
    chosen = []
    for _ in range(2):
        with QueryEvaluationHandler([ExactMatch()], sample_rate=0.3, seed=1) as handler:
            for number in range(100):
                Echo().query(str(number))
            assert handler.flush(60)
        chosen.append(sorted(int(item.query) for item in handler.results))
        assert handler.counts["evaluated"] + handler.counts["not_sampled"] == 100
    assert chosen[0] == chosen[1]
    assert 15 <= len(chosen[0]) <= 45


def test_a_setting_under_its_former_name() -> None:
    with pytest.warns(DeprecationWarning, match="^sampling_rate is now called sample_rate$") as caught:
        former = QueryEvaluationHandler([ExactMatch()], sampling_rate=0)  # type: ignore[call-arg]  # as the checker says too
    assert [warning.filename for warning in caught] == [__file__]
    with former as handler:
        Echo().query("?")
    assert handler.counts == {"not_sampled": 1}
    with pytest.raises(InvalidInput, match="^sampling_rate is the former name of sample_rate: give only sample_rate$"):
        QueryEvaluationHandler([ExactMatch()], sampling_rate=0, sample_rate=0)  # type: ignore[call-arg]


def test_the_settings_are_shown() -> None:
    shown = inspect.signature(QueryEvaluationHandler).parameters
    given = ["metrics", "llm", "embed_model", "question", "metadata_mode"]
    settings = list(LiveSettings.__annotations__)  # tests/core/adapters/test_live_evaluation.py names them
    assert list(shown) == [*given, *settings]
    assert (shown["keep"].default, shown["timeout"].default) == (10_000, 120.0)


def test_only_the_queries_that_the_user_wants() -> None:
    """Asked with the mark of a judge, so what it queries itself is never evaluated."""

    def only(evaluation: QueryEvaluation) -> bool:
        Echo().query("is it worth it?")
        assert (evaluation.results, evaluation.errors) == ({}, {})
        if evaluation.query == "broken":
            raise LookupError("no such tenant")
        return evaluation.tags.get("tenant") == "a"

    with QueryEvaluationHandler([TokenF1()], only=only, workers=1) as handler:
        for tenant in ("a", "b"):
            with instrument_tags({"tenant": tenant, "reference": "x"}):
                Echo().query(f"by {tenant}")
        Echo().query("broken")
        assert handler.flush(60)
        assert handler.flush(60)
    assert [item.query for item in handler.results] == ["by a", "broken"]
    assert [str(error) for error in handler.errors] == ["no such tenant"]
    assert handler.counts == {"evaluated": 2, "left_out": 1, "failed": 1, "invalid": 1}


async def test_an_asynchronous_block_is_attached_too() -> None:
    async with QueryEvaluationHandler([ExactMatch()]) as handler:
        await Echo().aquery("?")
        assert await handler.aflush(60)
    await Echo().aquery("afterwards")
    assert [item.query for item in handler.results] == ["?"]


def test_a_full_line_drops_and_counts() -> None:
    release = threading.Event()
    llm = ScriptedLLM(lambda ask: "yes" if release.wait(60) else "no")
    with QueryEvaluationHandler([RefineFaithfulness()], llm=llm, workers=1, max_pending=3) as handler:
        for number in range(10):
            WithContext().query(str(number))
        assert handler.pending == 3
        assert not handler.flush(0.05)
        release.set()
        assert handler.flush(60)
    assert handler.counts == {"evaluated": 3, "dropped": 7}


class WithContext(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        return Response("answer", source_nodes=[NodeWithScore(node=TextNode(text="context", id_="c"), score=0.5)])


def test_documents_and_memory() -> None:
    with QueryEvaluationHandler([NDCG(field="id")], keep=5) as handler, instrument_tags({"reference_documents": ["c"]}):
        for number in range(20):
            WithContext().query(str(number))
        assert handler.flush(60)
    assert [item.results["ndcg"].score for item in handler.results] == [1.0] * 5


def test_attach_once_and_detach() -> None:
    handler = QueryEvaluationHandler([ExactMatch()])
    assert handler.attach() is handler.attach()
    assert handler != QueryEvaluationHandler([ExactMatch()])
    Echo().query("?")
    assert handler.flush(60)
    handler.close()
    Echo().query("?")
    assert handler.counts == {"evaluated": 1, "missing": 1}


@pytest.mark.parametrize(
    ("metrics", "settings", "message"),
    [
        ([], {}, "needs at least one metric"),
        ([ExactMatch], {}, "takes metrics and evaluators, got ExactMatch"),
        ([ExactMatch(), ExactMatch()], {}, "two metrics are called 'exact_match'"),
        ([ExactMatch()], {"sample_rate": 2}, "sample_rate is a share from 0 to 1, got 2"),
        ([ExactMatch()], {"workers": 0}, "workers must be a whole number from 1, got 0"),
    ],
)
def test_wrong_settings(metrics: Any, settings: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        QueryEvaluationHandler(metrics, **settings)


class Plain(BaseQueryEngine):
    """A query engine that does nothing but say by events that a query begins and ends."""

    def __init__(self) -> None:
        super().__init__(None)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}

    def _query(self, query_bundle: QueryBundle) -> Response:
        return Response("answer", source_nodes=[NodeWithScore(node=TextNode(text="context", id_="c"), score=0.5)])

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return self._query(query_bundle)


@pytest.mark.slow
@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("judge", ["hangs", "fails"])
def test_a_judge_that_hangs_or_fails_slows_no_query(judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the handler takes from a query, 99th percentile of 2000 queries: at most 1 ms.

    In processor time of the asking thread, as a busy machine stops any thread for longer than that; that it does not wait
    either is seen in the median of the time on the clock, and in that all queries end while the judge still hangs. It is 1 ms of
    the machine where this was written; a slower one is given more.
    """
    release = threading.Event()
    spent = [(0.0, 0.0)]

    def reply(ask: Any) -> str:
        if judge == "hangs":
            release.wait(60)
        raise RuntimeError("the judge is broken")

    def timed(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            clock, processor = time.perf_counter(), time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                before = spent[-1]
                spent[-1] = before[0] + time.perf_counter() - clock, before[1] + time.thread_time() - processor

        return call

    monkeypatch.setattr(QueryEvaluationHandler, "handle", timed(QueryEvaluationHandler.handle))
    for name in ("span_enter", "span_exit"):
        monkeypatch.setattr(SpanListener, name, timed(getattr(SpanListener, name)))
    engine = Plain()
    with QueryEvaluationHandler([RefineFaithfulness()], llm=ScriptedLLM(reply), max_pending=100) as handler:
        for number in range(2000):
            assert str(engine.query(str(number))) == "answer"
            spent.append((0.0, 0.0))
        assert judge == "fails" or handler.counts.get("evaluated", 0) == 0
        release.set()
        assert handler.flush(60)
    on_clock, of_processor = (sorted(times) for times in zip(*spent[:2000], strict=True))
    assert on_clock[0] > 0, "every query was heard"
    slower = slowness()
    assert of_processor[int(2000 * 0.99)] <= 0.001 * slower
    assert on_clock[1000] <= 0.001 * slower
    assert handler.counts.get("dropped", 0) + handler.counts["evaluated"] == 2000
    assert {type(error) for error in handler.errors} == {RuntimeError}


HANGING = """
import threading
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.query_engine import CustomQueryEngine
from ragmetrics_core.metrics import Correctness
from ragmetrics_llama_index import QueryEvaluationHandler

asked = threading.Event()

class Hangs:
    def generate(self, ask):
        asked.set()
        threading.Event().wait()

class Engine(CustomQueryEngine):
    def custom_query(self, query_str):
        return Response("answer")

handler = QueryEvaluationHandler([Correctness()], llm=Hangs(), exit_timeout=0.2).attach()
Engine().query("?")
assert asked.wait(60)
print("pending", handler.pending)
"""


@pytest.mark.slow
def test_a_judge_that_hangs_does_not_keep_the_process_from_ending() -> None:
    result = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "pending 1\n")
    assert "1 of 1 evaluations not judged: 0 dropped, 1 pending, after 0.2 seconds" in result.stderr


def test_a_handler_that_was_closed_listens_again() -> None:
    handler = QueryEvaluationHandler([TokenF1()])
    for number in (1, 2):
        with handler, instrument_tags({"reference": "answer to q"}):
            Echo().query("q")
            assert handler.flush(60)
        assert handler.counts == {"evaluated": number}
    handler.attach()
    with instrument_tags({"reference": "answer to q"}):
        Echo().query("q")
    assert handler.flush(60)
    handler.close()
    assert [evaluation.results["token_f1"].score for evaluation in handler.results] == [1.0] * 3


class Spying(TheirFaithfulness):
    """Keeps what it is called with."""

    def __init__(self) -> None:
        super().__init__(llm=Completions("yes"))
        self.given: list[dict[str, Any]] = []

    async def aevaluate_response(self, query: Any = None, response: Any = None, **kwargs: Any) -> Any:
        self.given.append(kwargs)
        return await super().aevaluate_response(query, response)

    def evaluate_response(self, query: Any = None, response: Any = None, **kwargs: Any) -> Any:
        self.given.append(kwargs)
        return MetricEvaluator(TokenF1()).evaluate(query, str(response), reference="x")


def test_only_inputs_reach_the_evaluators() -> None:
    spy = Spying()
    tags = {
        "reference": "r",
        "second_response": "s",
        "example_id": 7,
        "sleep_time_in_seconds": 60,
        "user_input": "other",
    }
    with QueryEvaluationHandler([spy, TokenF1()]) as handler:
        with instrument_tags(tags):
            Echo().query("q")
        assert handler.flush(60)
    assert spy.given == [{"reference": "r", "second_response": "s"}]
    (evaluation,) = handler.results
    assert (evaluation.errors, evaluation.tags) == ({}, tags)
