"""What ``samples_from_traces`` makes of a trace: its turns, their contexts, and why one cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.traces.making import ANSWER, QUESTION, TEXTS, Json, found, otlp, phoenix, rag, span
from ragmetrics_core import Document, Sample, UnreadableTrace, samples_from_traces

JSON = "application/json"


def read(*spans: Json) -> tuple[list[Sample], list[UnreadableTrace]]:
    unread: list[UnreadableTrace] = []
    return list(samples_from_traces([otlp(*spans)], on_unreadable=unread.append)), unread


def one(*spans: Json) -> Sample:
    samples, unread = read(*spans)
    assert unread == []
    (sample,) = samples
    return sample


def why_not(*spans: Json) -> str:
    samples, unread = read(*spans)
    assert samples == []
    (found,) = unread
    assert found.trace_id == spans[0]["trace"]
    return found.reason


def chain(**more: Any) -> Json:
    values = {"input__value": QUESTION, "output__value": ANSWER, **more}
    return span("chain", "CHAIN", **{name: value for name, value in values.items() if value is not None})


def as_json(value: Any, side: str = "output") -> Json:
    return {f"{side}__value": json.dumps(value), f"{side}__mime_type": JSON}


def test_no_search_has_no_contexts_and_an_empty_search_has_none() -> None:
    assert one(chain()).retrieved_contexts is None
    assert "contexts" not in one(chain()).metadata
    root = chain()
    sample = one(root, span("search", "RETRIEVER", root, **as_json({"documents": []})))
    assert (sample.retrieved_contexts, sample.metadata["contexts"]) == ([], "retrieved")


@pytest.mark.parametrize("more", [{}, {"output__value": "__REDACTED__"}, as_json(["<Node>"])])
def test_a_search_whose_documents_are_hidden_is_no_empty_list(more: Json) -> None:
    root = chain()
    reason = why_not(root, span("search", "RETRIEVER", root, **more))
    assert reason == "the documents of its search are not in the trace"


def test_nested_searches_count_once() -> None:
    """The outer one counts; if its span has no documents, those of the inner one do."""
    root = chain()
    outer = span("outer", "RETRIEVER", root, **found(TEXTS[:1]))
    assert one(root, outer, span("inner", "RETRIEVER", outer, **found())).retrieved_contexts == TEXTS[:1]
    outer = span("outer", "RETRIEVER", root)
    assert one(root, outer, span("inner", "RETRIEVER", outer, **found())).retrieved_contexts == TEXTS


def test_several_searches_in_their_order_and_each_document_once() -> None:
    root = chain()
    first, second = (
        span("search", "RETRIEVER", root, at=at, **found(texts)) for at, texts in ((1, TEXTS[:1]), (2, TEXTS))
    )
    assert one(second, first, root).retrieved_contexts == TEXTS


def test_a_failed_attempt_does_not_count() -> None:
    root = chain()
    attempt = span("attempt", "CHAIN", root, error="ValueError")
    spans = [
        root,
        attempt,
        span("search", "RETRIEVER", attempt, **found(["wrong"])),
        span("x", "RETRIEVER", root, **found()),
    ]
    sample = one(*spans)
    assert sample.retrieved_contexts == TEXTS
    assert sample.metadata["error"] == "ValueError"
    broken = span("search", "RETRIEVER", root, error="no connection")
    assert one(root, broken, span("search", "RETRIEVER", root, **found())).retrieved_contexts == TEXTS


def test_what_the_chain_returned_was_seen() -> None:
    documents = [{"page_content": "b", "id": "2", "metadata": {"page": 2}}, {"page_content": "a"}]
    root = chain(**as_json({"answer": ANSWER, "context": documents}))
    sample = one(root, span("search", "RETRIEVER", root, **found()))
    assert (sample.response, sample.retrieved_contexts, sample.metadata["contexts"]) == (ANSWER, ["b", "a"], "seen")
    assert sample.retrieved_documents == [Document("b", "2", meta={"page": 2}), Document("a")]


CONVERSATION = [
    {"role": "user", "content": "Who was Ada?"},
    {"type": "ai", "data": {"content": "A mathematician."}},
    ["human", QUESTION],
    {"role": "assistant", "content": "", "tool_calls": [{"name": "search"}]},
    {"type": "tool", "data": {"content": "found", "artifact": [{"page_content": "a", "id": "1"}]}},
    {"lc": 1, "kwargs": {"type": "ai", "content": [{"type": "text", "text": ANSWER}]}},
]
HISTORY = [{"role": "user", "content": "Who was Ada?"}, {"role": "assistant", "content": "A mathematician."}]


def test_messages_of_a_graph() -> None:
    root = chain(**as_json({"messages": CONVERSATION[2:3]}, "input"), **as_json({"messages": CONVERSATION}))
    sample = one(root)
    assert (sample.user_input, sample.response, sample.history) == (QUESTION, ANSWER, HISTORY)
    assert sample.retrieved_documents == [Document("a", "1")]
    del CONVERSATION[4]["data"]["artifact"]
    root = chain(**as_json({"messages": CONVERSATION}))
    assert one(root).retrieved_contexts == ["found"]


def test_an_answer_that_the_state_of_a_graph_has_from_an_earlier_call_is_none() -> None:
    state = {"question": QUESTION, "answer": ANSWER}
    root = chain(**as_json({"question": QUESTION}, "input"), **as_json(state))
    in_graph = {"metadata": json.dumps({"langgraph_node": "answer"})}
    step = span("answer", "CHAIN", root, **as_json({"answer": ANSWER}), **in_graph)
    assert one(root, step).response == ANSWER
    assert why_not(root, span("ask", "CHAIN", root, **as_json({"question": QUESTION}), **in_graph)) == "no answer"


def test_an_answer_that_a_step_handed_over_to_the_graph_above() -> None:
    """LangGraph raises the command, which is no failure; an answer in the middle of another text is none."""
    state = {"question": QUESTION, "answer": ANSWER}
    root = chain(**as_json({"question": QUESTION}, "input"), **as_json(state))

    def handed(update: Json) -> Json:
        command = f"ParentCommand: Command(graph='__parent__', update={update}, goto='__end__')"
        return span("x", "CHAIN", root, error=command, metadata=json.dumps({"langgraph_node": "x"}))

    step = handed({"answer": ANSWER})
    sample = one(root, step, span("search", "RETRIEVER", step, **found()))
    assert (sample.response, sample.retrieved_contexts, "error" in sample.metadata) == (ANSWER, TEXTS, False)
    assert why_not(root, handed({"note": f"not '{ANSWER}'"})) == "no answer"


@pytest.mark.parametrize(
    ("text", "history"),
    [
        ("system: Be brief.\nuser: Who was Ada?\nassistant: A mathematician.", HISTORY),
        (
            "user: Who:\n\nAda?\nassistant: user: Ada\n",
            [{"role": "user", "content": "Who:\n\nAda?"}, {"role": "assistant", "content": "user: Ada\n"}],
        ),
        ("user: Who was Ada?\nassistant: She said:\nassistant: no.", None),
        ("user: Who was Ada?\ntool: found\nassistant: A mathematician.", None),
        ("no label", None),
        ("", None),
    ],
)
def test_a_history_that_is_one_text_in_a_prompt(text: str, history: Any) -> None:
    """It is read if user and assistant take turns, for a message may contain what looks like another one."""
    root = chain()
    variables = json.dumps({"chat_history": text, "question": QUESTION})
    assert one(root, span("x.predict", "LLM", root, llm__prompt_template__variables=variables)).history == history


def test_the_history_that_a_step_got() -> None:
    root = chain()
    step = span("step", "CHAIN", root, **as_json({"chat_history": [*HISTORY, ["human", QUESTION]]}, "input"))
    assert one(root, step).history == HISTORY


def test_a_root_that_is_missing() -> None:
    """Steps of a chain are one turn, and so are nodes of a graph; chains of a request are one turn each."""
    steps = [
        span("find", "CHAIN", parent="gone", trace="t", input__value=QUESTION, output__value="x"),
        span("search", "RETRIEVER", parent="gone", trace="t", at=1, **found()),
        span("model", "LLM", parent="gone", trace="t", at=2, **as_json({"text": "not yet"})),
        span("parser", "CHAIN", parent="gone", trace="t", at=3, input__value="y", output__value=ANSWER),
    ]
    sample = one(*steps)
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == (QUESTION, ANSWER, TEXTS)
    assert (sample.id, sample.metadata["span_id"], sample.metadata["latency"]) == ("t", steps[0]["id"], 4.0)
    in_graph = {"metadata": json.dumps({"langgraph_node": "x"})}
    nodes = [
        span("ask", "CHAIN", parent="gone", trace="t", input__value=QUESTION, output__value="x", **in_graph),
        span("answer", "CHAIN", parent="gone", trace="t", at=3, input__value="y", output__value=ANSWER, **in_graph),
    ]
    assert one(*nodes).response == ANSWER
    calls = [span("a", "CHAIN", parent="gone", trace="t", input__value=name, output__value=name) for name in "ab"]
    samples, unread = read(*calls)
    assert (unread, [sample.user_input for sample in samples]) == ([], ["a", "b"])
    assert [sample.id for sample in samples] == [f"t-{call['id']}" for call in calls]


def test_a_request_above_chains() -> None:
    request = span("GET /answer")
    first, second = (
        span("chain", "CHAIN", request, at=at, input__value=name, output__value=name)
        for at, name in ((1, "a"), (2, "b"))
    )
    search = span("search", "RETRIEVER", first, at=1.5, **found())
    samples, unread = read(request, first, search, second)
    assert (unread, [(item.user_input, item.retrieved_contexts) for item in samples]) == (
        [],
        [("a", TEXTS), ("b", None)],
    )
    step = span("retrieve", under=request)
    search = span("search", "RETRIEVER", step, input__value=QUESTION, **found())
    model = span("model", "LLM", request, at=1, input__value="long prompt", **as_json({"text": ANSWER}))
    sample = one(request, step, search, model)
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == (QUESTION, ANSWER, TEXTS)


def test_spans_of_a_stream_whose_parents_are_missing_belong_to_the_root() -> None:
    root = chain(**as_json({"response_txt": None, "source_nodes": ["<N(node=TextNode(id_=d1), score=0.5)>"]}))
    search = span("x.retrieve", "RETRIEVER", root, **found())
    model = span("model", "LLM", parent="gone", trace=root["trace"], at=1, **as_json({"text": ANSWER}))
    chunks = {"text_chunks": [f"page: 1\n\n{TEXTS[0]}"]}
    synthesizer = span("x.get_response", "CHAIN", root, **as_json(chunks, "input"))
    sample = one(root, search, model, synthesizer)
    assert (sample.response, sample.retrieved_contexts) == (ANSWER, chunks["text_chunks"])
    assert sample.retrieved_documents == [Document(chunks["text_chunks"][0], "d1", 1.0, {"page": 1})]
    assert sample.metadata["contexts"] == "seen"


def test_judges_are_left_out() -> None:
    """Their own traces, and what they do below a span of the application."""
    spans = rag()
    mark = {"metadata": json.dumps({"ragmetrics": "faithfulness"})}
    judge = span("faithfulness", "CHAIN", spans[0], input__value="x", output__value="1", **mark)
    below = span("search", "RETRIEVER", judge, **found(["of the judge"]))
    assert one(*spans, judge, below).retrieved_contexts == TEXTS
    alone = span("faithfulness", "CHAIN", input__value="x", output__value="1", **mark)
    assert read(alone, span("model", "LLM", alone, input__value="x")) == ([], [])


def test_spans_of_generative_ai() -> None:
    """The attributes of OpenTelemetry: a search is not among them."""
    said = [{"role": "system", "parts": [{"type": "text", "content": "Be brief."}]}]
    said += [{"role": turn["role"], "parts": [{"type": "text", "content": turn["content"]}]} for turn in HISTORY]
    said += [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
    values: Json = {
        "gen_ai__operation__name": "chat",
        "gen_ai__usage__input_tokens": 5,
        "gen_ai__usage__output_tokens": 3,
    }
    values |= {"gen_ai__input__messages": json.dumps(said), "gen_ai__output__messages": json.dumps(answer)}
    sample = one(span("chat gpt", **values))
    assert (sample.user_input, sample.response, sample.history) == (QUESTION, ANSWER, HISTORY)
    assert (sample.metadata["prompt_tokens"], sample.metadata["completion_tokens"]) == (5, 3)
    assert sample.retrieved_contexts is None


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([span("GET /")], "no span of a chain, an agent, a model or a retriever"),
        ([chain(input__value=None)], "no question"),
        ([chain(output__value=None)], "no answer"),
        ([chain(output__value="null")], "no answer"),
        ([chain(error="ValueError: broken")], "the application failed"),
        ([chain(output__value='{"answer": "Ada was bo', output__mime_type=JSON)], "its values are cut off"),
        (
            [chain(**as_json(["a", "b"], "input"), **as_json(["c", "d"]))],
            "several questions and answers in one call",
        ),
        (
            [span("RunnableWithFallbacks", "CHAIN", input__value=QUESTION, output__value=ANSWER)],
            "a chain with fallbacks, whose attempts are separate traces",
        ),
    ],
)
def test_why_a_trace_cannot_be_read(spans: list[Json], reason: str) -> None:
    assert why_not(*spans) == reason


@pytest.mark.parametrize(
    "shown", ["\\'" * 400_000, '"' + "\\'" * 400_000, "'\\\n" * 400_000, "text='" * 200_000 + "\\"]
)
def test_texts_without_an_end_are_read_in_a_moment(shown: str) -> None:
    """They took hours."""
    root = chain(input__value=None)
    step = span("x.setup_agent", "CHAIN", root, **as_json({"ev": f"ChatMessage(role=<R.USER: {shown}"}, "input"))
    nodes = as_json({"source_nodes": [f"(id_={shown}"]})
    assert why_not(root, step, span("x", "CHAIN", root, **nodes)) == "no question"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400])
def test_numbers_that_are_none(number: float) -> None:
    root = chain()
    documents = as_json({"documents": [{"page_content": "a", "id": "1", "score": number}]})
    counts = {"llm.token_count.prompt": number, "llm.token_count.completion": 3}
    spans = [root, span("search", "RETRIEVER", root, **documents), span("model", "LLM", root, **counts)]
    records = [phoenix(item) for item in spans]
    (sample,) = samples_from_traces(records)
    assert sample.retrieved_documents == [Document("a", "1")]
    assert ("prompt_tokens" in sample.metadata, sample.metadata["completion_tokens"]) == (False, 3)
    unread: list[UnreadableTrace] = []
    text = json.dumps(otlp(*spans)).replace('"intValue": "3"', '"intValue": Infinity')
    assert list(samples_from_traces([json.loads(text)], on_unreadable=unread.append)) == []
    assert [item.reason for item in unread] == ["a damaged record"]


def test_keys_in_errors_are_masked() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    _, (unread,) = read(chain(error=f"ValueError: {key} is refused", input__value='{"cut', input__mime_type=JSON))
    assert unread.reason == "the application failed"
    assert "ValueError" in unread.detail
    assert key not in unread.detail


def test_the_reasons_say_which_span_and_why() -> None:
    root = chain(error="ValueError: broken")
    _, (unread,) = read(root)
    assert unread == UnreadableTrace("the application failed", root["trace"], root["id"], "ValueError: broken")
