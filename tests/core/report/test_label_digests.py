"""Labels say which texts they are about: where a row has changed since, its labels are left out, counted and named."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from core.report.comparing import metric_column, metric_column_of, run_of
from ragmetrics_core import Document, Evaluation, InvalidInput, Metric, Score, evaluate
from ragmetrics_core.metrics import NDCG, ExactMatch, RubricScore

ROW = {"id": "q1", "question": "Où est la tour ?", "answer": "À Paris.", "contexts": ["La tour est à Paris.", "Rome."]}
FAITHFULNESS = metric_column(
    "faithfulness", (0.0, 1.0), "Faithfulness()", inputs=("user_input", "response", "retrieved_contexts")
)


def digest(row: Mapping[str, Any], column: Any = FAITHFULNESS, value: Any = 1.0) -> Any:
    (line,) = run_of([(row, {column.name: value})], [column]).rows_to_label(1)
    return line.get("digest")


class TestWhatADigestIsOf:
    @pytest.mark.parametrize(
        "same",
        [
            dict(reversed(ROW.items())),
            {**ROW, "question": unicodedata.normalize("NFD", ROW["question"])},
            {**ROW, "answer": "  À\r\nParis. "},
            {**ROW, "lang": "fr", "metadata": {"seconds": 3}},
            {**ROW, "reference": "which it does not read", "id": "q2"},
            {
                "id": "q1",
                "user_input": ROW["question"],
                "response": ROW["answer"],
                "retrieved_contexts": tuple(ROW["contexts"]),
            },
        ],
    )
    def test_it_stays_where_nothing_that_is_judged_changes(self, same: dict[str, Any]) -> None:
        assert digest(same) == digest(ROW) == "1a486e118309d4e96a6dd5bc48dfb02b"

    @pytest.mark.parametrize(
        "other",
        [
            {"question": "Où est la Tour ?"},
            {"answer": "À Paris"},
            {"contexts": ROW["contexts"][::-1]},
            {"contexts": ROW["contexts"][:1]},
            {"contexts": ["".join(ROW["contexts"])]},
            {"contexts": None},
        ],
    )
    def test_it_changes_with_each_judged_text(self, other: dict[str, Any]) -> None:
        assert digest({**ROW, **other}) != digest(ROW)

    def test_keys_of_documents_have_no_order(self) -> None:
        column = metric_column_of(NDCG())
        one, two = ({"content": "a", "page": 1, "site": "x"}, {"site": "x", "page": 1.0, "content": "a"})
        rows = [{"id": "q1", "retrieved_documents": [item], "reference_documents": ["a"]} for item in (one, two)]
        assert digest(rows[0], column) == digest(rows[1], column)
        other = {**rows[0], "retrieved_documents": [Document("a", meta={"page": 2, "site": "x"})]}
        assert digest(rows[0], column) != digest(other, column)

    def test_rubrics_and_columns_of_ones_own(self, tmp_path: Path) -> None:
        class Tone(Metric):
            def measure(self, response: str, tone: str) -> Score:
                return Score(float(response == tone))

        rows = [{"id": "q1", "response": "calm", "tone": tone} for tone in ("calm", "loud")]
        found = [evaluate([row], Tone(), run_dir=tmp_path / row["tone"], progress=False) for row in rows]
        one, two = ([run.rows_to_label(1)[0]["digest"] for run in found] for _ in range(2))
        assert one == two
        assert one[0] != one[1]
        assert Evaluation.load(tmp_path / "calm").rows_to_label(1)[0]["digest"] == one[0]
        assert metric_column_of(RubricScore(rubric={1: "bad", 2: "good"})).inputs is not None

    def test_of_another_s_metric_in_a_file_of_scores_nothing_is_known(self, tmp_path: Path) -> None:
        known = evaluate([{**ROW, "reference": "x"}], ExactMatch(), progress=False)
        known.to_jsonl(tmp_path / "scores.jsonl")
        loaded = Evaluation.load(tmp_path / "scores.jsonl")
        assert loaded.rows_to_label(1)[0]["digest"] == known.rows_to_label(1)[0]["digest"]
        assert digest(ROW, metric_column("own", (0.0, 1.0), "own")) is None


def run(answer: str = "", rows: int = 20) -> Evaluation:
    """Rows of which every third one is wrong; an ``answer`` replaces those of the first five."""
    texts = [answer if answer and row < 5 else f"answer {row}" for row in range(rows)]
    given = ({"id": f"q{row}", "question": f"question {row}", "answer": text} for row, text in enumerate(texts))
    return run_of(((fields, {"faithfulness": float(row % 3 > 0)}) for row, fields in enumerate(given)), [FAITHFULNESS])


def labelled(evaluation: Evaluation, **more: Any) -> list[dict[str, Any]]:
    lines = evaluation.rows_to_label(len(evaluation))
    return [
        {**line, "label": int(line["id"][1:]) % 3 > 0, "weight": None, **more}
        for line in sorted(lines, key=lambda line: int(line["id"][1:]))
    ]


STALE = "5 labels of faithfulness left out, as 5 rows changed after they were labelled: 'q0', 'q1', 'q2', 'q3', 'q4'"
NO_DRAW = "the remaining labels are not a random draw from all rows: label the changed rows again"
WITHOUT = "20 labels without a digest: it is not known whether the rows changed after they were labelled"


class TestUse:
    def test_labels_of_the_same_rows_are_used_without_a_word(self) -> None:
        found = run().calibrate(labelled(run()))
        assert (found.notes, found["faithfulness"].labels) == ((), 20)

    def test_labels_of_rows_that_changed_are_left_out_counted_and_named(self) -> None:
        found = run("Bananas are blue.").calibrate(labelled(run()))
        assert (found.notes, found["faithfulness"].labels) == ((STALE, NO_DRAW), 15)
        assert STALE in " ".join(found.text(200).split())
        assert STALE in found.to_markdown().replace("\\", "")
        assert found.to_dict()["notes"] == [STALE, NO_DRAW]

    def test_each_row_is_named_once_and_the_rest_counted(self) -> None:
        lines = [*labelled(run(), annotator="Ada"), *labelled(run(), annotator="Bo")]
        other = run_of(
            [
                (
                    {"id": f"q{row}", "question": f"question {row}", "answer": "x" if row < 6 else f"answer {row}"},
                    {"faithfulness": 1.0},
                )
                for row in range(20)
            ],
            [FAITHFULNESS],
        )
        assert other.calibrate(lines).notes == (
            "12 labels of faithfulness left out, as 6 rows changed after they were labelled: 'q0', 'q1', 'q2', 'q3', 'q4', ...",
            NO_DRAW,
        )

    def test_none_is_left(self) -> None:
        lines = labelled(run())[:1]
        with pytest.raises(InvalidInput) as caught:
            run("Bananas are blue.").calibrate(lines)
        assert str(caught.value) == (
            "no valid label is left: 1 label of faithfulness left out, as 1 row changed after it was labelled: 'q0': label these "
            "rows again"
        )

    def test_labels_without_a_digest_are_used_with_one_sentence(self) -> None:
        lines = [{key: value for key, value in line.items() if key != "digest"} for line in labelled(run())]
        found = run("Bananas are blue.").calibrate(lines)
        assert (found.notes, found["faithfulness"].labels) == ((WITHOUT,), 20)

    def test_where_a_run_does_not_tell_what_a_metric_reads_nothing_is_checked(self) -> None:
        known = metric_column("own", (0.0, 1.0), "Own()", inputs=("response",))
        blank = metric_column("own", (0.0, 1.0), "own")
        rows = [({"id": f"q{row}", "response": f"answer {row}"}, {"own": float(row % 2)}) for row in range(10)]
        lines = [{**line, "label": True, "weight": None} for line in run_of(rows, [known]).rows_to_label(10)]
        assert run_of(rows, [known]).calibrate(lines).notes == ()
        assert run_of(rows, [blank]).calibrate(lines).notes == (
            (
                "10 labels not checked: this run does not record which fields own reads, so it is not known whether the rows "
                "changed after they were labelled"
            ),
        )

    def test_summaries_and_comparisons_say_so_too(self) -> None:
        before, after = run(), run("Bananas are blue.")
        lines = labelled(before)
        found = before.calibrate(lines), after.calibrate(lines)
        assert after.summary(calibration=found[1]).caveats == (STALE, NO_DRAW)
        assert after.summary().caveats == ()
        comparison = before.compare(after, calibration=found)
        assert comparison.notes == (f"labels of the second run: {STALE}", f"labels of the second run: {NO_DRAW}")
        assert comparison.corrected[0].labels == 15

    def test_labels_of_claims(self) -> None:
        def with_claims(answer: str) -> Evaluation:
            def score(row: int) -> Score:
                claims = [{"claim": f"claim {number}", "supported": row % 2 == 0, "reason": ""} for number in (1, 2)]
                return Score(0.5, metric="faithfulness", scale=(0.0, 1.0), details={"claims": claims})

            fields = ({"id": f"q{row}", "answer": answer if row < 2 else f"answer {row}"} for row in range(10))
            return run_of([(each, {"faithfulness": score(row)}) for row, each in enumerate(fields)], [FAITHFULNESS])

        lines = [{**line, "claim": number} for line in labelled(with_claims("here")) for number in (1, 2)]
        found = with_claims("there").calibrate(lines)
        assert found.notes == (
            "4 labels of faithfulness left out, as 2 rows changed after they were labelled: 'q0', 'q1'",
            NO_DRAW,
        )
        claims = found["faithfulness"].claims
        assert claims is not None
        assert (claims.claims, claims.rows) == (16, 8)

    def test_rows_that_changed_are_drawn_again(self) -> None:
        lines = labelled(run())
        drawn = run("Bananas are blue.").rows_to_label(5, labels=lines)
        assert {line["id"] for line in drawn} == {"q0", "q1", "q2", "q3", "q4"}


@pytest.mark.parametrize("wrong", ["0123", "g" * 32, 7, "ABCDEF" + "0" * 26])
def test_a_digest_that_is_none(tmp_path: Path, wrong: Any) -> None:
    file = tmp_path / "labels.jsonl"
    lines = labelled(run())
    lines[2]["digest"] = wrong
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InvalidInput) as caught:
        run().calibrate(file)
    assert str(caught.value) == (
        f"labels.jsonl, line 3: the digest {wrong!r} was not written by a report or by --suggest (32 letters and digits): copy "
        "the line unchanged, or leave the digest out"
    )


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of one run beside another run of the same ids with other answers."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        rows = [
            {
                "id": f"q{row}",
                "answer": "Paris" if name == "a" or row > 3 else "Bananas are blue.",
                "reference": "Paris" if row % 2 else "Rome",
            }
            for row in range(30)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert call("evaluate", f"{name}.jsonl", "-m", "exact_match", "--run-dir", name).exit_code == 0
    assert call("calibrate", "a", "--suggest", "30").exit_code == 0
    lines = [json.loads(line) for line in Path("to_label.jsonl").read_text().splitlines()]
    Path("labels.jsonl").write_text(
        "".join(json.dumps({**line, "label": int(line["id"][1:]) % 2 > 0}) + "\n" for line in lines)
    )
    left_out = "4 labels of exact_match left out, as 4 rows changed after they were labelled: "
    for command in (("calibrate",), ("show",)):
        result = call(*command, "b", "--labels", "labels.jsonl")
        assert (result.exit_code, left_out in " ".join(result.stdout.split())) == (0, True)
        assert left_out not in " ".join(call(*command, "a", "--labels", "labels.jsonl").stdout.split())
    result = call("compare", "a", "b", "--labels", "labels.jsonl", "--labels", "labels.jsonl")
    assert f"labels of b: {left_out}" in " ".join(result.stdout.split())
    assert call("report", "b", "--labels", "labels.jsonl").exit_code == 0
    assert left_out in Path("report.html").read_text(encoding="utf-8")
