"""What runs in the background of a callback: the user's own functions, and the posts to LangSmith."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from lc_parts import ANSWER, D1, QUESTION, Scripted, Shelf, lcel

from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import ExactMatch, Faithfulness, Recall
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import (
    EvaluationRecord,
    FinishedRun,
    LangChainLLM,
    RagEvaluationCallback,
    langsmith_feedback,
)
from ragmetrics_langchain import _runs as _tree


def config(*callbacks: Any, **more: Any) -> Any:
    return {"callbacks": list(callbacks), **more}


def one(**settings: Any) -> EvaluationRecord:
    callback = RagEvaluationCallback([ExactMatch()], **settings)
    lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER}))
    assert callback.flush(60)
    (record,) = callback.results
    return record


@pytest.mark.parametrize(
    ("found", "texts"),
    [
        ("One text.", ["One text."]),
        (Document("One."), ["One."]),
        (CoreDocument("One."), ["One."]),
        ([D1, "two"], [D1.page_content, "two"]),
        ({"documents": [D1]}, [D1.page_content]),
        ({"page_content": "One."}, ["One."]),
        ([], []),
        ((), []),
        (None, None),
        (" ", None),
    ],
)
def test_contexts_however_they_are_returned(found: Any, texts: list[str] | None) -> None:
    record = one(contexts=lambda run: found)
    assert (record.sample.retrieved_contexts, record.error) == (texts, None)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"contexts": lambda run: 3}, "the extractor of the contexts returned int: return texts, documents, a list"),
        ({"contexts": lambda run: ["a", 3]}, "the extractor of the contexts returned list: return texts"),
        (
            {"question": lambda run: ["a"]},
            "the extractor of the question returned list: return a text, a message or None",
        ),
        (
            {"answer": lambda run: {"a": 1}},
            "the extractor of the answer returned dict: return a text, a message or None",
        ),
    ],
)
def test_an_extractor_that_returns_something_else(settings: Any, problem: str) -> None:
    assert problem in str(one(**settings).error)


def test_an_extractor_may_return_a_message() -> None:
    record = one(question=lambda run: AIMessage("q"), answer=lambda run: AIMessage(ANSWER))
    assert (record.sample.user_input, record.sample.response, record.error) == ("q", ANSWER, None)


def test_extractors_never_delay_the_chain() -> None:
    release = threading.Event()
    threads: list[str] = []

    def slow(run: FinishedRun) -> str:
        threads.append(threading.current_thread().name)
        release.wait(60)
        return "q"

    callback = RagEvaluationCallback([ExactMatch()], question=slow)
    assert lcel().invoke(QUESTION, config(callback)) == ANSWER
    with pytest.raises(ValueError, match="broken"):
        lcel(Shelf(error=ValueError("broken"))).invoke(QUESTION, config(callback))
    assert callback.results == []
    release.set()
    assert callback.flush(60)
    assert sorted((record.status, record.sample.user_input) for record in callback.results) == [
        ("error", "q"),
        ("scored", "q"),
    ]
    assert set(threads) == {"ragmetrics-call"}


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"reference": 5}, "the run's metadata: reference must be"),
        ({"reference_contexts": "one"}, "the run's metadata: reference_contexts must be a list of str"),
        ({"rubric": "text"}, "the run's metadata: rubric must be a mapping"),
        ({"reference": "a", "expected_answer": "b"}, "both mean 'reference' but differ"),
    ],
)
def test_only_the_reference_stays_empty(metadata: dict[str, Any], problem: str) -> None:
    callback = RagEvaluationCallback([])
    good = {"reference_documents": [D1]}
    lcel().invoke(QUESTION, config(callback, metadata={**good, **metadata}))
    assert callback.flush(60)
    (record,) = callback.results
    assert problem in str(record.error)
    sample = record.sample
    assert (sample.user_input, sample.response, sample.reference, sample.rubric) == (QUESTION, ANSWER, None, None)
    assert (sample.reference_contexts, len(sample.retrieved_contexts or ())) == (None, 2)
    assert sample.reference_documents == [CoreDocument(D1.page_content, "d1", meta={"page": 1})]


def test_a_coroutine_function_as_on_result() -> None:
    got: list[str] = []

    async def post(record: EvaluationRecord) -> None:
        await asyncio.sleep(0.01)
        got.append(record.status)
        raise ConnectionError("lost")

    assert str(one(on_result=post).error) == "on_result raised ConnectionError: lost"
    assert got == ["scored"]


def test_a_stream_that_is_collected_in_the_middle_of_a_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python may close an abandoned stream at any allocation, also at one of a hook's: its end is heard on the same thread."""
    callback = RagEvaluationCallback([ExactMatch()], workers=1)
    begin = _tree.Tree.__init__

    def collecting(tree: _tree.Tree, *args: Any) -> None:
        begin(tree, *args)
        gc.collect()

    def leave() -> None:
        stream = lcel().stream(QUESTION, config(callback))
        next(stream)
        circle: list[Any] = [stream]
        circle.append(circle)

    def run() -> None:
        leave()
        monkeypatch.setattr(_tree.Tree, "__init__", collecting)
        lcel().invoke(QUESTION, config(callback))

    running = threading.Thread(target=run, daemon=True)
    gc.disable()
    gc.freeze()  # what other tests have left in memory is not looked through each time
    try:
        running.start()
        running.join(60)
    finally:
        gc.unfreeze()
        gc.enable()
    assert not running.is_alive(), "the hook waits for itself"
    assert callback.flush(60)
    assert [record.status for record in callback.results] == ["incomplete", "scored"]


def test_waiting_inside_on_result_does_not_wait_for_itself() -> None:
    waited: list[bool] = []

    async def later(record: EvaluationRecord) -> None:
        waited.append(await callback.aflush())

    callback = RagEvaluationCallback([ExactMatch()], on_result=lambda record: waited.append(callback.flush()))
    lcel().invoke(QUESTION, config(callback))
    assert callback.flush(60)
    assert waited == [True]
    callback = RagEvaluationCallback([ExactMatch()], on_result=later)
    lcel().invoke(QUESTION, config(callback))
    assert callback.flush(60)
    assert waited == [True, True]


def test_one_feedback_that_fails_keeps_no_other_back() -> None:
    posted: list[str] = []

    class Client:
        def create_feedback(self, run_id: Any, key: str, **_: Any) -> None:
            if key == "exact_match":
                raise ConnectionError("lost")
            posted.append(key)

    callback = RagEvaluationCallback([ExactMatch(), Recall(field="id")], on_result=langsmith_feedback(Client()))
    lcel().invoke(QUESTION, config(callback, metadata={"reference": ANSWER, "reference_documents": [D1]}))
    assert callback.flush(60)
    assert posted == ["recall"]
    assert str(callback.results[0].error) == (
        "on_result raised RagmetricsError: LangSmith did not accept this feedback: exact_match: ConnectionError: lost"
    )


def test_a_full_queue_keeps_no_error_from_on_result() -> None:
    release = threading.Event()

    def hang(ask: Any) -> str:
        release.wait(60)
        return '{"claims": []}'

    received: list[str] = []
    callback = RagEvaluationCallback(
        [Faithfulness(llm=ScriptedLLM(hang))],
        max_pending=2,
        workers=1,
        on_result=lambda record: received.append(record.status),
    )
    for _ in range(2):
        lcel().invoke(QUESTION, config(callback))
    with pytest.raises(ValueError, match="broken"):
        lcel(Shelf(error=ValueError("broken"))).invoke(QUESTION, config(callback))
    assert callback.dropped == 0
    while callback.pending > 2:  # until the error is told, while the judges still hang
        assert not callback.flush(0.01)
    assert received == ["error"]
    release.set()
    assert callback.flush(60)
    assert sorted(received) == ["error", "scored", "scored"]


def test_a_metric_of_the_core_is_not_watched() -> None:
    """Its judge is a LangChain model in a block that watches all chains, or reports to the callback itself."""
    callback = RagEvaluationCallback([ExactMatch()])
    judges = [Scripted(says='{"claims": []}'), Scripted(says='{"claims": []}', callbacks=[callback])]
    row = {"user_input": "q", "response": "r", "retrieved_contexts": ["c"]}
    with callback.attached():
        for judge in judges:
            metric = Faithfulness(llm=LangChainLLM(judge))
            assert metric.score(row).state == "unscored"
            assert asyncio.run(metric.ascore(row)).state == "unscored"
    assert callback.results == []


def test_a_setting_that_is_no_setting() -> None:
    from ragmetrics_langchain import MetricRunnable

    with pytest.raises(InvalidInput, match="MetricRunnable has no setting 'on_eror': did you mean 'on_error'"):
        MetricRunnable(ExactMatch(), on_eror="record")
    with pytest.raises(InvalidInput, match="on_error is 'raise' or 'record', got 'ignore'"):
        MetricRunnable(ExactMatch(), on_error="ignore")
