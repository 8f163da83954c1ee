"""What sinks share: which scores they send, the span that the scores belong to, and requests to servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .._support._secrets import mask
from .._values._errors import InvalidInput, RagmetricsError
from .._values._score import Score, is_asked
from ..llms._wire._connections import bare_url, check_url, is_of_this_machine
from ._spans import current_span

MOST_READ = 100_000
"""The bytes of an answer that are read."""

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


def asked(record: JudgedCall) -> dict[str, Score]:
    """Return the scores of the metrics that were asked about this record."""
    return {name: score for name, score in record.scores.items() if is_asked(score)}


def metadata_of(parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of the sample in what ``to_dict`` returned."""
    return (parts.get("sample") or {}).get("metadata") or {}


def span_of(parts: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the ids of the trace and the span that a record belongs to: those that are current, else those in the metadata of its
    sample (``trace_id``: 32 hexadecimal digits; ``span_id``: 16). None stands for an id that is not known.
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


def check_address(name: str, url: object, *, has_key: bool) -> str:
    """Return the address of a server, without a slash at its end.

    Raises:
        InvalidInput: it is not an address, or a key would travel over a network without encryption.
    """
    check_url(url, name)
    address = bare_url(str(url))
    if has_key and address.startswith("http://") and not is_of_this_machine(address):
        raise InvalidInput(f"{name} must start with https://, because a key is sent there, got {address!r}")
    return address


def post(
    url: str, body: Any, headers: Mapping[str, str], *, to: str, expects: str, secrets: Iterable[str], timeout: float
) -> dict[str, Any]:
    """Send JSON to a server and return its answer. Redirects are not followed, since they could lead a key elsewhere.

    Args:
        url: the whole address.
        body: JSON values.
        headers: further headers.
        to: the name of the server in messages.
        expects: a field that its answer has, so that another server at this address is noticed.
        secrets: texts that are never shown.
        timeout: seconds without a byte after which the server counts as dead.

    Raises:
        RagmetricsError: the server cannot be reached, refuses the request, or gives another answer.
    """
    from http.client import HTTPException  # noqa: PLC0415  costly to import
    from urllib.error import HTTPError  # noqa: PLC0415
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener  # noqa: PLC0415

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    direct = [ProxyHandler({})] if is_of_this_machine(url) else []
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    request = Request(url, data, {"Content-Type": "application/json", **headers}, method="POST")  # noqa: S310  checked
    try:
        with build_opener(Stay, *direct).open(request, timeout=timeout) as answer:
            found = json.loads(answer.read(MOST_READ))
        if isinstance(found, dict) and expects in found:
            return found
        problem = f"gives an answer without {expects!r}: is the address right?"
    except HTTPError as error:
        with error:
            problem = f"answers {error.code}: {error.read(MOST_READ).decode('utf-8', 'replace')}"
    except (OSError, HTTPException, ValueError) as error:
        problem = f"gives no valid answer: {type(error).__name__}: {error}"
    raise RagmetricsError(f"{to} {mask(' '.join(problem.split()), secrets)}")
