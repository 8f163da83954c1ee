"""How long a server asks to wait, from the headers of its refusal.

Headers come from strangers: one that is not plainly a number of seconds or a date, or that asks for more than a year, is
ignored. It is never an error, since no row may be lost to a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NUMBER = re.compile(r"[ \t]*([0-9]{1,15}(?:\.[0-9]{0,15})?)[ \t]*")
"""No sign, no exponent, no digits of other scripts: Python would read all of these."""

DATE_AT_MOST = 64
"""Characters of a date; those of the standard have 29."""

YEAR = 366 * 86_400.0
"""Seconds; a header that asks for more means something else."""


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds, never negative; None where the headers do not say.

    ``retry-after-ms`` (OpenAI, Azure) is more precise; ``Retry-After`` holds seconds or a date (RFC 9110, 10.2.3).

    Args:
        headers: those of the answer, with names in lower case, or in a mapping that ignores case.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None and milliseconds / 1000 <= YEAR:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is None and text:
        seconds = _until(text)
    return seconds if seconds is not None and seconds <= YEAR else None


def _number(text: str | None) -> float | None:
    found = NUMBER.fullmatch(text or "")
    return float(found[1]) if found else None


def _until(date: str) -> float | None:
    from datetime import datetime, timezone  # noqa: PLC0415  rarely needed
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  costly to import

    if len(date) > DATE_AT_MOST:
        return None
    try:
        then = parsedate_to_datetime(date)
        if then.tzinfo is None:  # "-0000" in a date means UTC
            then = then.replace(tzinfo=timezone.utc)
        return max((then - datetime.now(timezone.utc)).total_seconds(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):  # the parser raises all of these on nonsense
        return None
