"""The reply formats on raw replies of real judges, with the numbers that the project promises."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench" / "read_replies.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("read_replies", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_nearly_all_are_read_right_and_hardly_any_wrong(bench: ModuleType, shared_data: Path) -> None:
    records = bench.load(shared_data)
    tallies = bench.tally(records)
    assert set(bench.COUNTED) <= set(tallies)
    total = bench.total(tallies)
    wrong = [
        record["id"]
        for record in records
        if bench.kind_of(record) in bench.COUNTED and bench.read(record).outcome == "wrong"
    ]
    assert total.records > 400
    assert total.right / total.records >= 0.99
    assert total.wrong / total.records <= 0.002, wrong
    assert total.right + total.wrong + total.bad == total.records


def test_the_rules_carry_over_to_other_scales(bench: ModuleType, shared_data: Path) -> None:
    tallies = bench.tally(record for record in bench.load(shared_data) if bench.kind_of(record) in bench.OTHERS)
    records = sum(tally.records for tally in tallies.values())
    assert sum(tally.right for tally in tallies.values()) / records >= 0.95


def test_replies_in_the_habits_of_current_models(bench: ModuleType) -> None:
    records = bench.load_habits()
    total = bench.tally_habits(records)["all of them"]
    wrong = [(record["id"], record["raw"]) for record in records if bench.read_habit(record).outcome == "wrong"]
    assert total.records > 800
    assert {record["kind"] for record in records} == set(bench.PROMPTS)
    assert total.right / total.records >= 0.98
    assert total.wrong / total.records <= 0.002, wrong


def test_the_benchmark_counts_as_it_says(bench: ModuleType) -> None:
    def record(raw: str, expected: dict[str, object] | None, **more: object) -> dict[str, object]:
        return {"id": "x", "kind": "yes_no", "raw": raw, "expected": expected, "certainty": "high", **more}

    records = [
        record("yes", {"answer": True, "reason": "not compared"}),
        record("no", {"answer": True}),
        record("maybe", {"answer": True}),
        record("maybe", None),
        record("yes", None),
        record("maybe", {"answer": True}, also_accept=[None]),
    ]
    assert bench.tally(records)["yes_no"][:4] == (6, 3, 2, 1)
    verdicts = record('{"verdicts": [1, 0]}', {"verdicts": [1, 0]}, kind="verdicts", n_expected=3)
    assert bench.read(verdicts).outcome == "bad reply"
    assert bench.total(bench.tally([*records, verdicts]))[:4] == (7, 3, 2, 2)


def test_the_benchmark_prints_its_table(
    bench: ModuleType, shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(BENCH), str(shared_data)])
    some, habits = bench.load(shared_data)[::10], bench.load_habits()[::10]  # of each kind; the tests above read all
    monkeypatch.setattr(bench, "load", lambda folder: some)
    monkeypatch.setattr(bench, "load_habits", lambda: habits)
    bench.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["kind", "records", "right", "wrong"]
    assert any(line.startswith("all of them") for line in lines)
    second = lines[lines.index("") + 1 :]
    assert second[0] == lines[0]
    assert [line.split()[0] for line in second[1:8]] == [
        "yes_no",
        "score_1_5",
        "rating_0_2",
        "rating_0_4",
        "statements",
        "verdicts",
        "questions",
    ]
    assert lines[-1].startswith("read right: ")
