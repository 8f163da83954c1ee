"""Where ``samples_from_traces`` finds question, answer and contexts in the values of spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.traces.making import ANSWER, QUESTION, Json, otlp, phoenix, span
from ragmetrics_core import Document, Sample, UnreadableTrace, samples_from_traces


def sample_of(inputs: Any, outputs: Any, *, kind: str = "CHAIN", name: str = "chain") -> Sample | str:
    """The sample of one span with these values, or why there is none."""
    values: Json = {}
    for side, value in (("input", inputs), ("output", outputs)):
        values[f"{side}__value"] = value if isinstance(value, str) else json.dumps(value)
        if not isinstance(value, str):
            values[f"{side}__mime_type"] = "application/json"
    unread: list[UnreadableTrace] = []
    found = list(samples_from_traces([otlp(span(name, kind, **values))], on_unreadable=unread.append))
    return found[0] if found else unread[0].reason


MESSAGES = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]


@pytest.mark.parametrize(
    ("outputs", "answer"),
    [
        ("", ""),
        ('{"a": 1}', '{"a": 1}'),  # a text, as it has no MIME type
        (3, "3"),
        (True, "True"),
        ({"answer": " ", "text": ANSWER}, ANSWER),
        ({"result": {"output": ANSWER}}, ANSWER),
        ({"answer": ["a", "b"]}, '["a", "b"]'),
        ({"answer": 5}, "5"),
        ({"parsed": {"city": "Köln", "in": "NRW"}, "raw": MESSAGES[1]}, '{"city": "Köln", "in": "NRW"}'),
        ({"city": "Köln", "year": None}, "Köln"),
        ([{"city": "Köln"}, {"city": "Bonn"}], '[{"city": "Köln"}, {"city": "Bonn"}]'),
        ({"a": "", "b": " "}, ""),
        ({"messages": MESSAGES}, ANSWER),
        (MESSAGES, ANSWER),
        (MESSAGES[1], ANSWER),
        ([*MESSAGES, {"role": "tool", "content": "said directly"}], "said directly"),
        ([*MESSAGES[:1], {"role": "assistant", "content": ""}], ""),
        ({"choices": [{"index": 0, "message": MESSAGES[1]}]}, ANSWER),
        ({"generations": [[{"text": ANSWER}]]}, ANSWER),
        ({"documents": [], "said": ANSWER}, ANSWER),
    ],
)
def test_the_answer(outputs: Any, answer: str) -> None:
    sample = sample_of(QUESTION, outputs)
    assert isinstance(sample, Sample)
    assert sample.response == answer


@pytest.mark.parametrize(
    "outputs",
    [
        None,
        {},
        [],
        ["a", "b"],
        {"answer": None, "error": None},
        {"a": None},
        {"input": "a", "output": {}},
        {"context": "x", "a": "1", "b": "2"},
        [*MESSAGES, {"role": "user", "content": "And then?"}],
        {"role": "assistant", "content": "I search.", "tool_calls": [{}]},
    ],
)
def test_no_answer(outputs: Any) -> None:
    assert sample_of(QUESTION, outputs) == "no answer"


def test_parallel_answers_are_none() -> None:
    assert sample_of(QUESTION, {"a": "1", "b": "2"}, name="RunnableParallel<a,b>") == "no answer"


@pytest.mark.parametrize(
    "inputs",
    [
        QUESTION,
        {"question": QUESTION, "other": "x"},
        {"input": {"query": QUESTION}},
        {"query_bundle": {"query_str": QUESTION, "embedding": None}},
        {"anything": QUESTION, "chat_history": [], "context": "x"},
        {"messages": MESSAGES[:1]},
        {"messages": QUESTION},
        MESSAGES[0],
        MESSAGES,
        [MESSAGES],
        {"role": "user", "content": [{"type": "text", "text": QUESTION}, {"type": "image"}, 5]},
        json.dumps({"question": QUESTION}),
    ],
)
def test_the_question(inputs: Any) -> None:
    sample = sample_of(inputs, ANSWER)
    assert isinstance(sample, Sample)
    assert sample.user_input == QUESTION


@pytest.mark.parametrize("inputs", [None, " ", {}, {"a": "1", "b": "2"}, {"answer": "x"}, ["a", "b"]])
def test_no_question(inputs: Any) -> None:
    assert sample_of(inputs, ANSWER) == "no question"


ONE = Document("a", "1", 2.0, {"p": 1})
OF_HAYSTACK = {"id": "1", "content": "a", "score": 2, "blob": None, "p": 1}
OF_LLAMA_INDEX = {"node": {"id_": "1", "text": "a", "metadata": {"p": 1}}, "score": 2}


@pytest.mark.parametrize(
    ("outputs", "contexts"),
    [
        ({"context": "one text"}, ["one text"]),
        ({"context": {"documents": ["a", "b"]}}, ["a", "b"]),
        ({"context": [[{"page_content": "a"}, 0.5]]}, [Document("a")]),
        ({"documents": []}, []),
        ({"found": [{"id": "1", "content": "a", "score": 2, "meta": {"p": 1}}]}, [ONE]),
        ({"source_documents": [{"kwargs": {"page_content": "a", "id": "1"}}]}, [Document("a", "1")]),
        ({"docs": [OF_LLAMA_INDEX, OF_HAYSTACK]}, [ONE, ONE]),
        ({"docs": [{"name": "no document"}], "context": 5}, None),
    ],
)
def test_contexts_in_the_output(outputs: Any, contexts: Any) -> None:
    sample = sample_of(QUESTION, {"answer": ANSWER, **outputs})
    assert isinstance(sample, Sample)
    assert sample.retrieved_documents == contexts


def test_contexts_in_the_input_and_of_steps() -> None:
    sample = sample_of({"question": QUESTION, "context": "given"}, ANSWER)
    assert isinstance(sample, Sample)
    assert (sample.retrieved_contexts, sample.metadata["contexts"]) == (["given"], "retrieved")
    root = span("chain", "CHAIN", input__value=QUESTION, output__value=ANSWER)
    listed = {"output__value": json.dumps({"found": [{"page_content": "a"}]}), "output__mime_type": "application/json"}
    texts = {"output__value": json.dumps({"context": "b"}), "output__mime_type": "application/json"}
    (sample,) = samples_from_traces(
        [otlp(root, span("step", "CHAIN", root, **listed), span("step", "CHAIN", root, **texts))]
    )
    assert sample.retrieved_contexts == ["a"]
    (sample,) = samples_from_traces([otlp(root, span("step", "CHAIN", root, **texts))])
    assert sample.retrieved_contexts == ["b"]


def test_a_step_that_is_cut_off_has_no_say() -> None:
    root = span("chain", "CHAIN", input__value=QUESTION, output__value=ANSWER, metadata="{cut")
    cut = span("step", "CHAIN", root, output__value='{"context": ["a', output__mime_type="application/json")
    (sample,) = samples_from_traces([otlp(root, cut)])
    assert sample.retrieved_contexts is None


def test_attributes_that_phoenix_nests_and_times_without_a_zone() -> None:
    record = phoenix(span("chain", "CHAIN", takes=2))
    record["attributes"] = {
        "openinference": {"span": {"kind": "CHAIN"}},
        "input": {"value": QUESTION, "mime_type": "text/plain"},
        "output": {"value": ANSWER},
        "metadata": {"lang": "en"},
        "session": {"id": "s1"},
    }
    record |= {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01.5"}
    (sample,) = samples_from_traces([record])
    assert (sample.user_input, sample.response) == (QUESTION, ANSWER)
    assert [sample.metadata[name] for name in ("lang", "session_id", "latency")] == ["en", "s1", 1.5]
    del record["end_time"]
    (sample,) = samples_from_traces([record])
    assert "latency" not in sample.metadata


def test_the_exception_of_an_event_says_why() -> None:
    failed = phoenix(span("chain", "CHAIN", error="ValueError: first line\nTraceback"))
    unread: list[UnreadableTrace] = []
    assert list(samples_from_traces([failed], on_unreadable=unread.append)) == []
    failed["events"] = [{"name": "exception", "attributes": {"exception.type": "KeyError", "exception.message": "'x'"}}]
    assert list(samples_from_traces([failed], on_unreadable=unread.append)) == []
    assert [item.detail for item in unread] == ["ValueError: first line", "KeyError: 'x'"]
