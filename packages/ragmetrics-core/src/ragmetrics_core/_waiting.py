"""How long a server asks to wait, from the headers of its refusal."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["seconds_to_wait"]


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds, never negative; None where the headers do not say.

    ``retry-after-ms`` (OpenAI, Azure) is the more precise one; ``Retry-After`` holds seconds or a date (RFC 9110, 10.2.3).

    Args:
        headers: of the answer, by names in lower case, or a mapping that does not mind case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return seconds if seconds is not None or not text else _until(text)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if abs(number) < float("inf") else None


def _until(date: str) -> float | None:
    from datetime import datetime, timezone  # noqa: PLC0415  rarely needed
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  costly to import

    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    if then.tzinfo is None:  # "-0000" in a date means UTC
        then = then.replace(tzinfo=timezone.utc)
    return max((then - datetime.now(timezone.utc)).total_seconds(), 0.0)
