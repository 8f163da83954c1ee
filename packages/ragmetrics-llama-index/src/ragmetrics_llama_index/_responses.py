"""Read the text and the sources of any response of LlamaIndex."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Sequence
from typing import Any, TypeAlias

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from ragmetrics_core import Document, InvalidInput, Sample

AnyResponse: TypeAlias = Any
"""A response of a query engine, a chat engine or an agent, or any object with ``response`` and ``source_nodes``."""

log = logging.getLogger("ragmetrics_llama_index")


def mode_of(owner: str, mode: Any) -> MetadataMode:
    """Return the metadata mode for a mode or its name.

    Raises:
        InvalidInput: there is no such mode.
    """
    if mode in list(MetadataMode):
        return MetadataMode(mode)
    names = ", ".join(repr(item.value) for item in MetadataMode)
    raise InvalidInput(f"{owner}: metadata_mode must be a MetadataMode or one of {names}, got {mode!r}")


def is_async_stream(response: Any) -> bool:
    """Whether an event loop is needed to read the response to its end."""
    if isinstance(response, StreamingAgentChatResponse):
        return response.achat_stream is not None
    return isinstance(response, AsyncStreamingResponse)


async def settle(response: Any) -> Any:
    """Return the response. If it is an asynchronous stream, read it to its end; its text stays in the response."""
    if isinstance(response, AsyncStreamingResponse):
        return await response.get_response()
    if isinstance(response, StreamingAgentChatResponse) and is_async_stream(response):
        task = response.awrite_response_to_history_task
        if task is None:
            if response.is_writing_to_memory:
                return response
        elif task.done() or task.get_loop() is asyncio.get_running_loop():
            await task
        else:  # the answer is written in the caller's loop, which waits for this call
            raise InvalidInput(
                "the answer of the chat engine is still being written in the event loop of the caller: use await "
                "aevaluate_response(...), or read the stream to its end first"
            )
        if not response.response:
            async for _ in response.async_response_gen():
                pass
    return response


def answer_of(response: AnyResponse | None, mode: MetadataMode) -> Sample | None:
    """Return the text of a response and its source nodes, as contexts and as documents; None if there is no response.

    The contexts are None if the response cannot have sources. A stream is read to its end, and its text stays in it.

    Raises:
        InvalidInput: the object is not a response, or it is a stream that has been read in part.
    """
    if response is None:
        return None
    if not hasattr(response, "response") and not isinstance(response, StreamingResponse):
        raise InvalidInput(
            f"evaluate_response takes the response of a query engine, a chat engine or an agent, got {type(response).__name__}: "
            "for a text call evaluate(query=..., response=..., contexts=...)"
        )
    text, nodes = text_of(response), nodes_of(response)
    if nodes is None:
        return Sample(response=text)
    documents = [document_of(node) for node in nodes]
    return Sample(response=text, retrieved_contexts=contexts_of(nodes, mode), retrieved_documents=documents)


def text_of(response: Any, otherwise: str | None = None) -> str:
    """Return the answer in a response, or ``otherwise`` if it has none; a stream is read to its end.

    Raises:
        InvalidInput: there is no ``otherwise`` and the answer is not a text, or the response is a stream that has been read in
            part.
    """
    if isinstance(response, StreamingResponse):
        return _read_to_end(response)
    if isinstance(response, StreamingAgentChatResponse):
        _wait_for(response)
    answer = getattr(response, "response", otherwise)
    if isinstance(answer, ChatMessage):
        answer = answer.content or getattr(response, "structured_response", None)
    if answer is None or isinstance(answer, str):
        return answer or ""
    if isinstance(answer, BaseModel):
        return answer.model_dump_json()
    if isinstance(answer, dict):
        return json.dumps(answer, ensure_ascii=False, default=str)
    if otherwise is not None:
        return otherwise
    raise InvalidInput(
        f"the 'response' of {type(response).__name__} must be a text or a pydantic object, got {type(answer).__name__}"
    )


def _read_to_end(response: StreamingResponse) -> str:
    stream = response.response_gen
    is_fresh = not inspect.isgenerator(stream) or inspect.getgeneratorstate(stream) == inspect.GEN_CREATED
    if response.response_txt is None and not is_fresh:
        raise InvalidInput(
            "the stream of the response has been read already, so its text is not in it: give the text you have read to "
            "evaluate(query=..., response=..., contexts=...), or read streams with str(response)"
        )
    return response.get_response().response or ""


def _wait_for(response: StreamingAgentChatResponse) -> None:
    """Wait for the thread of a chat engine that writes the answer; the user can still read the stream."""
    # in older releases the thread that writes is unknown, so the stream must be read
    is_old = not hasattr(response, "write_response_to_history_thread")
    thread = getattr(response, "write_response_to_history_thread", None)
    if thread is not None:
        thread.join()
        if response.exception is not None:
            raise response.exception
    elif response.chat_stream is not None and not response.response and (is_old or not response.is_writing_to_memory):
        for _ in response.response_gen:
            pass


def nodes_of(response: Any) -> list[NodeWithScore] | None:
    """Return the source nodes; None if the response cannot have any."""
    found = getattr(response, "source_nodes", None)
    # a pydantic response returns None for any unknown attribute
    if found or isinstance(response, PydanticResponse):
        return list(found or [])
    # agents list the calls of their tools, chat engines list the outputs
    calls = [call for call in getattr(response, "tool_calls", None) or () if hasattr(call, "tool_output")]
    outputs = [call.tool_output for call in calls]
    outputs += getattr(response, "sources", None) or ()
    nodes = {node.node_id: node for output in outputs for node in _nodes_of_tool(output)}
    can_have_any = any(hasattr(response, name) for name in ("source_nodes", "tool_calls", "sources"))
    return (list(nodes.values()) or _texts_of_tools(calls)) if can_have_any else None


def _nodes_of_tool(output: Any) -> list[NodeWithScore]:
    """Return the nodes that a tool has retrieved; its output is the response of a query engine, or a list."""
    raw = getattr(output, "raw_output", None)
    items = raw if isinstance(raw, list | tuple) else getattr(raw, "source_nodes", None) or ()
    return [item for item in items if isinstance(item, NodeWithScore)]


def _texts_of_tools(calls: Sequence[Any]) -> list[NodeWithScore]:
    """Return the outputs of tools as nodes, if no tool searched. Errors are left out, and so is an output that is the answer
    itself.
    """
    outputs = [call.tool_output for call in calls if not call.return_direct and not call.tool_output.is_error]
    if any(_is_search(output.raw_output) for output in outputs):
        return []
    said = (output.content for output in outputs if output.raw_output is not None)
    texts = dict.fromkeys(text for text in said if text.strip())
    return [
        NodeWithScore(node=TextNode(text=text, id_=f"tool output {number}")) for number, text in enumerate(texts, 1)
    ]


def _is_search(raw: Any) -> bool:
    """Whether a tool returns the response of a query engine or the list of a retriever; the list may be empty."""
    return hasattr(raw, "source_nodes") or (isinstance(raw, list | tuple) and not raw)


def contexts_of(nodes: Sequence[NodeWithScore], mode: MetadataMode) -> list[str]:
    """Return the texts of the nodes, in order. Nodes without text, such as images, are left out, because no judge can read them."""
    # a node with metadata only has no text, although get_content would return the metadata
    texts = [node.get_content(metadata_mode=mode) if _text_alone(node).strip() else "" for node in nodes]
    readable = [text for text in texts if text.strip()]
    if len(readable) < len(texts):
        missing = len(texts) - len(readable)
        log.warning("%d of %d source nodes have no text, such as images: no judge reads them", missing, len(texts))
    return readable


def document_of(node: NodeWithScore) -> Document:
    """Return the node as a document of the core; ranking metrics compare documents by text, identifier or metadata."""
    # without metadata, which would make two documents with the same text different
    meta: dict[str, Any] = dict(node.metadata or {})
    return Document(content=_text_alone(node), id=node.node_id, score=getattr(node, "score", None), meta=meta)


def _text_alone(node: NodeWithScore) -> str:
    return node.get_content(metadata_mode=MetadataMode.NONE)
