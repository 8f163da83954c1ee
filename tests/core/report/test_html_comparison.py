"""The page of a comparison as a file: what is in it, what it lets a browser do, how large it is."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from comparison_data import ANSWER_AFTER, ANSWER_BEFORE, TALL, compared_hostile, compared_many, compared_small
from core.report.comparing import by_id, judged_by, model_identity, run_of
from core.report.skeleton import ALLOWED, Skeleton, check_policy
from ragmetrics_core import Comparison, InvalidInput, evaluate
from ragmetrics_core.llms import LexicalJudge
from report_data import XSS, unpacked


def page_of(comparison: Comparison, folder: Path, **options: float) -> str:
    path = folder / "comparison.html"
    comparison.to_html(path, **options)
    return path.read_text(encoding="utf-8")


def words(page: str) -> str:
    """The texts of a page, with the spaces that a reader sees."""
    return " ".join(" ".join(Skeleton(page.split("<body>")[1].split("<script", maxsplit=1)[0]).texts).split())


class TestContent:
    def test_rows_come_back_with_both_sides(self, tmp_path: Path) -> None:
        index = unpacked(page_of(compared_small(tmp_path), tmp_path), "index")
        rows = index["rows"]
        assert rows["names"] == ["q1", "q2", "q3", "q4", "q5", "line 8", "q6", "q7"]
        assert rows["ids"] == ["q1", "q2", "q3", "q4", "q5", None, "q6", "q7"]
        assert rows["values"][0] == [
            [0.5, 1.0, None, 0.5, 0.75, None, 0.25, None],
            [1.0, 0.75, 0.8, 0.5, None, None, None, 1.0],
        ]
        assert rows["states"] == [["ssfssus-", "ssssuu-s"], ["ssussus-", "ssssuu-s"]]
        assert rows["labels"][0] == [None, None]
        assert rows["passing"] == [["--------", "--------"], ["ny-nn-n-", "yyyn---y"]]
        assert rows["labels"][1][1] == ["right", "right", "right", "misled", None, None, None, "right"]
        assert rows["answers"][0][0] == ANSWER_BEFORE
        assert rows["answers"][1][0] == ANSWER_AFTER
        assert rows["metadata"] == {"lang": ["en", "de", "en", "de", "de", None, "de", "de"]}
        assert rows["notes"] == {}

    def test_rows_that_changed_most_come_first(self, tmp_path: Path) -> None:
        index = unpacked(page_of(compared_small(tmp_path), tmp_path), "index")
        # by 1 (diagnosis), by 0.25; then a value on one side only, then the same, then in one run only
        assert index["rows"]["order"] == [0, 1, 2, 4, 3, 5, 6, 7]
        assert index["blocks"] == [[0, 1, 2, 4, 3, 5, 6, 7]]
        assert [item["total"] for item in index["metrics"]] == [0.75, 1.0]
        assert [item["better"] for item in index["metrics"]] == [True, True]

    def test_evidence_of_both_sides_with_what_changed(self, tmp_path: Path) -> None:
        comparison = compared_small(tmp_path)
        evidence = unpacked(page_of(comparison, tmp_path), "block-0")
        first = evidence[0]
        assert [side[0]["sample"]["response"] for side in first["sides"]] == [ANSWER_BEFORE, ANSWER_AFTER]
        assert [item["scores"]["faithfulness"]["value"] for side in first["sides"] for item in side] == [0.5, 1.0]
        assert first["claims"]["faithfulness"] == [
            change.to_dict() for change in comparison.metrics[0].changes[0].claims
        ]
        assert first["claims"]["faithfulness"][0] == {"text": TALL, "kind": "gained", "before": False, "after": True}
        only_before = evidence[6]
        assert [len(side) for side in only_before["sides"]] == [1, 0]
        assert only_before["claims"] == {}

    def test_repeats_of_a_row_are_one_row_with_all_records(self, tmp_path: Path) -> None:
        page = page_of(compared_small(tmp_path, twice=True), tmp_path)
        rows = unpacked(page, "index")["rows"]
        assert rows["names"].count("q2") == 1
        assert rows["values"][0][0][1] == 0.5
        at = unpacked(page, "index")["blocks"][0].index(1)
        sides = unpacked(page, "block-0")[at]["sides"]
        assert [record["scores"]["faithfulness"]["value"] for record in sides[0]] == [1.0, 0.0]

    def test_metrics_of_one_run_are_named_and_not_shown(self, tmp_path: Path) -> None:
        rows = [({"id": f"q{n}", "question": f"question {n}"}, {"m": 1.0, "extra": 0.5}) for n in range(3)]
        comparison = run_of(rows, name="old").compare(by_id([1.0, 1.0, 1.0], name="new"))
        page = page_of(comparison, tmp_path)
        assert "only in old, and not compared: extra" in words(page)
        assert list(unpacked(page, "block-0")[0]["sides"][0][0]["scores"]) == ["m"]

    def test_labels_of_a_metric_are_slices_of_the_rows_too(self, tmp_path: Path) -> None:
        index = unpacked(page_of(compared_small(tmp_path, by="diagnosis"), tmp_path), "index")
        labels = ["contradicted", "right", None, "misled", "misled", None, "misled", "right"]
        assert index["rows"]["metadata"]["diagnosis"] == labels


class TestHead:
    def test_the_caveat_of_both_runs_stands_once(self, tmp_path: Path) -> None:
        row = {"question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."], "id": "a"}
        run = evaluate([row], "faithfulness", llm=LexicalJudge())
        text = words(page_of(run.compare(evaluate([row], "faithfulness", llm=LexicalJudge())), tmp_path))
        assert text.count("Caveats (1) both runs: These scores are a lexical baseline") == 1
        assert "1 row in both, paired by id. Differences are after minus before." in text
        assert "Judge LexicalJudge" in text
        assert "Prompt versions extract_claims 5, verify_claims 6" in text

    def test_who_scored_comes_before_everything_and_nothing_is_compared(self, tmp_path: Path) -> None:
        runs = self.runs()
        text = words(page_of(runs[0].compare(runs[1]), tmp_path))
        at = [
            text.index(part)
            for part in (
                "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:",
                "m: the setting 'k' differs",
                "not compared",
                "cannot say",
                "8 rows in both",
                "Judge differs before gpt-4o after gpt-5",
            )
        ]
        assert at == sorted(at)
        assert "<svg" not in page_of(runs[0].compare(runs[1]), tmp_path)
        index = unpacked(page_of(runs[0].compare(runs[1]), tmp_path), "index")
        assert (index["metrics"][0]["credited"], index["metrics"][0]["total"]) == (False, 0.0)
        assert index["rows"]["order"] == list(range(8)), "as in the data: no row has a difference that is shown"

    def test_where_it_was_allowed_the_warning_stays(self, tmp_path: Path) -> None:
        runs = self.runs()
        text = words(page_of(runs[0].compare(runs[1], allow_different_judges=True), tmp_path))
        assert text.index("WARNING: who scored differs") < text.index("better (see the warning)")

    @staticmethod
    def runs() -> list[Any]:
        judges = (("old", "gpt-4o", 0.0), ("new", "gpt-5", 1.0))
        runs = []
        for name, model, value in judges:
            settings = judged_by("m", llm=model_identity(model, {"model": model}), settings={"k": model})
            runs.append(by_id([value] * 8, name=name, settings=settings))
        return runs

    def test_the_difference_that_people_would_see_is_below_the_reason(self, tmp_path: Path) -> None:
        before, after = (by_id([value] * 40, name=name) for name, value in (("old", 0.0), ("new", 1.0)))
        lines = [[{"id": f"q{n}", "metric": "m", "label": label} for n in range(20)] for label in (False, True)]
        calibration = before.calibrate(lines[0]), after.calibrate(lines[1])
        comparison = before.compare(after, calibration=calibration)
        (found,) = comparison.corrected
        assert str(found).startswith("m, by people's labels: ")
        text = words(page_of(comparison, tmp_path))
        assert text.index("It goes from 0.000") < text.index(f"{found}.") < text.index("rows with a value")


class TestPicture:
    def test_where_the_parts_stand(self, tmp_path: Path) -> None:
        comparison = by_id([0.0] * 30 + [1.0] * 10).compare(by_id([1.0] * 20 + [0.0] * 10 + [1.0] * 10))
        (item,) = comparison.metrics
        assert item.difference == 0.5
        assert item.interval is not None
        low, high = item.interval[:2]
        page = page_of(comparison, tmp_path)

        def across(value: float) -> float:
            """The axis reaches 0.08 further than the interval; 397 of 400 are without the ends of strokes."""
            return (value / (high * 1.08) + 1) / 2 * 397 + 1.5

        assert self.lines(page, "zero") == [{"x1": 200.0, "x2": 200.0}]
        assert self.lines(page, "mean") == [{"x1": round(across(0.5), 1), "x2": round(across(0.5), 1)}]
        assert self.lines(page, "interval")[0] == {"x1": round(across(low), 1), "x2": round(across(high), 1)}
        left, right = across(-0.03), across(0.03)
        assert f'class="margin" x="{left:.1f}" y="0" width="{right - left:.1f}"' in page
        assert "which is without 0; margin ±0.03" in page

    def test_the_axis_is_the_same_for_all_and_never_longer_than_the_scale(self, tmp_path: Path) -> None:
        near = by_id([0.5] * 20).compare(by_id([0.5] * 20))
        interval = near.metrics[0].interval
        assert interval is not None
        assert f"<span>{interval.high * 1.08:+.2g} better</span>" in page_of(near, tmp_path)
        before, after = (run_of([({"id": n}, {"near": 0.5, "far": value}) for n in range(20)]) for value in (0.0, 1.0))
        assert page_of(before.compare(after), tmp_path).count("<span>+1 better</span>") == 2

    @staticmethod
    def lines(picture: str, kind: str) -> list[Mapping[str, float]]:
        found = re.findall(rf'<line class="{kind}" x1="([\d.]+)" x2="([\d.]+)"', picture)
        return [{"x1": float(start), "x2": float(end)} for start, end in found]


class TestHostileTexts:
    def test_no_text_becomes_markup(self, tmp_path: Path) -> None:
        page = page_of(compared_hostile(tmp_path), tmp_path)
        skeleton = Skeleton(page)
        own = {"details", "summary", "bdi"}
        assert {part[0] for part in skeleton.parts} - set(ALLOWED.split()) - own == set()
        assert all(link.startswith("#") for link in skeleton.links)
        assert skeleton.parts["script",] == 1
        assert [name for part in skeleton.parts for name in part[1:] if name.startswith("on")] == []
        shown = "".join(skeleton.texts)
        assert all(text in shown for text in XSS if text.isprintable() and "&" not in text)

    def test_the_policy_is_that_of_the_page_of_one_run(self, tmp_path: Path) -> None:
        check_policy(page_of(compared_small(tmp_path), tmp_path))


class TestSize:
    def test_what_does_not_fit_is_the_evidence_of_the_rows_that_changed_least(self, tmp_path: Path) -> None:
        page = page_of(compared_many(tmp_path, 200), tmp_path, max_megabytes=0.4)
        assert 330_000 <= len(page.encode()) <= 400_000
        index = unpacked(page, "index")
        inside = [row for block in index["blocks"] for row in block]
        assert inside == index["rows"]["order"][: len(inside)]
        outside = sorted(map(int, index["rows"]["notes"]))
        assert sorted([*inside, *outside]) == list(range(200))
        assert 20 <= len(inside) <= 150

    def test_a_page_without_room_for_evidence_keeps_the_reasons(self, tmp_path: Path) -> None:
        index = unpacked(page_of(compared_small(tmp_path), tmp_path, max_megabytes=0.01), "index")
        assert index["blocks"] == []
        assert index["rows"]["notes"]["2"] == [["BadReply: no JSON", None], ["no answer", None]]

    @pytest.mark.parametrize("value", [0, -1, True, float("nan")])
    def test_a_size_that_is_none(self, tmp_path: Path, value: float) -> None:
        with pytest.raises(InvalidInput, match=f"^max_megabytes must be a number greater than 0, got {value!r}$"):
            compared_small(tmp_path).to_html(tmp_path / "x.html", max_megabytes=value)


def test_the_scores_of_a_run_are_not_written_over(tmp_path: Path) -> None:
    row = {"answer": "a", "reference": "a", "id": 1}
    runs = [evaluate([row], "token_f1", run_dir=tmp_path / name) for name in ("one", "two")]
    comparison = runs[0].compare(runs[1])
    for name in ("one", "two"):
        with pytest.raises(
            InvalidInput, match=r"scores\.jsonl is the scores file of a compared run: give another path$"
        ):
            comparison.to_html(tmp_path / name / "scores.jsonl")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_a_copy_is_plain_data_that_does_not_know_its_rows(tmp_path: Path, copied: Callable[[Any], Any]) -> None:
    whole = compared_small(tmp_path)
    comparison = copied(whole)
    assert comparison == whole
    assert comparison.text(80) == whole.text(80)
    with pytest.raises(InvalidInput, match=r"^this comparison has no rows: make it with Evaluation\.compare$"):
        comparison.to_html(tmp_path / "x.html")
