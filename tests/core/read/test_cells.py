"""What cells say: lists in all the ways in which they are written down, documents of other libraries, objects, chat messages."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.read.test_columns import problem, sample_of
from ragmetrics_core import Document, Sample


def contexts(value: Any, separator: str | None = None) -> Any:
    return sample_of({"contexts": value}, separator=separator).retrieved_contexts


class TestLists:
    @given(st.lists(st.text(), min_size=1))
    def test_as_json_python_and_numpy_print_them(self, texts: list[str]) -> None:
        with np.printoptions(threshold=10**6, linewidth=40):
            printed = str(np.array(texts, dtype=object))
        for cell in (json.dumps(texts), json.dumps(texts, indent=1), repr(texts), printed):
            assert contexts(cell) == texts

    def test_what_numpy_leaves_out_is_not_made_up(self) -> None:
        with np.printoptions(threshold=5, edgeitems=2):
            printed = str(np.array(list("abcdefgh"), dtype=object))
        assert problem({"contexts": printed}).startswith(
            "contexts: the cell starts with '[' but is not a JSON or Python list: "
        )

    @pytest.mark.parametrize(
        "cell", ["[Document(metadata={'page': 1}, page_content='a')]", "[array(['a', 'b'], dtype=object)]"]
    )
    def test_objects_that_python_has_printed(self, cell: str) -> None:
        assert problem({"contexts": cell}) == (
            'contexts: the cell starts with \'[\' but is not a JSON or Python list: write ["first text", "second text"]'
        )

    @pytest.mark.parametrize(
        "text",
        [
            "[1] Paris is the capital.",
            "[1][2] Both say so.",
            "[12, 13] say so.",
            "[Smith's 2020] said: 'x'",
            "[a link](https://example.com)",
            "[...] and so on",
            "  [1] padded",
            "a, b",
            "('a', 'b')",
        ],
    )
    def test_a_text_is_a_list_of_one(self, text: str) -> None:
        assert contexts(text) == [text]

    @pytest.mark.parametrize(
        "cell", ["['a', 'b'", "['a'] and more", "[laughs]", "[a], [b]", "[[1] x]", '["a" "b", "c"]']
    )
    def test_a_broken_list_is_refused(self, cell: str) -> None:
        assert problem({"My Contexts": cell}, {"contexts": "my contexts"}) == (
            'My Contexts: the cell starts with \'[\' but is not a JSON or Python list: write ["first text", "second text"]'
        )

    @pytest.mark.parametrize(
        ("cell", "found"),
        [
            ("a || b||c", ["a", "b", "c"]),
            ("a", ["a"]),
            ("a || || b ||", ["a", "b"]),
            ("[1] a || [2] b", ["[1] a", "[2] b"]),
            ("['broken || b", ["['broken", "b"]),
            ('["a || b"]', ["a || b"]),
            (["a || b"], ["a || b"]),
        ],
    )
    def test_split_at_a_separator(self, cell: Any, found: list[str]) -> None:
        assert contexts(cell, "||") == found

    def test_blank_and_other_values_are_left_to_the_metrics(self) -> None:
        assert contexts("  ") == "  "
        assert contexts(5) == 5
        assert contexts([]) == []
        assert contexts([None, "a"]) == [None, "a"]


NODE = {"text": "c", "id_": "7", "metadata": {"page": 1}, "class_name": "TextNode"}


class TestDocuments:
    @pytest.mark.parametrize(
        "document",
        [
            {"content": "c", "id": "7", "meta": {"page": 1}},
            {"page_content": "c", "metadata": {"page": 1}, "id": "7"},
            {"text": "c", "doc_id": "7", "page": 1},
            {"node": {"text": "c", "id_": "7", "metadata": {"page": 1}}},
            json.dumps({"page_content": "c", "metadata": {"page": 1}, "id": "7"}),
            SimpleNamespace(page_content="c", metadata={"page": 1}, id="7"),
            SimpleNamespace(text="c", metadata={"page": 1}, node_id="7"),
        ],
    )
    def test_of_other_libraries(self, document: Any) -> None:
        assert contexts([document]) == ["c"]
        assert contexts(json.dumps([document])) == ["c"] if isinstance(document, dict) else True
        (found,) = sample_of({"retrieved_documents": [document]}).retrieved_documents or []
        assert Document.of(found, "d") == Document("c", "7", meta={"page": 1})

    def test_the_score_of_a_node(self) -> None:
        assert sample_of({"retrieved_documents": [{"node": NODE, "score": 0.5}]}).retrieved_documents == [
            {"content": "c", "id": "7", "meta": {"class_name": "TextNode", "page": 1}, "score": 0.5}
        ]

    def test_one_document_is_a_list_of_one(self) -> None:
        assert contexts({"text": "c"}) == ["c"]

    def test_what_is_no_document_stays(self) -> None:
        assert contexts([{"title": "t"}, 5, "{x}", '{"a": 1}']) == [{"title": "t"}, 5, "{x}", '{"a": 1}']
        assert sample_of({"retrieved_documents": [{"title": "t"}]}).retrieved_documents == [{"title": "t"}]
        assert sample_of({"retrieved_documents": 5}).retrieved_documents == 5

    @pytest.mark.parametrize("documents", [[Document("c")], ["c"], [{"id": "1"}], []])
    def test_usual_ones_are_passed_on(self, documents: list[Any]) -> None:
        assert sample_of({"retrieved_documents": documents}).retrieved_documents is documents


class TestTexts:
    @pytest.mark.parametrize(
        ("value", "found"),
        [
            (["r"], "r"),
            (["r", "s"], ["r", "s"]),
            ([], []),
            ([{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}], "r"),
            ([{"role": "user", "content": "q"}], [{"role": "user", "content": "q"}]),
            ([{"role": "assistant", "content": ["part"]}], [{"role": "assistant", "content": ["part"]}]),
        ],
    )
    def test_a_list_in_the_place_of_a_text(self, value: Any, found: Any) -> None:
        assert sample_of({"response": value}).response == found

    def test_the_last_word_of_a_chat_counts(self) -> None:
        chat = [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "x"},
            {"role": "user", "content": "q"},
        ]
        assert sample_of({"input": chat}) == Sample("q")


class TestObjects:
    @pytest.mark.parametrize("cell", ['{"1": "bad"}', "{'1': 'bad'}", {"1": "bad"}])
    def test_a_rubric(self, cell: Any) -> None:
        assert sample_of({"rubric": cell}).rubric == {"1": "bad"}

    def test_what_is_none(self) -> None:
        assert problem({"Rubric": "good or bad"}) == (
            'Rubric: the cell is neither a JSON nor a Python object: write {"key": "text"}'
        )
