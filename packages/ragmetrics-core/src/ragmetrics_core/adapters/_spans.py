"""The span of OpenTelemetry in which a call of the application runs, and the spans of judges. OpenTelemetry is used only if the
application loaded it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

SpanIds = tuple[str, str]
"""The ids of a trace and of one of its spans: 32 and 16 hexadecimal digits."""

_given: ContextVar[SpanIds | None] = ContextVar("ragmetrics_span", default=None)
"""The span of the ``in_span`` that this code is in. OpenTelemetry may not be loaded, such as where a spool is judged."""


def current_span() -> SpanIds | None:
    """Return the ids of the span of ``in_span``, else of OpenTelemetry's current span; None if there is none, or if
    OpenTelemetry is not loaded.
    """
    if (given := _given.get()) is not None:
        return given
    trace: Any = sys.modules.get("opentelemetry.trace")
    get_span = getattr(trace, "get_current_span", None)  # missing while another thread is still loading it
    if get_span is None:
        return None
    span = get_span().get_span_context()
    return (f"{span.trace_id:032x}", f"{span.span_id:016x}") if span.is_valid else None


@contextmanager
def in_span(ids: SpanIds | None) -> Iterator[None]:
    """Make an existing span current for the block, also for OpenTelemetry if it is loaded. Sinks are called in it, so that their
    scores belong to the call that was judged. Nothing is recorded in the span itself.

    Args:
        ids: what ``current_span`` returned; None changes nothing.
    """
    if ids is None:
        yield
        return
    token = _given.set(ids)
    trace: Any = sys.modules.get("opentelemetry.trace")
    try:
        if trace is None:
            yield
            return
        flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
        context = trace.SpanContext(*(int(part, 16) for part in ids), is_remote=True, trace_flags=flags)
        with trace.use_span(trace.NonRecordingSpan(context)):
            yield
    finally:
        _given.reset(token)


@contextmanager
def judge_spans(name: str, *, trace: bool) -> Iterator[None]:
    """Mark the spans that the block opens as spans of a judge, so that readers of traces can distinguish them from the
    application's.

    Args:
        name: the metric. Spans of OpenInference have it in their metadata, under ``ragmetrics``.
        trace: False: OpenTelemetry records no spans of the block.
    """
    api: Any = sys.modules.get("opentelemetry.context")
    if not hasattr(api, "attach"):  # it is not loaded, or another thread is still loading it
        yield
        return
    if trace:
        values: dict[str, Any] = {"metadata": json.dumps({"ragmetrics": name})}
    else:
        own = [
            getattr(api, key, None) for key in ("_SUPPRESS_INSTRUMENTATION_KEY", "_SUPPRESS_HTTP_INSTRUMENTATION_KEY")
        ]
        values = dict.fromkeys([*filter(None, own), "suppress_instrumentation"], True)
    context = api.get_current()
    for key, value in values.items():
        context = api.set_value(key, value, context)
    token = api.attach(context)
    try:
        yield
    finally:
        api.detach(token)
