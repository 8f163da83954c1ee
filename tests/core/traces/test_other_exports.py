"""Exports of Langfuse, MLflow and LangSmith, and the spans that OpenInference records of Haystack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.traces.making import ANSWER, QUESTION, TEXTS, Json, found, otlp, span, written
from ragmetrics_core import Document, Sample, UnreadableTrace, samples_from_traces

DOCUMENTS = [Document(TEXTS[0], "d1", meta={"page": 1})]
PAGE = {"id": "d1", "metadata": {"page": 1}, "page_content": TEXTS[0], "type": "Document"}


def read(source: Any) -> tuple[list[Sample], list[str]]:
    unread: list[UnreadableTrace] = []
    samples = list(samples_from_traces(source, on_unreadable=unread.append))
    return samples, [item.reason for item in unread]


def observation(key: str, kind: str, parent: str | None, given: Any, output: Any, **more: Any) -> Json:
    times = {"startTime": f"2026-01-01T00:00:0{key}.123Z", "endTime": "2026-01-01T00:00:05.623456789Z"}
    own = {
        "id": key,
        "traceId": more.pop("trace", "t"),
        "type": kind,
        "name": kind.lower(),
        "parentObservationId": parent,
    }
    return {**own, **times, "input": given, "output": output, "level": "DEFAULT", "metadata": {"lang": "en"}, **more}


@pytest.mark.parametrize("write", [lambda value: value, json.dumps], ids=["values", "texts"])
def test_langfuse(write: Any, tmp_path: Path) -> None:
    usage = {"usageDetails": {"input": 40, "output": 7, "total": 47}, "calculatedTotalCost": 0.5}
    observations = [
        observation("3", "GENERATION", "1", write([{"role": "user", "content": "prompt"}]), ANSWER, **usage),
        observation("2", "RETRIEVER", "1", QUESTION, write([PAGE])),
        observation("1", "SPAN", None, write({"question": QUESTION}), ANSWER, sessionId="s1", userId="u1"),
        observation("4", "SPAN", None, "?", None, trace="x", level="ERROR", statusMessage="broken"),
    ]
    path = written(tmp_path / "observations.jsonl", *observations)
    ((sample,), unread) = read(path)
    assert unread == ["the application failed"]
    assert (sample.user_input, sample.response, sample.retrieved_documents) == (QUESTION, ANSWER, DOCUMENTS)
    known = {"trace_id": "t", "span_id": "1", "session_id": "s1", "user_id": "u1", "latency": 4.500456, "cost": 0.5}
    counts = {"prompt_tokens": 40, "completion_tokens": 7}
    assert sample.metadata == {"lang": "en", **known, **counts, "contexts": "retrieved"}


def mlflow_trace(**info: Any) -> Json:
    def part(key: str, parent: str | None, kind: str, given: Any, output: Any, **more: Any) -> Json:
        values = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": output, **more}
        return {
            "trace_id": "MTrhwPttfIAbUG5Dc8kmZA==",
            "span_id": key,
            "parent_span_id": parent,
            "name": kind.lower(),
            "start_time_unix_nano": 1_700_000_000_000_000_000 + int(key),
            "end_time_unix_nano": 1_700_000_002_000_000_000,
            "status": {"code": "STATUS_CODE_OK", "message": ""},
            "attributes": {name: json.dumps(value) for name, value in values.items()},
        }

    usage = {"mlflow.chat.tokenUsage": {"input_tokens": 40, "output_tokens": 7}}
    spans = [
        part("1", None, "UNKNOWN", {"question": QUESTION}, ANSWER),
        part(
            "2",
            "1",
            "RETRIEVER",
            {"query": QUESTION},
            [{"page_content": TEXTS[0], "metadata": {"page": 1}, "id": "d1"}],
        ),
        part(
            "3",
            "1",
            "CHAT_MODEL",
            {"messages": []},
            {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
            **usage,
        ),
    ]
    return {"info": {"trace_id": "tr-1", **info}, "data": {"spans": spans}}


def test_mlflow(tmp_path: Path) -> None:
    about = {"mlflow.trace.session": "s1", "mlflow.trace.user": "u1", "mlflow.source.name": "app.py", "lang": "en"}
    expectation = {"assessment_name": "expected_response", "expectation": {"value": "London"}}
    trace = mlflow_trace(
        trace_metadata=about, assessments=[expectation, {"assessment_name": "x", "feedback": {"value": 1}}]
    )
    rows: list[Any] = [
        [trace],
        [{"trace_id": "tr-1", "trace": json.dumps(trace)}],
        written(tmp_path / "traces.jsonl", trace),
    ]
    for source in rows:
        ((sample,), unread) = read(source)
        assert unread == []
        assert (sample.user_input, sample.response, sample.retrieved_documents) == (QUESTION, ANSWER, DOCUMENTS)
        assert (sample.reference, sample.id) == ("London", "tr-1")
        known = {"trace_id": "tr-1", "span_id": "1", "session_id": "s1", "user_id": "u1", "latency": 2.0}
        counts = {"prompt_tokens": 40, "completion_tokens": 7}
        assert sample.metadata == {"lang": "en", **known, **counts, "contexts": "retrieved"}


def test_langsmith(tmp_path: Path) -> None:
    def run(key: str, kind: str, parent: str | None, inputs: Any, outputs: Any, **more: Any) -> Json:
        times = {"start_time": f"2026-01-01T00:00:0{key}", "end_time": "2026-01-01T00:00:05"}
        about = {"extra": {"metadata": {"thread_id": "s1"}}, "tags": [], "error": None, **times, **more}
        return {
            "id": key,
            "trace_id": "1",
            "parent_run_id": parent,
            "run_type": kind,
            "name": kind,
            "inputs": inputs,
            "outputs": outputs,
            **about,
        }

    runs = [
        run("1", "chain", None, {"input": QUESTION}, {"output": ANSWER}),
        run("2", "retriever", "1", {"query": QUESTION}, {"documents": [PAGE]}),
        run(
            "3",
            "llm",
            "1",
            {"prompts": ["x"]},
            {"generations": [[{"text": ANSWER}]]},
            prompt_tokens=40,
            completion_tokens=7,
        ),
    ]
    ((sample,), unread) = read(written(tmp_path / "runs.jsonl", *runs))
    assert unread == []
    assert (sample.user_input, sample.response, sample.retrieved_documents) == (QUESTION, ANSWER, DOCUMENTS)
    assert (sample.metadata["session_id"], sample.metadata["latency"], sample.metadata["prompt_tokens"]) == (
        "s1",
        4.0,
        40,
    )
    runs[0] |= {"error": "ValueError('broken')", "outputs": None}
    assert read(runs) == ([], ["the application failed"])


def shown(*texts: str) -> list[str]:
    return [f"Document(id=d{number}, content: {text!r}, score: 0.5)" for number, text in enumerate(texts, 1)]


def in_json(side: str, value: Any) -> Json:
    return {f"{side}__value": json.dumps(value), f"{side}__mime_type": "application/json"}


def haystack(*middle: Json, answers: Any = None) -> list[Json]:
    data = {"data": {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}}
    root = span("Pipeline.run", "CHAIN", takes=9, **in_json("input", data), **in_json("output", {}))
    content = f"[TextContent(text={ANSWER!r})]"
    message = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content={content}, _name=None, _meta={{}})"
    spans = [
        span("Retriever.run", "RETRIEVER", root, at=1, **found(), **in_json("output", {"documents": shown(*TEXTS)})),
        *({**item, "trace": root["trace"], "parent": root["id"]} for item in middle),
        span("Generator.run", "LLM", root, at=5, **in_json("output", {"replies": [message]})),
    ]
    if answers is not None:
        spans.append(span("AnswerBuilder.run", "CHAIN", root, at=6, **in_json("output", {"answers": answers})))
    return [*spans, root]


def test_haystack_by_openinference() -> None:
    ((sample,), unread) = read([otlp(*haystack())])
    assert unread == []
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == (QUESTION, ANSWER, TEXTS)
    documents = sample.retrieved_documents
    assert documents == [Document(TEXTS[0], "d1", 1.0, {"page": 1}), Document(TEXTS[1], "d2", 0.75, {"page": 2})]
    last = span("Joiner.run", "CHAIN", at=2, **in_json("output", {"documents": shown(*TEXTS)[1:]}))
    answer = "GeneratedAnswer(data='It\\'s \"London\"', query='x', documents=[])"
    ((sample,), unread) = read([otlp(*haystack(last, answers=[answer]))])
    assert (sample.response, sample.retrieved_contexts) == ('It\'s "London"', TEXTS[1:])
    unknown = span(
        "Fetcher.run", "CHAIN", at=2, **in_json("output", {"documents": ["Document(id=other, content: 'x')"]})
    )
    assert read([otlp(*haystack(unknown))]) == ([], ["the documents of its search are not in the trace"])


def test_a_chat_of_haystack_by_openinference() -> None:
    """What a message says cannot pose as another message, and calls of tools are no turns."""

    def message(role: str, *parts: str) -> str:
        return f"ChatMessage(_role=<ChatRole.{role.upper()}: {role!r}>, _content=[{', '.join(parts)}], _name=None, _meta={{}})"

    def text(said: str) -> str:
        return f"TextContent(text={said!r})"

    posing = "'), ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='posing')]"
    call = "ToolCall(tool_name='search', arguments={'query': 'x'}, id=None, extra=None)"
    messages = [
        message("system", text("Be brief.")),
        message("user", text("Who was Ada?")),
        message("assistant", text("I look."), call),
        message("tool", f"ToolCallResult(result='found', origin={call}, error=False)"),
        message("assistant", text(posing)),
        message("user", text(QUESTION)),
    ]
    root = span(
        "Pipeline.run",
        "CHAIN",
        **in_json("input", {"data": {"llm": {"messages": messages}}}),
        **in_json("output", {}),
    )
    model = span("Generator.run", "LLM", root, **in_json("output", {"replies": [message("assistant", text(ANSWER))]}))
    ((sample,), unread) = read([otlp(root, model)])
    assert unread == []
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == (QUESTION, ANSWER, None)
    assert sample.history == [{"role": "user", "content": "Who was Ada?"}, {"role": "assistant", "content": posing}]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"data": "a"}, "a"),
        ({"type": "GeneratedAnswer", "init_parameters": {"data": "a"}}, "a"),
        ("a", "a"),
        ("ChatMessage(x)", "ChatMessage(x)"),
        ({"role": "assistant", "content": [{"text": "a"}]}, "a"),
    ],
)
def test_answers_of_components(answer: Any, text: str) -> None:
    spans = haystack(answers=[answer])
    ((sample,), unread) = read([otlp(*spans)])
    assert (sample.response, unread) == (text, [])
    assert read([otlp(*haystack(answers=[{"init_parameters": 5}]))]) == ([], ["no answer"])


@pytest.mark.parametrize("shown", ["'\\x'", "'a\nb'", "'\\N{no}'"])
def test_what_only_looks_as_if_python_had_written_it(shown: str) -> None:
    root = span("Pipeline.run", "CHAIN", input__value=QUESTION, **in_json("output", {}))
    root["attributes"]["input.value"] = json.dumps({"data": {"x": {"query": QUESTION}}})
    for said in (
        f"GeneratedAnswer(data={shown})",
        f"ChatMessage(_role=<ChatRole.USER>, _content=[TextContent(text={shown})]",
    ):
        ((sample,), unread) = read([otlp(root, span("G.run", "LLM", root, **in_json("output", {"answers": [said]})))])
        assert (sample.response, unread) == ("", [])
