"""What a judge of LangChain is asked, under which name, how its answers end, and what a cache makes of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from lc_models import chat
from lc_parts import Scripted, Tracer

from loopback import OpenAIServer, Response
from ragmetrics_core import Ask, BadReply, InvalidInput, ModelError, evaluate
from ragmetrics_core.metrics import AnswerRelevancy, Guideline
from ragmetrics_langchain import LangChainLLM, MetricRunnable

SAID = '{"feedback": "so", "passing": true}'
ROW = {"user_input": "q", "response": "a"}
PROMPT = Guideline("Be nice").critique


def asked() -> Ask:
    return Ask(PROMPT.messages({"guidelines": "g", "query": "q", "response": "r"}), PROMPT.reply, PROMPT, {})


def forms(server: OpenAIServer) -> list[str | None]:
    """The form of reply that each request asked for."""
    return [(body.get("response_format") or {}).get("type") for body in server.chats]


# The runs of a judge


def test_runs_have_a_name_and_tags() -> None:
    tracer = Tracer()
    llm = LangChainLLM(Scripted(says=SAID), config={"callbacks": [tracer], "tags": ["mine"]})
    llm.generate(asked())
    asyncio.run(llm.agenerate(asked()))
    assert [(run.name, sorted(run.tags or ())) for run in tracer.roots] == [
        ("critique_by_guidelines", ["mine", "nostream", "ragmetrics"])
    ] * 2
    named = Tracer()
    LangChainLLM(Scripted(says=SAID), config={"callbacks": [named], "run_name": "judge"}).generate(asked())
    assert [run.name for run in named.roots] == ["judge"]


def test_the_user_of_a_graph_never_reads_the_judge_s_tokens() -> None:
    judge = Scripted(says=SAID)
    metric = MetricRunnable(Guideline("Be nice"), llm=judge)
    of_core = Guideline("Be nice", llm=LangChainLLM(judge))

    def check(state: MessagesState) -> Any:
        assert metric.invoke(ROW).value == of_core.score(ROW).value == 1.0
        return {"messages": [Scripted(says="the answer").invoke("x")]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("check", check)
    graph.add_edge(START, "check")
    app = graph.compile()
    read = "".join(str(chunk.text) for chunk, _ in app.stream({"messages": [("user", "q")]}, stream_mode="messages"))
    assert read == "the answer"


# The form of the reply


def test_the_schema_is_asked_for(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    llm = LangChainLLM(chat(server))
    assert llm.generate(asked()).value == SAID
    assert asyncio.run(llm.agenerate(asked())).value == SAID
    first, second = [body["response_format"] for body in server.chats]
    assert first == second
    assert (first["type"], first["json_schema"]["strict"]) == ("json_schema", True)
    schema = first["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == ["feedback", "passing"]
    assert first["json_schema"]["name"] == "critique_by_guidelines"


ALL_FORMS = ["json_schema", "json_object", None, None]


@pytest.mark.filterwarnings("ignore:This model does not support OpenAI's structured output")
@pytest.mark.parametrize(
    ("refuses", "seen"),
    [({"json_schema"}, ["json_schema", "json_object", "json_object"]), ({"json_schema", "json_object"}, ALL_FORMS)],
)
def test_a_refused_form_is_remembered(server: OpenAIServer, refuses: set[str], seen: list[str | None]) -> None:
    server.refuses = refuses
    server.responder = lambda body: SAID
    llm = LangChainLLM(chat(server))
    for metric in (MetricRunnable(Guideline("Be nice"), llm=llm), MetricRunnable(Guideline("Be kind"), llm=llm)):
        assert metric.invoke(ROW).value == 1.0
    assert forms(server) == seen


def test_the_form_can_be_set(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    for structured in ("json", "text"):
        LangChainLLM(chat(server), structured=structured).generate(asked())  # type: ignore[arg-type]
    assert forms(server) == ["json_object", None]
    with pytest.raises(InvalidInput, match="structured must be one of schema, json, text, got 'yes'"):
        LangChainLLM(chat(server), structured="yes")  # type: ignore[arg-type]


def test_wrapped_models_keep_their_settings(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    model = chat(server).bind(seed=7).with_config(tags=["x"]).with_retry()
    LangChainLLM(model).generate(asked())
    LangChainLLM(chat(server, model="first").with_fallbacks([chat(server)])).generate(asked())
    assert forms(server) == ["json_schema", "json_schema"]
    assert [(body["model"], body.get("seed")) for body in server.chats] == [
        ("judge", 7),
        ("first", None),
    ]


def test_models_without_a_form_are_asked_in_text(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    fake = FakeListChatModel(responses=[SAID])
    assert LangChainLLM(fake).generate(asked()).value == SAID
    assert LangChainLLM(chat(server).with_fallbacks([fake])).generate(asked()).value == SAID
    assert LangChainLLM(RunnableLambda(lambda messages: AIMessage(SAID))).generate(asked()).value == SAID
    assert forms(server) == [None]


def test_providers_that_have_a_tool_filled_in() -> None:
    """As where a schema is asked for by a tool; what is said beside it is no reply."""

    class ByTools(Scripted):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.bind(tools=tools, **kwargs)

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(kwargs)
            return Scripted._generate(self, messages)

    seen: list[dict[str, Any]] = []
    call = ToolCall(name="critique_by_guidelines", args={"feedback": "ä", "passing": True}, id="1")
    message = AIMessage("I fill it in.", tool_calls=[call])
    assert LangChainLLM(ByTools(says=message)).generate(asked()).value == '{"feedback": "ä", "passing": true}'
    assert seen[0]["tools"][0]["title"] == "critique_by_guidelines"
    broken = AIMessage(
        "", invalid_tool_calls=[{"name": "x", "args": '{"feedback": "so", "pass', "id": "1", "error": "e"}]
    )
    assert LangChainLLM(ByTools(says=broken)).generate(asked()).value == '{"feedback": "so", "pass'


@pytest.mark.parametrize(
    ("reason", "problem"),
    [
        ("length", "cut at the token limit"),
        ("content_filter", "a content filter stopped the answer of ChatOpenAI 'judge'"),
    ],
)
def test_structured_answers_that_do_not_end(server: OpenAIServer, reason: str, problem: str) -> None:
    """The openai package raises for them what is no failure of the server."""
    server.responder = lambda body: Response(
        '{"feedback": "s', finish_reason=reason, usage={"prompt_tokens": 5, "completion_tokens": 2}
    )
    with pytest.raises(BadReply, match=problem) as caught:
        MetricRunnable(Guideline("Be nice"), llm=chat(server)).invoke(ROW)
    if reason == "length":
        assert caught.value.raw == ('{"feedback": "s',) * 2
        assert caught.value.usage.prompt_tokens == 10
    else:
        assert len(server.chats) == 1


# Answers that are none


INCOMPLETE = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}


@pytest.mark.parametrize(
    ("content", "metadata", "problem"),
    [
        ("I'd rather not.", {"stop_reason": "refusal"}, "Scripted refuses to answer: I'd rather not."),
        ("", {"stop_reason": "refusal"}, "Scripted refuses to answer: it gives no reason"),
        ([{"type": "refusal", "refusal": "I cannot."}], {}, "Scripted refuses to answer: I cannot."),
        ("x", {"stopReason": "content_filtered"}, "a content filter stopped the answer of Scripted"),
        ("x", INCOMPLETE, "a content filter stopped the answer of Scripted"),
        (
            "x",
            {"stop_reason": "model_context_window_exceeded"},
            "Scripted has no room left for its answer: the question fills its context window",
        ),
    ],
)
def test_an_answer_that_is_none_is_not_asked_for_again(content: Any, metadata: Any, problem: str) -> None:
    message = AIMessage(content, response_metadata=metadata)
    calls = []

    def says(messages: Any) -> AIMessage:
        calls.append(messages)
        return message

    message.usage_metadata = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    with pytest.raises(BadReply) as caught:
        MetricRunnable(Guideline("Be nice"), llm=Scripted(says=says)).invoke(ROW)
    assert (str(caught.value), caught.value.usage.prompt_tokens, len(calls)) == (problem, 3, 1)


def test_an_answer_of_the_responses_api_that_is_cut() -> None:
    details = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = LangChainLLM(Scripted(says=AIMessage("x", response_metadata=details))).generate(asked())
    assert (reply.value, reply.truncated) == ("x", True)
    for text in ('{"score": 1', ""):
        message = AIMessage(text, response_metadata=details)
        score = MetricRunnable(Guideline("Be nice"), llm=Scripted(says=message), on_error="record").invoke(ROW)
        assert score.error == (
            "BadReply: the model's reply to the prompt 'critique_by_guidelines' is incomplete, twice: the reply was cut at the "
            "token limit"
        )


# Caches


def test_a_cache_makes_no_repeats(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    cached = chat(server, cache=InMemoryCache()).bind(seed=1).with_fallbacks([chat(server)])
    result = evaluate(
        [ROW], [Guideline("Be nice")], llm=LangChainLLM(cached), repeats=3, max_concurrency=1, progress=False
    )
    (score,) = result.scores["guideline"]
    assert len(server.chats) == 3
    assert (score.usage.calls, score.usage.cached_calls) == (3, 0)


def test_what_comes_from_a_cache_costs_nothing(server: OpenAIServer) -> None:
    server.responder = lambda body: SAID
    llm = LangChainLLM(chat(server, cache=InMemoryCache()))
    paid, free = [MetricRunnable(Guideline("Be nice"), llm=llm).invoke(ROW).usage for _ in range(2)]
    assert (paid.calls, paid.cached_calls, paid.prompt_tokens > 0) == (1, 0, True)
    assert free.to_dict() == {"calls": 1, "prompt_tokens": 0, "completion_tokens": 0, "cached_calls": 1}
    assert len(server.chats) == 1


# Judges that are none


def test_a_chat_model_where_the_core_wants_an_llm() -> None:
    with pytest.raises(ModelError) as caught:
        evaluate([ROW], [Guideline("Be nice")], llm=Scripted(), progress=False)  # type: ignore[arg-type]
    assert str(caught.value).startswith(
        "guideline asks an LLM, but Scripted is a model of LangChain, which has other methods: wrap the model, and give "
        "llm=LangChainLLM(...) from ragmetrics_langchain"
    )
    vectors: Any = DeterministicFakeEmbedding(size=4)
    with pytest.raises(
        InvalidInput, match=r"a model of a framework needs its wrapper: LangChainEmbeddings\(...\) of its adapter"
    ):
        evaluate([ROW], [AnswerRelevancy()], llm=LangChainLLM(Scripted()), embeddings=vectors, progress=False)
