"""Traces of OpenInference give the samples that the live handler recovers, for every kind of engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetrieverQueryEngine,
    RouterQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from llama_index.doubles import Completions, HashingEmbedding
from ragmetrics_core import Sample, UnreadableTrace, samples_from_traces
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_llama_index import QueryEvaluation, QueryEvaluationHandler
from tracing import recorded

VERSION = tuple(map(int, version("openinference-instrumentation-llama-index").split(".")[:3]))
pytestmark = [
    pytest.mark.skipif(VERSION < (4, 6, 1), reason="older releases of OpenInference record less"),
    pytest.mark.usefixtures("nothing_stays_attached"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # OpenInference and LlamaIndex use deprecated names
]

QUESTION, SAID = "Where was Ada born?", "She was born in London"
TEXTS = {
    "ada": "Ada Lovelace was born in London in 1815.",
    "babbage": "Charles Babbage designed the Analytical Engine.",
    "mendel": "Gregor Mendel bred peas in Brno.",
}


def index(*, pages: bool = True) -> VectorStoreIndex:
    """With ``pages``, the model sees the text of a node after its metadata."""
    nodes = [TextNode(text=text, id_=name, metadata={"page": name} if pages else {}) for name, text in TEXTS.items()]
    return VectorStoreIndex(nodes, embed_model=HashingEmbedding())


def query_engine(says: Any = SAID, **settings: Any) -> Any:
    return index().as_query_engine(llm=Completions(says), **settings)


async def astream(engine: Any) -> None:
    await (await engine.aquery(QUESTION)).get_response()


class LastOnly(BaseNodePostprocessor):
    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        return nodes[-1:]


class Library(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        node = NodeWithScore(node=TextNode(text="context", id_="c"), score=0.5)
        return Response(f"answer to {query_str}", source_nodes=[node])


def router() -> Any:
    tools = [QueryEngineTool.from_defaults(query_engine(), name=name, description=name) for name in ("a", "b")]
    selector = LLMSingleSelector.from_defaults(llm=Completions('[{"choice": 1, "reason": "so"}]'))
    return RouterQueryEngine(selector, tools, llm=Completions(SAID))


def rewriting() -> Any:
    return TransformQueryEngine(query_engine(), HyDEQueryTransform(llm=Completions("Ada was born")))


def two_turns(mode: str, way: str = "chat") -> None:
    """The turns of a chat, the second one with or without a stream."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=999)
    engine = index().as_chat_engine(chat_mode=mode, llm=Completions(SAID, is_chat=True), memory=memory)  # type: ignore[arg-type]
    if way == "chat":
        engine.chat("first")
        engine.chat("second")
    elif way == "stream":
        engine.chat("first")
        assert "".join(engine.stream_chat("second").response_gen) == SAID
    else:
        asyncio.run(two_turns_async(engine))


async def two_turns_async(engine: Any) -> None:
    await engine.achat("first")
    response = await engine.astream_chat("second")
    assert "".join([token async for token in response.async_response_gen()]) == SAID


def look_up(name: str) -> str:
    """Look something up."""
    return f"{name} was born in London in 1815."


def tool(kind: str) -> Any:
    about = {"name": "look_up", "description": "Books."}
    if kind == "text":
        return FunctionTool.from_defaults(look_up)
    if kind == "retriever":
        return RetrieverTool.from_defaults(index(pages=False).as_retriever(), **about)
    return QueryEngineTool.from_defaults(query_engine(), **about)


def react(kind: str, answer: str = SAID) -> None:
    name = "name" if kind == "text" else "input"
    says = [
        f'Thought: I look.\nAction: look_up\nAction Input: {{"{name}": "Ada"}}',
        f"Thought: I know.\nAnswer: {answer}",
    ]

    async def run() -> None:
        await ReActAgent(tools=[tool(kind)], llm=Completions(says, is_chat=True)).run(QUESTION)

    asyncio.run(run())


async def talking_agent() -> None:
    """An agent whose memory has an earlier turn, and whose answer contains what looks like another message."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=9999)
    memory.set([ChatMessage("Who was Ada?"), ChatMessage("A mathematician.", role="assistant")])
    answer = "It's \"in\" London', ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(text='no question')]"
    agent = ReActAgent(tools=[tool("engine")], llm=Completions([f"Thought: I know.\nAnswer: {answer}"], is_chat=True))
    await agent.run(QUESTION, memory=memory)


class Calling(Completions, FunctionCallingLLM):
    """Calls its tool once, and then answers."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def _prepare_chat_with_tools(self, tools: Any, **_: Any) -> dict[str, Any]:
        return {}

    async def astream_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any
    ) -> Any:
        is_found = any(message.role.value == "tool" for message in chat_history)
        message = ChatMessage(LONG if is_found else "", role="assistant")

        async def stream() -> Any:
            yield ChatResponse(message=message, delta=message.content, raw={"calls": not is_found})

        return stream()

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> list[ToolSelection]:  # type: ignore[override]
        call = ToolSelection(tool_id="1", tool_name="look_up", tool_kwargs={"input": "Ada"})
        return [call] if response.raw["calls"] else []


async def calling(*, in_workflow: bool) -> None:
    agent = FunctionAgent(tools=[tool("engine")], llm=Calling())
    await (AgentWorkflow(agents=[agent]) if in_workflow else agent).run(QUESTION)


LONG = "She was born in London, 'the capital'.\n" * 20


@dataclass(frozen=True)
class Row:
    """``call`` is a call of an application; ``untraced``: why its rows are not those of the handler."""

    name: str
    call: Callable[[], Any]
    untraced: str = ""


ROWS = [
    Row("query", lambda: query_engine().query(QUESTION)),
    Row("aquery", lambda: asyncio.run(query_engine().aquery(QUESTION))),
    Row("one node", lambda: query_engine(similarity_top_k=1).query(QUESTION)),
    Row("refine", lambda: query_engine(response_mode="refine").query(QUESTION)),
    Row("tree_summarize", lambda: query_engine(response_mode="tree_summarize").query(QUESTION)),
    Row("simple_summarize", lambda: query_engine(response_mode="simple_summarize").query(QUESTION)),
    Row("accumulate", lambda: query_engine(response_mode="accumulate").query(QUESTION)),
    Row("stream", lambda: str(query_engine(streaming=True).query(QUESTION))),
    Row("asynchronous stream", lambda: asyncio.run(astream(query_engine(streaming=True, use_async=True)))),
    Row("a reranker", lambda: query_engine(node_postprocessors=[LastOnly()]).query(QUESTION)),
    Row(
        "nothing is left",
        lambda: query_engine(node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=2.0)]).query(QUESTION),
    ),
    Row(
        "a retriever", lambda: RetrieverQueryEngine.from_args(index().as_retriever(), Completions(SAID)).query(QUESTION)
    ),
    Row("a router", lambda: router().query(QUESTION)),
    Row("another question for the retrieval", lambda: rewriting().query(QUESTION)),
    Row("an answer that looks like JSON", lambda: query_engine('{"city": "London"}').query(QUESTION)),
    Row("own engine", lambda: Library().query(QUESTION), "it calls no retriever, so its texts are in no span"),
    *(
        Row(f"{mode}, {way}", lambda mode=mode, way=way: two_turns(mode, way))  # type: ignore[misc]
        for mode in ("context", "condense_plus_context", "simple", "condense_question")
        for way in ("chat", "stream", "async")
    ),
    Row("agent, query engine", lambda: react("engine")),
    Row("agent, retriever", lambda: react("retriever")),
    Row("agent, text", lambda: react("text")),
    Row("agent, long answer", lambda: react("engine", LONG)),
    Row("agent with a memory", lambda: asyncio.run(talking_agent())),
    Row("agent that calls functions", lambda: asyncio.run(calling(in_workflow=False))),
    Row("workflow of agents", lambda: asyncio.run(calling(in_workflow=True))),
]


def read_live(found: QueryEvaluation) -> tuple[Any, ...]:
    return found.query, found.response, list(found.contexts), found.history


def read_traced(sample: Sample) -> tuple[Any, ...]:
    return sample.user_input, sample.response, list(sample.retrieved_contexts or ()), sample.history


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_rows_of_traces_are_those_of_the_handler(row: Row) -> None:
    unread: list[UnreadableTrace] = []
    with recorded(LlamaIndexInstrumentor()) as exporter, QueryEvaluationHandler([ExactMatch()], workers=1) as handler:
        row.call()
        assert handler.flush(60)
    live = [read_live(found) for found in handler.results]
    traced = [
        read_traced(sample)
        for sample in samples_from_traces(exporter.get_finished_spans(), on_unreadable=unread.append)
    ]
    assert live
    assert (live != traced) == bool(row.untraced), f"{live}\n{traced}\n{unread}"
