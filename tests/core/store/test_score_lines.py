"""Files of scores that stand alone, and which end of a metric's scale is better where a run is read back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.evaluate.doubles import AsyncModel, Length, Rated, questions
from core.report.comparing import metric_column
from ragmetrics_core import Evaluation, InvalidInput, Metric, Score, evaluate
from ragmetrics_core.metrics import Hallucination, NoiseSensitivity

NONE = "contains no scores of a row"
CURE = "give the directory of a run, or a file that to_jsonl() or --out wrote"


@dataclass(frozen=True)
class Lateness(Metric):
    """Low is good."""

    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str) -> Score:
        return Score(0.5)


@dataclass(frozen=True)
class Tone(Metric):
    """Neither end is better; the scale is that of each score."""

    scale: ClassVar[tuple[float, float] | None] = None
    higher_is_better: ClassVar[bool | None] = None

    def measure(self, user_input: str, response: str) -> Score:
        number = int(user_input)
        return Score.unscored("none") if number == 0 else Score(1, scale=(1, 5) if number < 5 else (1, 3))


def line(row: int = 1, **scores: Any) -> str:
    given = {name: {"value": value, "scale": [0, 1]} for name, value in scores.items()}
    return json.dumps({"row": row, "place": f"row {row}", "sample": {"response": "a"}, "scores": given}) + "\n"


class TestScoreFile:
    def test_a_file_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        made = evaluate(questions(20), [Length(), Tone()])
        made.to_jsonl(path)
        loaded = Evaluation.load(path)
        assert (loaded.source, loaded.run_dir, loaded.settings, loaded.models) == (str(path), None, None, ())
        assert list(loaded.records) == list(made.records)
        assert loaded.records[19] == made.records[19]
        assert loaded["length"] == made["length"]
        assert loaded.summary().title == f"{path}: 20 rows, 2 metrics"

    def test_what_is_known_of_its_metrics(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        path.write_text(line(faithfulness=1, hallucination=0, noise_sensitivity_relevant=0, recall_of_mine=0.5))
        assert Evaluation.load(path).metrics == (
            metric_column("faithfulness", (0.0, 1.0), "faithfulness", True),
            metric_column("hallucination", (0.0, 1.0), "hallucination", False),
            metric_column("noise_sensitivity_relevant", (0.0, 1.0), "noise_sensitivity_relevant", False),
            metric_column("recall_of_mine", (0.0, 1.0), "recall_of_mine", None, knows_better=False),
        )

    def test_a_scale_that_differs_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        for rows, scale in ((5, (1.0, 5.0)), (6, None), (1, None)):
            evaluate(questions(rows), Tone()).to_jsonl(path)
            (column,) = Evaluation.load(path).metrics
            assert column.scale == scale, rows

    def test_the_file_in_the_directory_of_its_run_is_that_run(self, tmp_path: Path) -> None:
        evaluate(questions(3), Lateness(), run_dir=tmp_path)
        loaded = Evaluation.load(tmp_path / "scores.jsonl")
        assert loaded.run_dir == tmp_path
        assert loaded.metrics[0].higher_is_better is False

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "{path} contains no rows"),
            ("\n \n", "{path} contains no rows"),
            (
                line(length=1) + "\n" + line(2, other=1),
                "{path}, line 3 has scores of other, but line 1 of length: split the file",
            ),
            (
                '{"question": "Who?"}\n',
                f"{{path}}, line 1 {NONE} (not a record: 'row'): {CURE}",
            ),
            (
                line(length=1) + line(2, length=float("nan")),
                f"{{path}}, line 2 {NONE} (a score must be a finite number, got nan: use Score.unscored(reason)): {CURE}",
            ),
            (
                line(length=1) + line(2, length=1)[:-30],
                f"{{path}}, line 2 {NONE} (Unterminated string starting at: line 1 column 81 (char 80)): {CURE}",
            ),
        ],
    )
    def test_nothing_is_left_out(self, tmp_path: Path, text: str, message: str) -> None:
        path = tmp_path / "scores.jsonl"
        path.write_text(text)
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load(path)
        assert str(caught.value) == message.format(path=path)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load(path)
        assert (
            str(caught.value) == f"{path} is neither the directory of a run nor a file of scores: there is no such file"
        )


class TestWhichEndIsBetter:
    def test_a_run_keeps_it(self, tmp_path: Path) -> None:
        evaluate(questions(3), [Length(), Lateness(), Tone()], run_dir=tmp_path)
        written = json.loads((tmp_path / "run.json").read_text())["metrics"]
        assert [item["higher_is_better"] for item in written] == [True, False, None]
        columns = Evaluation.load(tmp_path).metrics
        assert [item.higher_is_better for item in columns] == [True, False, None]
        assert all(item.knows_better for item in columns)

    def test_of_an_older_run_built_in_metrics_tell_it(self, tmp_path: Path) -> None:
        rows = [{"question": "q", "answer": "a", "contexts": ["c"], "reference": "r"}]
        metrics = [Hallucination(name="mine"), NoiseSensitivity(), Length()]
        evaluate(rows, metrics, llm="lexical", run_dir=tmp_path)
        account = json.loads((tmp_path / "run.json").read_text())
        for item in account["metrics"]:
            del item["higher_is_better"]
        (tmp_path / "run.json").write_text(json.dumps(account))
        columns = Evaluation.load(tmp_path).metrics
        assert [(item.higher_is_better, item.knows_better) for item in columns] == [
            (False, True),
            (False, True),
            (None, False),
        ]
        assert "higher_is_better" not in columns[2].to_dict()

    @pytest.mark.parametrize("value", ["yes", 1, []])
    def test_a_damaged_one_makes_the_account_damaged(self, tmp_path: Path, value: Any) -> None:
        evaluate(questions(3), Length(), run_dir=tmp_path)
        account = json.loads((tmp_path / "run.json").read_text())
        account["metrics"][0]["higher_is_better"] = value
        (tmp_path / "run.json").write_text(json.dumps(account))
        loaded = Evaluation.load(tmp_path)
        assert loaded.caveats == ("run.json is damaged: settings, models and costs of this run are not known",)
        assert loaded.settings is None


def test_a_run_in_memory_knows_its_settings_as_its_directory_does(tmp_path: Path) -> None:
    made = [evaluate(questions(2), Rated(), llm=AsyncModel(), run_dir=path) for path in (None, tmp_path)]
    loaded = Evaluation.load(tmp_path)
    for evaluation in (*made, loaded):
        assert evaluation.settings is not None
        assert evaluation.settings.scored_by is not None
        assert evaluation.settings.scored_by["rated"].settings == loaded.settings.scored_by["rated"].settings  # type: ignore[union-attr,index]
        assert evaluation.settings.run == {"repeats": 1, "empty": "skip"}
