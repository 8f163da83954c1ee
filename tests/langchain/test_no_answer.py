"""What is no answer and no reference is never judged as if it were one: not as JSON, not as the text beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from ragmetrics_core import InvalidInput, MissingInput
from ragmetrics_core.metrics import Correctness, ExactMatch, Faithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import MetricRunnable, RagEvaluationCallback, as_langsmith_evaluator, as_openevals

NO_RESPONSE = (
    "MissingInput: correctness needs 'response', which is missing: "
    "add it to the data as a column 'response', or leave the metric out"
)
MESSAGE = {"role": "assistant", "content": "R"}


def compared(outputs: Any, reference: Any, **keys: Any) -> tuple[float | None, str | None]:
    """Score and error of ExactMatch, the same as an evaluator of LangSmith and of openevals."""
    langsmith = as_langsmith_evaluator(ExactMatch(), **keys)({"question": "q"}, outputs, reference)
    evaluator = partial(as_openevals(ExactMatch(), **keys), inputs="q", outputs=outputs, reference_outputs=reference)
    if "extra" not in langsmith:
        assert (evaluator()["score"], evaluator()["comment"]) == (langsmith["score"], langsmith["comment"])
        return langsmith["score"], None
    with pytest.raises((InvalidInput, MissingInput)) as caught:
        evaluator()
    error = caught.value
    words = error.message_for_data() if isinstance(error, MissingInput) else str(error)
    assert langsmith["comment"] == f"{type(error).__name__}: {words}"
    return langsmith["score"], langsmith["comment"]


@pytest.mark.parametrize(
    "outputs",
    [
        {"output": None},
        {"answer": None},
        {"answer": {"text": None}},
        {"output": {"answer": None, "sources": None}},
        {"result": {"a": None, "b": None}},
        {"answer": None, "error": "the server is busy"},
        {"answer": math.nan},
        {"answer": {}},
        {"answer": object()},
        {"a": None, "b": None},
        {"output": {"a": {"b": None}}},
        {"output": {"a": [None, math.nan]}},
        {"output": [{"a": None}]},
        {"a": {"b": {"c": None}}, "d": {}},
        {"error": "the server is busy"},
        {"output": {"error": {"type": "Timeout"}, "steps": []}},
        {"choices": []},
        {"generations": [], "usage": None},
        None,
    ],
)
def test_an_answer_that_is_none_costs_no_call(outputs: Any) -> None:
    judge = ScriptedLLM("4")
    evaluator = as_langsmith_evaluator(Correctness(), llm=judge)
    result = evaluator({"question": "q"}, outputs, {"answer": "null"})
    assert (result["score"], result["comment"], result["extra"]) == (None, NO_RESPONSE, {"error": True})
    with pytest.raises(MissingInput, match="correctness needs 'response', which is missing"):
        as_openevals(Correctness(), llm=judge)(inputs="q", outputs=outputs, reference_outputs={"answer": "null"})
    assert judge.calls == 0


def test_a_blank_answer_is_an_answer_that_says_nothing() -> None:
    for outputs in (
        "",
        " ",
        {"answer": ""},
        {"output": {"answer": ""}},
        {"output": {"a": "", "b": None}},
        {"output": AIMessage("")},
        {"messages": [HumanMessage("q"), AIMessage("")]},
    ):
        result = as_langsmith_evaluator(Correctness(), llm=ScriptedLLM("4"))(
            {"question": "q"}, outputs, {"answer": "R"}
        )
        assert (result["score"], result["comment"], "extra" in result) == (None, "response is blank", False), outputs
        with RagEvaluationCallback([Correctness()], llm=ScriptedLLM("4")) as callback:
            RunnableLambda(lambda _, outputs=outputs: outputs).invoke({"question": "q"}, {"callbacks": [callback]})
        [record] = callback.results
        assert (record.sample.response or "").strip() == ""
        assert (record.scores["correctness"].label, callback.counts["failed"]) == ("no_answer", 0), outputs


def test_what_stands_beside_an_error_or_among_choices_is_still_the_answer() -> None:
    for outputs, text in (
        ({"error": None, "capital": "R"}, "R"),
        ({"error": "TypeError", "answer": "R"}, "R"),
        ({"error": "TypeError", "fix": "cast"}, '{"error": "TypeError", "fix": "cast"}'),
        ({"answer": "R", "choices": ["a"]}, "R"),
        ({"answer": "R", "choices": [{"text": "a"}]}, "R"),
        ({"output": {"items": []}}, '{"items": []}'),
    ):
        assert MetricRunnable(ExactMatch()).invoke({"answer": _answer(outputs), "reference": text}).value == 1.0, (
            outputs
        )


def _answer(outputs: Any) -> str | None:
    with RagEvaluationCallback([ExactMatch()]) as callback:
        RunnableLambda(lambda _: outputs).invoke({"question": "q"}, {"callbacks": [callback]})
    return callback.results[0].sample.response


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ({"answer": 42}, "42"),
        ({"output": 4.5}, "4.5"),
        ({"answer": True}, "True"),
        ({"answer": Decimal("1.10")}, "1.10"),
        ({"result": {"answer": 0}}, "0"),
        ({"answer": None, "output": "R"}, "R"),
        ({"answer": None, "messages": [HumanMessage("q"), AIMessage("R")]}, "R"),
        ({"message": MESSAGE}, "R"),
        ({"message": AIMessage("R")}, "R"),
        ({"choices": [{"index": 0, "message": MESSAGE}]}, "R"),
        (42, "42"),
    ],
)
def test_numbers_and_what_stands_beside_nothing(outputs: Any, text: str) -> None:
    assert compared(outputs, {"answer": text}) == (1.0, None)
    assert compared({"answer": text}, outputs) == (1.0, None)
    callback = RagEvaluationCallback([ExactMatch()])
    with callback:
        RunnableLambda(lambda _: outputs).invoke(
            {"question": "q"}, {"callbacks": [callback], "metadata": {"reference": text}}
        )
    (record,) = callback.results
    assert (record.sample.response, record.scores["exact_match"].value) == (text, 1.0)


@pytest.mark.parametrize(
    ("reference", "got"),
    [
        ({"answers": ["R"]}, "['answers'], and none of them tells which it is"),
        ({"gold": "R", "source": "s"}, "['gold', 'source'], and none of them tells which it is"),
        ({"choices": [{"message": MESSAGE}, {"message": MESSAGE}]}, "['choices'], and none of them tells which it is"),
        ({"message": {"text": ["R"]}, "n": 1}, "['message', 'n'], and none of them tells which it is"),
        ({"answer": ["R", "S"]}, "['answer'], and none of them tells which it is"),
        ({"reference": {"a": 1}}, "['a'], and none of them tells which it is"),
        ([{"a": 1}], "list"),
    ],
)
def test_a_reference_is_never_made_json(reference: Any, got: str) -> None:
    score, error = compared({"answer": "R"}, reference)
    assert score is None
    assert error == (
        f"InvalidInput: the reference outputs: a reference is one text, got {got}: name the key of the text with reference_key=..."
    )
    # a metric that takes no reference does not care
    faithful = as_langsmith_evaluator(Faithfulness(llm=ScriptedLLM('{"claims": []}')))
    assert (
        faithful({"question": "q"}, {"answer": "R", "context": ["c"]}, reference)["comment"]
        == "the response makes no claims"
    )


def test_where_the_reference_is_can_be_said() -> None:
    reference = {"gold": "R", "source": "s"}
    assert compared({"answer": "R"}, reference, reference_key="gold") == (1.0, None)
    match = as_openevals(ExactMatch())
    assert match(inputs="q", outputs="R", reference_outputs=reference, reference="R")["score"] == 1.0


def test_no_reference() -> None:
    for reference in (None, {"answer": None}, {"output": {"answer": None}}, {}):
        score, error = compared({"answer": "R"}, reference)
        assert (score, str(error)[:62]) == (None, "MissingInput: exact_match needs 'reference', which is missing:")


def test_structured_output_is_compared_with_structured_output() -> None:
    """As JSON, whatever the order of the names: stores do not keep it."""
    assert compared({"city": "Paris", "land": "France"}, {"land": "France", "city": "Paris"}) == (1.0, None)
    assert compared({"answer": {"a": [{"b": 1, "c": 2}]}}, {"answer": {"a": [{"c": 2, "b": 1}]}}) == (1.0, None)
    assert compared({"answer": {"a": [{"b": 1, "c": 2}]}}, {"answer": {"a": [{"c": 3, "b": 1}]}}) == (0.0, None)
    score, error = compared({"answer": "Paris"}, {"city": "Paris", "country": "France"})
    assert (score, "'city', 'country'" in str(error)) == (None, True)


def test_structured_output_of_another_form_is_no_reference() -> None:
    for outputs, reference in (
        ({"answer": ["R"]}, {"answers": ["R"]}),
        ({"answer": {"city": "R", "n": 1}}, {"gold": ["R"], "source": "s"}),
        ({"answer": "R"}, {"gold": 42, "source": "s"}),
        ({"answer": {"city": "R", "land": "L"}}, {"gold": {"city": "R"}, "n": 1}),
        ({"answer": {"city": "R", "land": "L"}}, {"answer": ["R", "S"]}),
    ):
        score, error = compared(outputs, reference)
        assert score is None
        assert "a reference is one text, got" in (error or ""), reference


def test_the_same_in_a_runnable() -> None:
    match: Callable[[Any], Any] = MetricRunnable(ExactMatch()).invoke
    assert match({"answer": 42, "reference": "42"}).value == 1.0
    assert match({"reference": {"a": 1, "b": 2}, "answer": {"b": 2, "a": 1}}).value == 1.0
    with pytest.raises(MissingInput, match="exact_match needs 'response', which is missing"):
        match({"answer": None, "reference": "None"})
    with pytest.raises(InvalidInput) as caught:
        match({"answer": "R", "reference": {"gold": "R", "source": "s"}})
    assert str(caught.value).startswith(
        "reference: a reference is one text, got ['gold', 'source'], and none of them tells"
    )


def test_tools_that_return_texts() -> None:
    """The callback and the runnable read the same messages in the same way."""
    called = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}])
    messages = [HumanMessage("q"), called, ToolMessage("Paris is big.", tool_call_id="1"), AIMessage("It is big.")]
    judge = ScriptedLLM({"extract_claims": '{"claims": []}'})
    callback = RagEvaluationCallback([Faithfulness()], llm=judge)
    with callback:
        RunnableLambda(lambda _: {"messages": messages}).invoke({"question": "q"}, {"callbacks": [callback]})
    sample = callback.results[0].sample
    assert (sample.retrieved_contexts, sample.response) == (["Paris is big."], "It is big.")
    assert callback.results[0].scores["faithfulness"].state == "unscored"
    assert MetricRunnable(Faithfulness(), llm=judge).invoke({"messages": messages}).state == "unscored"
