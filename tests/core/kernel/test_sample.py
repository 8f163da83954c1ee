"""Rows become samples: aliases, contradictions, metadata, documents."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ragmetrics_core import Document, InvalidInput, Sample


def test_canonical_names_and_metadata() -> None:
    sample = Sample.from_mapping({"user_input": "q", "response": "a", "id": "7", "topic": "x", "metadata": {"y": 1}})
    assert sample == Sample("q", "a", id="7", metadata={"topic": "x", "y": 1})
    assert (sample.get("topic"), sample.get("response"), sample.get("nope")) == ("x", "a", None)


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ("question", "user_input"),
        ("query", "user_input"),
        ("input", "user_input"),
        ("answer", "response"),
        ("predicted_answer", "response"),
        ("generated_answer", "response"),
        ("output", "response"),
        ("ground_truth", "reference"),
        ("reference_answer", "reference"),
        ("ground_truth_answer", "reference"),
        ("expected_answer", "reference"),
        ("rubrics", "rubric"),
    ],
)
def test_other_common_column_names(column: str, field: str) -> None:
    assert getattr(Sample.from_mapping({column: "x"}), field) == "x"


def test_contexts() -> None:
    assert Sample.from_mapping({"contexts": ["a", "b"]}).retrieved_contexts == ["a", "b"]
    assert Sample.from_mapping({"context": "a"}).retrieved_contexts == ["a"]


def test_two_columns_for_one_field_must_agree() -> None:
    assert Sample.from_mapping({"question": "q", "query": "q"}).user_input == "q"
    assert Sample.from_mapping({"question": None, "query": "q"}).user_input == "q"
    assert Sample.from_mapping({"query": "q", "question": None}).user_input == "q"
    equal = np.array(["a"])
    assert Sample.from_mapping({"contexts": equal, "retrieved_contexts": equal.copy()}).retrieved_contexts is not None
    with pytest.raises(InvalidInput) as caught:
        Sample.from_mapping({"question": "q", "query": "other"})
    assert str(caught.value) == "the columns 'question' and 'query' both mean 'user_input' but differ: keep one of them"


def test_metadata_must_be_a_mapping() -> None:
    with pytest.raises(InvalidInput, match="metadata must be a mapping, got list"):
        Sample.from_mapping({"metadata": [1]})


def test_to_dict_leaves_out_what_is_not_set() -> None:
    sample = Sample("q", retrieved_documents=[Document("c", id="1"), "text"], metadata={"a": 1})
    assert sample.to_dict() == {
        "user_input": "q",
        "retrieved_documents": [{"content": "c", "id": "1"}, "text"],
        "metadata": {"a": 1},
    }
    assert Sample.from_mapping(sample.to_dict()).user_input == "q"


def test_documents_from_other_shapes() -> None:
    assert Document.of("text", "d[0]") == "text"
    assert Document.of({"content": "c", "score": 2}, "d[0]") == Document("c", score=2)
    assert Document.of(SimpleNamespace(content="c", id="1", meta={"k": 1}), "d[0]") == Document(
        "c", "1", None, {"k": 1}
    )
    with pytest.raises(InvalidInput, match=r"d\[3\] must be a Document, a mapping or a str, got int"):
        Document.of(5, "d[3]")
    with pytest.raises(InvalidInput, match=r"d\[0\] has neither content nor id nor meta"):
        Document.of({"contents": "c"}, "d[0]")
    flat = {"content": "c", "blob": None, "page": 3}
    assert Document.of(flat, "d[0]") == Document("c", meta={"blob": None, "page": 3})
    assert Document.of({**flat, "meta": {"page": 4}}, "d[0]").meta == {"blob": None, "page": 4}
    with pytest.raises(InvalidInput, match=r"d\[0\]: a document's content must be a str, got int"):
        Document.of({"content": 5}, "d[0]")
    with pytest.raises(InvalidInput, match=r"d\[0\]: a document's meta must be a mapping, got str"):
        Document.of({"content": "c", "meta": "xx"}, "d[0]")


def test_samples_with_documents_are_hashable_by_fields() -> None:
    assert hash(Document("c", meta={"a": [1]})) == hash(Document("c", meta={"a": [1]}))


def test_updated_sets_fields_and_adds_metadata() -> None:
    sample = Sample("q", "a", metadata={"x": 1})
    assert sample.updated({"answer": "b", "y": 2}) == Sample("q", "b", metadata={"x": 1, "y": 2})


def test_arrays_of_different_lengths_differ() -> None:
    with pytest.raises(InvalidInput, match="both mean 'retrieved_contexts' but differ"):
        Sample.from_mapping({"contexts": np.array(["a"]), "retrieved_contexts": np.array(["a", "b"])})
