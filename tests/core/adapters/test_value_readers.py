"""What the values of programs hold, read for a framework of five lines: as an adapter reads those of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from ragmetrics_core import Document, InvalidInput, Sample, Score
from ragmetrics_core.adapters import Answer, ExampleReader, Extracted, SampleReader


@dataclass
class Said:
    text: str
    tool_calls: tuple[str, ...] = ()
    artifact: Any = None


class Asked(Said):
    pass


class Found(Said):
    pass


@dataclass
class Page:
    text: str
    number: str | None = None


@dataclass
class Wrapped:
    inside: Any


class AcmeReader(ExampleReader):
    message = Said
    document = Page
    of_users = (Asked,)
    of_models = (Said,)
    of_tools = (Found,)
    opaque = (Wrapped,)

    def messages_in(self, value: Any) -> list[Any] | None:
        if isinstance(value, Mapping) and "role" in value:
            return [(Asked if value["role"] == "user" else Said)(value["content"])]
        if isinstance(value, Said):
            return [value]
        is_talk = isinstance(value, list | tuple) and value and all(isinstance(item, Said) for item in value)
        return list(value) if is_talk else None

    def said_in(self, message: Any) -> str:
        return str(message.text)

    def calls_tools(self, message: Any) -> bool:
        return bool(message.tool_calls)

    def unwrapped(self, value: Any) -> Any:
        return value.inside if isinstance(value, Wrapped) else value

    def document_of(self, value: Any) -> Any:
        if isinstance(value, Mapping) and "page" in value:
            return Page(value["page"])
        return value if isinstance(value, Page) else None

    def core_document(self, document: Any) -> Document:
        return Document(document.text, document.number)


READER = AcmeReader()

TALK = [
    Asked("earlier"),
    Said("before"),
    Asked("q"),
    Said("", tool_calls=("search",)),
    Found("found", artifact=[Page("p", "1"), Page("p", "1"), Page("r", "2")]),
    Said("a"),
]


class Order(BaseModel):
    dish: str
    drink: str = "tea"


def test_the_last_turn_of_a_talk() -> None:
    assert READER.last_question(TALK) == "q"
    assert READER.last_answer(TALK) == "a"
    assert READER.this_turn(TALK) == TALK[3:]
    assert READER.this_turn(TALK[3:]) == TALK[3:]
    assert READER.found_by_tools(TALK) == [Page("p", "1"), Page("r", "2")]


@pytest.mark.parametrize(
    ("talk", "answer"),
    [
        ([Asked("q"), Found("told")], "told"),
        ([Asked("q"), Found("")], None),
        ([Asked("q"), Said("first"), Said(" ")], "first"),
        ([Asked("q"), Said(" ")], ""),
        ([Asked("q")], None),
        ([Asked("q"), Said("", tool_calls=("search",))], None),
    ],
    ids=["of a tool", "nothing of a tool", "the last words", "blank", "none yet", "a call"],
)
def test_the_last_answer(talk: list[Said], answer: str | None) -> None:
    assert READER.last_answer(talk) == answer
    assert READER.answer_in(talk) == answer


def test_tools_that_left_no_documents_have_said_something_unless_that_is_the_answer() -> None:
    assert READER.found_by_tools([Asked("q"), Found("x"), Found(" "), Said("a")]) == ["x"]
    assert READER.found_by_tools([Asked("q"), Found("x"), Found("y")]) == ["x"]
    assert READER.found_by_tools([]) == []


@pytest.mark.parametrize(
    ("value", "contexts"),
    [
        ("c", ["c"]),
        (" ", None),
        (None, None),
        ([], []),
        ([Page("p"), "c"], [Page("p"), "c"]),
        (("c", 3), None),
        ([(Page("p"), 0.5), {"page": "m"}], [Page("p"), Page("m")]),
        (Document("d"), [Document("d")]),
        (["c", 3], None),
        ({"context": "joined", "docs": [Page("p")]}, [Page("p")]),
        ({"other": "c"}, None),
        ({"context": {"context": {"context": "deep"}}}, None),
        (3, None),
    ],
)
def test_contexts_however_they_are_given(value: Any, contexts: list[Any] | None) -> None:
    assert READER.contexts_in(value) == contexts


def test_lists_of_documents_and_nothing_else() -> None:
    held = {"a": [Page("p")], "b": {"c": [Page("r")], "d": {"e": [Page("too deep")]}}, "f": ["text"], "g": 3}
    assert list(READER.document_lists(held)) == [[Page("p")], [Page("r")]]
    assert list(READER.document_lists(3)) == []


@pytest.mark.parametrize(
    ("value", "documents", "texts"),
    [
        ({"context": "c", "documents": [Page("p")]}, [Page("p")], ["c"]),
        ({"context": "c"}, None, ["c"]),
        ({"documents": []}, [], None),
        ({}, None, None),
        (3, None, None),
    ],
)
def test_what_was_returned_as_contexts(value: Any, documents: Any, texts: Any) -> None:
    assert READER.returned(value) == (documents, texts)


def test_the_two_fields_of_contexts() -> None:
    assert READER.with_contexts([Page("p", "1"), "c", Document(None, "2")]) == {
        "retrieved_contexts": ["p", "c", ""],
        "retrieved_documents": [Document("p", "1"), "c", Document(None, "2")],
    }


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ("q", "q"),
        (" ", None),
        (Asked("q"), "q"),
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
    assert READER.question_in(value) == question


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
        (Said("a"), "a"),
        (Said("a", tool_calls=("search",)), None),
        (Wrapped(Said("a")), "a"),
        (Wrapped(None), None),
        (Output("a"), "a"),
        ({"role": "assistant", "content": "a"}, "a"),
        ({"answer": " ", "output": "a"}, "a"),
        ({"answer": None}, None),
        ({"answer": None, "messages": TALK}, "a"),
        ({"answer": ["x", "y"]}, '["x", "y"]'),
        ({"answer": []}, None),
        ({"raw": Said("x"), "parsed": Order(dish="soup")}, '{"dish": "soup", "drink": "tea"}'),
        ({"message": Said("a")}, "a"),
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
    assert READER.answer_in(value) == answer


def test_what_nothing_is_wrapped_around_is_read_as_it_is() -> None:
    assert SampleReader.unwrapped(READER, "a") == "a"


def test_what_was_given_is_no_answer() -> None:
    assert READER.answer_in({"topic": "t", "reply": "a"}, {"topic": "t"}) == "a"
    assert READER.answer_in({"topic": "t", "n": 1}, {"topic": "t"}) is None


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
    assert READER.reference_in("here", value, answer) == reference


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
        READER.reference_in("here", value, ORDER)
    assert str(raised.value) == f"here: a reference is one text, got {got}: give one text"


@pytest.mark.parametrize(
    ("value", "sample"),
    [
        (Sample(response="a"), Sample(response="a")),
        ("a", Sample(response="a")),
        (Said("a"), Sample(response="a")),
        (
            TALK,
            Sample("q", "a", ["p", "r"], retrieved_documents=[Document("p", "1"), Document("r", "2")]),
        ),
        ([Asked("q"), Found("x"), Said("a")], Sample("q", "a", ["x"])),
        ({"messages": [Asked("q"), Said("a")], "response": "own"}, Sample("q", "own")),
        ({"messages": 3, "answer": "a"}, Sample(response="a", metadata={"messages": 3})),
        ({"query": Asked("q"), "result": Said("a"), "topic": 1}, Sample("q", "a", metadata={"topic": 1})),
        ({"ground_truth": {"answer": "r"}}, Sample(reference="r")),
        ({"contexts": ["c"]}, Sample(retrieved_contexts=["c"])),
        ({"contexts": 3}, Sample(retrieved_contexts=3)),  # type: ignore[arg-type]
        ({"docs": ["c"]}, Sample(retrieved_contexts=["c"])),
        (
            {"docs": [Page("p")], "context": "joined"},
            Sample(retrieved_contexts=["p"], retrieved_documents=[Document("p")]),
        ),
        (
            {"retrieved_documents": [Page("p")]},
            Sample(retrieved_contexts=["p"], retrieved_documents=[Document("p")]),
        ),
        ({"reference_documents": [Page("p")]}, Sample(reference_documents=[Document("p")])),
        ({"retrieved_contexts": {"docs": ["c"]}}, Sample(retrieved_contexts=["c"])),
        ({"response": None, "answer": "a"}, Sample(response="a")),
        ({"result": "a", "generation": None}, Sample(response="a")),
    ],
)
def test_the_sample_of_a_value(value: Any, sample: Sample) -> None:
    assert READER.sample_of(value) == sample


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (3, "a metric takes a mapping, a Sample, messages or a text, got int: put the fields into a mapping"),
        ({"result": "a", "generation": "b"}, "the keys of the input disagree about 'response': keep one of them"),
    ],
)
def test_what_is_no_sample(value: Any, problem: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        READER.sample_of(value)
    assert str(raised.value) == problem


def test_references_in_metadata() -> None:
    sample, problems = READER.sample_in_metadata(
        {"ground_truth": Said("r"), "reference_documents": [Page("p")], "rubric": 3, "topic": "t"}
    )
    assert sample == Sample(reference="r", reference_documents=[Document("p")], metadata={"topic": "t"})
    assert problems == [
        "InvalidInput: the run's metadata: rubric must be a mapping from scores to descriptions, got int"
    ]


def test_a_reference_that_two_names_disagree_about_is_left_out() -> None:
    sample, problems = READER.sample_in_metadata({"reference": "r", "ground_truth": "s"})
    assert sample == Sample()
    assert problems == [
        "InvalidInput: the columns 'reference' and 'ground_truth' both mean 'reference' but differ: keep one of them"
    ]


BUILT_IN = {"question": lambda call: call["q"], "answer": lambda call: call["a"], "contexts": lambda call: call["c"]}


def test_built_in_extractors_read_at_once() -> None:
    found = Extracted(READER, {"q": Asked("q"), "a": Said(" "), "c": Page("p")}, BUILT_IN, BUILT_IN)
    assert found.is_complete
    assert found.problems == []
    assert Sample(**found.fields) == Sample("q", " ", ["p"], retrieved_documents=[READER.core_document(Page("p"))])


@pytest.mark.parametrize(
    ("name", "returned", "problem"),
    [
        ("question", 3, "the extractor of the question returned int: return a text, a message or None"),
        ("answer", ["a"], "the extractor of the answer returned list: return a text, a message or None"),
        ("contexts", 3, "the extractor of the contexts returned int: return texts, documents, a list of them or None"),
    ],
)
def test_what_a_user_s_extractor_must_return(name: str, returned: Any, problem: str) -> None:
    found = Extracted(READER, None, {name: lambda _: returned}, BUILT_IN)
    assert (found.is_complete, found.fields) == (False, {})
    assert found.problems == [f"the extractor of the {name} did not return in time"]
    found.complete()
    assert (found.is_complete, found.fields, found.problems) == (True, {}, [problem])


def test_a_user_s_extractor_may_find_nothing_or_raise() -> None:
    own = {"question": lambda _: None, "answer": lambda call: call["none"], "contexts": lambda _: " "}
    found = Extracted(READER, {}, own, BUILT_IN)
    found.complete()
    assert found.fields == {"user_input": None}
    assert found.problems == ["the extractor of the answer raised KeyError: 'none'"]


KEYS = dict.fromkeys(("question_key", "answer_key", "contexts_key", "reference_key"))


def test_an_example_of_a_data_set() -> None:
    sample = READER.example(
        {"question": "q", "topic": "t"},
        {"answer": "a", "context": [Page("p")], "id": "7"},
        {"answer": "r", "reference_contexts": ["c"]},
        KEYS,
        needs_reference=True,
    )
    assert sample == Sample(
        "q", "a", ["p"], "r", ["c"], [READER.core_document(Page("p"))], id="7", metadata={"topic": "t"}
    )


def test_an_example_of_plain_values() -> None:
    assert READER.example("q", 4, "r", KEYS, needs_reference=False) == Sample("q", "4")
    assert READER.example("q", None, "r", KEYS, needs_reference=True) == Sample("q", reference="r")


def test_an_example_with_keys_of_the_user() -> None:
    keys = {"question_key": "x", "answer_key": "y", "contexts_key": "z", "reference_key": "w"}
    outputs = {"y": "a", "z": ["c"], "context": ["other"]}
    sample = READER.example({"x": "q"}, outputs, {"w": {"ground_truth": "r"}}, keys, needs_reference=True)
    assert (sample.user_input, sample.response, sample.reference) == ("q", "a", "r")
    assert sample.retrieved_contexts == ["c"]


@pytest.mark.parametrize(("inputs", "got"), [({"b": 1, "a": 2}, "['a', 'b']"), ("q", "str")])
def test_a_key_that_is_not_there(inputs: Any, got: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        READER.example(inputs, "a", "r", {**KEYS, "question_key": "x"}, needs_reference=False)
    assert str(raised.value) == f"there is no 'x' in {got}"
