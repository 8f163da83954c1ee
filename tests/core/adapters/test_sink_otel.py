"""``OTelSink``, with the real SDK of OpenTelemetry."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider, export
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

from ragmetrics_core import Score
from ragmetrics_core.adapters import OTelSink, current_span, in_span, observe
from ragmetrics_core.metrics import ExactMatch
from sink_records import SCORES, SPAN, TRACE, Judged

Memory: Any = getattr(export, "InMemoryLogRecordExporter", None) or getattr(export, "InMemoryLogExporter", None)
"""Under its name since 1.39, and under its former one."""


class Telemetry:
    """A sink, and what it emitted."""

    def __init__(self) -> None:
        self._exporter, self._reader = Memory(), InMemoryMetricReader()
        loggers = LoggerProvider()
        loggers.add_log_record_processor(export.SimpleLogRecordProcessor(self._exporter))
        self.sink = OTelSink(loggers, MeterProvider([self._reader]))

    @property
    def events(self) -> list[Any]:
        return [item.log_record for item in self._exporter.get_finished_logs()]

    def points(self) -> dict[str, list[Any]]:
        data: Any = self._reader.get_metrics_data()
        (scope,) = data.resource_metrics[0].scope_metrics
        return {metric.name: list(metric.data.data_points) for metric in scope.metrics}


def test_events_follow_the_semantic_conventions() -> None:
    telemetry = Telemetry()
    telemetry.sink(Judged(SCORES, {"trace_id": TRACE, "span_id": SPAN, "response_id": "chatcmpl-1"}))
    assert [event.event_name for event in telemetry.events] == ["gen_ai.evaluation.result"] * 3
    assert [(event.trace_id, event.span_id) for event in telemetry.events] == [(int(TRACE, 16), int(SPAN, 16))] * 3
    common = {"gen_ai.response.id": "chatcmpl-1"}
    assert [dict(event.attributes) for event in telemetry.events] == [
        common
        | {
            "gen_ai.evaluation.name": "faithfulness",
            "gen_ai.evaluation.score.value": 0.5,
            "gen_ai.evaluation.score.label": "fail",
            "gen_ai.evaluation.explanation": "1 of 2 claims",
        },
        common
        | {
            "gen_ai.evaluation.name": "relevancy",
            "gen_ai.evaluation.explanation": "failed: ModelError: judge cannot be reached",
            "error.type": "ModelError",
        },
        common
        | {
            "gen_ai.evaluation.name": "recall",
            "gen_ai.evaluation.score.label": "no_reference",
            "gen_ai.evaluation.explanation": "not scored: no reference",
        },
    ]


def test_metrics() -> None:
    telemetry = Telemetry()
    telemetry.sink(Judged(SCORES))
    telemetry.sink(Judged({"faithfulness": Score(1.0), "relevancy": Score.failed("it is broken")}))
    points = telemetry.points()
    (scores,) = points["ragmetrics.evaluation.score"]
    assert (dict(scores.attributes), scores.count, scores.sum) == ({"gen_ai.evaluation.name": "faithfulness"}, 2, 1.5)
    counts = dict(zip((*scores.explicit_bounds, "more"), scores.bucket_counts, strict=True))
    assert {bound: count for bound, count in counts.items() if count} == {0.5: 1, 1.0: 1}
    failures = points["ragmetrics.evaluation.failures"]
    assert [(dict(point.attributes), point.value) for point in failures] == [
        ({"gen_ai.evaluation.name": "relevancy", "error.type": "ModelError"}, 1),
        ({"gen_ai.evaluation.name": "relevancy", "error.type": "_OTHER"}, 1),
    ]
    tokens = points["ragmetrics.evaluation.tokens"]
    assert [(point.attributes["gen_ai.token.type"], point.value) for point in tokens] == [("input", 30), ("output", 4)]


def test_the_current_span_comes_first() -> None:
    telemetry = Telemetry()
    with in_span(("1" * 32, "2" * 16)):
        telemetry.sink(Judged(SCORES))
    assert {(event.trace_id, event.span_id) for event in telemetry.events} == {(int("1" * 32, 16), int("2" * 16, 16))}


def test_a_span_of_the_sdk() -> None:
    telemetry = Telemetry()
    with TracerProvider().get_tracer("app").start_as_current_span("call") as span:
        found = span.get_span_context()
        assert current_span() == (f"{found.trace_id:032x}", f"{found.span_id:016x}")
        telemetry.sink(Judged(SCORES, {}))
    telemetry.sink(Judged(SCORES, {}))
    ids = [(event.trace_id, event.span_id) for event in telemetry.events]
    assert ids == [(found.trace_id, found.span_id)] * 3 + [(0, 0)] * 3


def test_scores_of_live_evaluation_arrive() -> None:
    telemetry = Telemetry()
    observer = observe(ExactMatch(), sinks=[telemetry.sink])
    with observer as record:
        record.update(answer="a", reference="a", trace_id=TRACE, span_id=SPAN)
    assert observer.flush(60)
    (event,) = telemetry.events
    assert (event.span_id, event.attributes["gen_ai.evaluation.score.value"]) == (int(SPAN, 16), 1.0)


def test_without_opentelemetry() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
from ragmetrics_core.adapters import OTelSink
try:
    OTelSink()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'MissingExtra OTelSink needs opentelemetry-api: pip install "ragmetrics-core[otel]"\n'
