"""The span of OpenTelemetry in which a call of the application runs. OpenTelemetry is used only if the application loaded it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SpanIds = tuple[str, str]
"""The ids of a trace and of one of its spans: 32 and 16 hexadecimal digits."""


def current_span() -> SpanIds | None:
    """Return the ids of OpenTelemetry's current span; None if there is none, or if OpenTelemetry is not loaded."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    get_span = getattr(trace, "get_current_span", None)  # missing while another thread is still loading it
    if get_span is None:
        return None
    span = get_span().get_span_context()
    return (f"{span.trace_id:032x}", f"{span.span_id:016x}") if span.is_valid else None


@contextmanager
def in_span(ids: SpanIds | None) -> Iterator[None]:
    """Make a span current for the block, such as that of the call which a sink gets the scores of. It records nothing itself.

    Args:
        ids: what ``current_span`` returned; None changes nothing.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if ids is None or trace is None:
        yield
        return
    trace_id, span_id = (int(part, 16) for part in ids)
    context = trace.SpanContext(
        trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED)
    )
    with trace.use_span(trace.NonRecordingSpan(context)):
        yield
