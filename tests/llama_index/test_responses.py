"""Responses of query engines, chat engines and agents, and which of their nodes' words a judge reads."""

from __future__ import annotations

import logging
import threading
from typing import Any

import pytest
from llama_index.core import evaluation as theirs
from llama_index.core.agent.workflow import AgentOutput, ReActAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, ToolOutput

import ragmetrics_llama_index as ours
from llama_index.doubles import Completions
from ragmetrics_core import InvalidInput, MissingInput
from ragmetrics_core.metrics import ContextUtilization, ExactMatch, RefineFaithfulness
from ragmetrics_llama_index import MetricEvaluator

NODE = NodeWithScore(node=TextNode(text="Paris is.", id_="p", metadata={"author": "Ann"}), score=0.5)


KEEPS_ALL = hasattr(StreamingAgentChatResponse, "write_response_to_history_thread")
"""Whether this release of LlamaIndex keeps the text of a stream for its reader when it is judged first."""


class Duck:
    """An object with what LlamaIndex reads of a response, and nothing else."""

    def __init__(self, response: Any, *nodes: NodeWithScore) -> None:
        self.response = response
        self.source_nodes = list(nodes)


@pytest.mark.parametrize(
    "response", [AgentChatResponse("Paris.", source_nodes=[NODE]), Duck("Paris.", NODE)], ids=["chat", "duck"]
)
async def test_whatever_has_a_response_and_source_nodes_is_judged_as_by_llama_index(response: Any) -> None:
    for library in (theirs, ours):
        llm = Completions("YES")
        evaluator: Any = library.FaithfulnessEvaluator(llm=llm)
        for result in (
            evaluator.evaluate_response("q", response),
            await evaluator.aevaluate_response("q", response),
        ):
            assert (result.score, result.response, result.contexts) == (1.0, "Paris.", ["Paris is."])
        assert all("Paris is." in prompt for prompt in llm.prompts)


@pytest.fixture
def chat(index: Any) -> Any:
    llm = Completions("She was born in London", is_chat=True)
    return index.as_chat_engine(chat_mode="context", llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=999))


async def test_the_answers_of_chat_engines(chat: Any) -> None:
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    plain = evaluator.evaluate_response("Where?", chat.chat("Where?"))
    assert (plain.score, plain.response) == (1.0, "She was born in London")
    assert "Ada Lovelace was born in London in 1815." in plain.contexts
    again = await evaluator.aevaluate_response("Where?", await chat.achat("Where?"))
    assert (again.score, again.contexts) == (1.0, plain.contexts)


def test_the_stream_of_a_chat_engine_stays_there_for_the_user(chat: Any) -> None:
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    unread = chat.stream_chat("Where?")
    assert evaluator.evaluate_response("Where?", unread).response == "She was born in London"
    if KEEPS_ALL:
        assert "".join(unread.response_gen) == "She was born in London"
    read = chat.stream_chat("Where?")
    assert "".join(read.response_gen) == "She was born in London"
    assert evaluator.evaluate_response("Where?", read).response == "She was born in London"


async def test_the_asynchronous_stream_of_a_chat_engine(chat: Any) -> None:
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    response = await chat.astream_chat("Where?")
    result = await evaluator.aevaluate_response("Where?", response)
    assert (result.score, result.response) == (1.0, "She was born in London")
    if KEEPS_ALL:
        assert "".join([token async for token in response.async_response_gen()]) == "She was born in London"
    assert evaluator.evaluate_response("Where?", response).response == "She was born in London"
    if not KEEPS_ALL:
        return
    unfinished = await chat.astream_chat("Where?")
    with pytest.raises(InvalidInput, match=r"is still being written in the event loop of the caller: use await aeval"):
        evaluator.evaluate_response("Where?", unfinished)
    await unfinished.awrite_response_to_history_task


async def test_streams_that_are_not_stored() -> None:
    def chunks() -> Any:
        for token in ("Pa", "ris."):
            yield ChatResponse(message=ChatMessage(content=token), delta=token)

    async def later() -> Any:
        for chunk in chunks():
            yield chunk

    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    made: dict[str, Any] = {"source_nodes": [NODE], "is_writing_to_memory": False}
    one = StreamingAgentChatResponse(chat_stream=chunks(), **made)
    assert evaluator.evaluate_response("q", one).response == "Paris."
    two = StreamingAgentChatResponse(achat_stream=later(), **made)
    assert (await evaluator.aevaluate_response("q", two)).response == "Paris."


@pytest.mark.skipif(not KEEPS_ALL, reason="this release does not tell which thread writes")
def test_a_chat_engine_that_failed_raises_what_it_met() -> None:
    thread = threading.Thread(target=str)
    thread.start()
    response = StreamingAgentChatResponse(exception=RuntimeError("down"), write_response_to_history_thread=thread)
    with pytest.raises(RuntimeError, match="down"):
        MetricEvaluator(ExactMatch()).evaluate_response("q", response, reference="x")


def test_the_sources_of_an_agent_are_those_of_its_tools() -> None:
    other = NodeWithScore(node=TextNode(text="Rome is.", id_="r"))
    found = [Response("By Ann.", source_nodes=[NODE]), [NODE, other], "no nodes at all", Response("", source_nodes=[])]
    calls = [
        ToolCallResult(
            tool_name="ada",
            tool_kwargs={},
            tool_id=str(number),
            tool_output=ToolOutput(tool_name="ada", content="x", raw_input={}, raw_output=output),
            return_direct=False,
        )
        for number, output in enumerate(found)
    ]
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"), metadata_mode="none")
    said: Any = {"response": ChatMessage(content="In London."), "current_agent_name": "a"}
    output = AgentOutput(**said)
    output.tool_calls = calls  # as agents do it
    result = evaluator.evaluate_response("Where?", output)
    assert (result.score, result.response, result.contexts) == (1.0, "In London.", ["Paris is.", "Rome is."])
    # an agent that asked no tool has found nothing, which is data and no mistake in the code
    assert evaluator.evaluate_response("Where?", AgentOutput(**said)).invalid_result
    structured = AgentOutput(response=ChatMessage(), structured_response={"city": "Köln"}, current_agent_name="a")
    assert evaluator.evaluate_response("Where?", structured).response == '{"city": "Köln"}'


class Scripted(CustomLLM):
    """Says one thing after the other."""

    says: list[str]

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self.says.pop(0))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        text = self.says.pop(0)
        return iter([CompletionResponse(text=text, delta=text)])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex' own
async def test_the_text_of_a_tool_is_a_context_of_an_agent() -> None:
    def look_up(name: str) -> str:
        """Look something up."""
        return f"{name} is in France."

    says = [
        'Thought: I look.\nAction: look_up\nAction Input: {"name": "Paris"}',
        "Thought: I know.\nAnswer: In France.",
    ]
    agent = ReActAgent(tools=[FunctionTool.from_defaults(look_up)], llm=Scripted(says=says))
    response = await agent.run("Where is Paris?")
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    result = await evaluator.aevaluate_response("Where is Paris?", response)
    assert (result.response, result.contexts, result.score) == ("In France.", ["Paris is in France."], 1.0)


@pytest.mark.parametrize(
    ("calls", "contexts"),
    [
        ([("a", "a"), ("b", {"x": 1}), ("a", "a")], ["a", "b"]),
        ([("a", "a"), ("Empty Response", Response("Empty Response", source_nodes=[]))], []),
        ([("a", "a"), ("[]", [])], []),
        ([("a", "a"), ("x", [NODE])], ["Paris is."]),
        ([("", None), (" ", " "), ("None", None), ("None", "None")], ["None"]),
        ([("a", "a"), ("None", None)], ["a"]),
        ([("a", ValueError("no")), ("b", "direct")], []),
    ],
)
def test_texts_of_tools_where_none_has_searched(calls: list[tuple[str, Any]], contexts: list[str]) -> None:
    output = AgentOutput(response=ChatMessage(content="x"), current_agent_name="a")
    output.tool_calls = [
        ToolCallResult(
            tool_name="t",
            tool_kwargs={},
            tool_id=str(number),
            tool_output=ToolOutput(
                tool_name="t", content=text, raw_input={}, raw_output=raw, is_error=isinstance(raw, Exception)
            ),
            return_direct=raw == "direct",
        )
        for number, (text, raw) in enumerate(calls)
    ]
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"), metadata_mode="none")
    assert list(evaluator.evaluate_response("q", output).contexts or []) == contexts


def test_a_response_without_a_place_for_sources_has_no_contexts() -> None:
    class Bare:
        response = "Paris."

    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    with pytest.raises(MissingInput, match="needs 'contexts', which is missing"):
        evaluator.evaluate_response("q", Bare())
    with pytest.raises(InvalidInput, match="the 'response' of Duck must be a text or a pydantic object, got int"):
        evaluator.evaluate_response("q", Duck(7))


@pytest.mark.parametrize("tokens", [0, 1, 2])
def test_a_stream_whose_beginning_is_gone_is_not_judged_without_it(tokens: int) -> None:
    response = StreamingResponse(iter_tokens(), source_nodes=[NODE])
    for _ in range(tokens):
        next(response.response_gen)
    evaluator = MetricEvaluator(ExactMatch())
    if not tokens:
        assert evaluator.evaluate_response("q", response, reference="Paris.").score == 1.0
        assert str(response) == "Paris."
        return
    with pytest.raises(InvalidInput, match="the stream of the response has been read already, so its text is not in"):
        evaluator.evaluate_response("q", response, reference="Paris.")


def iter_tokens() -> Any:
    yield "Pa"
    yield "ris."


def test_a_stream_read_to_its_end_is_not_judged_as_empty() -> None:
    response = StreamingResponse(iter_tokens(), source_nodes=[NODE])
    assert list(response.response_gen) == ["Pa", "ris."]
    with pytest.raises(InvalidInput, match="has been read already"):
        MetricEvaluator(ExactMatch()).evaluate_response("q", response, reference="Paris.")


def test_by_default_the_judge_reads_the_metadata_that_the_generator_saw() -> None:
    response = Response("By Ann.", source_nodes=[NODE])
    whole = "author: Ann\n\nParis is."
    made: Any = RefineFaithfulness()
    for settings, contexts in [({}, [whole]), ({"metadata_mode": "none"}, ["Paris is."])]:
        llm = Completions("yes")
        result = MetricEvaluator(made, llm=llm, **settings).evaluate_response("q", response)
        assert result.contexts == contexts
        assert ("author: Ann" in llm.prompts[0]) == (not settings)


@pytest.mark.usefixtures("closed_loop")
@pytest.mark.parametrize("name", ["FaithfulnessEvaluator", "RelevancyEvaluator", "ContextRelevancyEvaluator"])
def test_the_drop_ins_read_metadata_only_on_request_as_in_llama_index(name: str) -> None:
    response = Response("By Ann.", source_nodes=[NODE])
    drop_in = getattr(ours, name)
    for llm, cls in ((Completions("YES [RESULT] 4"), getattr(theirs, name)), (Completions("YES [RESULT] 4"), drop_in)):
        cls(llm=llm).evaluate_response("q", response)
        assert "author: Ann" not in llm.prompts[0]
    llm = Completions("YES [RESULT] 4")
    result = drop_in(llm=llm, metadata_mode=MetadataMode.LLM).evaluate_response("q", response)
    assert result.contexts == ["author: Ann\n\nParis is."]
    assert "author: Ann" in llm.prompts[0]


def test_there_is_no_other_metadata_mode() -> None:
    with pytest.raises(InvalidInput) as caught:
        ours.FaithfulnessEvaluator(llm=Completions(), metadata_mode="every")
    assert str(caught.value) == (
        "FaithfulnessEvaluator: metadata_mode must be a MetadataMode or one of 'all', 'embed', 'llm', 'none', got 'every'"
    )


def test_an_image_is_no_context_without_words(caplog: pytest.LogCaptureFixture) -> None:
    image = NodeWithScore(node=ImageNode(image_url="http://x/y.png", metadata={"author": "Ann"}))
    response = Response("Paris.", source_nodes=[image, NODE])
    with caplog.at_level(logging.WARNING):
        result = MetricEvaluator(
            ContextUtilization(), llm=Completions('{"reason": "", "answer": "yes"}')
        ).evaluate_response("Where?", response)
    assert (result.score, result.contexts) == (1.0, ["author: Ann\n\nParis is."])
    assert caplog.messages == ["1 of 2 source nodes have no text, such as images: no judge reads them"]
