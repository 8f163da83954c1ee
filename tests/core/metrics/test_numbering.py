"""Numbers of passages, as verdicts name them."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core.metrics.checks import once_each


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], ()),
        ([3, 1, 3], (1, 3)),
        ([2] * 9, (2,)),
        (range(9, 0, -1), (1, 2, 3, 4, 5, 6, 7, 8, 9)),
        (iter([2, 1]), (1, 2)),
        ([True], [True]),
        ([1.0, 2], [1.0, 2]),
        (["b", "a", "b"], ["a", "b"]),
    ],
)
def test_once_each_in_order(numbers: Any, expected: Any) -> None:
    found = once_each(numbers)
    assert (found, list(map(type, found))) == (expected, list(map(type, expected)))
    assert type(found) is type(expected)


def test_equal_numbers_of_other_types_are_not_confused() -> None:
    assert [repr(once_each([one])) for one in (1, True, 1.0, 1)] == ["(1,)", "[True]", "[1.0]", "(1,)"]
