"""Files of a run that are well formed and absurd: numbers without end, scores of no metric, settings that are gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Rated, questions
from core.store.kept import Model, lines, values
from ragmetrics_core import Evaluation, InvalidInput, evaluate

HUGE = 10**400


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    evaluate(questions(3), Rated(), llm=Model(), run_dir=tmp_path / "run", progress=False)
    return tmp_path / "run"


@pytest.mark.parametrize("change", [{"seconds": HUGE}, {"waited": {"rated": HUGE}}, {"judged": {}}])
def test_an_absurd_account_is_a_damaged_one(run_dir: Path, change: dict[str, Any]) -> None:
    account = run_dir / "run.json"
    account.write_text(json.dumps({**json.loads(account.read_text()), **change}))
    assert "run.json is damaged" in Evaluation.load(run_dir).caveats[0]
    model = Model()
    result = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir, progress=False)
    assert (values(result), model.asked) == ([0.0, 0.01, 0.02], [])
    assert (run_dir / "scores.1.jsonl").exists()


def absurd_value(scores: dict[str, Any]) -> None:
    scores["rated"]["value"] = HUGE


def score_of_no_metric(scores: dict[str, Any]) -> None:
    scores["nobody"] = scores["rated"]


@pytest.mark.parametrize("damage", [absurd_value, score_of_no_metric])
@pytest.mark.parametrize("account", ["whole", "damaged"])
def test_an_absurd_row_costs_itself(run_dir: Path, damage: Callable[[dict[str, Any]], None], account: str) -> None:
    rows = lines(run_dir)
    damage(rows[1]["scores"])
    (run_dir / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if account == "damaged":
        (run_dir / "run.json").write_text("")
    loaded = Evaluation.load(run_dir)
    assert values(loaded) == [0.0, 0.02]
    assert "2 rows" in str(loaded.summary())
    model = Model()
    result = evaluate(questions(3), Rated(), llm=model, run_dir=run_dir, progress=False)
    assert (values(result), model.asked) == ([0.0, 0.01, 0.02], [])


def test_a_journal_whose_tables_have_lost_their_names(run_dir: Path) -> None:
    journal = run_dir / "journal.sqlite"
    data = journal.read_bytes()
    at = data.index(b"CREATE TABLE replies")
    journal.write_bytes(data[: at + 13] + b"\xb4\xff" + data[at + 15 :])
    with pytest.raises(InvalidInput, match=r"journal\.sqlite has no replies of ragmetrics \("):
        evaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir, progress=False)
    assert values(Evaluation.load(run_dir)) == [0.0, 0.01, 0.02]
