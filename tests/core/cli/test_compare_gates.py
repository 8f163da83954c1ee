"""``ragmetrics compare --gate``: how much worse the second run may be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.cli.calling import call, tower_runs
from ragmetrics_core import Evaluation

ROWS = 200


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs ``old`` and ``new``: 160 of 200 rows were right, then 140."""
    return tower_runs(tmp_path_factory.mktemp("runs"), ROWS, old=160, new=140)


@pytest.fixture
def folder(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a copy of the runs."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(runs, tmp_path, dirs_exist_ok=True)


def gates(*options: str) -> tuple[int, str, str]:
    """The status, what follows the comparison, and what stands on stderr."""
    result = call("compare", *options)
    _, _, text = result.stdout.rpartition("\n\ngates: ")
    return result.exit_code, f"gates: {text}", result.stderr


DROP = "drop 0.100, 95 % interval 0.066 to 0.149,\n      from 200 pairs"


@pytest.mark.parametrize(
    ("limit", "status", "line", "message"),
    [
        ("0.15", 0, f"1 passed\nPASSED exact_match drop <= 0.15: {DROP}", ""),
        ("0.05", 1, f"1 failed\nFAILED exact_match drop <= 0.05: {DROP}", "failed: exact_match drop <= 0.05"),
        (
            "0.12",
            3,
            (
                f"1 undecided\nUNDECIDED exact_match drop <= 0.12: {DROP}; given a true drop of 0.100 (as seen), a new run of "
                "about\n"
                "      2,100 rows would decide in 80 % of cases (fix the number before you look);\n"
                "      with 200 rows, a true drop of 0.049 passes in 80 % of cases"
            ),
            (
                "undecided: exact_match drop <= 0.12; a new run of more rows may decide (fix the number before you look); "
                "--undecided pass or --undecided fail decides now"
            ),
        ),
    ],
)  # fmt: skip
def test_statuses(folder: Path, limit: str, status: int, line: str, message: str) -> None:
    found = gates("old", "new", "--gate", f"exact_match drop <= {limit}")
    assert found == (status, f"gates: {line}\n", f"ragmetrics: {message}\n" if message else "")


@pytest.mark.parametrize(("word", "status"), [("pass", 0), ("fail", 1)])
def test_undecided_as_one_of_two(folder: Path, word: str, status: int) -> None:
    found = gates("old", "new", "--gate", "exact_match drop <= 0.12", "--undecided", word)
    assert (found[0], found[2]) == (status, "ragmetrics: undecided: exact_match drop <= 0.12\n")


def test_means_and_drops_in_slices(folder: Path) -> None:
    found = gates("old", "new", "--gate", "exact_match drop <= 0.3", "--gate", "exact_match >= 0.5", "--by", "lang")
    assert found[0] == 0
    assert [line.split(":")[0] for line in found[1].splitlines() if not line.startswith(" ")] == [
        "gates",
        "PASSED exact_match drop <= 0.3",
        "PASSED exact_match drop <= 0.3, lang=de",
        "PASSED exact_match drop <= 0.3, lang=en",
        "PASSED exact_match >= 0.5",
        "PASSED exact_match >= 0.5, lang=de",
        "PASSED exact_match >= 0.5, lang=en",
    ]


def test_json_and_markdown(folder: Path) -> None:
    options = ("--gate", "exact_match drop <= 0.05", "--json", "out.json", "--markdown", "out.md")
    assert gates("old", "new", *options)[0] == 1
    comparison = Evaluation.load("old").compare("new")
    decision = comparison.gate("exact_match drop <= 0.05")
    assert json.loads((folder / "out.json").read_text()) == {**comparison.to_dict(), "gates": decision.to_dict()}
    assert (folder / "out.md").read_text() == (
        "### gates: 1 failed\n\n"
        "* \N{HEAVY BALLOT X} FAILED exact&#95;match drop &#60;= 0.05: drop 0.100, 95 % interval 0.066 to 0.149, "
        "from 200 pairs\n\n" + comparison.to_markdown()
    )


def test_a_run_that_ended_early_is_never_green(folder: Path) -> None:
    account = json.loads((folder / "new" / "run.json").read_text())
    (folder / "new" / "run.json").write_text(json.dumps({**account, "stopped": "the budget is used up"}))
    status, text, _ = gates("old", "new", "--gate", "exact_match drop <= 0.5", "--undecided", "pass")
    assert status == 1
    assert text.startswith(
        "gates: 1 failed\nFAILED exact_match drop <= 0.5: new is not complete: the budget is used up;\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--gate", "exact_match drop >= 0.1"],
            "--gate 'exact_match drop >= 0.1': a gate limits how large a drop may be: write 'exact_match drop <= 0.03'",
        ),
        (
            ["--gate", "exact_match"],
            (
                "--gate 'exact_match': write METRIC drop <= NUMBER or METRIC change within NUMBER, such as "
                "'faithfulness drop <= 0.03' (in quotes: a shell takes "
                "> and < for itself)"
            ),
        ),
        (
            ["--gate", "faithfulness drop <= 0.1"],
            "--gate 'faithfulness drop <= 0.1': 'faithfulness' is not among the metrics: exact_match",
        ),
        (
            ["--gate", "exact_match >= 2"],
            "--gate 'exact_match >= 2': the scale of exact_match is 0 to 1, and 2 is outside it",
        ),
        (
            ["--undecided", "pass"],
            "--undecided only applies to gates: add --gate 'METRIC drop <= NUMBER', or leave --undecided out",
        ),
    ],
)
def test_what_is_refused(folder: Path, options: list[str], message: str) -> None:
    result = call("compare", "old", "new", *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"ragmetrics: {message}\n")


@pytest.mark.parametrize(("options", "status"), [((), 3), (("--undecided", "pass"), 3), (("--undecided", "fail"), 1)])
def test_where_the_judge_is_not_known_no_gate_is_green(folder: Path, options: tuple[str, ...], status: int) -> None:
    Evaluation.load("old").to_jsonl("old.jsonl")
    found = gates("old.jsonl", "new", "--gate", "exact_match drop <= 0.5", *options)
    assert found[0] == status
    assert found[2] == "ragmetrics: undecided: exact_match drop <= 0.5\n"
    assert "not decided, as only scores are known of old.jsonl" in " ".join(found[1].split())
    assert gates("old.jsonl", "new", "--gate", "exact_match drop <= 0.5", "--allow-different-judges")[0] == 0
