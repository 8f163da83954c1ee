"""``ragmetrics compare`` with three or more runs: what it shows and writes, and what it ends with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.cli.calling import call, tower_runs
from ragmetrics_core import Evaluation, compare_runs

ROWS = 200


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs ``v1``, ``v2`` and ``v3``: 160, 140 and 165 of 200 rows are right."""
    return tower_runs(tmp_path_factory.mktemp("runs"), ROWS, v1=160, v2=140, v3=165)


@pytest.fixture
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a copy of the runs."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(runs, tmp_path, dirs_exist_ok=True)


def test_what_it_shows_is_what_the_api_says(folder: Path) -> None:
    result = call("compare", "v1", "v2", "v3", "--by", "lang", "--margin", "0.1")
    wanted = compare_runs(["v1", "v2", "v3"], by="lang", margin=0.1)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{wanted}\n", "")
    assert "exact_match: v1 and v3 cannot be told apart; v2 is worse" in result.stdout
    assert result.stdout.splitlines()[:3] == [
        "On exact match, v1 and v3 cannot be told apart; v2 is worse.",
        "",
        "3 runs, compared with v1: 200 rows in all of them, paired by id",
    ]


def test_two_runs_are_one_pair(folder: Path) -> None:
    result = call("compare", "v1", "v2", "--all-pairs")
    assert (result.exit_code, result.stderr) == (
        0,
        "ragmetrics: --all-pairs changes nothing, as two runs are one pair\n",
    )
    assert result.stdout == call("compare", "v1", "v2").stdout


def test_another_baseline_and_all_pairs(folder: Path) -> None:
    result = call("compare", "v1", "v2", "v3", "--baseline", "v2", "--all-pairs")
    assert result.stdout == f"{compare_runs(['v1', 'v2', 'v3'], baseline=1, all_pairs=True)}\n"
    assert [line.split("  ")[0] for line in result.stdout.splitlines() if line.startswith("exact_match, ")][:3] == [
        "exact_match, v1",
        "exact_match, v3",
        "exact_match, v1 to v3",
    ]


def test_two_runs_are_compared_as_before(folder: Path) -> None:
    assert call("compare", "v1", "v2", "--all-pairs").stdout == call("compare", "v1", "v2").stdout
    assert call("compare", "v1", "v2", "--baseline", "v2").stdout == f"{Evaluation.load('v2').compare('v1')}\n"


def test_files(folder: Path) -> None:
    options = ("--gate", "exact_match drop <= 0.15", "--json", "out.json", "--markdown", "out.md", "--out", "out.html")
    assert call("compare", "v1", "v2", "v3", *options).exit_code == 0
    found = compare_runs(["v1", "v2", "v3"])
    decision = found.gate("exact_match drop <= 0.15")
    assert json.loads((folder / "out.json").read_text()) == {**found.to_dict(), "gates": decision.to_dict()}
    assert (folder / "out.md").read_text() == f"{decision.to_markdown()}\n{found.to_markdown()}"
    page = (folder / "out.html").read_text()
    assert "Gates: 2 passed" in page
    assert "v1 and v3 cannot be told apart; v2 is worse" in page


@pytest.mark.parametrize(
    ("limit", "options", "status", "message"),
    [
        ("0.15", (), 0, ""),
        ("0.05", (), 1, "failed: exact_match drop <= 0.05, v2"),
        ("0.12", (), 3, "undecided: exact_match drop <= 0.12, v2"),
        ("0.12", ("--undecided", "pass"), 0, "undecided: exact_match drop <= 0.12, v2"),
    ],
)
def test_gates(folder: Path, limit: str, options: tuple[str, ...], status: int, message: str) -> None:
    result = call("compare", "v1", "v2", "v3", "--gate", f"exact_match drop <= {limit}", *options)
    assert result.exit_code == status
    assert result.stderr.removeprefix("ragmetrics: ").startswith(message)
    assert bool(result.stderr) is bool(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--baseline", "v4"), "--baseline v4 is none of the runs: v1, v2, v3"),
        (
            ("--labels", "v1", "--labels", "v2"),
            "--labels is for two runs: compare two of them, or leave --labels out",
        ),
        (("--gate", "exact_match >= 0.5"), "a comparison of runs is about drops"),
        (("--out", "v3/scores.jsonl.html/x.html"), "--out: there is no directory"),
    ],
)
def test_what_cannot_be_done(folder: Path, options: tuple[str, ...], message: str) -> None:
    result = call("compare", "v1", "v2", "v3", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_runs_whose_settings_all_differ(folder: Path) -> None:
    for name, setting in (("w1", "exact_match"), ("w2", "exact_match(normalize=True)"), ("w3", "exact_match")):
        made = call("evaluate", "v1.rows.jsonl", "-m", setting, "--run-dir", name)
        assert made.exit_code == 0, made.stderr
    result = call("compare", "w2", "w1", "w3")
    assert result.exit_code == 2
    assert "no difference can be credited to the system" in " ".join(result.stderr.split())
