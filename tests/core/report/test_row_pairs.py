"""Which rows of two runs are the same row: ids, questions, repeats, and what is refused."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report.comparing import FAILED, by_id, run_of
from ragmetrics_core import Evaluation, InvalidInput


def rows(*fields: dict[str, Any], name: str = "", values: list[Any] | None = None) -> Evaluation:
    numbers = values or [0.5] * len(fields)
    return run_of([(item, {"m": value}) for item, value in zip(fields, numbers, strict=True)], name=name)


def refused(before: Evaluation, after: Evaluation) -> str:
    with pytest.raises(InvalidInput) as caught:
        before.compare(after)
    return str(caught.value)


class TestPairs:
    def test_by_id_in_any_order(self) -> None:
        before = rows({"id": "a", "question": "A?"}, {"id": "b", "question": "B?"}, {"id": "c"}, values=[0.1, 0.2, 0.3])
        after = rows({"id": "d"}, {"id": "b", "question": "B?"}, {"id": "a", "question": "A?"}, values=[0.9, 0.6, 0.4])
        comparison = before.compare(after)
        assert (comparison.pairs, comparison.paired_by) == (2, "id")
        assert comparison["m"].values.before.values == [0.1, 0.2]
        assert comparison["m"].values.after.values == [0.4, 0.6]
        assert (comparison.only_before, comparison.only_after) == (("c",), ("d",))
        assert (comparison.rows_before, comparison.rows_after) == (3, 3)

    @pytest.mark.parametrize("other", ["1", 1, 1.0, " 1 "])
    def test_ids_are_the_same_in_json_and_in_csv(self, other: object) -> None:
        comparison = rows({"id": 1, "question": "A?"}).compare(rows({"id": other, "question": "A?"}))
        assert (comparison.pairs, comparison.paired_by) == (1, "id")

    def test_without_ids_by_question_and_reference(self) -> None:
        before = rows({"question": "A?", "reference": "x"}, {"question": "A?", "reference": "y"}, values=[0.1, 0.2])
        after = rows(
            {"question": " A?\n", "reference": "y"}, {"question": "B?"}, {"question": "A?", "reference": "x"},
            values=[0.3, 0.4, 0.5],
        )  # fmt: skip
        comparison = before.compare(after)
        assert (comparison.pairs, comparison.paired_by) == (2, "question and reference")
        assert comparison["m"].values.after.values == [0.5, 0.3]
        assert comparison.only_after == ("line 2",)

    def test_ids_of_one_run_alone_are_not_looked_at(self) -> None:
        before = rows({"id": "a", "question": "A?"}, {"id": "a", "question": "B?"})
        comparison = before.compare(rows({"question": "A?"}, {"question": "B?"}))
        assert (comparison.pairs, comparison.paired_by) == (2, "question and reference")

    def test_rows_without_an_id_are_paired_by_question_among_those_with_one(self) -> None:
        before = rows({"id": "a", "question": "A?"}, {"question": "B?"}, {"id": "c", "question": "C?"})
        after = rows({"id": "a", "question": "A?"}, {"id": "x", "question": "B?"}, {"id": "y", "question": "C?"})
        comparison = before.compare(after)
        assert (comparison.pairs, comparison.paired_by) == (2, "id, else by question and reference")
        assert (comparison.only_before, comparison.only_after) == (("c",), ("y",))

    def test_rows_that_cannot_be_distinguished_are_not_paired(self) -> None:
        before = rows({"answer": "x"}, {"question": "A?"})
        comparison = before.compare(rows({"answer": "x"}, {"question": "A?"}))
        assert (comparison.pairs, comparison.only_before, comparison.only_after) == (1, ("line 1",), ("line 1",))

    def test_ids_and_slices_are_the_same_however_their_letters_are_written(self) -> None:
        names = [unicodedata.normalize(form, "Zürich") for form in ("NFC", "NFD")]
        before, after = (
            run_of([({"id": f"{name}-{n}", "question": f"{n}?", "city": name}, {"m": 1.0}) for n in range(3)])
            for name in names
        )
        comparison = before.compare(after, by="city")
        assert (comparison.pairs, comparison.paired_by, comparison.notes) == (3, "id", ())
        assert [item.label for item in comparison.slices] == [names[0]]

    def test_questions_that_differ_in_spaces_and_in_how_letters_are_written_are_the_same(self) -> None:
        before = rows({"id": 1, "question": "Où  est-ce\u0301 ?"})
        assert before.compare(rows({"id": 1, "question": "O\u00f9 est-c\u00e9 ?\n"})).pairs == 1

    @given(st.permutations(range(8)), st.sets(st.integers(0, 7)), st.sets(st.integers(0, 7)), st.booleans())
    def test_order_changes_nothing(self, order: list[int], left: set[int], right: set[int], ids: bool) -> None:
        """Every row is in one pair, or alone on its side; pairs hold the values of one row."""

        def run(numbers: list[int], offset: int) -> Evaluation:
            given = [
                ({"question": f"{n}?", **({"id": n} if ids else {})}, {"m": n / 100 + offset / 2}) for n in numbers
            ]
            return run_of(given)

        before, after = sorted(set(range(8)) - left), [n for n in order if n not in right]
        both = set(before) & set(after)
        if not both:
            return
        comparison = run(before, 0).compare(run(after, 1))
        values = comparison["m"].values
        assert [round(100 * value) for value in values.before.values] == sorted(both)
        assert [round(100 * (value - 0.5)) for value in values.after.values] == sorted(both)
        assert comparison.pairs + len(comparison.only_before) == len(before)
        assert comparison.pairs + len(comparison.only_after) == len(after)


class TestRepeats:
    def test_repeats_of_a_row_are_one_row_with_their_mean(self) -> None:
        same = {"id": "a", "question": "A?"}
        other = {"id": "b", "question": "B?"}
        before = rows(same, other, same, same, name="old", values=[0.0, 0.5, 1.0, 0.5])
        after = rows(same, same, other, name="new", values=[1.0, None, 0.25])
        comparison = before.compare(after)
        assert (comparison.pairs, comparison.rows_before, comparison.rows_after) == (2, 2, 2)
        assert comparison["m"].values.before.values == [0.5, 0.5]
        assert comparison["m"].values.after.values == [1.0, 0.25]
        assert comparison.notes == (
            "old: 4 records are 2 rows, as repeats of a row count once, with their mean",
            "new: 3 records are 2 rows, as repeats of a row count once, with their mean",
        )

    def test_without_ids_as_well(self) -> None:
        before = rows({"question": "A?"}, {"question": "A?"}, values=[0.0, 1.0])
        assert before.compare(rows({"question": "A?"}))["m"].before == 0.5

    @pytest.mark.parametrize(
        ("values", "unscored", "failed"),
        [
            ([None, None], ("a",), ()),
            ([None, FAILED], (), ("a",)),
            ([FAILED, 0.5], (), ()),
            ([FAILED, FAILED], (), ("a",)),
        ],
    )
    def test_a_row_is_what_its_repeats_come_to(self, values: list[Any], unscored: Any, failed: Any) -> None:
        same = {"id": "a", "question": "A?"}
        counts = rows(same, same, values=values).compare(rows(same))["m"].rows_before
        assert (counts.rows, counts.unscored, counts.failed) == (1, unscored, failed)

    def test_the_mean_of_equal_repeats_is_their_value(self) -> None:
        same = {"id": "a", "question": "A?"}
        assert rows(same, same, same, values=[0.1, 0.1, 0.1]).compare(rows(same))["m"].before == 0.1


class TestRefused:
    def test_an_id_of_two_questions_in_one_run(self) -> None:
        before = rows({"id": 1, "question": "Who?"}, {"id": 2}, {"id": "1", "question": "When?"}, name="old")
        assert refused(before, by_id([0.5])) == (
            "old: the id '1' is in old.jsonl, line 1 and in old.jsonl, line 3, with different questions ('Who?' and 'When?'): "
            "give each row its own id"
        )

    def test_an_id_twice_without_questions(self) -> None:
        before = rows({"id": 1, "answer": "x"}, {"id": 1, "answer": "y"}, name="old")
        assert refused(before, by_id([0.5])) == (
            "old: the id '1' is in old.jsonl, line 1 and in old.jsonl, line 2, and without a question it is not known "
            "whether they are the same row: give each row its own id"
        )

    def test_an_id_twice_with_one_reference_is_a_repeat(self) -> None:
        before = rows({"id": 1, "reference": "x"}, {"id": 1, "reference": "x"})
        assert before.compare(rows({"id": 1, "reference": "x"})).pairs == 1

    def test_an_id_of_another_question_in_each_run(self) -> None:
        before = rows({"id": 1, "question": "Who?"}, {"id": 2, "question": "When?"}, name="old")
        after = rows({"id": 1, "question": "When?"}, {"id": 2, "question": "W" * 80}, {"id": 3}, name="new")
        assert refused(before, after) == (
            "the id '1' has a different question in each run: 'Who?' in old, 'When?' in new (and 1 more id): compare runs of the "
            "same questions; if ids only count the rows, leave them out of the data, and rows will be paired by "
            "question and reference"
        )

    def test_a_question_that_one_run_has_not_kept_is_no_other_question(self) -> None:
        assert rows({"id": 1, "question": "Who?"}).compare(rows({"id": 1})).pairs == 1

    def test_unchecked_pairs_are_reported(self) -> None:
        before = run_of([({"id": n, "question": f"{n}?"}, {"m": 1.0}) for n in range(3)])
        after = run_of([({"id": 0, "question": "0?"}, {"m": 1.0}), *(({"id": n}, {"m": 1.0}) for n in (1, 2))])
        note = (
            "2 pairs only by id, because one of the runs has no question there: it is not known whether the questions are "
            "the same"
        )
        assert before.compare(after).notes == (note,)

    def test_runs_that_share_no_row(self) -> None:
        before, after = by_id([0.1] * 5, name="old"), rows({"id": "x\x1b[31m"}, {"id": "y" * 90}, name="new")
        assert refused(before, after) == (
            "old and new share no row: ids such as 'q0', 'q1', 'q2' there, ids 'x\\x1b[31m', "
            f"'{'y' * 19}...{'y' * 18}' here: compare runs of the same questions"
        )

    def test_ids_that_differ_for_the_same_questions(self) -> None:
        before = rows({"id": "a1", "question": "A?"}, {"id": "a2", "question": "B?"}, name="old")
        after = rows({"id": "b1", "question": "B?"}, name="new")
        assert refused(before, after) == (
            "old and new share no row: ids 'a1', 'a2' there, id 'b1' here. But 1 row has the same question and reference: leave "
            "the ids out of the data of one run, and rows are paired by these"
        )

    def test_other_questions(self) -> None:
        assert refused(rows({"question": "A?"}, name="old"), rows({"question": "B?"}, {"id": 1}, name="new")) == (
            "old and new share no row: question 'A?' there, question 'B?' here: compare runs of the same questions"
        )

    def test_nothing_to_pair_by(self) -> None:
        assert refused(rows({"answer": "A"}, name="old"), rows({"answer": "A"}, {"id": 1}, name="new")) == (
            "old and new share no row: 1 row without id and question there, 2 rows without id and question here. It is not known "
            "which rows are the same: give each row an id"
        )

    def test_a_run_without_rows(self) -> None:
        assert refused(by_id([0.5], name="old"), run_of([], name="new")) == (
            "new has no finished row: there is nothing to compare"
        )
