"""A judge beside people's labels: corrected scores, agreement, thresholds, claims, slices, and what is refused."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from core.report.comparing import metric_column, run_of, text_at
from ragmetrics_core import Calibration, Evaluation, InvalidInput, Score
from ragmetrics_core.statistics import agreement, annotator_alpha, corrected_mean, mean_interval

HARM = metric_column("harm", (0.0, 1.0), "Harm()", higher_is_better=False)
GRADE = metric_column("grade", (1.0, 5.0), "Grade()")


def run(values: Iterable[Any], metric: str = "m", columns: Sequence[Any] = (), langs: str = "") -> Evaluation:
    rows = (
        (
            {"id": f"q{n}", "question": f"question {n}", **({"lang": langs[n % len(langs)]} if langs else {})},
            {metric: value},
        )
        for n, value in enumerate(values)
    )
    return run_of(rows, columns)


def line(row: int, label: Any, metric: str = "m", **more: Any) -> dict[str, Any]:
    return {"id": f"q{row}", "metric": metric, "label": label, **more}


def judged() -> tuple[list[float], list[dict[str, Any]]]:
    """200 verdicts, of which 160 pass; every fifth row has a label: 30 of 32 that pass are passes, 2 of 8 that fail are."""
    values = [float((row // 5) % 5 != 0) for row in range(200)]
    passed, failed = ([row for row in range(2, 200, 5) if values[row] == said] for said in (1, 0))
    labels = [line(row, place >= 2) for place, row in enumerate(passed)]
    return values, [*labels, *(line(row, place < 2) for place, row in enumerate(failed))]


def problem(evaluation: Evaluation, labels: Any, **options: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        evaluation.calibrate(labels, **options)
    return str(caught.value)


class TestVerdicts:
    def test_the_corrected_score_by_hand(self) -> None:
        values, labels = judged()
        item = run(values).calibrate(labels)["m"]
        assert item.corrected is not None
        assert item.corrected.mean == pytest.approx(0.8 * 30.45 / 32.9 + 0.2 * 2.45 / 8.9, abs=1e-12)
        assert (item.corrected.method, item.rows, item.labels, item.judge_mean) == (
            "post-stratified-beta",
            200,
            40,
            0.8,
        )

    def test_the_agreement_by_hand(self) -> None:
        """36 of 40 alike; both pass 32 of 40, so chance makes 0.8² + 0.2² of it."""
        values, labels = judged()
        found = run(values).calibrate(labels)["m"].agreement
        assert found is not None
        assert found.kappa.value == pytest.approx((0.9 - 0.68) / 0.32)
        assert found.ac1.value == pytest.approx((0.9 - 0.32) / 0.68)
        assert (found.sensitivity.value, found.specificity.value) == (pytest.approx(30 / 32), pytest.approx(6 / 8))
        assert found.auroc.value is None

    def test_low_values_pass_where_low_is_good(self) -> None:
        values, labels = judged()
        good = run(values).calibrate(labels)["m"]
        labels = [{**item, "metric": "harm"} for item in labels]
        turned = run([1 - value for value in values], "harm", [HARM]).calibrate(labels)["harm"]
        assert turned.corrected is not None
        assert good.corrected is not None
        assert turned.corrected.mean == pytest.approx(good.corrected.mean)
        assert turned.agreement == good.agreement
        assert turned.judge_mean == pytest.approx(0.2)

    def test_the_threshold_is_on_the_scale_of_the_metric(self) -> None:
        values = [(row % 10) / 10 for row in range(100)]
        labels = [line(row, row % 10 >= 6) for row in range(0, 100, 3)]
        assert run(values).calibrate(labels)["m"].threshold == 0.6
        labels = [line(row, row % 10 <= 3, "harm") for row in range(0, 100, 3)]
        found = run(values, "harm", [HARM]).calibrate(labels)
        assert found["harm"].threshold == pytest.approx(0.3)
        assert "best threshold: a row passes up to 0.3; of the rows that pass people fail 0.000" in found.text(200)

    def test_verdicts_of_the_metric_come_before_a_threshold(self) -> None:
        """The metric passes what has 4 or 5; people pass what has 3 too."""
        scores = [Score(1 + row % 5, passing=row % 5 >= 3, scale=(1, 5)) for row in range(100)]
        labels = [line(row, row % 5 >= 2, "grade") for row in range(0, 100, 3)]
        item = run(scores, "grade", [GRADE]).calibrate(labels)["grade"]
        assert item.agreement is not None
        assert (item.agreement.sensitivity.value, item.agreement.specificity.value) == (pytest.approx(14 / 20), 1.0)
        assert (item.threshold, item.agreement.auroc.value) == (3.0, 1.0)
        assert item.agreement.difference.problem == "labels are passes and fails, and scores are on another scale"


class TestGrades:
    def test_it_is_what_the_arithmetic_says(self) -> None:
        values = [1.0 + (7 * row) % 5 for row in range(60)]
        grades = {row: min(5.0, 1.0 + (7 * row) % 5 + (row % 4 == 0)) for row in range(1, 60, 2)}
        found = run(values, "grade", [GRADE]).calibrate([line(row, grade, "grade") for row, grade in grades.items()])
        item, labels = found["grade"], [grades.get(row) for row in range(60)]
        assert item.corrected == corrected_mean(values, labels, scale=(1, 5))
        assert item.agreement == agreement(values, labels, scale=(1, 5))
        assert not item.verdicts
        expected = stats.spearmanr([values[row] for row in grades], list(grades.values())).statistic
        assert item.agreement is not None
        assert item.agreement.spearman.value == pytest.approx(expected)
        assert "grade: people would give" in str(found)


class TestAnnotators:
    def test_most_decide_and_a_split_is_half_a_pass(self) -> None:
        values, labels = judged()
        three = [{**item, "annotator": name} for item in labels for name in "ab"]
        three += [{**item, "annotator": "c", "label": not item["label"]} for item in labels[:5]]
        assert run(values).calibrate(three)["m"].agreement == run(values).calibrate(labels)["m"].agreement
        split = [{**item, "annotator": "a"} for item in labels]
        split += [{**item, "annotator": "b", "label": not item["label"]} for item in labels[:3]]
        item = run(values).calibrate(split)["m"]
        assert item.agreement is not None
        assert item.corrected is not None
        assert (item.split, item.agreement.labels, item.corrected.labels, item.annotators) == (3, 37, 40, 2)

    def test_the_ceiling_is_their_alpha(self) -> None:
        values, labels = judged()
        both = [{**item, "annotator": name} for item in labels for name in "ab"]
        for place in (1, 9, 77):
            both[place]["label"] = not both[place]["label"]
        ratings = [[float(item["label"]) for item in both[place : place + 2]] for place in range(0, 80, 2)]
        assert run(values).calibrate(both)["m"].ceiling == annotator_alpha(ratings)

    def test_people_who_agree_on_too_little(self) -> None:
        values, labels = judged()
        both = [{**item, "annotator": name, "label": name == "a"} for item in labels[:10] for name in "ab"]
        item = run(values).calibrate(both)["m"]
        assert item.agreement is not None
        assert item.agreement.kappa.problem == "annotators agree on 0 rows only: at least 8 are needed"


class TestWeights:
    def test_they_count_in_every_number(self) -> None:
        values, labels = judged()
        weighted = [{**item, "weight": 0.5 + (place % 4) / 2} for place, item in enumerate(labels)]
        item = run(values).calibrate(weighted)["m"]
        found = {row["id"]: row for row in weighted}
        known: list[Any] = [found.get(f"q{row}") for row in range(200)]
        given = [row and float(row["label"]) for row in known], [row and row["weight"] for row in known]
        assert item.corrected == corrected_mean(values, *given, scale=(0, 1))
        assert item.agreement is not None
        assert item.agreement.kappa == agreement(values, *given, scale=(0, 1)).kappa

    def test_rows_without_one_count_as_1(self) -> None:
        values, labels = judged()
        some = [{**item, "weight": 1.5} if place < 20 else item for place, item in enumerate(labels)]
        every = [{"weight": 1.0, **item} for item in some]
        assert run(values).calibrate(some) == run(values).calibrate(every)

    def test_weights_on_another_scale_do_not_stand_beside_none(self) -> None:
        values, labels = judged()
        assert problem(run(values), [{**labels[0], "weight": 50}, *labels[1:]]) == (
            "label 1: the weight 50 is above 2, so it cannot be combined with labels without a weight, such as the one in "
            "label 2, which count as 1: give every label a weight, on one scale"
        )

    def test_a_row_has_one_weight(self) -> None:
        two = [line(1, True, weight=weight, annotator=name) for weight, name in ((1, "a"), (2, "b"))]
        assert problem(run([1.0, 0.0]), two) == (
            "label 2: the row 'q1' has the weight 2 here, but 1 in label 1: give both labels the same weight"
        )

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (
                1e3,
                # (1,000 + 39)² / (1,000,000 + 39) = 1.08
                (
                    "label 8: the weight is 1000, so much that 40 labels show no more than 1.1 of equal weight would, and at "
                    "least 3 are needed: give all labels weights on one scale, or label more rows"
                ),
            ),
            (1e10, "label 1: the weight is 1, which is negligible beside 1e+10: give all labels weights on one scale"),
            (
                1e308,
                (
                    "label 8: the weight 1e+308 is not a number from 1e-12 to 1e+12: write how many rows this row represents, or "
                    "leave it out"
                ),
            ),
        ],
    )
    def test_no_label_decides_alone(self, weight: float, message: str) -> None:
        values, labels = judged()
        heavy = [{**item, "weight": weight if place == 7 else 1.0} for place, item in enumerate(labels)]
        assert problem(run(values), heavy) == message

    @pytest.mark.parametrize("unit", [1e11, 1e-11])
    def test_only_what_weights_are_beside_each_other_counts(self, unit: float) -> None:
        values, labels = judged()
        given = [[{**item, "weight": (1.0 + place % 2) * by} for place, item in enumerate(labels)] for by in (1, unit)]
        one, two = (run(values).calibrate(each)["m"] for each in given)
        assert one.corrected is not None
        assert two.corrected is not None
        assert two.corrected.mean == pytest.approx(one.corrected.mean, abs=1e-9)
        assert two.warnings == one.warnings


class TestClaims:
    @staticmethod
    def score(*holds: bool) -> Score:
        verdicts = [{"claim": f"claim {place}", "supported": held} for place, held in enumerate(holds, 1)]
        return Score(sum(holds) / len(holds), details={"verdicts": verdicts})

    def evaluation(self) -> Evaluation:
        return run([self.score(row % 3 > 0, row % 4 > 0) for row in range(30)])

    def test_claim_by_claim(self) -> None:
        labels = [line(row, row % 3 > 0, claim="claim  1") for row in range(0, 24, 2)]
        labels += [line(row, row % 4 > 1, claim=2) for row in range(0, 24, 2)]
        found = self.evaluation().calibrate(labels)
        claims = found["m"].claims
        assert claims is not None
        assert (claims.claims, claims.rows, claims.split, claims.problem) == (24, 12, 0, None)
        judge = [row % 3 > 0 for row in range(0, 24, 2)] + [row % 4 > 0 for row in range(0, 24, 2)]
        people = [row % 3 > 0 for row in range(0, 24, 2)] + [row % 4 > 1 for row in range(0, 24, 2)]
        rows = [f"q{row}" for row in range(0, 24, 2)] * 2
        assert claims.agreement == agreement(judge, people, clusters=rows, scale=(0, 1))
        assert found["m"].corrected is None
        text = found.text(200)
        assert "m: no corrected score: only claims have labels" in text
        assert "claim by claim: 24 claims of 12 rows" in text

    @pytest.mark.parametrize(
        ("claim", "message"),
        [
            (3, "label 1: there is no claim 3: the row 'q1' has 2 claims for 'm'"),
            (
                "claim 7",
                (
                    "label 1: no claim of the row 'q1' reads 'claim 7'; its claims for 'm' begin with 'claim 1': write a claim as "
                    "the report does, or its number"
                ),
            ),
        ],
    )
    def test_claims_that_are_not_there(self, claim: Any, message: str) -> None:
        assert problem(self.evaluation(), [line(1, True, claim=claim)]) == message

    def test_a_metric_without_claims(self) -> None:
        assert problem(run([1.0, 0.0]), [line(1, True, claim=1)]) == (
            "label 1: the evidence of 'm' for the row 'q1' has no claims: leave 'claim' out to label the row"
        )

    def test_a_claim_by_text_and_by_number(self) -> None:
        labels = [line(1, True, claim=1), line(1, True, claim="claim 1")]
        assert problem(self.evaluation(), labels) == (
            "label 2: the same annotator already labelled this claim in label 1: keep one of the two labels"
        )

    def test_too_few(self) -> None:
        labels = [line(row, True, claim=1) for row in range(7)]
        assert problem(self.evaluation(), labels) == "m: 7 claims have a label: label at least 8"


class TestSlices:
    @pytest.mark.usefixtures("untraced")
    @pytest.mark.parametrize("metrics", [1, 3])
    def test_slices_rarely_look_worse_where_the_judge_errs_alike_everywhere(self, metrics: int) -> None:
        """8 slices of 30 labels, a tenth of them wrong: by the interval alone some slice looked worse in .095 of runs, and of three
        metrics in .25."""
        rng, said = random.Random(metrics), 0
        for _ in range(60):
            rows, lines = [], []
            for row in range(240):
                people = {f"m{place}": rng.random() < 0.7 for place in range(metrics)}
                scores = {name: float(label != (rng.random() < 0.1)) for name, label in people.items()}
                rows.append(({"id": f"q{row}", "question": f"{row}", "part": f"{row % 8}"}, scores))
                lines += [{"id": f"q{row}", "metric": name, "label": label} for name, label in people.items()]
            found = run_of(rows).calibrate(lines, by="part")
            said += any(item.worse for metric in found.metrics for item in metric.slices)
        assert said <= 6  # 5 % of 60 runs, and two standard errors

    def test_where_the_judge_is_worse(self) -> None:
        """Right everywhere but in every third row, where it says the opposite half of the time."""
        values = [float(row % 2) for row in range(180)]
        labels = [line(row, bool(row % 2) ^ (row % 3 == 2 and row % 4 > 1)) for row in range(180)]
        found = run(values, langs="xyz").calibrate(labels, by="lang")["m"].slices
        assert [(item.name, item.labels, item.worse) for item in found] == [
            ("lang=x", 60, False),
            ("lang=y", 60, False),
            ("lang=z", 60, True),
        ]
        assert found[2].error.value == 0.5
        assert found[2].error.interval == mean_interval([0.0, 1.0] * 30, scale=(0, 1))
        strict = 1 - 0.05 / 3
        one, other = (mean_interval(errors, scale=(0, 1), confidence=strict) for errors in ([0, 1] * 30, [0] * 120))
        assert one is not None
        assert other is not None
        low, high = 0.5 - math.hypot(0.5 - one.low, other.high), 0.5 + math.hypot(one.high - 0.5, other.low)
        assert found[2].difference.interval == (pytest.approx(low), pytest.approx(high), "newcombe")

    def test_slices_with_few_labels_say_so(self) -> None:
        values, labels = judged()
        found = run(values, langs="aaaaaaaaaaaaaaaaaaab").calibrate(labels, by="lang")["m"].slices
        assert [(item.label, item.labels) for item in found] == [("a", 40)]
        found = run(values, langs="aab").calibrate(labels[:20], by="lang")["m"].slices
        assert [item.error.problem for item in found] == [None, "7 rows have a label: label at least 8"]
        assert {item.worse for item in found} == {False}


class TestDoubts:
    def test_rows_that_were_picked_by_hand(self) -> None:
        values = [row / 200 for row in range(200)]
        worst = run(values).calibrate([line(row, row % 3 == 0) for row in range(10, 40)])["m"]
        assert [text.split(":")[0] for text in worst.warnings] == [
            "the judge's scores of the rows with a label are lower than those of all rows, by 7.7 standard errors"
        ]
        first = run([(7 * row) % 11 / 10 for row in range(200)]).calibrate(
            [line(row, row % 3 == 0) for row in range(30)]
        )["m"]
        assert [text.split(":")[0] for text in first.warnings] == ["the rows with a label are the first 30 of the run"]

    def test_rows_of_which_the_judge_is_least_sure(self) -> None:
        """Half the rows at 0.5 (unsure: 1/2), half at 0 or 1 (sure): the 20 have 1/2 for a mean of 1/4, with a spread of 1/4."""
        values = [(0.5, 0.0, 0.5, 1.0)[row % 4] for row in range(200)]
        found = run(values).calibrate([line(row, row % 3 == 0) for row in range(100, 140, 2)])["m"]
        spread = ((200 * 0.25**2) / 199) ** 0.5
        number = 0.25 / (spread * (1 / 20 - 1 / 200) ** 0.5)
        (warning,) = found.warnings
        assert warning == (
            f"the judge is less sure of the rows with a label than of all rows, by {number:.1f} standard errors: rows that were "
            "picked by hand look so, and then the corrected score is wrong; --suggest draws rows at random"
        )
        surest = run(values).calibrate([line(row, row % 3 == 0) for row in range(101, 141, 2)])["m"]
        assert surest.warnings == (warning.replace("less sure", "more sure"),)

    def test_suggested_rows_are_not_doubted(self) -> None:
        """Half of the draw prefers rows of which the judge is unsure; the weights put that right."""
        evaluation = run([row / 200 for row in range(200)])
        for seed in range(20):
            lines = evaluation.rows_to_label(40, seed=seed)
            found = evaluation.calibrate([{**item, "label": place % 3 > 0} for place, item in enumerate(lines)])
            assert found["m"].warnings == ()

    def test_drawn_rows_are_not_doubted(self) -> None:
        values, labels = judged()
        assert run(values).calibrate(labels)["m"].warnings == ()
        assert run(values).calibrate([line(row, row % 3 > 0) for row in range(200)])["m"].warnings == ()

    def test_people_who_had_seen_the_score(self) -> None:
        values, labels = judged()
        item = run(values).calibrate([{**row, "blind": place > 3} for place, row in enumerate(labels)])["m"]
        (warning,) = item.warnings
        assert warning.startswith("4 of 40 labels were given by people who had seen the score or its reasons")


class TestRefusals:
    def test_too_few(self) -> None:
        values, labels = judged()
        assert problem(run(values), labels[:3]) == (
            "m: 3 rows have a label, too few to conclude anything about other rows: label at least 8"
        )
        assert problem(run([None, *values[1:]]), [line(0, True)]) == (
            "m: no row with a score has a label (1 more without a score), too few to conclude anything about other "
            "rows: label at least 8"
        )

    def test_one_class_only(self) -> None:
        values, labels = judged()
        item = run(values).calibrate([{**row, "label": True} for row in labels])["m"]
        assert item.agreement is not None
        assert item.corrected is not None
        assert (item.agreement.kappa.value, item.agreement.specificity.value) == (None, None)
        assert item.agreement.kappa.problem == "all labels are passes, so agreement beyond chance cannot be measured"
        assert item.agreement.sensitivity.value == 0.8
        assert item.corrected.interval is not None

    @pytest.mark.parametrize("label", [True, False])
    def test_one_class_says_nothing_of_what_the_judge_is_worth(self, *, label: bool) -> None:
        found = run([row % 7 / 6 for row in range(60)]).calibrate([line(row, label) for row in range(1, 60, 2)])
        corrected = found["m"].corrected
        assert corrected is not None
        assert corrected.note == "all labels are equal, so nothing shows yet whether the judge helps"
        assert (corrected.judge_helps, corrected.worth_labels) == (False, None)
        assert "\n  all labels are equal, so nothing shows yet whether the judge helps\n" in found.text(80)
        assert "the judge helps: about" not in found.text(80)

    def test_rows_and_metrics_that_are_not_there(self) -> None:
        values, labels = judged()
        assert problem(run(values), [*labels, line(999, True)]) == (
            "label 41: no row of this run has the id 'q999': use the ids of its rows"
        )
        assert problem(run(values), labels, metric="n") == "metric: there is no metric 'n'; there are m"
        assert problem(run(values), [line(1, True, "n")]) == "label 1: the run has no metric 'n'; it has 'm'"

    def test_ids_may_be_written_in_other_ways(self) -> None:
        """Numbers of a table with a point, an accent that is written apart, blanks around."""
        names = ["7", "caf\u00e9", *(f"q{row}" for row in range(18))]
        evaluation = run_of(
            ({"id": name, "question": name}, {"m": place % 2 * 1.0}) for place, name in enumerate(names)
        )
        labels = [{"id": 7.0, "metric": "m", "label": False}, {"id": " cafe\u0301", "metric": "m", "label": True}]
        assert evaluation.calibrate([*labels, *(line(row, True) for row in range(0, 18, 2))])["m"].labels == 11

    def test_rows_without_ids_are_called_by_their_places(self) -> None:
        evaluation = run_of(({"question": f"{row}"}, {"m": row % 2 * 1.0}) for row in range(20))
        labels = [{"id": f"line {row}", "metric": "m", "label": True} for row in range(2, 20, 2)]
        assert evaluation.calibrate(labels)["m"].labels == 9

    def test_contradictions(self) -> None:
        labels = [line(1, True, annotator="a"), line(1, False, annotator="a")]
        assert problem(run([1.0, 0.0]), labels).startswith(
            "label 2: 'a' labelled the row, for 'm' of 'q1', twice, and differently"
        )

    def test_a_metric_with_too_few_does_not_stop_the_others(self) -> None:
        values, labels = judged()
        rows = (({"id": f"q{n}", "question": f"{n}"}, {"m": value, "n": value}) for n, value in enumerate(values))
        found = run_of(rows).calibrate([*labels, line(1, True, "n")])
        assert found["m"].problem is None
        assert (
            found["n"].problem == "1 row has a label, too few to conclude anything about other rows: label at least 8"
        )
        assert "n: no corrected score: 1 row has a label, too few to conclude" in found.text(200)
        assert [
            item.name
            for item in run_of(
                ({"id": f"q{n}", "question": f"{n}"}, {"m": value, "n": value}) for n, value in enumerate(values)
            ).calibrate([*labels, line(1, True, "n")], "m")
        ] == ["m"]

    def test_what_is_not_there_has_no_number(self) -> None:
        values, labels = judged()
        found = run(values).calibrate(labels)
        with pytest.raises(KeyError, match="no labels of 'n'; there are some of m"):
            found["n"]


class TestPictures:
    def test_the_text(self) -> None:
        values, labels = judged()
        found = run(values).calibrate(labels)
        assert found.text(80).splitlines()[:11] == [
            "On m, the judge agrees with people beyond chance (kappa 0.69, 0.26 to 0.89);",
            "people would pass 80 % of the rows (69 to 89 %).",
            "",
            "this run, beside people: 40 labelled rows for m",
            "",
            "m: people would pass 0.795 of its 200 rows, 95 % interval 0.691 to 0.887",
            "  from 40 labels and 200 judgements (post-stratified beta posterior); the labels",
            "      alone: 0.800, 0.652 to 0.895",
            "  the judge helps: the interval is 19 % narrower than that of the labels alone;",
            "      about 61 labels alone would make as narrow an interval",
            "  the judge's own mean: 0.800",
        ]
        assert max(map(len, found.text(80).splitlines())) <= 80
        assert str(found) == found.text()

    def test_nothing_from_the_data_has_an_effect(self) -> None:
        values, labels = judged()
        name = "m\x1b[31m|@ada <b>"
        found = run(values, name, langs="x").calibrate([{**row, "metric": name} for row in labels], by="lang")
        assert "\x1b" not in found.text(80)
        assert "m\\x1b[31m|@ada <b>: people would pass" in found.text(200)
        shown = found.to_markdown()
        assert "\x1b" not in shown
        assert "<b>" not in shown
        assert "@" not in shown

    def test_what_the_numbers_rest_on(self) -> None:
        values, labels = judged()
        both = [{**item, "annotator": name} for item in labels for name in "ab"]
        both[1]["label"] = not both[1]["label"]
        unscored = [line(0, True, annotator="a")]
        evaluation = run([None, *values[1:]], langs="xy")
        text = evaluation.calibrate([*both, *unscored], by="lang", cluster="id").text(200)
        for words in (
            "40 labelled rows by 2 annotators for m",
            "m: 1 labelled row without a score, left out",
            "m: on 1 row annotators are split: left out of the agreement, and half a pass in the corrected score",
            "between annotators: alpha  ",
            "clusters: rows with the same id are not independent",
            "slices: error is the share on which judge and people differ",
        ):
            assert words in text

    def test_labels_alone(self) -> None:
        """A judge that says the same of every row adds nothing, and it says so; without a scale there may be no interval."""
        text = run([1.0] * 40).calibrate([line(row, row % 5 > 0) for row in range(1, 40, 2)]).text(200)
        assert "  from 20 labels alone (Wilson)\n" in text
        assert "  the judge adds nothing: it gave all rows the same score, so the labels stand alone\n" in text
        free = metric_column("free", None, "Free()")
        evaluation = run([Score(float(row % 3)) for row in range(40)], "free", [free])
        found = evaluation.calibrate([line(row, 7.0, "free") for row in range(1, 40, 2)])
        assert found["free"].corrected is not None
        assert found["free"].corrected.interval is None
        assert "free: people would give 7.000 on average\n  from 20 labels alone (none)\n" in found.text(200)
        assert "from 20 labels alone" in found.to_markdown()
        assert "Spearman's rank correlation: all labels are equal, so there is no order" in found.text(200)
        summary = text_at(200, evaluation.summary(calibration=found))
        assert "  free: people would give 7.000 on average, from 20 labels alone" in summary

    def test_claims_and_their_ceiling(self) -> None:
        evaluation = run([TestClaims.score(row % 3 > 0, row % 4 > 0) for row in range(30)])
        labels = [line(row, row % 3 > 0, claim=1, annotator=name) for row in range(0, 24, 2) for name in "ab"]
        labels[1]["label"] = not labels[1]["label"]
        found = evaluation.calibrate(labels)
        assert found["m"].claims is not None
        assert (found["m"].claims.claims, found["m"].claims.split) == (11, 1)
        for shown in (found.text(200), found.to_markdown()):
            assert "claim by claim: 11 claims of 11 rows" in shown
            assert "between annotators: alpha" in shown
            assert "m: on 1 claim annotators are split: left out" in shown
        few = evaluation.calibrate([*[line(row, True) for row in range(9)], line(1, True, claim=1)])
        assert "claims: 1 claim has a label: label at least 8" in few.text(200)
        assert "9 labelled rows and 1 labelled claim for m" in few.text(200)

    def test_warnings_slices_and_reasons_in_markdown(self) -> None:
        values, labels = judged()
        found = run(values, langs="xy").calibrate([{**row, "label": True, "blind": False} for row in labels], by="lang")
        shown = found.to_markdown()
        assert "> **WARNING:** 40 of 40 labels were given by people who had seen the score" in shown
        assert "| <code>lang=x</code> | 20 |" in shown
        assert "* Cohen's kappa: all labels are passes, so agreement beyond chance cannot be measured" in shown

    def test_slices_need_verdicts(self) -> None:
        """All labels are passes, and scores are no verdicts: it is not known from which score on a row passes."""
        evaluation = run([row % 7 / 6 for row in range(60)], langs="xy")
        found = evaluation.calibrate([line(row, True) for row in range(1, 60, 2)], by="lang")
        assert found["m"].slices == ()
        said = "m: no errors by lang, as it is not known from which score on a row passes: label more rows"
        assert f"\n{said}\n" in found.text(200)
        assert f"* {said}\n" in found.to_markdown()
        assert "no errors by" not in evaluation.calibrate([line(row, True) for row in range(1, 60, 2)]).text(200)

    def test_a_metric_of_which_nothing_is_known(self) -> None:
        unknown = metric_column("mine", (0.0, 1.0), "mine", higher_is_better=None, knows_better=False)
        values, labels = judged()
        found = run(values, "mine", [unknown]).calibrate([{**row, "metric": "mine"} for row in labels])
        assert found["mine"].warnings == (
            "this file does not say whether high values of the metric are good: they are taken to be",
        )

    def test_low_is_good_without_a_scale(self) -> None:
        """Seconds: at most 3 are fast enough."""
        seconds = metric_column("seconds", None, "Seconds()", higher_is_better=False)
        evaluation = run([Score(float(row % 6)) for row in range(60)], "seconds", [seconds])
        found = evaluation.calibrate([line(row, row % 6 <= 3, "seconds") for row in range(1, 60, 5)])
        assert found["seconds"].threshold == 3.0
        assert "best threshold: a row passes up to 3; " in found.text(200)

    def test_everything_is_plain_json(self) -> None:
        values, labels = judged()
        found = run(values, langs="xy").calibrate(labels, by="lang", cluster="id")
        data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert data["metrics"]["m"]["corrected"]["mean"] == pytest.approx(0.795, abs=5e-4)
        assert data["metrics"]["m"]["agreement"]["kappa"]["interval"]["method"] == "wilson-chance"
        assert data["cluster"] == "id"
        assert "own" not in data["metrics"]["m"]


class TestWhereItIsShown:
    WORDS = "people would pass 0.795 of the rows, 95 % interval 0.691 to 0.887, from 40 labels"

    def test_in_the_summary(self) -> None:
        values, labels = judged()
        evaluation = run(values)
        summary = evaluation.summary(calibration=evaluation.calibrate(labels))
        assert f"\n\ncorrected:\n  m: {self.WORDS}\n\n" in text_at(200, summary)
        assert summary["m"].to_dict()["corrected"]["mean"] == pytest.approx(0.795, abs=5e-4)
        assert "0.795" in summary.to_markdown()
        assert "corrected" not in text_at(200, evaluation.summary())
        assert "corrected" not in evaluation.summary()["m"].to_dict()

    def test_rows_without_a_score_are_reported(self) -> None:
        values, labels = judged()
        evaluation = run([*values, Score.unscored("no claims"), Score.unscored("no claims")])
        found = evaluation.calibrate(labels)
        assert (found["m"].rows, found["m"].without_score) == (200, 2)
        assert "\n  of the run's 202 rows, 2 without a score: not counted here\n" in found.text(80)
        words = self.WORDS.replace("of the rows", "of the 200 rows with a score")
        assert f"  m: {words}\n" in text_at(200, evaluation.summary(calibration=found))

    def test_in_the_report(self, tmp_path: Path) -> None:
        values, labels = judged()
        evaluation = run(values)
        evaluation.to_html(tmp_path / "page.html", calibration=evaluation.calibrate(labels))
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"<li>m: {self.WORDS}</li>" in page

    def test_with_what_is_doubtful_about_it(self, tmp_path: Path) -> None:
        """The ten rows after the first that the judge likes least are no draw, wherever their mean stands."""
        evaluation = run([row / 200 for row in range(200)])
        calibration = evaluation.calibrate([line(row, row % 3 == 0) for row in range(1, 41)])
        (warning,) = calibration["m"].warnings
        assert warning.startswith("the judge's scores of the rows with a label are lower than those of all rows, by ")
        summary = evaluation.summary(calibration=calibration)
        assert f"\n  m: WARNING: {warning}\n" in text_at(400, summary)
        assert summary["m"].to_dict()["corrected"]["warnings"] == [warning]
        evaluation.to_html(tmp_path / "page.html", calibration=calibration)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"<li>m: WARNING: {warning}</li>" in page.replace("&#x27;", "'")

    def test_grades_and_labels_alone(self) -> None:
        grades = [line(row, 1.0 + row % 5, "grade") for row in range(0, 60, 4)]
        evaluation = run([3.0] * 60, "grade", [GRADE])
        summary = evaluation.summary(calibration=evaluation.calibrate(grades))
        (words,) = (text for text in text_at(200, summary).splitlines() if text.startswith("  grade: people"))
        assert words.startswith("  grade: people would give 3.000 on average, 95 % interval ")
        assert words.endswith(", from 15 labels alone")

    def test_metrics_without_labels_are_as_before(self) -> None:
        values, labels = judged()
        both = run_of(({"id": f"q{n}", "question": f"{n}"}, {"m": value, "n": value}) for n, value in enumerate(values))
        summary = both.summary(calibration=both.calibrate([*labels, line(1, True, "n")]))
        assert summary["m"].calibration is not None
        assert summary["n"].calibration is None

    def test_that_of_another_run_is_refused(self, tmp_path: Path) -> None:
        values, labels = judged()
        calibration = run(values).calibrate(labels)
        with pytest.raises(InvalidInput) as caught:
            run([1.0, *values[1:]]).summary(calibration=calibration)
        assert str(caught.value) == (
            "calibration belongs to another run: it has 200 scored rows of 'm' with the mean 0.8, and this run has 200 with the "
            "mean 0.805: calibrate this run"
        )
        with pytest.raises(InvalidInput):
            run(values[:100]).to_html(tmp_path / "page.html", calibration=calibration)
        assert not (tmp_path / "page.html").exists()


class TestRowsToLabel:
    def test_lines_to_fill_in(self) -> None:
        labels = judged()[1]
        evaluation = run([row % 7 / 6 for row in range(200)])
        lines = evaluation.rows_to_label(20, labels=labels)
        assert len(lines) == 20
        assert not {row["id"] for row in lines} & {row["id"] for row in labels}
        assert {tuple(row) for row in lines} == {("id", "metric", "label", "weight", "probability", "user_input")}
        assert {row["label"] for row in lines} == {None}
        for row in lines:
            assert row["weight"] == pytest.approx(20 / 160 / row["probability"], rel=1e-4)
            assert 0.25 < row["weight"] <= 2
        assert lines == evaluation.rows_to_label(20, "m", labels, seed=0)
        assert lines != evaluation.rows_to_label(20, "m", labels, seed=1)

    def test_they_are_read_back_once_they_are_filled_in(self) -> None:
        evaluation = run([row % 7 / 6 for row in range(200)])
        lines = [{**row, "label": int(row["id"][1:]) % 7 > 2} for row in evaluation.rows_to_label(30)]
        found = evaluation.calibrate(lines)
        assert isinstance(found, Calibration)
        assert found["m"].labels == 30
        assert found["m"].warnings == ()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((0,), "n must lie between 1 and 3, the rows that can be drawn, got 0"),
            ((4,), "n must lie between 1 and 3, the rows that can be drawn, got 4"),
            ((1, "n"), "metric: there is no metric 'n'; there are m"),
        ],
    )
    def test_what_cannot_be_drawn(self, arguments: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            run([1.0, 0.5, 0.0, None]).rows_to_label(*arguments)
        assert str(caught.value) == message

    def test_the_metric_must_be_named_where_there_are_several(self) -> None:
        both = run_of([({"id": "q1"}, {"m": 1.0, "n": 0.0})])
        with pytest.raises(InvalidInput, match="^metric is missing: name one of m, n$"):
            both.rows_to_label(1)

    def test_ids_must_tell_rows_apart(self) -> None:
        twice = run_of([({"id": "q1"}, {"m": 1.0}), ({"id": "q1"}, {"m": 0.0})])
        with pytest.raises(InvalidInput, match="^two rows have the same id"):
            twice.rows_to_label(1)
