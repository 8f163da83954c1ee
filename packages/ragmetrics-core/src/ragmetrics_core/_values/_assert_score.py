"""An assertion about one score, for tests. Its message shows the evidence, so there is no need to run a failed test again.

It needs no test framework. A plain comparison (``assert score.value >= 0.8``) would only report that 0.5 is less than 0.8, and for
a score without a value, that None cannot be compared.
"""

from __future__ import annotations

import math

from ._errors import InvalidInput
from ._evidence import evidence_in_words, in_words, one_line
from ._score import Score

NEAR = {"rel_tol": 1e-9, "abs_tol": 1e-18}
"""The tolerances within which a value counts as equal to the bound: a mean of tenths is seldom exact."""

DIGITS = range(2, 12)
LONGEST_NAME = 80
"""The largest number of characters of a metric's name in a message."""


def assert_score(score: Score, *, at_least: float | None = None, at_most: float | None = None) -> None:
    """Fail unless the score has a value within the bounds: ``assert_score(score, at_least=0.8)``.

    Args:
        score: what a metric returned.
        at_least: the lowest value that passes, on the scale of the metric.
        at_most: the highest value that passes, for metrics for which low values are good.

    Raises:
        AssertionError: the value is out of bounds, or the score has no value, because it is unscored or failed. The message shows
            the evidence of the value, or why there is none.
        InvalidInput: no bound is given, a bound is not a number on the scale of the score, or ``at_least`` is above ``at_most``.
        TypeError: ``score`` is not a ``Score``.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    if not isinstance(score, Score):
        raise TypeError(
            f"assert_score takes the Score that a metric returns, got {type(score).__name__}: pass the whole score, not its "
            'value; from a row, pass the score of one metric, such as row["faithfulness"]'
        )
    _check_bounds(score, at_least, at_most)
    name = one_line(score.metric or "the score", LONGEST_NAME)
    if score.value is None:
        was = "was " if score.state == "unscored" else ""
        raise AssertionError(f"{name} {was}{in_words(score)}; it should be {_wanted(at_least, at_most)}")
    for sign, relation, bound in ((1, "<", at_least), (-1, ">", at_most)):
        if bound is None or sign * (bound - score.value) <= 0 or math.isclose(score.value, bound, **NEAR):
            continue
        evidence = evidence_in_words(score, only_failing=relation == "<")
        text = f"{name} {_shown(score.value, bound)} {relation} {bound:.12g}"
        raise AssertionError(f"{text}; {evidence}" if evidence else text)


def _wanted(at_least: float | None, at_most: float | None) -> str:
    bounds = (("at least", at_least), ("at most", at_most))
    return " and ".join(f"{words} {bound:.12g}" for words, bound in bounds if bound is not None)


def _shown(value: float, bound: float) -> str:
    """Return the value with two decimals, or with more if it would otherwise look equal to the bound."""
    texts = (f"{value:.{digits}f}" for digits in DIGITS)
    return next((text for text in texts if float(text) != bound), repr(value))


def _check_bounds(score: Score, at_least: float | None, at_most: float | None) -> None:
    if at_least is None and at_most is None:
        raise InvalidInput("assert_score needs a bound: write at_least=0.8, or at_most=0.1 where low values are good")
    for name, bound in (("at_least", at_least), ("at_most", at_most)):
        if bound is None:
            continue
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
            raise InvalidInput(f"{name} must be a finite number, got {bound!r}")
        if score.scale is not None and not score.scale[0] <= bound <= score.scale[1]:
            low, high = score.scale
            raise InvalidInput(
                f"{name}: {score.metric or 'the score'} goes from {low:g} to {high:g}, so {bound:g} cannot be a bound"
            )
    if at_least is not None and at_most is not None and at_least > at_most:
        raise InvalidInput(f"at_least={at_least:g} is above at_most={at_most:g}, so no score could pass")
