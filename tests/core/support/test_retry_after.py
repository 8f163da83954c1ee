"""How long a server asks to wait: seconds, milliseconds, or a date."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragmetrics_core.adapters import seconds_to_wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "much", "retry-after": "1"}, 1.0),
        ({"retry-after-ms": "-1"}, None),
        ({"retry-after-ms": "-1", "retry-after": "2"}, 2.0),
        ({"retry-after": "\t 7 "}, 7.0),
    ],
)
def test_what_headers_say(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(headers) == seconds


def test_a_date_to_come() -> None:
    then = datetime.now(timezone.utc) + timedelta(seconds=90)
    found = seconds_to_wait({"retry-after": format_datetime(then, usegmt=True)})
    assert found is not None
    assert 80 < found <= 90


ABSURD = [
    "Wed, 21 Oct 2015 07:28:00 +99999999999999999",
    "Wed, 21 Oct 2015 07:28:00 -99999999999999999",
    "Wed, 21 Oct 9999 07:28:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "Wed, 21 Oct " + "9" * 5000 + " 07:28:00 GMT",
    "Wed, 21 Oct 2015 " + "9" * 5000 + ":28:00 GMT",
    "9" * 5000,
    "9" * 15,
    "0." + "0" * 5000 + "1",
    "1e400",
    "1e3",
    "1_000",
    "0x10",
    "+5",
    "-0.5",
    "NaN",
    "-inf",
    "Infinity",
    "\u0661\u0662",  # twelve, in digits that Python would read
    "\uff13",
    "\u00a05",  # after a space that Python would strip
    "1, 2",
    "\x00",
    "31622400001",  # more than a year, even of milliseconds
]


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("text", ABSURD, ids=lambda text: ascii(text[:40]))
def test_the_absurd_says_nothing(text: str, name: str) -> None:
    assert seconds_to_wait({name: text}) is None


DATES = st.from_regex(
    r"(?a)[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d{1,4}:\d{1,4}:\d{1,4} ([+-]\d{1,30}|[A-Z]{1,4})",
    fullmatch=True,
)
ANYTHING = st.one_of(st.text(max_size=80), DATES, st.floats().map(str), st.integers().map(str))


@given(ANYTHING, ANYTHING)
@example(ABSURD[0], ABSURD[0])
def test_whatever_stands_there_it_is_a_wait_or_nothing(seconds: str, milliseconds: str) -> None:
    found = seconds_to_wait({"retry-after": seconds, "retry-after-ms": milliseconds})
    assert found is None or 0 <= found <= 366 * 86_400
