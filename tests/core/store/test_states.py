"""What became of a run: finished, stopped on purpose, interrupted, damaged, or written by a version that kept no digest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.calling import call
from core.evaluate.doubles import Rated, questions
from core.store.kept import Model, values
from core.store.killed_at import DIED
from ragmetrics_core import Evaluation, InvalidInput, evaluate, join_runs

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[2]
CURE = "run the same command again to restore these rows, or copy run.json and scores.jsonl again"
CHANGED = "lines have changed since the run ended"
UNVERIFIED = (
    "this run is unverified: an earlier version of ragmetrics wrote it, which kept no digest of scores.jsonl, so it is not known "
    "whether rows are missing or have changed"
)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return scored(tmp_path / "run")


def scored(path: Path, rows: int = 12, *, replace: bool = False) -> Path:
    evaluate(questions(rows), Rated(), llm=Model(), run_dir=path, replace=replace, progress=False)
    return path


def spoil(run_dir: Path, change: Callable[[list[str]], list[str]]) -> None:
    file = run_dir / "scores.jsonl"
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))


def make_older(run_dir: Path) -> None:
    """As a version wrote it that kept no digest."""
    file = run_dir / "run.json"
    content = json.loads(file.read_text())
    del content["scores"]
    file.write_text(json.dumps(content))


def scored_with_labels(path: Path, labels: int) -> None:
    """A run of 12 rows with ids, and labels of the first of them, every other one a pass, beside it."""
    rows = [{"id": f"q{row}", **fields} for row, fields in enumerate(questions(12))]
    evaluate(rows, Rated(), llm=Model(), run_dir=path, replace=True, progress=False)
    lines = ({"id": f"q{row}", "metric": "rated", "label": row % 2 == 0} for row in range(labels))
    path.with_name("labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


DAMAGE = [
    (lambda lines: lines[:6], "the run ended with 12 rows, and 6 are there"),
    (lambda lines: [*lines[:5], *lines[6:]], "the run ended with 12 rows, and 11 are there"),
    (lambda lines: [], "the run ended with 12 rows, and 0 are there"),
    (lambda lines: [*lines, lines[0]], "the run ended with 12 rows, and 13 are there"),
    (lambda lines: [lines[1], lines[0], *lines[2:]], CHANGED),
    (lambda lines: [lines[0].replace('"value": 0.0', '"value": 0.9'), *lines[1:]], CHANGED),
    (lambda lines: [lines[0].replace("0", "1", 1), *lines[1:]], CHANGED),
    (lambda lines: [lines[0][:-20] + "\n", *lines[1:]], "1 line cannot be read"),
]


class TestDamaged:
    @pytest.mark.parametrize(("change", "what"), DAMAGE)
    def test_rows_that_are_missing_or_changed(
        self, run_dir: Path, change: Callable[[list[str]], list[str]], what: str
    ) -> None:
        before = Evaluation.load(run_dir)
        assert (before.state, before.stopped, before.fault) == ("finished", None, None)
        whole = values(before)
        spoil(run_dir, change)
        found = Evaluation.load(run_dir)
        assert (found.state, found.stopped) == ("damaged", f"scores.jsonl is damaged: {what}: {CURE}")
        scored(run_dir, replace=True)  # a row whose question was changed is another row
        healed = Evaluation.load(run_dir)
        assert (healed.state, values(healed)) == ("finished", whole)

    def test_line_ends_that_were_changed_on_the_way_are_no_damage(self, run_dir: Path) -> None:
        file = run_dir / "scores.jsonl"
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n").rstrip())
        assert Evaluation.load(run_dir).state == "finished"

    def test_it_passes_no_gate(self, run_dir: Path) -> None:
        other = Evaluation.load(scored(run_dir.parent / "other"))
        spoil(run_dir, lambda lines: lines[:6])
        found = Evaluation.load(run_dir)
        problem = f"scores.jsonl is damaged: the run ended with 12 rows, and 6 are there: {CURE}"
        (result,) = found.gate("rated >= 0.0001").results
        assert (result.verdict, result.unmet[0]) == ("failed", f"the run is not complete: {problem}")
        for one, two in ((other, found), (found, other)):
            (result,) = two.gate("rated drop <= 0.9", baseline=one).results
            assert (result.verdict, result.unmet[0]) == ("failed", f"{run_dir} is not complete: {problem}")

    @pytest.mark.parametrize(
        "command",
        [("show",), ("show", "--worst", "1"), ("report",), ("compare", "other"), ("calibrate", "--suggest", "2")],
    )
    def test_every_command_says_so(
        self, run_dir: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
    ) -> None:
        monkeypatch.chdir(run_dir.parent)
        scored(run_dir.parent / "other")
        spoil(run_dir, lambda lines: lines[:6])
        name, *options = command
        result = call(name, "run", *options)
        assert result.exit_code == 0
        printed = " ".join((result.stderr + result.stdout).split())
        assert printed.count(f"scores.jsonl is damaged: the run ended with 12 rows, and 6 are there: {CURE}") == 1

    def test_labels_of_rows_that_are_lost(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(run_dir.parent)
        scored_with_labels(run_dir, 12)
        spoil(run_dir, lambda lines: lines[:6])
        damage = f"run: scores.jsonl is damaged: the run ended with 12 rows, and 6 are there: {CURE}"
        result = call("calibrate", "run", "--labels", "labels.jsonl")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(
            f"ragmetrics: {damage}; labels.jsonl, line 7: no row of this run has the id 'q6'"
        )
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load("run").compare(Evaluation.load("run"), by="nothing")
        assert str(caught.value).startswith(f"{damage}; by='nothing': no row has it")

    def test_labels_of_the_rows_that_are_left(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(run_dir.parent)
        scored_with_labels(run_dir, 10)
        spoil(run_dir, lambda lines: lines[:10])
        damage = f"scores.jsonl is damaged: the run ended with 12 rows, and 10 are there: {CURE}"
        found = Evaluation.load("run").calibrate("labels.jsonl")
        assert (found.doubt, found.to_dict()["notes"][0]) == (damage, damage)
        for command in ("calibrate", "show"):
            result = call(command, "run", "--labels", "labels.jsonl")
            assert result.exit_code == 0
            assert " ".join((result.stderr + result.stdout).split()).count(damage) == 1

    def test_a_run_that_was_put_together(self, run_dir: Path, tmp_path: Path) -> None:
        join_runs([Evaluation.load(run_dir)], tmp_path / "joined")
        assert Evaluation.load(tmp_path / "joined").state == "finished"
        spoil(tmp_path / "joined", lambda lines: lines[:6])
        assert Evaluation.load(tmp_path / "joined").state == "damaged"


class TestStopped:
    def test_by_a_budget(self, tmp_path: Path) -> None:
        evaluate(questions(6), Rated(), llm=Model(), run_dir=tmp_path, budget={"calls": 3}, progress=False)
        found = Evaluation.load(tmp_path)
        assert (found.state, found.stopped) == ("stopped", "the budget of 3 calls is used up")
        spoil(tmp_path, lambda lines: lines[:1])
        assert Evaluation.load(tmp_path).state == "damaged"
        scored(tmp_path, 6)
        assert Evaluation.load(tmp_path).state == "finished"


class TestUnverified:
    def test_gates_still_work(self, run_dir: Path) -> None:
        make_older(run_dir)
        found = Evaluation.load(run_dir)
        assert (found.state, found.stopped, found.caveats) == ("unverified", None, (UNVERIFIED,))
        assert found.gate("rated >= 0.0001").results[0].unmet == ()
        assert found.gate("rated drop <= 0.9", baseline=found).results[0].unmet == ()
        assert f"note: {UNVERIFIED}".split() == str(found.summary()).split("\n\n")[-1].split()

    @pytest.mark.parametrize(
        "command",
        [
            ("show",),
            ("show", "--worst", "1"),
            ("report",),
            ("compare", "other"),
            ("calibrate", "--suggest", "2"),
            ("calibrate", "--labels", "labels.jsonl"),
        ],
    )
    def test_every_command_says_so(
        self, run_dir: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
    ) -> None:
        monkeypatch.chdir(run_dir.parent)
        scored_with_labels(run_dir.with_name("other"), 0)
        scored_with_labels(run_dir, 12)
        make_older(run_dir)
        name, *options = command
        result = call(name, "run", *options)
        assert result.exit_code == 0
        assert " ".join((result.stderr + result.stdout).split()).count(UNVERIFIED) == 1

    def test_going_on_with_it_writes_the_digest(self, run_dir: Path) -> None:
        make_older(run_dir)
        scored(run_dir)
        found = Evaluation.load(run_dir)
        assert (found.state, found.caveats) == ("finished", ())


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be moved there")
@pytest.mark.parametrize("rows", [4, 6], ids=["the same run again", "more rows"])
@pytest.mark.parametrize("spoilt", [False, True])
def test_a_run_that_dies_at_any_step_is_never_damaged(tmp_path: Path, rows: int, spoilt: bool) -> None:
    """A finished run goes on, and dies at its first step on the disk, then another one at its second, and so on."""
    seen = []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))}
    source = scored(tmp_path / "source", 4)
    if spoilt:
        make_older(source)
    for step in range(1, 40):
        run_dir = tmp_path / f"run{step}"
        shutil.copytree(source, run_dir)
        command = [sys.executable, "-m", "core.store.killed_at", str(run_dir), str(rows), str(step)]
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, DIED), done.stderr
        found = Evaluation.load(run_dir)
        seen.append(found.state)
        if done.returncode == 0:
            break
        scored(run_dir, rows)
        assert Evaluation.load(run_dir).state == "finished"
    assert seen[-1] == "finished"
    assert set(seen[:-1]) <= {"finished", "unverified", "interrupted"}
    assert "interrupted" in seen
