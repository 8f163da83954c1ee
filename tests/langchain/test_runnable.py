"""A metric where LangChain takes a Runnable."""

from __future__ import annotations

import asyncio
import warnings
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd, load
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from lc_parts import ANSWER, D1, D2, QUESTION, Scripted, Shelf, lcel, with_sources

from ragmetrics_core import Document as CoreDocument
from ragmetrics_core import InvalidInput, MissingInput, ModelError, Sample, Score
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Correctness, ExactMatch, Faithfulness, Jury, Recall, TokenF1
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import MetricRunnable

MATCH = MetricRunnable(ExactMatch())
FAITHFUL = MetricRunnable(Faithfulness(), llm=LexicalJudge())
ROW = {"question": QUESTION, "answer": ANSWER, "context": [D1, D2]}

HISTORY = [
    HumanMessage("Hello"),
    AIMessage("Hello!"),
    HumanMessage(QUESTION),
    AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
    ToolMessage("found", tool_call_id="1", artifact=[D1, D2]),
    AIMessage(ANSWER),
]


@pytest.mark.parametrize(
    "value",
    [
        ROW,
        Sample(user_input=QUESTION, response=ANSWER, retrieved_contexts=[D1.page_content, D2.page_content]),
        {"input": QUESTION, "output": ANSWER, "context": [D1.page_content, D2.page_content]},
        {"query": QUESTION, "result": ANSWER, "source_documents": [D1, D2]},
        {"user_input": QUESTION, "response": AIMessage(ANSWER), "retrieved_contexts": [D1, D2]},
        {"question": HumanMessage(QUESTION), "generation": ANSWER, "documents": [D1, D2]},
        {"question": [("user", QUESTION)], "answer": ANSWER, "contexts": (D1, D2), "chat_history": []},
        {"messages": HISTORY},
        HISTORY,
        {"input": QUESTION, "answer": ANSWER, "context": [{"page_content": d.page_content} for d in (D1, D2)]},
        {"input": QUESTION, "answer": ANSWER, "context": dumpd([D1, D2])},
    ],
)
def test_inputs_in_every_dialect(value: Any) -> None:
    score = FAITHFUL.invoke(value)
    assert score == Faithfulness(llm=LexicalJudge()).score(
        user_input=QUESTION, response=ANSWER, retrieved_contexts=[D1.page_content, D2.page_content]
    )
    assert score.value == 1.0


def test_one_text_as_context() -> None:
    assert FAITHFUL.invoke({**ROW, "context": D1.page_content}).value == 1.0


def test_a_text_or_a_message_alone_is_the_response() -> None:
    for value in ("London", AIMessage("London")):
        assert MATCH.invoke(value, reference="London").value == 1.0
    assert MATCH.bind(reference="Paris").invoke("London").value == 0.0


def test_documents_are_matched_by_id() -> None:
    recall = MetricRunnable(Recall(field="id"))
    assert recall.invoke({"context": [D1], "reference_documents": [D1, D2]}).value == 0.5
    both = {"retrieved_documents": [CoreDocument("x", "d2")], "reference_documents": [D2]}
    assert recall.invoke(both).value == 1.0


def test_keys_that_disagree_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"'question' and 'input' both mean 'user_input'|'input' and 'question'"):
        MATCH.invoke({"question": "a", "input": "b", "answer": "c", "reference": "d"})
    with pytest.raises(InvalidInput, match="different values for 'retrieved_contexts'"):
        FAITHFUL.invoke({**ROW, "source_documents": [D1], "docs": [D2]})


def test_a_missing_field_is_named_before_anything_is_asked() -> None:
    judge = ScriptedLLM([])
    with pytest.raises(MissingInput, match="faithfulness needs 'retrieved_contexts'"):
        MetricRunnable(Faithfulness(llm=judge)).invoke({"question": QUESTION, "answer": ANSWER})
    assert judge.calls == 0
    with pytest.raises(InvalidInput, match="takes a mapping, a Sample, messages or a text, got int"):
        MATCH.invoke(3)


def test_errors_can_be_recorded() -> None:
    down = ScriptedLLM({"extract_claims": ModelError("out of order")})
    recording = MetricRunnable(Faithfulness(llm=down), on_error="record")
    score = recording.invoke(ROW)
    assert (score.error, score.metric, score.usage.calls) == ("ModelError: out of order", "faithfulness", 0)
    assert score.scale == (0.0, 1.0)
    assert asyncio.run(recording.ainvoke({"answer": "x"})).state == "failed"
    with pytest.raises(ModelError, match="out of order"):
        asyncio.run(MetricRunnable(Faithfulness(llm=down)).ainvoke(ROW))


def test_what_is_no_metric_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"got the class ExactMatch: write ExactMatch\(\.\.\.\)"):
        MetricRunnable(ExactMatch)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="llm must be a model, got the text 'gpt'"):
        MetricRunnable(Faithfulness(), llm="gpt")


def test_batches_keep_their_order() -> None:
    rows = [{"answer": str(n), "reference": str(n % 2)} for n in range(20)]
    expected = [1.0 if n < 2 else 0.0 for n in range(20)]
    assert [score.value for score in MATCH.batch(rows, {"max_concurrency": 4})] == expected
    assert [score.value for score in asyncio.run(MATCH.abatch(rows))] == expected
    mixed = MATCH.batch([rows[0], {"answer": "x"}], return_exceptions=True)
    assert isinstance(mixed[0], Score)
    assert isinstance(mixed[1], MissingInput)


def test_streams_are_one_piece() -> None:
    row = {"answer": "x", "reference": "x"}
    assert [score.value for score in MATCH.stream(row)] == [1.0]

    async def collect() -> list[Score]:
        return [score async for score in MATCH.astream(row)]

    assert [score.value for score in asyncio.run(collect())] == [1.0]


def test_composition() -> None:
    """At the end of a chain, in a branch of it, in parallel, with retries and fallbacks, by ``map``."""
    chain: Any = with_sources().assign(score=FAITHFUL)
    result = chain.invoke(QUESTION)
    assert (result["answer"], result["score"].value) == (ANSWER, 1.0)
    streamed = list(chain.stream(QUESTION))
    assert next(chunk["score"].value for chunk in streamed if "score" in chunk) == 1.0
    both = RunnableParallel(match=MATCH, f1=MetricRunnable(TokenF1())).invoke({"answer": "x y", "reference": "x"})
    assert (both["match"].value, both["f1"].value) == (0.0, pytest.approx(2 / 3))
    piped = lcel() | (lambda text: {"answer": text, "reference": ANSWER}) | MATCH
    assert piped.invoke(QUESTION).value == 1.0
    assert [score.value for score in MATCH.map().invoke([{"answer": "a", "reference": "a"}])] == [1.0]
    assert asyncio.run(chain.ainvoke(QUESTION))["score"].value == 1.0


def test_retries_and_fallbacks() -> None:
    replies = [ModelError("busy"), '{"claims": []}']
    retrying = MetricRunnable(Faithfulness(llm=ScriptedLLM(replies))).with_retry(
        retry_if_exception_type=(ModelError,), wait_exponential_jitter=False
    )
    assert retrying.invoke(ROW).state == "unscored"
    broken = MetricRunnable(Faithfulness(llm=ScriptedLLM({"extract_claims": ModelError("down")})))
    assert broken.with_fallbacks([FAITHFUL]).invoke(ROW).value == 1.0


def test_as_a_tool() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as_tool is in beta
        tool = FAITHFUL.as_tool(description="Checks an answer.")
    assert (tool.name, sorted(tool.args)) == ("faithfulness", ["response", "retrieved_contexts", "user_input"])
    row = {"user_input": QUESTION, "response": ANSWER, "retrieved_contexts": [D1.page_content]}
    text = "faithfulness: 1: 4 of 4 claims supported"
    assert tool.invoke(row) == text
    message = tool.invoke({"type": "tool_call", "name": tool.name, "args": row, "id": "1"})
    assert (message.content, message.artifact["value"]) == (text, 1.0)
    assert asyncio.run(tool.ainvoke(row)) == text
    assert Score.from_dict(message.artifact) == FAITHFUL.invoke(row)


def test_a_tool_speaks_langchain_s_dialect() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as_tool is in beta
        tool = FAITHFUL.as_tool()
    assert tool.description == (Faithfulness.__doc__ or "").strip().splitlines()[0]
    assert tool.invoke({"question": QUESTION, "answer": ANSWER, "context": [D1.page_content]})[:15] == "faithfulness: 1"
    schema: Any = tool.args_schema
    assert schema.model_json_schema()["required"] == ["user_input", "response", "retrieved_contexts"]
    with pytest.raises(MissingInput, match="faithfulness needs 'response'"):
        tool.invoke({"question": QUESTION, "context": [D1.page_content]})


def test_schemas() -> None:
    schema = FAITHFUL.get_input_jsonschema()
    assert schema["required"] == ["user_input", "response", "retrieved_contexts"]
    assert schema["properties"]["retrieved_contexts"]["items"] == {"type": "string"}
    assert set(FAITHFUL.get_output_jsonschema()["$defs"]["Score"]["properties"]) >= {"value", "reason", "error"}
    recall = MetricRunnable(Recall()).get_input_jsonschema()
    assert sorted(recall["required"]) == ["reference_documents", "retrieved_documents"]


def test_the_schema_takes_what_the_runnable_takes() -> None:
    """Both dialects, as a server that checks its input by the schema has to."""
    schema: Any = FAITHFUL.get_input_schema()
    for row in ({"question": "q", "answer": "a", "context": ["c"]}, {"user_input": "q", "response": "a"}):
        assert schema.model_validate(row).model_dump(exclude_unset=True) == row


def test_names_and_configs() -> None:
    assert FAITHFUL.get_name() == "faithfulness"
    assert MetricRunnable(ExactMatch(name="same")).get_name() == "same"
    assert FAITHFUL.with_config(run_name="x", tags=["a"]).invoke(ROW).value == 1.0


def test_it_is_written_and_read_back() -> None:
    written = dumpd(MetricRunnable(ExactMatch(normalize=True), on_error="record"))
    assert written["id"] == ["ragmetrics_langchain", "MetricRunnable"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # load is in beta
        # older versions allow every object of a valid namespace
        allowed: Any = {"allowed_objects": [MetricRunnable]} if "allowed_objects" in signature(load).parameters else {}
        again = load(written, valid_namespaces=["ragmetrics_langchain"], **allowed)
    assert (again.metric, again.on_error, again.name) == (ExactMatch(normalize=True), "record", "exact_match")


def test_many_threads_share_one() -> None:
    with ThreadPoolExecutor(8) as pool:
        rows = [{"answer": str(n), "reference": str(n)} for n in range(200)]
        assert {score.value for score in pool.map(MATCH.invoke, rows)} == {1.0}


def test_a_metric_s_own_judge_comes_first() -> None:
    own = Faithfulness(llm=LexicalJudge())
    assert MetricRunnable(own, llm=ScriptedLLM([])).invoke(ROW).value == 1.0


def test_a_chat_model_is_wrapped_wherever_it_is_given() -> None:
    model = Scripted(says='{"claims": []}')
    for runnable in (MetricRunnable(Faithfulness(), llm=model), MetricRunnable(Faithfulness(llm=model))):  # type: ignore[arg-type]
        assert runnable.invoke(ROW).reason == "the response makes no claims"


def test_it_judges_inside_a_running_loop() -> None:
    async def cell() -> Any:
        return FAITHFUL.invoke({**ROW, "context": Shelf().documents})

    assert asyncio.run(cell()).value == 1.0


def test_a_lambda_that_calls_it_makes_it_a_child() -> None:
    assert RunnableLambda(FAITHFUL.invoke).invoke({**ROW, "context": [Document(ANSWER)]}).value == 1.0


@pytest.mark.parametrize("asynchronous", [False, True], ids=["invoke", "ainvoke"])
def test_each_juror_of_a_jury_is_asked_by_its_own_model(*, asynchronous: bool) -> None:
    def graded(grade: int) -> Scripted:
        return Scripted(says=f'{{"score": {grade}, "reason": "so"}}')

    own: Any = graded(2)
    jury = Jury(
        [Correctness(llm=own, name="own"), Correctness(name="given"), Correctness(llm=core_grade(5), name="core")]
    )
    row = {"question": QUESTION, "answer": ANSWER}
    runnable = MetricRunnable(jury, llm=graded(4))
    score = asyncio.run(runnable.ainvoke(row)) if asynchronous else runnable.invoke(row)
    assert (score.value, score.usage.calls) == (4.0, 3)
    assert [item["value"] for item in score.details["jurors"]] == [2.0, 4.0, 5.0]
    assert all(item["model"] for item in score.details["jurors"])
    with pytest.raises(InvalidInput, match="correctness_jury asks an LLM, but none is set"):
        MetricRunnable(jury)


def core_grade(grade: int) -> ScriptedLLM:
    return ScriptedLLM(lambda _: f'{{"score": {grade}, "reason": "so"}}')
