"""Documents as LangChain writes them are read as contexts and as documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd, dumps

from ragmetrics_core import evaluate

LAMP = Document(page_content="a lamp", metadata={"price": 30}, id="d1")
BARE = Document(page_content="a table")


@pytest.mark.parametrize(
    "written",
    [
        dumps,
        dumpd,
        lambda documents: [dumpd(item) for item in documents],
        lambda documents: [dumps(item) for item in documents],
        lambda documents: json.dumps([dumps(item) for item in documents]),
        lambda documents: str(dumpd(documents)),
    ],
    ids=["dumps", "dumpd", "list of dumpd", "list of dumps", "list of dumps as text", "as Python prints it"],
)
def test_lists(written: Callable[[list[Document]], Any]) -> None:
    cell = written([LAMP, BARE])
    rows = [{"contexts": cell, "retrieved_documents": cell}]
    (row,) = evaluate(rows, "exact_match", progress=False).rows
    assert row.retrieved_contexts == ["a lamp", "a table"]
    assert row.retrieved_documents == [
        {"content": "a lamp", "id": "d1", "meta": {"type": "Document", "price": 30}},
        {"content": "a table", "meta": {"type": "Document"}},
    ]


@pytest.mark.parametrize("written", [dumps, dumpd])
def test_one(written: Callable[[Document], Any]) -> None:
    rows = [{"contexts": written(LAMP), "retrieved_documents": written(LAMP), "reference_documents": ["d1"]}]
    result = evaluate(rows, "recall(field='id')", progress=False)
    assert result.rows[0].retrieved_contexts == ["a lamp"]
    assert [score.value for score in result.scores["recall"]] == [1.0]


def test_an_object_that_is_no_document_stays_a_text() -> None:
    texts = ['{"lc": 1, "type": "not_implemented", "id": ["a"]}', '{"lc": 1, "kwargs": {"template": "a"}}']
    (row,) = evaluate([{"contexts": texts}], "exact_match", progress=False).rows
    assert row.retrieved_contexts == texts
