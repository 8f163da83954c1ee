"""How ``ragmetrics run`` asks query engines, chat engines, retrievers and agents, and reads their responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.schema import MetadataMode, NodeWithScore

from ragmetrics_core import Sample
from ragmetrics_core.adapters import Turn

from ._responses import answer_of, contexts_of, document_of


def function_of(app: Any) -> Callable[[str], Any] | None:
    """Return a function that asks an engine, a retriever or an agent; None for another object."""
    if isinstance(app, BaseQueryEngine):
        return app.query
    if isinstance(app, BaseRetriever):
        return lambda question: _found(app.retrieve(question))
    if isinstance(app, BaseChatEngine):
        return lambda question: _chat(app, question)
    return _run(app) if isinstance(app, AgentWorkflow | BaseWorkflowAgent) else None


def fields_of(answer: Any) -> Sample | None:
    """Return the fields of a response, or of a mapping with source nodes; None for another object."""
    if not isinstance(answer, Mapping):
        is_response = hasattr(answer, "response") or isinstance(answer, StreamingResponse)
        return answer_of(answer, MetadataMode.LLM) if is_response else None
    nodes = {name: item for name, item in answer.items() if isinstance(item, list) and _are_nodes(item)}
    found = _found([node for item in nodes.values() for node in item])
    return Sample.from_mapping({name: item for name, item in answer.items() if name not in nodes}).updated(
        found.to_dict()
    )


def _are_nodes(items: list[Any]) -> bool:
    return any(isinstance(item, NodeWithScore) for item in items)


def _found(nodes: Sequence[NodeWithScore]) -> Sample:
    documents = [document_of(node) for node in nodes]
    return Sample(retrieved_documents=documents, retrieved_contexts=contexts_of(nodes, MetadataMode.LLM))


def _chat(engine: BaseChatEngine, question: str) -> Any:
    """Ask a chat engine. It has only one memory, so it is reset before each question and asked one at a time."""
    with Turn.with_model(engine):
        engine.reset()
        return engine.chat(question)


def _run(agent: Any) -> Callable[[str], Any]:
    async def ask(question: str) -> Any:
        return await agent.run(user_msg=question)  # it needs a running loop

    return ask
