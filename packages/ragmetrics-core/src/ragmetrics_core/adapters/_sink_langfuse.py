"""A sink that sends scores to Langfuse."""

from __future__ import annotations

import base64
import hashlib
import os
from datetime import datetime, timezone
from typing import Any

from .._support._secrets import mask
from .._values._errors import InvalidInput, RagmetricsError
from .._values._score import Score
from .._values._settings import check_seconds
from ..llms._wire._post import check_address
from ._sinks import JudgedCall, asked_scores, error_type, label_of, post, span_of


class LangfuseSink:
    """Send every score to Langfuse, to the observation that was judged: ``sinks=[LangfuseSink()]``.

    A score is sent as a number, with its explanation as the comment. A failed score of the metric ``NAME`` has no number: it is
    sent as the category ``NAME.error``, whose value is the class of the error. Unscored samples are not sent. Scores that are sent
    again replace the earlier ones, as each has an id of its trace, its observation and its metric.

    The trace and the observation come from OpenTelemetry's current span, which Langfuse's own SDK sets; else the ``trace_id``
    and ``span_id`` in the metadata of the sample.

    Args:
        public_key, secret_key: the keys of the project; default: the environment variables ``LANGFUSE_PUBLIC_KEY`` and
            ``LANGFUSE_SECRET_KEY``.
        host: the address; default: ``LANGFUSE_HOST``, else ``LANGFUSE_BASE_URL``, else ``https://cloud.langfuse.com``.
        timeout: seconds after which a server that does not answer counts as dead.

    Raises:
        InvalidInput: a key is missing, or the address is not one with https (http is accepted on this machine only).
    """

    workers = 8
    """How many requests are made at the same time."""

    def __init__(
        self,
        public_key: str | None = None,
        secret_key: str | None = None,
        host: str | None = None,
        *,
        timeout: float = 10.0,
    ) -> None:
        check_seconds("timeout", timeout, or_none=False)
        read = os.environ.get
        keys = public_key or read("LANGFUSE_PUBLIC_KEY"), secret_key or read("LANGFUSE_SECRET_KEY")
        if not all(keys):
            raise InvalidInput(
                "Langfuse needs its keys: give public_key and secret_key, or set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"
            )
        host = host or read("LANGFUSE_HOST") or read("LANGFUSE_BASE_URL") or "https://cloud.langfuse.com"
        self._url = f"{check_address('host', host, has_key=True)}/api/public/ingestion"
        basic = base64.b64encode(":".join(map(str, keys)).encode()).decode()
        self._headers = {"Authorization": f"Basic {basic}"}
        self._limits: dict[str, Any] = {"secrets": (basic, *map(str, keys)), "timeout": timeout}

    def __call__(self, record: JudgedCall) -> None:
        """Send the scores of a record.

        Raises:
            RagmetricsError: the record belongs to no trace, or Langfuse did not accept all scores.
        """
        scores = {name: score for name, score in asked_scores(record).items() if score.state != "unscored"}
        if not scores:
            return
        trace, span = span_of(record.to_dict())
        if trace is None:
            raise RagmetricsError("the scores belong to no trace: run the call in a span, or give metadata a trace_id")
        from uuid import uuid4  # noqa: PLC0415  rarely needed

        now = datetime.now(timezone.utc).isoformat()
        batch = [
            {"id": str(uuid4()), "type": "score-create", "timestamp": now, "body": _body(name, score, trace, span)}
            for name, score in scores.items()
        ]
        answer = post(self._url, {"batch": batch}, self._headers, to="Langfuse", expects="successes", **self._limits)
        if answer.get("errors"):
            raise RagmetricsError(
                f"Langfuse did not accept scores: {mask(str(answer['errors']), self._limits['secrets'])}"
            )


def _body(name: str, score: Score, trace: str, span: str | None) -> dict[str, Any]:
    failed = error_type(score)
    name = name if failed is None else f"{name}.error"
    metadata = {"passing": score.passing, "label": label_of(score), "scale": score.scale}
    return {
        "id": hashlib.sha256(f"{trace}/{span}/{name}".encode()).hexdigest()[:32],
        "traceId": trace,
        "name": name,
        "value": score.value if failed is None else failed,
        "dataType": "NUMERIC" if failed is None else "CATEGORICAL",
        "comment": score.explain(),
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        **({} if span is None else {"observationId": span}),
    }
