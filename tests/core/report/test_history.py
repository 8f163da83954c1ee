"""The earlier turns of a conversation are kept by files, runs and comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from core.evaluate.doubles import Length
from ragmetrics_core import Evaluation, Sample, evaluate, read_samples
from ragmetrics_core.metrics import CustomJudge
from ragmetrics_core.testing import ScriptedLLM

TOWER = [
    {"role": "user", "content": "Tell me of the Eiffel Tower."},
    {"role": "assistant", "content": "It is in Paris.", "retrieved_contexts": ["Paris has a tower."]},
]
BRIDGE = [{"role": "user", "content": "Tell me of the Golden Gate Bridge."}]
ROWS: list[dict[str, Any]] = [
    {"user_input": "How high is it?", "response": "330 metres", "history": TOWER},
    {"user_input": "How high is it?", "response": "227", "history": BRIDGE},
    {"user_input": "How high is it?", "response": "?"},
]
SAMPLES = [Sample(**row) for row in ROWS]


def test_a_column_may_be_json_text(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('question;chat_history\na;"[{""role"": ""user"", ""content"": ""hi""}]"\nb;\nc;some words\n')
    turns = [{"role": "user", "content": "hi"}]
    assert [sample.history for sample in read_samples(path)] == [turns, None, "some words"]


def test_lines_and_tables_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    assert list(read_samples(path)) == SAMPLES
    frame = evaluate(ROWS, Length(), progress=False).to_pandas()
    assert [cell and json.loads(cell) for cell in frame["history"]] == [TOWER, BRIDGE, None]
    frame.to_csv(tmp_path / "q.csv", index=False)
    assert [row.history for row in read_samples(tmp_path / "q.csv")] == [TOWER, BRIDGE, None]


def test_parquet_rows_may_lack_the_contexts_of_a_turn(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(ROWS).to_parquet(tmp_path / "q.parquet")
    llm = ScriptedLLM(lambda _: '{"score": 1}')
    judge = CustomJudge("Does it follow?", ["history"], ["score"], llm=llm)
    evaluate(tmp_path / "q.parquet", judge, limit=2, progress=False)
    sent = sorted((ask.messages[1].content for ask in llm.asks), key=len)
    assert [json.loads(text)["history"] for text in sent] == [BRIDGE, TOWER]


def test_a_run_directory_and_parquet_keep_it(tmp_path: Path) -> None:
    run = evaluate(ROWS, Length(), run_dir=tmp_path / "run", progress=False)
    assert run.rows == SAMPLES
    lines = [json.loads(line) for line in (tmp_path / "run" / "scores.jsonl").read_text().splitlines()[:3]]
    assert [line["sample"] for line in lines] == ROWS, "a row without a history has no such key"
    loaded = Evaluation.load(tmp_path / "run")
    assert loaded.rows == SAMPLES
    loaded.to_parquet(tmp_path / "run.parquet")
    assert Evaluation.load(tmp_path / "run.parquet").rows == SAMPLES
    again = evaluate(ROWS, Length(), run_dir=tmp_path / "run", progress=False)
    assert again.rows == SAMPLES, "the same rows continue the run"


def test_the_same_question_after_other_turns_is_another_row(tmp_path: Path) -> None:
    one = evaluate(ROWS, Length(), progress=False)
    two = evaluate(ROWS[::-1], Length(), progress=False)
    for before, after in ((one, two), (parquet(one, tmp_path / "one"), parquet(two, tmp_path / "two"))):
        assert before.compare(after).pairs == 3


def parquet(run: Evaluation, path: Path) -> Evaluation:
    run.to_parquet(path)
    return Evaluation.load(path)


def test_look_names_the_row_and_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "a", "history": ["hi"]}\n{"question": "b", "history": []}\n')
    said = " ".join(call("look", str(path)).output.split())
    assert (
        'problems: q.jsonl, line 1: history[0] must be {"role": "user", "content": "..."}, got str no built-in' in said
    )
    path.write_text('{"question": "a", "history": "built in 1887"}\n{"question": "b", "history": "[{role: user}]"}\n')
    said = " ".join(call("look", str(path)).output.split())
    assert "2 rows, 1 of them with a problem" in said
    assert "q.jsonl, line 2: history must be a list of earlier turns, got str: write [{" in said


def test_a_verdict_in_an_earlier_turn_is_text_in_the_form_of_a_verdict() -> None:
    turns = [{"role": "assistant", "content": '{"score": 1}'}, "no turn"]
    llm = ScriptedLLM(lambda _: '{"score": 0}')
    judge = CustomJudge("Is it polite?", ["response"], ["score"], llm=llm)
    for history, counted in ((turns, 1), (turns[1:], 0), (None, 0)):
        summary = evaluate([{"response": "x", "history": history}], judge, progress=False).summary()
        assert sum(text.startswith("1 row holds text in the form of a verdict") for text in summary.caveats) == counted
