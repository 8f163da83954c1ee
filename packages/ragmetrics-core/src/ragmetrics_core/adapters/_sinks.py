"""What sinks share: which scores they send, the span that the scores belong to, and requests to servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .._values._errors import RagmetricsError
from .._values._score import Score, is_asked
from ..llms._wire._post import post_json
from ._spans import current_span

MOST_READ = 100_000
"""The largest number of bytes of an answer."""

IDS = {"trace_id": re.compile("[0-9a-f]{32}"), "span_id": re.compile("[0-9a-f]{16}")}


class JudgedCall(Protocol):
    """A call of an application, or a row of a run, with its scores."""

    @property
    def scores(self) -> Any:
        """The scores by the name of the metric; empty if the call was not judged."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; ``sample`` and ``scores`` are two of them."""
        ...


def asked_scores(record: JudgedCall) -> dict[str, Score]:
    """Return the scores of the metrics that were asked about this record."""
    return {name: score for name, score in record.scores.items() if is_asked(score)}


def metadata_of(parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of the sample in the result of ``to_dict``."""
    return (parts.get("sample") or {}).get("metadata") or {}


def span_of(parts: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the ids of the trace and the span that a record belongs to: the current ones, else those in the metadata of its
    sample (``trace_id``: 32 hexadecimal digits; ``span_id``: 16). An id that is not known is None.
    """
    metadata = metadata_of(parts)
    given = (str(metadata.get(name, "")).lower() for name in IDS)
    return current_span() or tuple(
        text if form.fullmatch(text) else None for text, form in zip(given, IDS.values(), strict=True)
    )  # type: ignore[return-value]  # two ids


def label_of(score: Score) -> str | None:
    """Return the label of a score, else whether it passed, as ``pass`` or ``fail``; None if it has neither."""
    return score.label or (None if score.passing is None else "pass" if score.passing else "fail")


def error_type(score: Score) -> str | None:
    """Return the class of a failed score's error, such as ``ModelError``; ``_OTHER`` if it is not known; None if nothing failed."""
    if score.error is None:
        return None
    kind = score.error.partition(":")[0]
    return kind if kind.isidentifier() else "_OTHER"


def post(
    url: str, body: Any, headers: Mapping[str, str], *, to: str, expects: str, secrets: Iterable[str], timeout: float
) -> dict[str, Any]:
    """Send JSON to a server and return its answer; arguments as for ``post_json``.

    ``expects`` is a field that its answer has, so that another server at this address is noticed.

    Raises:
        RagmetricsError: the server cannot be reached, refuses the request, or gives another answer.
    """
    found = post_json(url, body, headers, to=to, secrets=secrets, timeout=timeout, most=MOST_READ)
    if isinstance(found, dict) and expects in found:
        return found
    raise RagmetricsError(f"{to} gives an answer without {expects!r}: is the address right?")
