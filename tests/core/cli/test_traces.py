"""``--traces``: the commands ``evaluate`` and ``look`` read traces, and say what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.calling import call
from core.traces.making import ANSWER, otlp, rag, span, written

UNREADABLE = "ragmetrics: 2 traces cannot be read: the application failed (1), a damaged record (1)\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    failed = span("chain", "CHAIN", input__value="?", error="ValueError")
    path = written(tmp_path / "spans.jsonl", otlp(*rag()), otlp(*rag("Who?", "Nobody knows.")), otlp(failed))
    with path.open("a") as file:
        file.write("{\n")


def test_evaluate(tmp_path: Path) -> None:
    result = call("evaluate", "--traces", "spans.jsonl", "-m", "faithfulness", "--llm", "lexical", "--out", "out.jsonl")
    assert (result.exit_code, result.stderr) == (0, UNREADABLE)
    assert "faithfulness  0.500  2 of 2" in result.stdout
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [row["sample"]["response"] for row in rows] == [ANSWER, "Nobody knows."]
    data = Path("spans.jsonl").read_bytes()
    result = call("evaluate", "--traces", "-", "-m", "faithfulness", "--llm", "lexical", "--dry-run", stdin=data)
    assert (result.exit_code, result.stderr) == (0, UNREADABLE)
    assert result.stdout.startswith("2 rows: about 4 calls")


def test_evaluate_until_it_is_decided() -> None:
    """The rows are read several times."""
    gate = ["--gate", "faithfulness >= 0.1", "--stop-when-decided"]
    result = call("evaluate", "--traces", "spans.jsonl", "-m", "faithfulness", "--llm", "lexical", *gate)
    assert (result.exit_code, result.stderr[-len(UNREADABLE) :]) == (3, UNREADABLE)


def test_metrics_that_fit() -> None:
    result = call("evaluate", "--traces", "spans.jsonl")
    assert result.exit_code == 2
    assert "these fit the columns of spans.jsonl: " in result.stderr


def test_look() -> None:
    result = call("look", "--traces", "spans.jsonl", "--rows", "1")
    assert (result.exit_code, result.stderr) == (0, UNREADABLE)
    assert result.stdout.startswith(
        "spans.jsonl: traces: 2 rows\n\nuser_input           2 of 2  user_input (its name)\n"
    )
    assert "  response: Ada was born in London.\n  retrieved_contexts: 2\n" in result.stdout
    shown = json.loads(call("look", "--traces", "spans.jsonl", "--json").stdout)
    assert shown["unreadable"] == {"the application failed": 1, "a damaged record": 1}
    assert (shown["form"], shown["rows"]) == ("traces", 2)


def test_nothing_can_be_read() -> None:
    for command in (["look"], ["evaluate", "-m", "faithfulness", "--llm", "lexical"]):
        Path("empty.jsonl").write_text("\n")
        result = call(*command, "--traces", "empty.jsonl")
        message = "ragmetrics: empty.jsonl holds no trace that can be read: it is empty\n"
        assert (result.exit_code, result.stderr) == (2, message)
        Path("rows.jsonl").write_text('{"question": "?"}\n')
        result = call(*command, "--traces", "rows.jsonl")
        reason = "1 trace cannot be read: a damaged record (1)"
        assert (result.exit_code, result.stderr) == (
            2,
            f"ragmetrics: rows.jsonl holds no trace that can be read: {reason}\n",
        )
