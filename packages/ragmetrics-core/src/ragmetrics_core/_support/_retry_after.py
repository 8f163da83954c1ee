"""How long a server asks to wait, parsed from the headers of its refusal.

Headers cannot be trusted: a value that is neither a plain number of seconds nor a date, or that is more than a year, is ignored. It
is never an error, because a row must not fail because of a header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NUMBER = re.compile(r"[ \t]*([0-9]{1,15}(?:\.[0-9]{0,15})?)[ \t]*")
"""A number without sign, exponent or digits of other scripts, all of which ``float`` would accept."""

DATE_AT_MOST = 64
"""The largest number of characters of a date; a date of the standard has 29."""

YEAR = 366 * 86_400.0
"""The largest waiting time in seconds that is believed."""


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, never negative; None if the headers name no time.

    ``retry-after-ms`` (OpenAI, Azure) is preferred, because it is more precise; ``Retry-After`` contains seconds or a date (RFC
    9110, 10.2.3).

    Args:
        headers: the headers of the answer, with names in lower case, or in a mapping that ignores case.
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
    except (ValueError, TypeError, IndexError, OverflowError):  # errors that the parser raises for invalid dates
        return None
