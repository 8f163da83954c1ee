"""What the values of LangChain programs hold: questions, answers, contexts, references, samples."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from ragmetrics_core import Document, InvalidInput, Sample, Score
from ragmetrics_langchain import EvaluationRecord, RagEvaluationCallback
from ragmetrics_langchain._samples import sample_in_metadata, sample_of, sample_of_example
from ragmetrics_langchain._texts import Answer, answer_in, question_in, reference_in
from ragmetrics_langchain._values import (
    contexts_in,
    document_lists,
    found_by_tools,
    last_answer,
    last_question,
    returned_contexts,
    this_turn,
    with_contexts,
)


def asked(text: str) -> HumanMessage:
    return HumanMessage(text)


def said(text: str, tool_calls: tuple[str, ...] = ()) -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": name, "args": {}, "id": ""} for name in tool_calls])


def found(text: str, artifact: Any = None) -> ToolMessage:
    return ToolMessage(text, artifact=artifact, tool_call_id="")


def page(text: str, number: str | None = None) -> LangChainDocument:
    return LangChainDocument(text, id=number)


def wrapped(message: BaseMessage | None) -> LLMResult:
    return LLMResult(generations=[] if message is None else [[ChatGeneration(message=message)]])


TALK = [
    asked("earlier"),
    said("before"),
    asked("q"),
    said("", tool_calls=("search",)),
    found("found", artifact=[page("p", "1"), page("p", "1"), page("r", "2")]),
    said("a"),
]

TURNS = [{"role": "user", "content": "earlier"}, {"role": "assistant", "content": "before"}]
WITH_CONTEXTS = {"role": "assistant", "content": "before", "retrieved_contexts": ["c"]}


class Order(BaseModel):
    dish: str
    drink: str = "tea"


def test_the_last_turn_of_a_talk() -> None:
    assert last_question(TALK) == "q"
    assert last_answer(TALK) == "a"
    assert this_turn(TALK) == TALK[3:]
    assert this_turn(TALK[3:]) == TALK[3:]
    assert found_by_tools(TALK) == [page("p", "1"), page("r", "2")]


@pytest.mark.parametrize(
    ("talk", "answer"),
    [
        ([asked("q"), found("told")], "told"),
        ([asked("q"), found("")], None),
        ([asked("q"), said("first"), said(" ")], "first"),
        ([asked("q"), said(" ")], ""),
        ([asked("q")], None),
        ([asked("q"), said("", tool_calls=("search",))], None),
    ],
    ids=["of a tool", "nothing of a tool", "the last words", "blank", "none yet", "a call"],
)
def test_the_last_answer(talk: list[BaseMessage], answer: str | None) -> None:
    assert last_answer(talk) == answer
    assert answer_in(talk) == answer


def test_tools_that_left_no_documents_have_said_something_unless_that_is_the_answer() -> None:
    assert found_by_tools([asked("q"), found("x"), found(" "), said("a")]) == ["x"]
    assert found_by_tools([asked("q"), found("x"), found("y")]) == ["x"]
    assert found_by_tools([]) == []


@pytest.mark.parametrize(
    ("value", "contexts"),
    [
        ("c", ["c"]),
        (" ", None),
        (None, None),
        ([], []),
        ([page("p"), "c"], [page("p"), "c"]),
        (("c", 3), None),
        ([(page("p"), 0.5), {"page_content": "m"}], [page("p"), page("m")]),
        (Document("d"), [Document("d")]),
        (["c", 3], None),
        ({"context": "joined", "docs": [page("p")]}, [page("p")]),
        ({"other": "c"}, None),
        ({"context": {"context": {"context": "deep"}}}, None),
        (3, None),
    ],
)
def test_contexts_however_they_are_given(value: Any, contexts: list[Any] | None) -> None:
    assert contexts_in(value) == contexts


def test_lists_of_documents_and_nothing_else() -> None:
    held = {"a": [page("p")], "b": {"c": [page("r")], "d": {"e": [page("too deep")]}}, "f": ["text"], "g": 3}
    assert list(document_lists(held)) == [[page("p")], [page("r")]]
    assert list(document_lists(3)) == []


@pytest.mark.parametrize(
    ("value", "documents", "texts"),
    [
        ({"context": "c", "documents": [page("p")]}, [page("p")], ["c"]),
        ({"context": "c"}, None, ["c"]),
        ({"documents": []}, [], None),
        ({}, None, None),
        (3, None, None),
    ],
)
def test_what_was_returned_as_contexts(value: Any, documents: Any, texts: Any) -> None:
    assert returned_contexts(value) == (documents, texts)


def test_the_two_fields_of_contexts() -> None:
    assert with_contexts([page("p", "1"), "c", Document(None, "2")]) == {
        "retrieved_contexts": ["p", "c", ""],
        "retrieved_documents": [Document("p", "1"), "c", Document(None, "2")],
    }


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ("q", "q"),
        (" ", None),
        (asked("q"), "q"),
        (TALK, "q"),
        ((), None),
        ({"role": "user", "content": "q"}, "q"),
        ({"question": {"query": "q"}}, "q"),
        ({"question": " ", "messages": TALK}, "q"),
        ({"topic": "q", "answer": "a"}, "q"),
        ({"topic": "q", "other": "r"}, None),
        ({"input": {"input": {"input": {"input": "deep"}}}}, None),
        (Order(dish="soup"), None),
        (3, None),
    ],
)
def test_the_question(value: Any, question: str | None) -> None:
    assert question_in(value) == question


@dataclass
class Output:
    answer: str
    cost: float = field(default=0.1)


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("a", "a"),
        (4, "4"),
        (float("nan"), None),
        (said("a"), "a"),
        (said("a", tool_calls=("search",)), None),
        (wrapped(said("a")), "a"),
        (wrapped(None), None),
        (Output("a"), "a"),
        ({"role": "assistant", "content": "a"}, "a"),
        ({"answer": " ", "output": "a"}, "a"),
        ({"answer": None}, None),
        ({"answer": None, "messages": TALK}, "a"),
        ({"answer": ["x", "y"]}, '["x", "y"]'),
        ({"answer": []}, None),
        ({"raw": said("x"), "parsed": Order(dish="soup")}, '{"dish": "soup", "drink": "tea"}'),
        ({"message": said("a")}, "a"),
        ({"choices": [{"message": {"role": "assistant", "content": "a"}}]}, "a"),
        ({"choices": []}, None),
        ({"error": "lost"}, None),
        ({"question": "q", "reply": "a"}, "a"),
        ({"question": "q", "reply": "a", "other": "b"}, None),
        ({"one": "a", "two": "b"}, '{"one": "a", "two": "b"}'),
        ({"one": " ", "two": ""}, ""),
        ({"one": Score(1.0), "two": "b", "three": "c"}, None),
        ({"one": {1, "x"}, "two": object()}, None),
        ([{"dish": "soup"}], '[{"dish": "soup"}]'),
        ([], None),
        (["x", "y"], None),
        ({"answer": {"answer": {"answer": {"answer": "deep"}}}}, None),
        (object(), None),
        (
            {"one": [[[[["deep"]]]]], "two": "b", "three": "c"},
            '{"one": [[[[["deep"]]]]], "two": "b", "three": "c"}',
        ),
    ],
)
def test_the_answer(value: Any, answer: str | None) -> None:
    assert answer_in(value) == answer


def test_what_was_given_is_no_answer() -> None:
    assert answer_in({"topic": "t", "reply": "a"}, {"topic": "t"}) == "a"
    assert answer_in({"topic": "t", "n": 1}, {"topic": "t"}) is None


def test_an_answer_knows_whether_it_is_structured() -> None:
    assert [Answer(content).is_structured for content in (None, "a", ["a"])] == [False, False, True]


ORDER = Answer({"count": 2, "dish": ["soup", {"salt": 1, "oil": 2}]})


@pytest.mark.parametrize(
    ("value", "answer", "reference"),
    [
        ("r", None, "r"),
        (None, ORDER, None),
        ({}, ORDER, None),
        ({"answer": None}, None, None),
        ({"answer": "r"}, None, "r"),
        (
            {"dish": ["soup", {"oil": 1, "salt": 2}, "x"], "count": 3, "new": 4},
            ORDER,
            '{"count": 3, "dish": ["soup", {"salt": 2, "oil": 1}, "x"], "new": 4}',
        ),
        ([{"dish": "x"}], Answer([{"dish": "y"}]), '[{"dish": "x"}]'),
    ],
)
def test_the_reference(value: Any, answer: Answer | None, reference: str | None) -> None:
    assert reference_in("here", value, answer) == reference


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ({"other": 1, "more": 2}, "['more', 'other'], and none of them tells which it is"),
        ({"note": "n", "id": 3}, "['id', 'note'], and none of them tells which it is"),
        (["x", "y"], "list"),
    ],
)
def test_a_reference_is_one_text(value: Any, got: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        reference_in("here", value, ORDER)
    assert (
        str(raised.value)
        == f"here: a reference is one text, got {got}: name the key of the text with reference_key=..."
    )


@pytest.mark.parametrize(
    ("value", "sample"),
    [
        (Sample(response="a"), Sample(response="a")),
        ("a", Sample(response="a")),
        (said("a"), Sample(response="a")),
        (
            TALK,
            Sample(
                "q",
                "a",
                ["p", "r"],
                retrieved_documents=[Document("p", "1"), Document("r", "2")],
                history=TURNS,
            ),
        ),
        ({"question": "q", "chat_history": TALK[:2]}, Sample("q", history=TURNS)),
        ({"question": "q", "history": [("human", "earlier"), ("ai", "before")]}, Sample("q", history=TURNS)),
        ({"question": "q", "history": [TURNS[0], WITH_CONTEXTS]}, Sample("q", history=[TURNS[0], WITH_CONTEXTS])),
        ({"question": "q", "history": "in 1889"}, Sample("q", history="in 1889")),  # type: ignore[arg-type]
        ({"messages": [SystemMessage("Be brief."), asked("q"), said("a")]}, Sample("q", "a")),
        ({"messages": TALK, "chat_history": TURNS[:1]}, replace(sample_of(TALK), history=TURNS[:1])),
        ([asked("q"), found("x"), said("a")], Sample("q", "a", ["x"])),
        ({"messages": [asked("q"), said("a")], "response": "own"}, Sample("q", "own")),
        ({"messages": 3, "answer": "a"}, Sample(response="a", metadata={"messages": 3})),
        ({"query": asked("q"), "result": said("a"), "topic": 1}, Sample("q", "a", metadata={"topic": 1})),
        ({"ground_truth": {"answer": "r"}}, Sample(reference="r")),
        ({"contexts": ["c"]}, Sample(retrieved_contexts=["c"])),
        ({"contexts": 3}, Sample(retrieved_contexts=3)),  # type: ignore[arg-type]
        ({"docs": ["c"]}, Sample(retrieved_contexts=["c"])),
        (
            {"docs": [page("p")], "context": "joined"},
            Sample(retrieved_contexts=["p"], retrieved_documents=[Document("p")]),
        ),
        (
            {"retrieved_documents": [page("p")]},
            Sample(retrieved_contexts=["p"], retrieved_documents=[Document("p")]),
        ),
        ({"reference_documents": [page("p")]}, Sample(reference_documents=[Document("p")])),
        ({"retrieved_contexts": {"docs": ["c"]}}, Sample(retrieved_contexts=["c"])),
        ({"response": None, "answer": "a"}, Sample(response="a")),
        ({"result": "a", "generation": None}, Sample(response="a")),
    ],
)
def test_the_sample_of_a_value(value: Any, sample: Sample) -> None:
    assert sample_of(value) == sample


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (3, "a metric takes a mapping, a Sample, messages or a text, got int: put the fields into a mapping"),
        (
            {"result": "a", "generation": "b"},
            "two keys of the input give different values for 'response': keep one of them",
        ),
    ],
)
def test_what_is_no_sample(value: Any, problem: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        sample_of(value)
    assert str(raised.value) == problem


def test_references_in_metadata() -> None:
    sample, problems = sample_in_metadata(
        {"ground_truth": said("r"), "reference_documents": [page("p")], "rubric": 3, "topic": "t"}
    )
    assert sample == Sample(reference="r", reference_documents=[Document("p")], metadata={"topic": "t"})
    assert problems == [
        "InvalidInput: the run's metadata: rubric must be a mapping from scores to descriptions, got int"
    ]


def test_a_reference_that_two_names_disagree_about_is_left_out() -> None:
    sample, problems = sample_in_metadata({"reference": "r", "ground_truth": "s"})
    assert sample == Sample()
    assert problems == [
        "InvalidInput: the columns 'reference' and 'ground_truth' both mean 'reference' but differ: keep one of them"
    ]


def record_of(returned: Any, **extractors: Any) -> EvaluationRecord:
    """The record of a program that is asked ``q``, read by these extractors in place of the built-in ones."""
    callback = RagEvaluationCallback(**extractors)
    RunnableLambda(lambda _: returned).invoke({"question": "q"}, {"callbacks": [callback]})
    assert callback.flush(60)
    return callback.results[0]


def test_a_call_is_read_by_the_built_in_extractors() -> None:
    record = record_of({"answer": said(" "), "context": page("p")})
    assert record.error is None
    assert record.sample == Sample("q", " ", ["p"], retrieved_documents=[Document("p")])


@pytest.mark.parametrize(
    ("name", "returned", "problem"),
    [
        ("question", 3, "the extractor of the question returned int: return a text, a message or None"),
        ("answer", ["a"], "the extractor of the answer returned list: return a text, a message or None"),
        ("contexts", 3, "the extractor of the contexts returned int: return texts, documents, a list of them or None"),
    ],
)
def test_what_a_user_s_extractor_must_return(name: str, returned: Any, problem: str) -> None:
    record = record_of("a", **{name: lambda _: returned})
    assert record.error == problem
    fields = {"question": "user_input", "answer": "response", "contexts": "retrieved_contexts"}
    assert record.sample.get(fields[name]) is None


def test_a_user_s_extractor_may_find_nothing_or_raise() -> None:
    record = record_of("a", question=lambda _: None, answer=lambda run: {}["none"], contexts=lambda _: " ")
    assert record.sample == Sample()
    assert record.error == "the extractor of the answer raised KeyError: 'none'"


KEYS: dict[str, str | None] = dict.fromkeys(("question_key", "answer_key", "contexts_key", "reference_key"))


def test_an_example_of_a_data_set() -> None:
    sample = sample_of_example(
        {"question": "q", "topic": "t"},
        {"answer": "a", "context": [page("p")], "id": "7"},
        {"answer": "r", "reference_contexts": ["c"]},
        KEYS,
        needs_reference=True,
    )
    assert sample == Sample("q", "a", ["p"], "r", ["c"], [Document("p")], id="7", metadata={"topic": "t"})


def test_an_example_of_a_conversation() -> None:
    inputs = {"question": "q", "chat_history": TALK[:2]}
    sample = sample_of_example(inputs, {"answer": "a"}, None, KEYS, needs_reference=False)
    assert sample == Sample("q", "a", history=TURNS)
    sample = sample_of_example({"question": "q"}, {"messages": TALK}, None, KEYS, needs_reference=False)
    assert (sample.user_input, sample.response, sample.history) == ("q", "a", TURNS)


def test_an_example_of_plain_values() -> None:
    assert sample_of_example("q", 4, "r", KEYS, needs_reference=False) == Sample("q", "4")
    assert sample_of_example("q", None, "r", KEYS, needs_reference=True) == Sample("q", reference="r")


def test_an_example_with_keys_of_the_user() -> None:
    keys = {"question_key": "x", "answer_key": "y", "contexts_key": "z", "reference_key": "w"}
    outputs = {"y": "a", "z": ["c"], "context": ["other"]}
    sample = sample_of_example({"x": "q"}, outputs, {"w": {"ground_truth": "r"}}, keys, needs_reference=True)
    assert (sample.user_input, sample.response, sample.reference) == ("q", "a", "r")
    assert sample.retrieved_contexts == ["c"]


@pytest.mark.parametrize(("inputs", "got"), [({"b": 1, "a": 2}, "['a', 'b']"), ("q", "str")])
def test_a_key_that_is_not_there(inputs: Any, got: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        sample_of_example(inputs, "a", "r", {**KEYS, "question_key": "x"}, needs_reference=False)
    assert str(raised.value) == f"there is no 'x' in {got}"
