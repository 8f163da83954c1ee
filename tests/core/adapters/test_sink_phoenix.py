"""``PhoenixSink`` with a real server; `nox -s phoenix` installs one."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from ragmetrics_core.adapters import PhoenixSink, current_span
from sink_records import SCORES, Judged

PHOENIX = shutil.which("phoenix")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PHOENIX is None, reason="arize-phoenix is not installed: nox -s phoenix"),
]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def read(address: str) -> Any:
    with urlopen(address, timeout=5) as answer:
        return json.loads(answer.read() or "null")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    own = {
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_WORKING_DIR": str(tmp_path),
    }
    server = subprocess.Popen([str(PHOENIX), "serve"], env={**os.environ, **own}, cwd=tmp_path)
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 120
        while True:
            try:
                read(f"{address}/v1/projects")
                break
            except (URLError, ConnectionError):
                assert time.monotonic() < end
                assert server.poll() is None
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def annotated(address: str, span: str, count: int) -> list[Any]:
    """The annotations of a span, sorted by name, when there are so many."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = []
        with suppress(HTTPError):  # until the first span has arrived, there is no project
            found = read(f"{address}/v1/projects/default/span_annotations?span_ids={span}")["data"]
        if len(found) == count:
            return sorted(found, key=lambda item: item["name"])
        time.sleep(0.2)
    raise AssertionError(f"no {count} annotations after a minute")


def test_annotations_of_a_span(address: str) -> None:
    """They are sent before the span arrives, as it may be with spans that are sent in batches, and then once more."""
    exporter = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter.OTLPSpanExporter(f"{address}/v1/traces")))
    sink = PhoenixSink(address)
    with provider.get_tracer("app").start_as_current_span("call"):
        ids = current_span()
        assert ids is not None
        sink(Judged(SCORES, {}))
        time.sleep(3)
    found = annotated(address, ids[1], 3)
    assert [(item["name"], item["annotator_kind"], item["identifier"]) for item in found] == [
        ("faithfulness", "LLM", "ragmetrics"),
        ("recall", "LLM", "ragmetrics"),
        ("relevancy", "LLM", "ragmetrics"),
    ]
    assert [item["result"] for item in found] == [
        {"label": "fail", "score": 0.5, "explanation": "1 of 2 claims"},
        {"label": "no_reference", "score": None, "explanation": "not scored: no reference"},
        {"label": "failed", "score": None, "explanation": "failed: ModelError: judge cannot be reached"},
    ]
    assert [item["metadata"] for item in found] == [
        {"scale": [0, 1]},
        {},
        {"error": "ModelError: judge cannot be reached", "error.type": "ModelError"},
    ]
    sink(Judged({**SCORES, "more": SCORES["faithfulness"]}, {"span_id": ids[1]}))
    assert [item["name"] for item in annotated(address, ids[1], 4)] == ["faithfulness", "more", "recall", "relevancy"]
