"""The summary of the jurors over all rows: agreement worked out by hand, counts, and the rows on which they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli.calling import call
from core.report.comparing import run_of
from ragmetrics_core import Evaluation, InvalidInput, Metric, Score, evaluate
from ragmetrics_core.metrics import Jury
from ragmetrics_core.statistics import annotator_alpha


@dataclass(frozen=True)
class Given(Metric):
    """What the row says for the juror of this name."""

    def measure(self, values: Mapping[str, Any], note: str = "") -> Score:
        value = values.get(self.name)
        if value is None:
            return Score.unscored("nothing to say")
        return Score.failed(value) if isinstance(value, str) else Score(value, reason=note or None)


JURORS = ("a", "b", "c")


def judged(*rows: Sequence[Any], quorum: int | None = None, **more: Any) -> Evaluation:
    data = [
        {"id": f"r{number}", "values": dict(zip(JURORS, row, strict=True)), **more} for number, row in enumerate(rows)
    ]
    jury = Jury([Given(name=name) for name in JURORS], name="jury", quorum=quorum)
    return evaluate(data, jury, progress=False)


def summed(evaluation: Evaluation) -> Any:
    found = evaluation.summary()["jury"].jury
    assert found is not None
    return found


def run_with(*scores: Score) -> Evaluation:
    """A run whose only metric, ``jury``, has these scores."""
    return run_of([({"id": f"r{number}"}, {"jury": score}) for number, score in enumerate(scores)])


class TestAgreement:
    def test_alpha_by_hand(self) -> None:
        """Three rows, each by three jurors: 0 0 1, 1 1 1, 0 0 0.

        Within rows: the first has 2 of its 3 pairs at 1, so 4 of the 6 ordered pairs, over m - 1 = 2: 2; observed 2 / 9. Over all
        nine values, 4 ones and 5 zeros: 2 * 4 * 5 = 40 ordered pairs of 9 * 8 = 72 differ. alpha = 1 - (2 / 9) / (40 / 72) = 0.6.
        """
        found = summed(judged((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)))
        assert found.alpha.value == pytest.approx(0.6, abs=1e-12)
        assert found.alpha.interval is not None
        assert found.alpha.interval.low < 0.6 < found.alpha.interval.high
        assert (found.rows, found.tied, found.incomplete) == (3, 0, 0)

    def test_a_row_that_only_one_of_them_scored_does_not_count(self) -> None:
        rows = [(0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.75, None, "gone")]
        found = summed(judged(*rows, quorum=1))
        assert found.alpha.value == pytest.approx(0.6, abs=1e-12)
        assert found.incomplete == 1

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([(0.0, 0.5, 1.0)], "fewer than two rows have values of two jurors"),
            ([(0.0, None, None), (None, 1.0, None)], "fewer than two rows have values of two jurors"),
            (
                [(0.5, 0.5, 0.5), (0.5, 0.5, None)],
                "all their values are equal, so that agreement beyond chance cannot be measured",
            ),
        ],
    )
    def test_no_number_that_cannot_be_had(self, rows: Sequence[Sequence[Any]], problem: str) -> None:
        found = judged(*rows, quorum=1)
        assert (summed(found).alpha.value, summed(found).alpha.problem) == (None, problem)
        assert f"how far its 3 jurors agree is not known: {problem}" in " ".join(str(found.summary()).split())

    def test_if_the_scales_differ_no_agreement_is_shown(self) -> None:
        votes = [{"juror": name, "state": "scored", "value": 1.0, "usage": {}} for name in JURORS]
        scores = [Score(1.0, details={"jurors": votes}, scale=(0.0, top)) for top in (1.0, 5.0)]
        assert summed(run_with(*scores)).alpha.problem == "the scale differs from row to row"

    def test_slices_have_their_own(self) -> None:
        found = judged((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), metadata={"lang": "de"})
        part = found.summary(by="lang").slices["de"]["jury"].jury
        assert part is not None
        assert part.alpha.value == pytest.approx(0.6, abs=1e-12)


class TestCounts:
    def test_what_each_juror_made_of_the_rows(self) -> None:
        found = summed(judged((0.25, 0.5, "gone"), (0.75, None, "gone"), (0.5, 1.0, "lost"), quorum=1))
        a, b, c = found.jurors
        assert (a.name, a.model, a.mean, a.scored, a.unscored, a.failed) == ("a", None, 0.5, 3, 0, 0)
        assert (b.mean, b.scored, b.unscored, b.failed) == (0.75, 2, 1, 0)
        assert (c.mean, c.scored, c.unscored, c.failed) == (None, 0, 0, 3)
        assert c.errors == (("gone", 2), ("lost", 1))
        assert (found.rows, found.incomplete, found.tied) == (3, 3, 2)

    def test_rows_that_no_juror_has_seen_are_not_theirs(self) -> None:
        data = [{"id": "r", "values": {"a": 0.5, "b": 0.5, "c": 0.5}}, {"id": "s"}]
        found = evaluate(data, Jury([Given(name=name) for name in JURORS], name="jury"), progress=False)
        assert found.summary()["jury"].failed == 1
        assert summed(found).rows == 1

    def test_a_metric_without_jurors_has_none(self) -> None:
        found = evaluate([{"id": "r", "values": {"given": 0.5}}], Given(), progress=False)
        assert found.summary()["given"].jury is None
        assert "jury" not in found.summary()["given"].to_dict()
        assert "juror" not in str(found.summary())

    @pytest.mark.parametrize(
        "details",
        [
            {"jurors": "twelve"},
            {"jurors": ["Ada", "Bob"]},
            {"jurors": [{"name": "Ada"}]},
            {"jurors": [{"juror": 1, "state": "scored"}]},
            {"repeats": "many"},
        ],
    )
    def test_evidence_of_others_under_the_same_name_is_no_jury(self, details: Mapping[str, Any]) -> None:
        found = run_with(Score(0.5, details=details))
        assert found.summary()["jury"].jury is None
        assert len(found.disagreements("jury")) == 0
        assert Score(0.5, details=details).text()

    @given(
        st.lists(
            st.lists(
                st.one_of(st.none(), st.just("gone"), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=3, max_size=3
            ),
            min_size=1,
            max_size=8,
        )
    )
    def test_every_row_is_counted_once_for_every_juror(self, rows: list[list[Any]]) -> None:
        scores = []
        for row in rows:
            votes = [
                {
                    "juror": name,
                    "value": value if isinstance(value, float) else None,
                    "error": value if isinstance(value, str) else None,
                    "state": "given",
                }
                for name, value in zip(JURORS, row, strict=True)
            ]
            scores.append(Score.unscored("-", details={"jurors": votes}))
        found = summed(run_with(*scores))
        for place, juror in enumerate(found.jurors):
            column = [row[place] for row in rows]
            assert juror.scored == sum(isinstance(value, float) for value in column)
            assert juror.failed == column.count("gone")
            assert juror.unscored == column.count(None)
        assert found.alpha.value is None or found.alpha.value <= 1


class TestDisagreements:
    ROWS = ((0.5, 0.5, 0.5), (0.0, 0.5, 1.0), (0.0, 0.0, 1.0), (1.0, None, 0.0), (0.25, 0.25, 0.5), ("gone", None, 1.0))

    def test_the_rows_on_which_they_differ_most_come_first(self) -> None:
        found = judged(*self.ROWS, quorum=1)
        rows = found.disagreements("jury")
        assert [row.sample.id for row in rows] == ["r3", "r1", "r2", "r4"]
        assert rows.differences == (1.0, *(pytest.approx(value) for value in (2 / 3, 2 / 3, 1 / 6)))
        assert [
            row.sample.id for row in found.disagreements(Jury([Given(name=name) for name in JURORS], name="jury"), 2)
        ] == [
            "r3",
            "r1",
        ]
        assert repr(rows) == "<4 disputed rows of jury>"
        assert summed(found).disputed == (("r3", 1.0), *((name, pytest.approx(2 / 3)) for name in ("r1", "r2")))

    @given(st.lists(st.integers(0, 100), min_size=2, max_size=6))
    def test_the_difference_is_that_of_two_on_average(self, values: list[int]) -> None:
        votes = [{"juror": f"{place}", "state": "scored", "value": value / 100} for place, value in enumerate(values)]
        pairs = list(combinations(values, 2))
        expected = Fraction(sum(abs(one - other) for one, other in pairs), 100 * len(pairs))
        differences = run_with(Score(0.5, details={"jurors": votes})).disagreements("jury").differences
        assert differences == ((pytest.approx(float(expected), abs=1e-12),) if expected else ())

    def test_the_printed_rows_show_every_juror(self) -> None:
        found = judged((0.0, 0.5, "gone"), note="it \x1b[31msays so", quorum=2)
        assert str(found.disagreements("jury")) == (
            "r0 (row 1)\n"
            "  jury: 0.25 (scale 0 to 1)\n"
            "    median of 2 of 3 jurors: 0, 0.5; tie: the middle lies between 0 and 0.5; c\n"
            "    failed: gone\n"
            "    jurors:\n"
            "    • a\n"
            "        0: it \\x1b[31msays so\n"
            "    • b\n"
            "        0.5: it \\x1b[31msays so\n"
            "    – c\n"
            "        failed: gone"
        )

    def test_none_where_they_agree_or_are_no_jurors(self) -> None:
        assert str(judged((0.5, 0.5, 0.5)).disagreements("jury")) == "no two jurors of jury differ on any row"
        assert len(evaluate([{"values": {"given": 0.5}}], Given(), progress=False).disagreements("given")) == 0

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("nothing",), "disagreements: there is no metric 'nothing'; there are jury"),
            (("jury", 0), "disagreements: n must be a whole number, at least 1, got 0"),
            (("jury", True), "disagreements: n must be a whole number, at least 1, got True"),
        ],
    )
    def test_what_cannot_be_asked_for(self, arguments: tuple[Any, ...], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            judged((0.5, 0.5, 0.5)).disagreements(*arguments)
        assert str(caught.value) == message


class TestPictures:
    def test_the_summary_to_the_letter(self) -> None:
        """Eight values, four of them 1: expected 2 * 4 * 4 / (8 * 7) = 4 / 7; observed 2 / 8; alpha 1 - 7 / 16 = 0.5625."""
        text = str(judged((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, "gone", 0.0)).summary())
        interval = annotator_alpha([(0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, None, 0.0)]).interval
        assert text[text.index("jury jury") :] == (
            "jury jury: its 3 jurors agree with Krippendorff's alpha 0.562, 95 % interval\n"
            f"      {interval}; 1 of 3 rows scored by fewer of them\n"
            "  a: mean 0.333, 3 scored, 0 unscored, 0 failed\n"
            "  b: mean 0.500, 2 scored, 0 unscored, 1 failed; failed most often by gone\n"
            "  c: mean 0.667, 3 scored, 0 unscored, 0 failed\n"
            "  they differ most on: r0 (0.667)"
        )

    def test_the_page_and_the_notebook_say_the_same(self, tmp_path: Path) -> None:
        found = judged((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, "<b>gone</b>", 0.0))
        found.to_html(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        for said in (
            "Krippendorff",
            "1 of 3 rows scored by fewer of them",
            "failed most often by &lt;b&gt;gone&lt;/b&gt;",
        ):
            assert said in page
            assert said in found.summary()._repr_html_()

    def test_names_of_jurors_and_models_steer_no_terminal(self) -> None:
        votes = [
            {"juror": f"{name}\x1b[2J", "model": "m\x1b[2J", "state": "failed", "value": None, "error": "\x1b[2Jgone"}
            for name in JURORS
        ]
        score = Score.unscored("-", details={"jurors": votes})
        assert "\x1b" not in score.text()
        found = judged((0.0, 0.0, "\x1b[2Jgone"), (0.0, 1.0, "\x1b[2Jgone"))
        assert "\x1b" not in str(found.summary())

    def test_the_command_line_shows_disputed_rows(self, tmp_path: Path) -> None:
        found = judged(*TestDisagreements.ROWS, quorum=1)
        found.to_jsonl(tmp_path / "scores.jsonl")
        shown = call("show", str(tmp_path / "scores.jsonl"), "--disputed", "1")
        assert shown.stdout.startswith("jury: the most disputed of 6 rows\n\nr3 (row 4)\n")
        assert "r1 (" not in shown.stdout
        for options, problem in (
            (["--disputed", "0"], "--disputed must be at least 1, got 0"),
            (
                ["--disputed", "1", "--worst", "1"],
                "--worst and --disputed cannot be combined: give only one of them",
            ),
        ):
            refused = call("show", str(tmp_path / "scores.jsonl"), *options)
            assert (refused.exit_code, problem in refused.stderr) == (2, True)
        evaluate([{"values": {"given": 0.5}}], Given(), progress=False).to_jsonl(tmp_path / "plain.jsonl")
        none = call("show", str(tmp_path / "plain.jsonl"), "--disputed", "1")
        assert (none.exit_code, "no metric of this run has jurors" in none.stderr) == (2, True)
