"""A sink that sends scores to Phoenix."""

from __future__ import annotations

import os
from typing import Any

from .._values._errors import RagmetricsError
from .._values._score import Score
from .._values._settings import check_seconds
from ..llms._wire._connections import check_header
from ..llms._wire._post import check_address
from ._sinks import JudgedCall, asked_scores, error_type, label_of, post, span_of


class PhoenixSink:
    """Annotate the judged spans in Arize Phoenix: ``sinks=[PhoenixSink()]``.

    An annotation has the score, its label and its explanation. A failed score has the label ``failed`` and no score, and its error
    in the metadata; an unscored sample has the label ``unscored``, unless the score has a label. Annotations that are sent again
    replace the earlier ones. Phoenix keeps annotations for some seconds if the span has not arrived yet.

    The span is OpenTelemetry's current one, else the one with the ``span_id`` in the metadata of the sample.

    Args:
        endpoint: the address of Phoenix; default: the environment variable ``PHOENIX_COLLECTOR_ENDPOINT``, else
            ``http://localhost:6006``. With a key it must start with https, except on this machine.
        api_key: the key, if Phoenix asks for one; default: ``PHOENIX_API_KEY``.
        timeout: seconds after which a server that does not answer counts as dead.

    Raises:
        InvalidInput: the address is not valid.
        ModelError: the key has a character that no header may have.
    """

    workers = 8
    """How many requests are made at the same time."""

    def __init__(self, endpoint: str | None = None, api_key: str | None = None, *, timeout: float = 10.0) -> None:
        check_seconds("timeout", timeout, or_none=False)
        key = api_key or os.environ.get("PHOENIX_API_KEY")
        check_header("api_key", key)
        address = endpoint or os.environ.get("PHOENIX_COLLECTOR_ENDPOINT") or "http://localhost:6006"
        self._url = f"{check_address('endpoint', address, has_key=bool(key))}/v1/span_annotations"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._secrets = [key] if key else []
        self._timeout = timeout

    def __call__(self, record: JudgedCall) -> None:
        """Send the scores of a record.

        Raises:
            RagmetricsError: the record belongs to no span, or Phoenix did not accept the annotations.
        """
        scores = asked_scores(record)
        if not scores:
            return
        _, span = span_of(record.to_dict())
        if span is None:
            raise RagmetricsError("the scores belong to no span: run the call in a span, or give metadata a span_id")
        body = {"data": [_annotation(name, score, span) for name, score in scores.items()]}
        post(self._url, body, self._headers, to="Phoenix", expects="data", secrets=self._secrets, timeout=self._timeout)


def _annotation(name: str, score: Score, span: str) -> dict[str, Any]:
    label = label_of(score) or (None if score.state == "scored" else score.state)
    result = {"label": label, "score": score.value, "explanation": score.explain()}
    metadata = {"error": score.error, "error.type": error_type(score), "scale": score.scale}
    return {
        "span_id": span,
        "name": name,
        "annotator_kind": "LLM",
        "identifier": "ragmetrics",
        "result": {key: value for key, value in result.items() if value is not None},
        "metadata": {key: value for key, value in metadata.items() if value is not None},
    }
