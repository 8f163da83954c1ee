"""A sink that emits scores as events and metrics of OpenTelemetry."""

from __future__ import annotations

import time
from typing import Any

from .._values._errors import MissingExtra
from .._values._score import Score
from ._sinks import JudgedCall, asked_scores, error_type, label_of, metadata_of, span_of
from ._spans import in_span

BOUNDARIES = (*(step / 10 for step in range(11)), 2.0, 3.0, 4.0, 5.0)
"""The buckets of the histogram of scores: most scales end at 1, ratings at 5."""


class OTelSink:
    """Emit every score as a log event ``gen_ai.evaluation.result`` under the span that was judged, as the semantic conventions of
    OpenTelemetry for generative AI say, and count it in metrics: ``sinks=[OTelSink()]``. It needs the extra ``otel``.

    A score has its value, its explanation and its label, else ``pass`` or ``fail`` if the metric gives a verdict. A failed score
    has ``error.type`` and no value. The span is the current one, else the one in the metadata of the sample (``trace_id``,
    ``span_id``); ``gen_ai.response.id`` is ``response_id`` in the metadata.

    The metrics are ``ragmetrics.evaluation.score`` (a histogram), ``ragmetrics.evaluation.failures`` (by ``error.type``) and
    ``ragmetrics.evaluation.tokens`` (of judges, by ``gen_ai.token.type``), each by ``gen_ai.evaluation.name``.

    Args:
        logger_provider, meter_provider: of OpenTelemetry; default: those that are set for the program.

    Raises:
        MissingExtra: opentelemetry-api is not installed.
    """

    def __init__(self, logger_provider: Any = None, meter_provider: Any = None) -> None:
        try:
            from opentelemetry import _logs, metrics  # noqa: PLC0415  optional
        except ImportError:
            raise MissingExtra('OTelSink needs opentelemetry-api: pip install "ragmetrics-core[otel]"') from None
        self._record: Any = _logs.LogRecord
        self._logger = _logs.get_logger("ragmetrics", logger_provider=logger_provider)
        meter = metrics.get_meter("ragmetrics", meter_provider=meter_provider)
        self._scores = meter.create_histogram(
            "ragmetrics.evaluation.score",
            description="Scores of the metrics.",
            explicit_bucket_boundaries_advisory=BOUNDARIES,
        )
        self._failures = meter.create_counter(
            "ragmetrics.evaluation.failures", unit="{score}", description="Scores that failed."
        )
        self._tokens = meter.create_counter(
            "ragmetrics.evaluation.tokens", unit="{token}", description="Tokens of judges."
        )

    def __call__(self, record: JudgedCall) -> None:
        """Emit the scores of a record."""
        parts = record.to_dict()
        trace_id, span_id = span_of(parts)
        response = metadata_of(parts).get("response_id")
        with in_span((trace_id, span_id) if trace_id and span_id else None):
            for name, score in asked_scores(record).items():
                event = self._record(
                    timestamp=time.time_ns(),
                    event_name="gen_ai.evaluation.result",
                    attributes=_attributes(name, score, None if response is None else str(response)),
                )
                self._logger.emit(event)
                self._count(name, score)

    def _count(self, name: str, score: Score) -> None:
        of_metric = {"gen_ai.evaluation.name": name}
        if score.value is not None:
            self._scores.record(score.value, of_metric)
        if (failed := error_type(score)) is not None:
            self._failures.add(1, {**of_metric, "error.type": failed})
        usage = score.usage
        for kind, tokens in (("input", usage.prompt_tokens), ("output", usage.completion_tokens)):
            if tokens:
                self._tokens.add(tokens, {**of_metric, "gen_ai.token.type": kind})


def _attributes(name: str, score: Score, response: str | None) -> dict[str, Any]:
    found = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": label_of(score),
        "gen_ai.evaluation.explanation": score.explain(),
        "gen_ai.response.id": response,
        "error.type": error_type(score),
    }
    return {key: value for key, value in found.items() if value is not None}
