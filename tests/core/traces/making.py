"""Spans that a test writes down, in each of the forms in which they are exported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

Json = dict[str, Any]
NUMBERS = count(1)
START = 1_700_000_000
QUESTION, ANSWER = "Where was Ada born?", "Ada was born in London."
TEXTS = ["Ada was born in London in 1815.", "Babbage designed an engine."]


def span(name: str, kind: str = "", under: Json | None = None, *, at: float = 0, takes: float = 1, **more: Any) -> Json:
    """A span; its attributes are given with ``__`` for each dot. ``error``: why it failed. ``trace``, ``parent``: ids."""
    error, trace, parent = more.pop("error", None), more.pop("trace", None), more.pop("parent", None)
    attributes = {key.replace("__", "."): value for key, value in more.items()}
    if kind:
        attributes["openinference.span.kind"] = kind
    number = next(NUMBERS)
    return {
        "trace": trace or (under["trace"] if under else f"{number:032x}"),
        "id": f"{number:016x}",
        "parent": parent or (under["id"] if under else None),
        "name": name,
        "start": START + at,
        "end": START + at + takes,
        "attributes": attributes,
        "error": error,
    }


def found(texts: Sequence[str] = TEXTS) -> Json:
    """The attributes of a search that found these documents, d1, d2, ..."""
    attributes: Json = {}
    for number, text in enumerate(texts):
        start = f"retrieval.documents.{number}.document"
        attributes |= {f"{start}.content": text, f"{start}.id": f"d{number + 1}", f"{start}.score": 1 - number / 4}
        attributes[f"{start}.metadata"] = json.dumps({"page": number + 1})
    return attributes


def rag(question: str = QUESTION, answer: str = ANSWER, texts: Sequence[str] = TEXTS, **more: Any) -> list[Json]:
    """A chain with a search and a model."""
    root = span("rag", "CHAIN", takes=2.5, input__value=question, output__value=answer, **more)
    search = span("search", "RETRIEVER", root, at=0.1, input__value=question, **found(texts))
    counts = {"llm__token_count__prompt": 40, "llm__token_count__completion": 7}
    model = span("model", "LLM", root, at=1, output__value=answer, **counts)
    return [root, search, model]


def otlp(*spans: Json) -> Json:
    """A batch as OpenTelemetry's collector writes it."""
    items = [
        {
            "traceId": item["trace"],
            "spanId": item["id"],
            "parentSpanId": item["parent"] or "",
            "name": item["name"],
            "startTimeUnixNano": str(int(item["start"] * 1e9)),
            "endTimeUnixNano": str(int(item["end"] * 1e9)),
            "attributes": [{"key": key, "value": _otlp(value)} for key, value in item["attributes"].items()],
            "status": {"code": 2, "message": item["error"]} if item["error"] else {},
        }
        for item in spans
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "app"}, "spans": items}]}]}


def _otlp(value: Any) -> Json:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _otlp(item)} for key, item in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_otlp(item) for item in value]}}
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(value)]: str(value) if type(value) is int else value}


def phoenix(item: Json) -> Json:
    """A span as Phoenix exports it."""
    return {
        "name": item["name"],
        "context": {"trace_id": item["trace"], "span_id": item["id"]},
        "parent_id": item["parent"],
        "span_kind": item["attributes"].get("openinference.span.kind", "UNKNOWN"),
        "start_time": _iso(item["start"]),
        "end_time": _iso(item["end"]),
        "status_code": "ERROR" if item["error"] else "OK",
        "status_message": item["error"] or "",
        "attributes": item["attributes"],
        "events": [],
    }


def phoenix_row(item: Json) -> Json:
    """A row of the data frame that Phoenix makes of spans: lists of documents stay together, names have dots."""
    documents: dict[int, Json] = {}
    row: Json = {}
    for key, value in item["attributes"].items():
        if key.startswith("retrieval.documents."):
            number, _, name = key.removeprefix("retrieval.documents.").partition(".")
            documents.setdefault(int(number), {})[name] = json.loads(value) if name.endswith("metadata") else value
        else:
            row[f"attributes.{key}"] = value
    if documents:
        row["attributes.retrieval.documents"] = list(documents.values())
    plain = phoenix(item)
    context = plain.pop("context")
    del plain["attributes"], plain["events"]
    return {**plain, **{f"context.{name}": value for name, value in context.items()}, **row}


def console(item: Json) -> Json:
    """A span as OpenTelemetry's console exporter writes it."""
    plain = phoenix(item)
    return {
        "name": item["name"],
        "context": {"trace_id": f"0x{item['trace']}", "span_id": f"0x{item['id']}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": f"0x{item['parent']}" if item["parent"] else None,
        "start_time": plain["start_time"].replace("+00:00", "Z"),
        "end_time": plain["end_time"].replace("+00:00", "Z"),
        "status": {"status_code": plain["status_code"], "description": item["error"]},
        "attributes": item["attributes"],
        "events": [],
    }


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, timezone.utc).isoformat()


def written(path: Path, *records: Json) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
