"""What a response of LlamaIndex holds, of whichever of its four kinds it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import MetadataMode, NodeWithScore

from ragmetrics_core import Document, InvalidInput

__all__ = ["Answer", "AnyResponse", "answer_of", "settle"]

AnyResponse: TypeAlias = Response | StreamingResponse | AsyncStreamingResponse | PydanticResponse


@dataclass(frozen=True)
class Answer:
    """The text of a response and what it was made from.

    Attributes:
        text: the answer; empty where there is none.
        contexts: the texts of the source nodes, in rank order.
        documents: the same nodes with identifier, retrieval score and metadata.
    """

    text: str
    contexts: list[str]
    documents: list[Document]


async def settle(response: Any) -> Any:
    """The response, its stream read to the end where it is an asynchronous one; the text stays in it for others to read."""
    if isinstance(response, AsyncStreamingResponse):
        return await response.get_response()
    return response


def answer_of(response: AnyResponse | None, mode: MetadataMode) -> Answer | None:
    """What the response holds; None for none. A stream is read to its end, and its text stays in the response.

    Raises:
        InvalidInput: it is no response of a query engine.
    """
    if response is None:
        return None
    if isinstance(response, PydanticResponse):
        text = response.response.model_dump_json() if response.response is not None else ""
    elif isinstance(response, Response):
        text = response.response or ""
    elif isinstance(response, StreamingResponse):
        text = response.get_response().response or ""
    else:
        raise InvalidInput(
            f"evaluate_response takes the response of a query engine, got {type(response).__name__}: for a text call "
            "evaluate(query=..., response=..., contexts=...)"
        )
    nodes = response.source_nodes or []
    return Answer(text, contexts_of(nodes, mode), [document_of(node, mode) for node in nodes])


def contexts_of(nodes: Sequence[NodeWithScore], mode: MetadataMode) -> list[str]:
    """The texts of the nodes, in order."""
    return [node.get_content(metadata_mode=mode) for node in nodes]


def document_of(node: NodeWithScore, mode: MetadataMode) -> Document:
    """The node as a document of the core, which ranking metrics compare by text, identifier or metadata."""
    meta: dict[str, Any] = dict(node.metadata or {})
    return Document(content=node.get_content(metadata_mode=mode), id=node.node_id, score=node.score, meta=meta)
