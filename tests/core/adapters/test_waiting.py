"""How long a server asks to wait: seconds, milliseconds, or a date."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from ragmetrics_core.adapters import seconds_to_wait


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "much", "retry-after": "1"}, 1.0),
        ({"retry-after-ms": "-1"}, 0.0),
    ],
)
def test_what_headers_say(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_to_wait(headers) == seconds


def test_a_date_to_come() -> None:
    then = datetime.now(timezone.utc) + timedelta(seconds=90)
    found = seconds_to_wait({"retry-after": format_datetime(then, usegmt=True)})
    assert found is not None
    assert 80 < found <= 90
