"""``samples_from_traces``: every export of the same spans gives the same samples, in any order, from any kind of file."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from core.traces.making import ANSWER, QUESTION, TEXTS, Json, console, otlp, phoenix, phoenix_row, rag, span, written
from ragmetrics_core import Document, InvalidInput, Sample, UnreadableTrace, evaluate, samples_from_traces
from ragmetrics_core.adapters import JsonlSink
from ragmetrics_core.metrics import ExactMatch

SPANS = rag(session__id="s1", metadata=json.dumps({"lang": "en", "reference": "London"}))
ROOT = SPANS[0]
EXPECTED = Sample(
    user_input=QUESTION,
    response=ANSWER,
    retrieved_contexts=TEXTS,
    reference="London",
    retrieved_documents=[
        Document(TEXTS[0], "d1", 1.0, {"page": 1}),
        Document(TEXTS[1], "d2", 0.75, {"page": 2}),
    ],
    id=ROOT["trace"],
    metadata={
        "lang": "en",
        "trace_id": ROOT["trace"],
        "span_id": ROOT["id"],
        "session_id": "s1",
        "latency": 2.5,
        "prompt_tokens": 40,
        "completion_tokens": 7,
        "contexts": "retrieved",
    },
)


def read(source: Any) -> list[Sample]:
    """The samples of traces of which each can be read."""
    unread: list[UnreadableTrace] = []
    samples = list(samples_from_traces(source, on_unreadable=unread.append))
    assert unread == []
    return samples


@pytest.mark.parametrize(
    "records",
    [
        [otlp(*SPANS)],
        [otlp(item) for item in reversed(SPANS)],
        [phoenix(item) for item in SPANS],
        [{"data": [phoenix(item) for item in SPANS], "next_cursor": None}],
        [phoenix_row(item) for item in SPANS],
        [console(item) for item in SPANS],
    ],
    ids=["otlp", "otlp, a span a batch", "phoenix", "a page of phoenix", "rows of phoenix", "console"],
)
def test_lines_of_json_and_records_in_memory(records: list[Json], tmp_path: Path) -> None:
    assert read(written(tmp_path / "spans.jsonl", *records)) == [EXPECTED]
    assert read(records) == [EXPECTED]
    assert read(iter(records)) == [EXPECTED]


def test_one_document_of_json(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(otlp(*SPANS), indent=1))
    assert read(path) == [EXPECTED]
    path.write_text('{"resourceSpans": [' + json.dumps(otlp(*SPANS)["resourceSpans"][0], indent=1) + "]}")
    assert read(path) == [EXPECTED]
    path.write_text(json.dumps([phoenix(item) for item in SPANS]))
    assert read(path) == [EXPECTED]
    path.write_text('{\n"resourceSpans"')
    with pytest.raises(InvalidInput, match=r"^traces\.json: not JSON \(EOF while parsing"):
        read(path)


def test_values_over_several_lines_one_after_the_other(tmp_path: Path) -> None:
    """As OpenTelemetry's console exporter writes them; a damaged one costs itself."""
    path = tmp_path / "traces.json"
    texts = [json.dumps(console(item), indent=4) + "\n" for item in (*SPANS, span("x"))]
    path.write_text("".join(texts[:3]))
    assert read(path) == [EXPECTED]
    path.write_text(texts[0] + texts[3].replace('"name"', "name") + "".join(texts[1:3]))
    unread: list[UnreadableTrace] = []
    assert list(samples_from_traces(path, on_unreadable=unread.append)) == [EXPECTED]
    (found,) = unread
    line = len(texts[0].splitlines()) + 1
    assert (found.reason, found.detail.startswith(f"traces.json, line {line}: ")) == ("a damaged record", True)


def test_data_frames_and_parquet(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([phoenix_row(item) for item in SPANS])
    frame["start_time"] = pd.to_datetime(frame["start_time"], format="ISO8601")
    assert read(frame) == [EXPECTED]
    frame.to_parquet(tmp_path / "spans.parquet")
    assert read(tmp_path / "spans.parquet") == [EXPECTED]


def test_gzip_pipes_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\n".join(json.dumps(otlp(item)).encode() for item in SPANS)
    (tmp_path / "traces.json.gz").write_bytes(gzip.compress(data))
    assert read(tmp_path / "traces.json.gz") == [EXPECTED]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read("-") == [EXPECTED]
    if hasattr(os, "mkfifo"):
        pipe = tmp_path / "spans.jsonl"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(data,))
        writer.start()
        assert read(pipe) == [EXPECTED]
        writer.join()


def test_spans_of_opentelemetry() -> None:
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    processors = pytest.importorskip("opentelemetry.sdk.trace.export")
    exporter, provider = export.InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(processors.SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("app")
    with tracer.start_as_current_span("rag", attributes=ROOT["attributes"]):
        for item in SPANS[1:]:
            with tracer.start_as_current_span(item["name"], attributes=item["attributes"]):
                pass
    with pytest.raises(ValueError, match="broken"), tracer.start_as_current_span("rag", attributes=ROOT["attributes"]):
        raise ValueError("broken")
    unread: list[UnreadableTrace] = []
    (sample,) = samples_from_traces(exporter.get_finished_spans(), on_unreadable=unread.append)
    assert (sample.user_input, sample.response, sample.retrieved_contexts) == (QUESTION, ANSWER, TEXTS)
    assert sample.retrieved_documents == EXPECTED.retrieved_documents
    assert len(sample.metadata["trace_id"]) == 32
    assert [(item.reason, item.detail) for item in unread] == [("the application failed", "ValueError: broken")]


def test_spans_in_any_order_and_several_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if more traces are open than may be held, so that the file is read several times."""
    traces = [rag(f"question {number}", f"answer {number}", [f"text {number}"]) for number in range(200)]
    spans = [item for trace in traces for item in trace]
    random.Random(1).shuffle(spans)
    expected = {(f"question {number}", f"answer {number}", f"text {number}") for number in range(200)}
    path = written(tmp_path / "spans.jsonl", *(otlp(*spans[at : at + 7]) for at in range(0, len(spans), 7)))
    with path.open("a") as file:
        file.write("{damaged\n")
    orders = []
    for most in (64_000_000, 20_000):
        monkeypatch.setattr("ragmetrics_core._traces._grouping.MOST_HELD", most)
        unread: list[UnreadableTrace] = []
        samples = list(samples_from_traces(path, on_unreadable=unread.append))
        found = [(item.user_input, item.response, *(item.retrieved_contexts or ())) for item in samples]
        assert (len(found), set(found)) == (200, expected)
        assert len(unread) == 1
        orders.append(found)
    assert orders[0] != orders[1]  # the second one took several passes


def test_a_damaged_line_costs_that_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path / "spans.jsonl", *(otlp(item) for item in SPANS))
    odd: list[Any] = [
        {"resourceSpans": [{"scopeSpans": 5}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "without ids"}]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "startTimeUnixNano": "x"}]}]}]},
        {"question": "no span"},
        5,
    ]
    lines = [b'{"resourceSpans": [', b"\xff", b"[" * 100_000, *(json.dumps(item).encode() for item in odd)]
    path.write_bytes(b"\n\n".join([*lines, path.read_bytes()]))
    unread: list[UnreadableTrace] = []
    assert list(samples_from_traces(path, on_unreadable=unread.append)) == [EXPECTED]
    assert [item.reason for item in unread] == ["a damaged record"] * 8
    assert [item.detail for item in unread][3:] == [
        "spans.jsonl, line 7: TypeError: 'int' object is not iterable",
        "spans.jsonl, line 9: a span without the id of its trace or its own",
        "spans.jsonl, line 11: 'x' is no time",
        "spans.jsonl, line 13: not a span of a known export",
        "spans.jsonl, line 15: not a span of a known export",
    ]
    with caplog.at_level(logging.WARNING):
        assert list(samples_from_traces(path)) == [EXPECTED]
    assert caplog.messages == ["8 traces cannot be read: a damaged record (8)"]


def test_an_id_in_a_text_is_no_id(tmp_path: Path) -> None:
    """Text under judgement that looks like a span neither moves nor adds a trace."""
    hostile = f"Explain {json.dumps(otlp(*rag('fake')))}"
    spans = rag(hostile)
    (sample,) = read(written(tmp_path / "spans.jsonl", *(phoenix(item) for item in spans)))
    assert sample.user_input == hostile


def test_what_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        read(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInput, match=r"^traces must be a path, spans or a data frame, got int$"):
        read(5)
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(json.dumps(otlp(*SPANS)).encode())[:100])
    with pytest.raises(InvalidInput, match=r"^broken\.jsonl\.gz, after line 0: it cannot be read further"):
        read(broken)
    assert read(written(tmp_path / "empty.jsonl")) == []


def test_sinks_find_the_span_of_a_score(tmp_path: Path) -> None:
    traces = [rag(metadata=json.dumps({"reference": "London"})) for _ in range(2)]
    samples = samples_from_traces([otlp(*spans) for spans in traces])
    evaluate(samples, [ExactMatch()], sinks=[JsonlSink(tmp_path / "scores.jsonl")], progress=False)
    records = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    spans = sorted((record["span"]["trace_id"], record["span"]["span_id"]) for record in records)
    assert spans == sorted((root["trace"], root["id"]) for root, *_ in traces)


def test_attributes_of_every_type_and_events() -> None:
    metadata = {"lang": "en", "numbers": [1, 2.5, True], "nested": {"a": 1}}
    spans = rag(metadata=metadata, llm__tools="[...]", user__id=5)
    (sample,) = read([otlp(*spans)])
    assert {name: sample.metadata[name] for name in metadata} == metadata
    assert sample.metadata["user_id"] == 5
    failed = otlp(span("chain", "CHAIN", error="it failed"))
    item = failed["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    item["attributes"].append({"key": "input.value", "value": {}})
    texts = {"exception.type": "KeyError", "exception.message": "'x'"}
    values = [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()]
    item["events"] = [{"name": "first token"}, {"name": "exception", "attributes": values}]
    unread: list[UnreadableTrace] = []
    assert list(samples_from_traces([failed], on_unreadable=unread.append)) == []
    assert [found.detail for found in unread] == ["KeyError: 'x'"]


def test_a_span_that_is_sent_twice_counts_once() -> None:
    assert read([otlp(*SPANS), otlp(*SPANS)]) == [EXPECTED]


def test_a_span_above_itself_ends_nothing() -> None:
    spans = rag()
    spans.append(span("loop", "CHAIN", trace=spans[0]["trace"]))
    spans[-1]["parent"] = spans[-1]["id"]
    assert [sample.response for sample in samples_from_traces([otlp(*spans)], on_unreadable=print)] == [ANSWER]
