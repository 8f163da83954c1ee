"""A run as a table for spreadsheets, and as Markdown for a comment: complete, and without effect on who opens them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.evaluate.doubles import Length, questions
from ragmetrics_core import Evaluation, InvalidInput, evaluate
from report_data import XSS, hostile, line, score, small, written


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


class TestScores:
    @pytest.mark.parametrize("reason", [None, "the budget of 5 calls is used up"])
    def test_a_file_of_scores_says_in_its_last_line_why_the_run_stopped(
        self, tmp_path: Path, reason: str | None
    ) -> None:
        run = evaluate(questions(4), Length(), progress=False)
        replace(run, stopped=reason).to_jsonl(tmp_path / "scores.jsonl")
        lines = [json.loads(each) for each in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [each.get("stopped") for each in lines] == [None, None, None, reason]
        loaded = Evaluation.load(tmp_path / "scores.jsonl")
        assert (loaded.stopped, loaded.state) == (reason, "stopped" if reason else "finished")
        assert ("The run is not complete." in loaded.summary().sentence) is bool(reason)
        loaded.to_jsonl(tmp_path / "again.jsonl")
        assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "scores.jsonl").read_bytes()


class TestCsv:
    def test_a_row_per_sample_and_a_column_per_field_and_score(self, tmp_path: Path) -> None:
        evaluation = small(tmp_path / "scores.jsonl")
        evaluation.to_csv(tmp_path / "scores.csv")
        rows = table(tmp_path / "scores.csv")
        assert list(rows[0]) == list(evaluation.to_pandas().columns)
        assert [row["id"] for row in rows] == ["q1", "q2", "q3", ""]
        assert [row["faithfulness"] for row in rows] == [str(1 / 3), "1.0", "", ""]
        assert [row["faithfulness_state"] for row in rows] == ["scored", "scored", "failed", "unscored"]
        assert rows[2]["faithfulness_note"] == "BadReply: no JSON"
        assert [row["diagnosis_passing"] for row in rows] == ["false", "true", "true", "false"]
        assert json.loads(rows[0]["retrieved_contexts"])[2] == "Rome is far away."
        assert [row["metadata.lang"] for row in rows] == ["en", "de", "de", ""]

    def test_no_text_is_a_formula(self, tmp_path: Path) -> None:
        texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\uff1d1", "1-1", "a=1", ""]
        rows = [
            line(
                number,
                {"user_input": text, "response": "r", "metadata": {text: text}},
                score("-m", -1.0, scale=[-1.0, 1.0]),
            )
            for number, text in enumerate(texts, 1)
        ]
        written(tmp_path / "scores.jsonl", rows).to_csv(tmp_path / "scores.csv")
        found = table(tmp_path / "scores.csv")
        assert [row["user_input"] for row in found] == [*(f"'{text}" for text in texts[:9]), *texts[9:]]
        assert {row["'-m"] for row in found} == {"-1.0"}, "numbers are no texts"

    def test_hostile_texts_come_back_as_they_were(self, tmp_path: Path) -> None:
        hostile(tmp_path / "scores.jsonl").to_csv(tmp_path / "scores.csv")
        rows = table(tmp_path / "scores.csv")
        assert len(rows) == 40
        for row, text in zip(rows, XSS, strict=True):
            safe = text.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
            assert row["user_input"] in (safe, f"'{safe}")

    def test_it_does_not_take_the_place_of_the_scores(self, tmp_path: Path) -> None:
        evaluation = evaluate(questions(2), Length(), run_dir=tmp_path / "run")
        with pytest.raises(
            InvalidInput, match="is the scores file of this run and already has these scores: give another path"
        ):
            evaluation.to_csv(tmp_path / "run" / "scores.jsonl")


class TestMarkdown:
    def test_the_summary(self, tmp_path: Path) -> None:
        text = small(tmp_path / "scores.jsonl").summary().to_markdown()
        lines = text.splitlines()
        assert lines[4:8] == [
            "| metric | mean | scored | 95 % interval | unscored | failed | scale | calls | cached | tokens in | tokens out |",
            "| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
            "| <code>faithfulness</code> | 0.667 | 2 of 4 | 0.005 to 0.999 | 1 | 1 | 0 to 1 | 2 | 1 | 700 | 80 |",
            "| <code>diagnosis</code> | 0.500 | 4 of 4 | 0.150 to 0.850 | 0 | 0 | 0 to 1 | 0 | 0 | 0 | 0 |",
        ]
        assert "<summary>What the numbers rest on</summary>" in lines
        assert lines[lines.index("**lowest:**") + 2] == "* diagnosis: q1 (0), line 4 (0)"
        assert lines[lines.index("**failed:**") + 2] == "* 1 row in faithfulness: BadReply: no JSON (q3)"

    def test_what_must_be_known_comes_first(self) -> None:
        from ragmetrics_core.llms import LexicalJudge

        rows = [{"user_input": "Where?", "response": "In Paris.", "retrieved_contexts": ["In Paris."]}]
        text = evaluate(rows, "faithfulness", llm=LexicalJudge()).summary().to_markdown()
        assert text.splitlines()[2] == (
            "> **note:** These scores are a lexical baseline: the offline judge compares words and does not understand text. Use a "
            "language model (such as openai&#58;&#8203;gpt-4o-mini) to judge meaning."
        )

    def test_slices_are_tables(self, tmp_path: Path) -> None:
        text = small(tmp_path / "scores.jsonl").summary(by="lang").to_markdown()
        assert "| faithfulness | mean | scored | 95 % interval | unscored | failed |" in text
        assert "| <code>lang=de</code> | 1.000 | 1 of 2 | - | 0 | 1 |" in text

    def test_hostile_texts_have_no_effect(self, tmp_path: Path) -> None:
        text = hostile(tmp_path / "scores.jsonl").summary(by="lang").to_markdown()
        ours = ("<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>")
        rest = text
        for tag in ours:
            rest = rest.replace(tag, "")
        assert "<" not in rest.replace("<code>", "")
        assert "javascript:window" not in rest
        assert "\x1b" not in rest
