"""Nodes as LlamaIndex writes them are read as contexts and as documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.schema import BaseComponent, Document, NodeWithScore, TextNode

from ragmetrics_core import evaluate

NODE = TextNode(text="a lamp", id_="n1", metadata={"price": 30})


@pytest.mark.parametrize("node", [NODE, Document(text="a lamp", id_="n1"), NodeWithScore(node=NODE, score=0.5)])
@pytest.mark.parametrize(
    "written",
    [
        lambda node: [node.to_dict()],
        lambda node: [node.to_json()],
        lambda node: json.dumps([node.to_json()]),
        lambda node: [node.model_dump_json()],
    ],
    ids=["dictionary", "JSON", "list as text", "of pydantic"],
)
def test_nodes(written: Callable[[BaseComponent], Any], node: BaseComponent) -> None:
    cell = written(node)
    rows = [{"contexts": cell, "retrieved_documents": cell}]
    (row,) = evaluate(rows, "exact_match", progress=False).rows
    assert row.retrieved_contexts == ["a lamp"]
    (document,) = row.retrieved_documents or []
    assert isinstance(document, dict)
    assert (document["content"], document["id"]) == ("a lamp", "n1")


def test_other_json_with_a_node_is_a_text() -> None:
    texts = ['{"node": {"text": "a lamp"}, "price": 30}', '{"node": "a lamp", "score": 1}']
    (row,) = evaluate([{"contexts": texts}], "exact_match", progress=False).rows
    assert row.retrieved_contexts == texts
