"""Several tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence

from .._kernel._errors import InvalidInput


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted for that several hypotheses are tested at once.

    Whoever calls a difference real where the adjusted value is at most 0.05 does so wrongly for any of the hypotheses in at
    most 5 % of all such families, however the tests depend on each other. The smallest of m values is multiplied by m, the next
    by m - 1, and so on; none falls below one before it, and none exceeds 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65, p. 67.

    Args:
        p_values: from 0 to 1, one for each hypothesis; None where there is no test, which then does not count.

    Returns:
        The adjusted values in the same order, with None in the same places.

    Raises:
        InvalidInput: if a value is no number from 0 to 1.
    """
    for place, value in enumerate(p_values):
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput(
                f"p_values[{place}] is {value!r}: give numbers from 0 to 1, or None where there is no test"
            )
    tested = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (value, place) in enumerate(tested):
        largest = max(largest, min((len(tested) - rank) * value, 1.0))
        adjusted[place] = largest
    return adjusted
