"""The span of a call: found if OpenTelemetry is loaded, and made current for those who get the scores."""

from __future__ import annotations

import subprocess
import sys

from opentelemetry import trace

from ragmetrics_core.adapters import current_span, in_span

IDS = "000000000000000000000000000000ab", "00000000000000cd"


def test_no_span_is_current() -> None:
    assert current_span() is None
    with in_span(None):
        assert current_span() is None


def test_the_span_of_an_application_is_found() -> None:
    span = trace.NonRecordingSpan(trace.SpanContext(0xAB, 0xCD, is_remote=False))
    with trace.use_span(span):
        assert current_span() == IDS
    assert current_span() is None


def test_ids_are_made_current() -> None:
    with in_span(IDS):
        found = trace.get_current_span().get_span_context()
        assert current_span() == IDS
        assert (found.trace_id, found.span_id, found.is_remote, found.trace_flags.sampled) == (0xAB, 0xCD, True, True)
        with in_span(("1" * 32, "2" * 16)):
            assert current_span() == ("1" * 32, "2" * 16)
        assert current_span() == IDS
    assert current_span() is None


def test_opentelemetry_is_not_loaded_for_it() -> None:
    code = """
import sys
from ragmetrics_core.adapters import current_span, in_span
with in_span(("1" * 32, "2" * 16)):
    print(*current_span())
print(current_span(), "opentelemetry" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{'1' * 32} {'2' * 16}\nNone False\n"
