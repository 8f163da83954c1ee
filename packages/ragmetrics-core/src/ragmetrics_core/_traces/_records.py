"""Reads the records of exports: each becomes the spans that it contains.

An OTLP record is a batch of spans; records of Phoenix, OpenTelemetry's console, LangSmith and Langfuse are one span each; a
record of MLflow is a whole trace. Only the attributes that
samples are made of are kept, because a trace may contain vectors and schemas that are larger than all of its texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from .._support._secrets import conceal
from .._values._sample import without_arrays
from ._json import parsed_json
from ._span import HANDED, Damaged, Span, seconds

KIND = "openinference.span.kind"
HAYSTACK = {
    "haystack.pipeline.input_data": "input",
    "haystack.pipeline.output_data": "output",
    "haystack.component.input": "input",
    "haystack.component.output": "output",
}
"""The tags of Haystack's own tracer."""

MLFLOW = ("mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.tokenUsage")
KEPT = HAYSTACK.keys() | frozenset(
    f"{KIND} input.value input.mime_type output.value output.mime_type metadata session.id user.id "
    "llm.token_count.prompt llm.token_count.completion llm.cost.total llm.prompt_template.variables".split()
)
PREFIXES = ("retrieval.documents", "reranker.", "llm.input_messages", "llm.output_messages", "gen_ai.")
HANDS_OVER = re.compile(r"(langgraph\.errors\.)?ParentCommand\b")
"""The exception with which a step of LangGraph hands over to the graph above. Nothing failed."""

OPERATIONS = {
    "chat": "LLM",
    "text_completion": "LLM",
    "generate_content": "LLM",
    "invoke_agent": "AGENT",
    "execute_tool": "TOOL",
    "retrieval": "RETRIEVER",
    "embeddings": "EMBEDDING",
}
"""The kinds of spans by ``gen_ai.operation.name`` of OpenTelemetry."""


@lru_cache(maxsize=4096)  # the same names in every span
def _is_kept(name: str) -> bool:
    return name in KEPT or name.startswith(PREFIXES)


def spans_in(record: Any) -> Iterator[Span]:
    """Yield the spans of a record.

    Raises:
        Damaged: the record is of no known export, or lacks an id.
    """
    if hasattr(record, "get_span_context"):
        yield _of_object(record)
        return
    if not isinstance(record, Mapping):  # a run of LangSmith, a trace of MLflow, an observation of Langfuse
        ways = (getattr(record, name, None) for name in ("to_dict", "model_dump", "dict"))
        record = next((way() for way in ways if way is not None), {})
    reader = next((reader for name, reader in READERS.items() if record.get(name) is not None), None)
    if reader is None:
        raise Damaged("not a span of a known export")
    yield from reader(record)


def _of_batch(record: Mapping[str, Any]) -> Iterator[Span]:
    for resource in record["resourceSpans"]:
        for scope in resource.get("scopeSpans") or ():
            for item in scope.get("spans") or ():
                yield _of_otlp(item)


def _of_page(record: Mapping[str, Any]) -> Iterator[Span]:
    """Read a page of Phoenix's REST interface."""
    for item in record["data"]:
        yield from spans_in(item)


def _of_otlp(item: Mapping[str, Any]) -> Span:
    attributes: dict[str, Any] = {}
    for each in item.get("attributes") or ():
        key, value = each["key"], each.get("value") or {}
        if _is_kept(key):
            attributes[key] = value["stringValue"] if "stringValue" in value else _otlp_value(value)
    status = item.get("status") or {}
    events = [{"attributes": _otlp_pairs(event.get("attributes"))} for event in item.get("events") or ()]
    error = status.get("code") in (2, "STATUS_CODE_ERROR"), status.get("message"), events
    ids = item.get("traceId"), item.get("spanId"), item.get("parentSpanId")
    return _span(ids, item.get("name"), (item.get("startTimeUnixNano"), item.get("endTimeUnixNano")), attributes, error)


def _otlp_pairs(items: Any) -> dict[str, Any]:
    return {each["key"]: _otlp_value(each.get("value") or {}) for each in items or ()}


def _otlp_value(value: Mapping[str, Any]) -> Any:
    for name, item in value.items():
        if name == "intValue":
            return int(item)
        if name == "arrayValue":
            return [_otlp_value(each) for each in item.get("values") or ()]
        return _otlp_pairs(item.get("values")) if name == "kvlistValue" else item
    return None


def _of_openinference(record: Mapping[str, Any]) -> Iterator[Span]:
    """Read a span as Phoenix exports it, with nested or with dotted names, or as OpenTelemetry's console exporter writes it."""
    context = record.get("context")
    context = context if isinstance(context, Mapping) else {}
    given = record.get("attributes")
    attributes = _flat(given) if isinstance(given, Mapping) else {}
    dotted = {name.partition(".")[2]: value for name, value in record.items() if name.startswith("attributes.")}
    attributes |= _flat(dotted)
    status = record.get("status")
    status = status if isinstance(status, Mapping) else {}
    failed = str(record.get("status_code") or status.get("status_code")).upper().endswith("ERROR")
    error = failed, record.get("status_message") or status.get("description"), record.get("events")
    ids = [context.get(name) or record.get(f"context.{name}") for name in ("trace_id", "span_id")]
    parent = record.get("parent_id", record.get("parent_span_id"))
    attributes.setdefault(KIND, record.get("span_kind"))
    times = record.get("start_time"), record.get("end_time")
    yield _span((ids[0], ids[1], parent), record.get("name"), times, attributes, error)


def _flat(given: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """Return the attributes under their dotted names; lists and the metadata stay whole."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = f"{start}{key}"
        if isinstance(value, dict) and name not in ("metadata", "input.value", "output.value"):
            found |= _flat(value, f"{name}.")
        elif value is not None and _is_kept(name):
            found[name] = without_arrays(value)
    return found


def _of_object(span: Any) -> Span:
    """Read a span of OpenTelemetry's SDK."""
    context = span.get_span_context()
    attributes = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in (span.attributes or {}).items()
        if _is_kept(key)
    }
    events = [{"attributes": event.attributes} for event in span.events]
    error = span.status.status_code.name == "ERROR", span.status.description, events
    ids = (
        f"{context.trace_id:032x}",
        f"{context.span_id:016x}",
        f"{span.parent.span_id:016x}" if span.parent else None,
    )
    return _span(ids, span.name, (span.start_time, span.end_time), attributes, error)


KINDS = {
    **dict.fromkeys(("parser", "UNKNOWN", "SPAN", "PARSER"), "CHAIN"),
    **dict.fromkeys(("GENERATION", "CHAT_MODEL"), "LLM"),
}
"""Kinds of spans under the names that LangSmith, Langfuse and MLflow have for them, where they differ."""


def _of_langsmith(run: Mapping[str, Any]) -> Iterator[Span]:
    metadata = dict((run.get("extra") or {}).get("metadata") or {})
    if "ragmetrics" in (run.get("tags") or ()):  # LangSmith knows judges by their tag
        metadata["ragmetrics"] = True
    attributes = {
        KIND: KINDS.get(run["run_type"], run["run_type"]),
        "input.value": run.get("inputs"),
        "output.value": run.get("outputs"),
        "metadata": metadata,
        "llm.token_count.prompt": run.get("prompt_tokens"),
        "llm.token_count.completion": run.get("completion_tokens"),
        "llm.cost.total": run.get("total_cost"),
    }
    ids = run.get("trace_id"), run.get("id"), run.get("parent_run_id")
    error = bool(run.get("error")), run.get("error"), ()
    yield _span(ids, run.get("name"), (run.get("start_time"), run.get("end_time")), attributes, error)


def _of_langfuse(item: Mapping[str, Any]) -> Iterator[Span]:
    usage = item.get("usageDetails") or item.get("usage") or {}
    attributes = {
        KIND: KINDS.get(item.get("type", ""), item.get("type")),
        "input.value": item.get("input"),
        "output.value": item.get("output"),
        "metadata": item.get("metadata"),
        "session.id": item.get("sessionId"),
        "user.id": item.get("userId"),
        "llm.token_count.prompt": usage.get("input"),
        "llm.token_count.completion": usage.get("output"),
        "llm.cost.total": item.get("calculatedTotalCost", item.get("totalCost")),
    }
    for side in ("input", "output"):  # some exports write the values as texts of JSON
        if str(attributes[f"{side}.value"])[:1] in ("{", "["):
            attributes[f"{side}.mime_type"] = "application/json"
    error = item.get("level") == "ERROR", item.get("statusMessage"), ()
    ids = item.get("traceId"), item.get("id"), item.get("parentObservationId")
    yield _span(ids, item.get("name"), (item.get("startTime"), item.get("endTime")), attributes, error)


def _of_row(record: Mapping[str, Any]) -> Iterator[Span]:
    """Read a row of MLflow's ``search_traces``."""
    yield from spans_in(parsed_json(record["trace"]) if isinstance(record["trace"], str) else record["trace"])


def _of_mlflow(record: Mapping[str, Any]) -> Iterator[Span]:
    """Read a trace of MLflow, whose attributes are texts of JSON."""
    info, spans = record["info"], record["data"]["spans"]
    about = info.get("trace_metadata") or {}
    expected = {
        item["assessment_name"]: item["expectation"].get("value")
        for item in info.get("assessments") or ()
        if item.get("expectation")
    }
    own = {name: value for name, value in about.items() if not name.startswith("mlflow.")}
    metadata = {**own, "reference": expected.get("expected_response")}
    for item in spans:
        given = item.get("attributes") or {}
        read = {name: parsed_json(given[name]) for name in MLFLOW if isinstance(given.get(name), str)}
        usage = read.get("mlflow.chat.tokenUsage") or {}
        attributes = {
            KIND: KINDS.get(read.get("mlflow.spanType", "UNKNOWN"), read.get("mlflow.spanType")),
            "input.value": read.get("mlflow.spanInputs"),
            "output.value": read.get("mlflow.spanOutputs"),
            "session.id": about.get("mlflow.trace.session"),
            "user.id": about.get("mlflow.trace.user"),
            "llm.token_count.prompt": usage.get("input_tokens"),
            "llm.token_count.completion": usage.get("output_tokens"),
            "metadata": {} if item.get("parent_span_id") else metadata,
        }
        status = item.get("status") or {}
        error = str(status.get("code")).endswith("ERROR"), status.get("message"), item.get("events")
        times = item.get("start_time_unix_nano"), item.get("end_time_unix_nano")
        ids = info["trace_id"], item.get("span_id"), item.get("parent_span_id")
        yield _span(ids, item.get("name"), times, attributes, error)


def _exception(events: Any) -> str:
    """Return the exception among the events of a span; "" if there is none."""
    for event in events if isinstance(events, list) else ():
        about = event.get("attributes") if isinstance(event, Mapping) else None
        if isinstance(about, Mapping):
            parts = [about.get(name) for name in ("exception.type", "exception.message")]
            text = ": ".join(str(part) for part in parts if part)
            if text:
                return text
    return ""


def _id(value: Any) -> str | None:
    return str(value).removeprefix("0x") if value else None


def _span(
    ids: tuple[Any, Any, Any],
    name: Any,
    times: tuple[Any, Any],
    attributes: dict[str, Any],
    error: tuple[bool, Any, Any],
) -> Span:
    """Make a span. ``error``: whether it failed, the text of its status, and its events."""
    trace_id, span_id, parent_id = map(_id, ids)
    if trace_id is None or span_id is None:
        raise Damaged("a span without the id of its trace or its own")
    if not HAYSTACK.keys().isdisjoint(attributes):
        for tag in HAYSTACK.keys() & attributes.keys():
            attributes[f"{HAYSTACK[tag]}.value"] = attributes.pop(tag)
            attributes[f"{HAYSTACK[tag]}.mime_type"] = "application/json"
        attributes.setdefault(KIND, "CHAIN")
    kind = attributes.pop(KIND, None) or OPERATIONS.get(str(attributes.get("gen_ai.operation.name")), "")
    start, end = map(seconds, times)
    failed, description, events = error
    why = (_exception(events) or str(description or "it failed").strip()) if failed or events else ""
    if HANDS_OVER.match(why):
        attributes[HANDED], failed = why, False
    failure = conceal(why.partition("\n")[0][:500]) if failed else None
    return Span(trace_id, span_id, parent_id, str(name or ""), str(kind).upper(), start or 0, end, attributes, failure)


READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Span]]] = {
    "resourceSpans": _of_batch,
    "context.trace_id": _of_openinference,
    "context": _of_openinference,
    "run_type": _of_langsmith,
    "traceId": _of_langfuse,
    "info": _of_mlflow,
    "trace": _of_row,
    "data": _of_page,
}
"""What reads a record, by a field that only records of its kind have."""
