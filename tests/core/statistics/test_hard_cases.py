"""Where intervals were too sure, or a judge was said to help: good judges, coins, unequal weights, scores close to an end."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.statistics import (
    Interval,
    agreement,
    corrected_mean,
    mean_interval,
    paired_difference,
    rate_interval,
)

UNIT = (0.0, 1.0)


@cache
def kappa_interval(drawn: tuple[tuple[tuple[int, int], int], ...]) -> Interval | None:
    """Of so many rows with these verdicts of judge and people."""
    judge, people = zip(*(cell for cell, count in drawn for _ in range(count)), strict=True)
    return agreement(judge, people).kappa.interval


@pytest.mark.slow
@pytest.mark.usefixtures("untraced")
class TestHowOften:
    @pytest.mark.parametrize("rows", [20, 30, 50, 100, 200])
    @pytest.mark.parametrize("right", [0.98, 0.99])
    def test_kappa_of_good_judges(self, right: float, rows: int) -> None:
        """Sensitivity and specificity are ``right``, half of the rows pass: kappa is 2 * right - 1."""
        rng, held, counted = random.Random(f"{right} {rows}"), 0, 0
        cells = [(1, 1), (0, 1), (0, 0), (1, 0)]  # the judge's verdict, people's
        chances = [right / 2, (1 - right) / 2, right / 2, (1 - right) / 2]
        for _ in range(1000):
            drawn = Counter(rng.choices(cells, chances, k=rows))
            found = kappa_interval(tuple(sorted(drawn.items())))
            counted += found is not None
            held += found is not None and found.low <= 2 * right - 1 <= found.high
        assert held / counted >= 0.92  # 0.93 less a standard error and a half

    @pytest.mark.parametrize("rows", [15, 30, 100])
    def test_means_close_to_the_end_of_the_scale(self, rows: int) -> None:
        rng, held = random.Random(rows), 0
        for _ in range(1000):
            found = mean_interval([rng.betavariate(7.84, 0.16) for _ in range(rows)], scale=UNIT)
            held += found is not None and found.low <= 0.98 <= found.high
        assert held / 1000 >= 0.92  # 0.93 less two standard errors

    def test_few_unequal_changes(self) -> None:
        """One row in ten falls: by 1 in a fifth of these, else by 0.2."""
        rng, held = random.Random(4), 0
        for _ in range(400):
            after = [1.0 if rng.random() >= 0.1 else 0.0 if rng.random() < 0.2 else 0.8 for _ in range(50)]
            found = paired_difference([1.0] * 50, after, scale=UNIT).interval
            held += found is not None and found.low <= -0.036 <= found.high
        assert held / 400 >= 0.97

    def test_a_coin_is_no_help(self) -> None:
        rng, helps = random.Random(1), 0
        for _ in range(60):
            labels = [rng.random() < 0.7 if row < 100 else None for row in range(300)]
            helps += corrected_mean([rng.random() < 0.5 for _ in range(300)], labels).judge_helps
        assert helps <= 3

    def test_a_good_judge_is_one_and_by_how_much(self) -> None:
        rng = random.Random(2)
        truth = [rng.random() < 0.7 for _ in range(1000)]
        judged = [value if rng.random() < 0.95 else not value for value in truth]
        found = corrected_mean(judged, [value if row < 100 else None for row, value in enumerate(truth)])
        assert found.judge_helps
        assert found.gain is not None
        assert 0.3 < found.gain < 0.7


class TestUnequalWeights:
    def test_too_unequal_for_an_interval(self) -> None:
        """Two of 20 labels have the weight 50: 118² / 5018 = 2.8 would be refused; with 5 of 30 275² / 12525 = 6.0 are left."""
        labels = [row % 3 > 0 for row in range(30)]
        found = corrected_mean(
            [row % 2 for row in range(60)], [*labels, *[None] * 30], [50.0] * 5 + [1.0] * 25 + [None] * 30
        )
        assert (found.interval, found.label_interval, found.method) == (None, None, "none")
        assert found.note == (
            "there is no interval: the weights are so unequal that 30 labels show no more than 6.0 of equal weight would, and it "
            "takes 10: label more rows"
        )

    def test_few_labels_of_equal_weight_have_one(self) -> None:
        found = corrected_mean([0, 1] * 10, [True, False] * 4 + [None] * 12, [2.0] * 8 + [None] * 12)
        assert found.interval is not None


class TestOddValues:
    def test_true_and_false_of_numpy(self) -> None:
        assert mean_interval(np.array([True] * 9 + [False])) == rate_interval(9, 10)

    def test_a_text_among_labels(self) -> None:
        message = r"^labels\[1\] is 'a': give a finite number, or None if the row has no label$"
        for call in (corrected_mean, agreement):
            with pytest.raises(InvalidInput, match=message):
                call([0.5] * 10, [1, "a"] * 5)  # type: ignore[list-item, operator]

    def test_numbers_whose_squares_are_infinite(self) -> None:
        with pytest.raises(InvalidInput, match=r"^values\[0\] is 1e\+308: give numbers up to 1e\+100$"):
            mean_interval([1e308, -1e308])
        with pytest.raises(InvalidInput, match=r"^before\[0\] is 1e\+308: give numbers up to 1e\+100$"):
            paired_difference([1e308, 0.0], [0.0, 1.0])
