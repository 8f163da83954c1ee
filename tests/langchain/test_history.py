"""Earlier turns, and the rewritten question, of every kind of chain that keeps a conversation."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import create_retriever_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from lc_parts import ANSWER, Scripted, Shelf, calls

from ragmetrics_core import Sample
from ragmetrics_langchain import RagEvaluationCallback

FOLLOW_UP, CONDENSED = "Where was she born?", "Where was Ada Lovelace born?"
MESSAGES = [HumanMessage("Who was Ada?"), AIMessage("A mathematician.")]
TURNS = [{"role": "user", "content": "Who was Ada?"}, {"role": "assistant", "content": "A mathematician."}]
CHAT = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])


def history_aware() -> Runnable[Any, Any]:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{context} {input}")])
    retriever = create_history_aware_retriever(Scripted(says=CONDENSED), Shelf(), CHAT)
    return create_retrieval_chain(retriever, create_stuff_documents_chain(Scripted(), prompt))


def config(callback: Any) -> Any:
    return {"callbacks": [callback], "configurable": {"thread_id": "1", "session_id": "1"}}


def judged(run: Any, question: Any = "last") -> list[Sample]:
    """The samples of a run, which is a function of the config."""
    with RagEvaluationCallback([], question=question) as callback:
        run(config(callback))
    return [record.sample for record in callback.results]


def asked(sample: Sample) -> tuple[Any, Any]:
    return sample.user_input, sample.history


@pytest.mark.parametrize(("question", "found"), [("last", FOLLOW_UP), ("condensed", CONDENSED)])
def test_the_history_in_the_inputs_and_the_query_of_the_retriever(question: str, found: str) -> None:
    inputs = {"input": FOLLOW_UP, "chat_history": MESSAGES}
    for run in (
        lambda given: history_aware().invoke(inputs, given),
        lambda given: list(history_aware().stream(inputs, given)),
    ):
        (sample,) = judged(run, question)
        assert (*asked(sample), sample.response) == (found, TURNS, ANSWER)


def test_a_first_turn_has_no_history_and_its_question_is_the_query() -> None:
    inputs = {"input": "Who was Ada?", "chat_history": []}
    for question in ("last", "condensed"):
        (sample,) = judged(lambda given: history_aware().invoke(inputs, given), question)
        assert asked(sample) == ("Who was Ada?", None)
        assert "history" not in sample.to_dict()


def test_a_function_gets_the_question_and_the_history_stays() -> None:
    inputs = {"input": FOLLOW_UP, "chat_history": MESSAGES}
    (sample,) = judged(lambda given: history_aware().invoke(inputs, given), lambda run: f"<{run.queries[0]}>")
    assert asked(sample) == (f"<{CONDENSED}>", TURNS)


def remembering() -> Runnable[Any, Any]:
    memory = InMemoryChatMessageHistory(messages=list(MESSAGES))
    return RunnableWithMessageHistory(
        CHAT | Scripted(), lambda session_id: memory, input_messages_key="input", history_messages_key="chat_history"
    )


async def streamed(chain: Runnable[Any, Any], inputs: Any, given: Any) -> None:
    async for _ in chain.astream(inputs, given):
        pass


@pytest.mark.filterwarnings("ignore:.*MessageHistory`? (is|was) deprecated")
@pytest.mark.parametrize(
    "run",
    [
        lambda given: remembering().invoke({"input": FOLLOW_UP}, given),
        lambda given: list(remembering().stream({"input": FOLLOW_UP}, given)),
        lambda given: asyncio.run(streamed(remembering(), {"input": FOLLOW_UP}, given)),
    ],
    ids=["invoke", "stream", "astream"],
)
def test_the_history_that_a_chain_loads(run: Any) -> None:
    assert list(map(asked, judged(run))) == [(FOLLOW_UP, TURNS)]


def agent() -> Any:
    search = create_retriever_tool(Shelf(), "search", "Searches the library.")
    says = [calls("search", query="Ada"), "A mathematician.", calls("search", query=CONDENSED), ANSWER]
    return create_agent(Scripted(says=says), [search], checkpointer=InMemorySaver(), system_prompt="Be brief.")


@pytest.mark.parametrize(
    ("question", "found"), [("last", ["Who was Ada?", FOLLOW_UP]), ("condensed", ["Ada", CONDENSED])]
)
def test_an_agent_with_a_memory(question: str, found: list[str]) -> None:
    """What tools were asked and replied is no turn, and neither is the system prompt."""
    chat = agent()

    def run(given: Any) -> None:
        chat.invoke({"messages": [("user", "Who was Ada?")]}, given)
        chat.invoke({"messages": [("user", FOLLOW_UP)]}, given)

    assert list(map(asked, judged(run, question))) == list(zip(found, [None, TURNS], strict=True))


class State(TypedDict, total=False):
    question: str
    chat_history: list[Any]
    rewritten_question: str
    answer: str


def graph() -> Any:
    """A graph that rewrites the question, searches without a retriever, and writes its own history at every step."""

    def rewrite(state: State) -> dict[str, Any]:
        rewritten = f"{state['question']} (Ada)"
        earlier = [*state.get("chat_history", []), ("user", rewritten)]
        return {"rewritten_question": rewritten, "chat_history": earlier}

    made = StateGraph(State)
    made.add_node("rewrite", rewrite)
    made.add_node("write", lambda state: {"answer": ANSWER, "chat_history": [*state["chat_history"], ("ai", ANSWER)]})
    for start, end in [(START, "rewrite"), ("rewrite", "write"), ("write", END)]:
        made.add_edge(start, end)
    return made.compile(checkpointer=InMemorySaver())


def test_the_state_of_a_graph() -> None:
    """The history of a turn is the one before its first step; at its end it has the turn itself."""
    compiled = graph()

    def run(given: Any) -> None:
        compiled.invoke({"question": "Who?"}, given)
        compiled.invoke({"question": FOLLOW_UP}, given)

    turns = [{"role": "user", "content": "Who? (Ada)"}, {"role": "assistant", "content": ANSWER}]
    assert list(map(asked, judged(run))) == [("Who?", None), (FOLLOW_UP, turns)]
    compiled = graph()
    assert [sample.user_input for sample in judged(run, "condensed")] == ["Who? (Ada)", f"{FOLLOW_UP} (Ada)"]


def test_a_step_that_rewrites_the_question() -> None:
    rewrite = RunnablePassthrough.assign(standalone_question=lambda given: CONDENSED)
    chain = rewrite | RunnableLambda(lambda given: given["standalone_question"].upper())
    run = lambda given: chain.invoke({"input": FOLLOW_UP, "history": MESSAGES}, given)  # noqa: E731
    assert list(map(asked, judged(run, "condensed"))) == [(CONDENSED, TURNS)]
    assert list(map(asked, judged(run))) == [(FOLLOW_UP, TURNS)]


def test_where_nothing_rewrites_the_question_the_last_message_counts() -> None:
    run = lambda given: Scripted().invoke([SystemMessage("Be brief."), *MESSAGES, HumanMessage(FOLLOW_UP)], given)  # noqa: E731
    for question in ("last", "condensed"):
        assert list(map(asked, judged(run, question))) == [(FOLLOW_UP, TURNS)]


def test_messages_in_a_mapping_and_a_list_that_is_no_history() -> None:
    chain = RunnableLambda(lambda given: ANSWER)
    messages = [*MESSAGES, ("user", FOLLOW_UP)]
    for inputs, history in (
        ({"messages": messages}, TURNS),
        ({"input": messages}, TURNS),
        ({"question": FOLLOW_UP, "history": [("human", "Who was Ada?"), ("ai", "A mathematician.")]}, TURNS),
        ({"question": FOLLOW_UP, "history": "Human: Who was Ada?"}, None),
        ({"question": FOLLOW_UP, "history": [1815, 1852]}, None),
    ):
        assert list(map(asked, judged(lambda given, inputs=inputs: chain.invoke(inputs, given)))) == [
            (FOLLOW_UP, history)
        ]


def test_a_list_that_the_program_extends_afterwards_does_not_change_the_record() -> None:
    messages: list[Any] = list(MESSAGES)
    with RagEvaluationCallback([], question=lambda run: "q") as callback:
        chain = RunnableLambda(lambda given: messages.append(HumanMessage("late")) or ANSWER)
        (RunnablePassthrough.assign(chat_history=lambda given: messages) | chain).invoke(
            {"input": "q"}, config(callback)
        )
        messages.clear()
    assert callback.results[0].sample.history == TURNS
