"""Files that a disk, a kill or a stranger has spoilt, rows that no file can hold: each costs itself, and nothing else."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Length, Rated, questions
from core.store.kept import Model, lines, values
from ragmetrics_core import Ask, Evaluation, InvalidInput, RagmetricsError, Reply, Sample, Usage, evaluate

pytestmark = pytest.mark.slow

OLD_JOURNAL = """
PRAGMA journal_mode = WAL;
CREATE TABLE replies (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, width INTEGER, value BLOB NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, truncated INTEGER NOT NULL
);
CREATE UNIQUE INDEX by_key ON replies (key);
PRAGMA user_version = 1;
INSERT INTO replies VALUES (1, x'6f6c64', NULL, x'7265706c79', 5, 6, 0), (2, x'6261', NULL, x'fffe41', 5, 6, 0);
"""


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


def deep(levels: int) -> Any:
    value: Any = "leaf"
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = {"again": value}
    return value


def branching() -> list[Any]:
    """Little memory, and more values than anybody could write."""
    value: list[Any] = ["leaf"]
    for _ in range(60):
        value = [value, value]
    return value


BAD = [
    ({"extra": deep(600)}, "metadata['extra'] is nested more than 100 levels deep"),
    ({"extra": deep(102)}, "metadata['extra'] is nested more than 100 levels deep"),
    ({"extra": cyclic()}, "metadata['extra'] is nested more than 100 levels deep"),
    ({"extra": branching()}, "metadata['extra'] holds more than 1,000,000 values"),
    ({"extra": {"n": 10**5000}}, "metadata['extra'] holds a whole number of more than 4,000 digits"),
    ({"extra": {10**5000: 1}}, "metadata['extra'] holds a whole number of more than 4,000 digits"),
    ({"id": 10**5000}, "id holds a whole number of more than 4,000 digits"),
    (
        {"retrieved_documents": [{"content": "x", "deep": deep(200)}]},
        "retrieved_documents is nested more than 100 levels deep",
    ),
]


class TestRowsThatNoFileCanHold:
    @pytest.mark.parametrize("kept", [True, False])
    @pytest.mark.parametrize(("row", "problem"), BAD)
    def test_that_row_fails_and_no_other(self, run_dir: Path, row: dict[str, Any], problem: str, kept: bool) -> None:
        rows = [{"id": "a", "response": "xx"}, {"id": "b", "response": "xxx", **row}, {"id": "c", "response": "x"}]
        where = {"run_dir": run_dir} if kept else {}
        for given in (rows, [Sample.from_mapping(item) for item in rows]):
            result = evaluate(given, Length(), **where)
            scores = result.scores["length"]
            assert [score.value for score in scores] == [0.2, None, 0.1]
            assert (
                scores[1].error
                == f"InvalidInput: row 2: {problem}, which no file can hold: shorten it, or leave it out"
            )
            assert [sample.id for sample in result.rows] == ["a", None if "id" in row else "b", "c"]
            result.to_jsonl(run_dir.parent / "out.jsonl")
            assert len(json.loads(json.dumps(result.to_dict()))["rows"]) == 3

    def test_a_line_of_a_file(self, run_dir: Path, tmp_path: Path) -> None:
        texts = ["[" * 600 + "]" * 600, "[" * 200_000 + "]" * 200_000, "9" * 5000, "1"]
        data = tmp_path / "rows.jsonl"
        data.write_text("".join(f'{{"response": "x", "extra": {text}}}\n' for text in texts))
        result = evaluate(data, Length(), run_dir=run_dir)
        assert [score.state for score in result.scores["length"]] == ["failed"] * 3 + ["scored"]
        assert all(
            str(score.error).startswith("InvalidInput: rows.jsonl, line ") for score in result.scores["length"][:3]
        )
        assert len(Evaluation.load(run_dir)) == 4

    def test_what_a_file_can_hold_is_no_problem(self) -> None:
        fine = {
            "extra": deep(100),
            "n": 10**3999,
            "list": [0.5] * 100_000,
            "none": None,
            "meta": {"a": {"b": [1, "x", True]}},
        }
        (score,) = evaluate([{"response": "x", **fine}], Length(), progress=False).scores["length"]
        assert score.value == 0.1


class TestJournal:
    def test_a_damaged_reply_is_asked_anew(self, run_dir: Path) -> None:
        model = Model()
        evaluate(questions(5), Rated(), llm=model, run_dir=run_dir)
        database = sqlite3.connect(run_dir / "journal.sqlite")
        database.execute("UPDATE replies SET value = x'fffe41' WHERE id = 2")
        database.execute("UPDATE replies SET value = CAST('0.99' AS BLOB) WHERE id = 4")
        database.commit()
        database.close()
        model.asked.clear()
        for calls in (2, 2):
            result = evaluate(questions(5), Rated(), llm=model, run_dir=run_dir)
            assert values(result) == [0.0, 0.01, 0.02, 0.03, 0.04]
            assert len(model.asked) == calls, "the better reply has replaced it"

    def test_no_flipped_bit_makes_another_score(self, run_dir: Path) -> None:
        """Of the pages that hold the replies: what is found is what was kept, or nothing, or one clear error."""
        rows = questions(40)
        evaluate(rows, Rated(), llm=Model(), run_dir=run_dir)
        file = run_dir / "journal.sqlite"
        whole, scores = file.read_bytes(), (run_dir / "scores.jsonl").read_bytes()
        moment = random.Random(4)
        asked = refused = 0
        for _ in range(80):
            data = bytearray(whole)
            place = moment.randrange(len(data))
            data[place] ^= 1 << moment.randrange(8)
            file.write_bytes(data)
            model = Model()
            try:
                assert values(evaluate(rows, Rated(), llm=model, run_dir=run_dir)) == [
                    number / 100 for number in range(40)
                ]
            except RagmetricsError:
                refused += 1
            asked += len(model.asked)
            for name in ("journal.sqlite-wal", "journal.sqlite-shm"):
                (run_dir / name).unlink(missing_ok=True)
            (run_dir / "scores.jsonl").write_bytes(scores)
        assert asked >= 5
        assert refused < 40

    def test_one_of_the_first_version_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "journal.sqlite"
        database = sqlite3.connect(path)
        database.executescript(OLD_JOURNAL)
        database.close()
        before = path.read_bytes()
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(1), Rated(), llm=Model(), run_dir=tmp_path)
        assert str(caught.value) == f"{path} was written by another version of ragmetrics: give another run_dir"
        assert path.read_bytes() == before

    def test_counts_that_cannot_be_are_none(self, run_dir: Path) -> None:
        class Boundless(Model):
            async def agenerate(self, ask: Ask) -> Reply[str]:
                return Reply("0.5", Usage(1, 99999999999999999999, -5))

        assert values(evaluate(questions(1), Rated(), llm=Boundless(), run_dir=run_dir)) == [0.5]
        with closing(sqlite3.connect(run_dir / "journal.sqlite")) as database:
            assert database.execute("SELECT prompt_tokens, completion_tokens FROM replies").fetchall() == [(0, 0)]
        assert values(evaluate(questions(1), Rated(), llm=Model(), run_dir=run_dir)) == [0.5]


BAD_LINES = [
    '{"row": 0, "place": "x", "sample": {}, "scores": {}}',
    '{"row": -1, "place": "x", "sample": {}, "scores": {}}',
    '{"row": 1.5, "place": "x", "sample": {}, "scores": {}}',
    '{"row": true, "place": "x", "sample": {}, "scores": {}}',
    '{"row": 999999999999, "place": "x", "sample": {}, "scores": {}}',
    '{"row": 1, "place": "x", "sample": [], "scores": {}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": []}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {}}',
    '{"row": 1, "place": "x", "sample": {"rubric": 5, "metadata": 7}, "scores": {"length": 3}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": "high"}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": 0.5, "usage": {"calls": "many"}}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": 0.5, "usage": {"apples": 3}}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": 0.5, "details": [1]}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": 0.5, "scale": [1]}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": 0.5, "scale": "ab"}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": null, "reason": 5}}}',
    '{"row": 1, "place": "x", "sample": {}, "scores": {"length": {"value": null}}}',
    '{"row": 1, "place": "x", "sample": {"metadata": ' + "[" * 5000 + "]" * 5000 + '}, "scores": {}}',
]


class TestScores:
    @pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
    def test_lines_of_another_shape_are_passed_over(self, run_dir: Path, line: str) -> None:
        evaluate(questions(3), Length(), run_dir=run_dir)
        scores = run_dir / "scores.jsonl"
        whole = scores.read_bytes()
        scores.write_bytes(whole + line.encode() + b"\n")
        loaded = Evaluation.load(run_dir)
        assert [score.value for score in loaded.scores["length"]] == [0.1, 0.2, 0.3]
        assert len(str(loaded.summary())) > 0
        assert len(evaluate(questions(3), Length(), run_dir=run_dir)) == 3
        assert scores.read_bytes() == whole

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no such device")
    @pytest.mark.parametrize("name", ["scores.jsonl", "run.json"])
    def test_a_device(self, run_dir: Path, name: str) -> None:
        evaluate(questions(3), Length(), run_dir=run_dir)
        (run_dir / name).unlink()
        (run_dir / name).symlink_to("/dev/full")
        for work in (lambda: evaluate(questions(3), Length(), run_dir=run_dir), lambda: Evaluation.load(run_dir)):
            with pytest.raises(InvalidInput, match="not a regular file: give another run_dir"):
                work()


class TestAccount:
    @pytest.mark.parametrize(
        "text",
        ["", "{", "\x00" * 100, "[" * 5000]
        + [
            json.dumps({"version": 1, "judged": {}, "run": {}, **parts})
            for parts in (
                {"metrics": [3]},
                {"metrics": [{"name": "rated"}]},
                {"metrics": [{"name": "rated", "scale": [0], "settings": ""}]},
                {"metrics": [], "models": [3]},
                {"metrics": [], "models": [{"name": "m", "base_url": None, "usage": {"calls": "x"}, "repeated": 0}]},
                {"metrics": [], "waited": [1]},
                {"metrics": [], "caveats": [3]},
                {"metrics": [], "seconds": "long"},
                {"metrics": [], "judged": {"rated": 3}},
                {
                    "metrics": [],
                    "judged": {"rated": {"settings": {}, "llm": {"name": 3, "parts": {}}, "embeddings": None}},
                },
            )
        ],
    )
    def test_damaged_it_costs_no_reply_and_no_score(self, run_dir: Path, text: str) -> None:
        model = Model()
        evaluate(questions(4), Rated(), llm=model, run_dir=run_dir)
        old = (run_dir / "scores.jsonl").read_bytes()
        (run_dir / "run.json").write_text(text)
        loaded = Evaluation.load(run_dir)
        assert values(loaded) == [0.0, 0.01, 0.02, 0.03]
        assert loaded.caveats == ("run.json is damaged: settings, models and costs of this run are not known",)
        result = evaluate(questions(5), Rated(), llm=model, run_dir=run_dir)
        assert sorted(model.asked) == ["0", "1", "2", "3", "4"]
        assert values(result) == [0.0, 0.01, 0.02, 0.03, 0.04]
        note = (
            f"run.json was damaged, so the scores in {run_dir} were renamed to scores.1.jsonl, and all rows were "
            "scored again from the replies"
        )
        assert result.caveats == Evaluation.load(run_dir).caveats == (note,)
        assert (run_dir / "scores.1.jsonl").read_bytes() == old

    def test_it_is_on_the_disk_before_it_takes_its_place(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        done: list[str] = []
        fsync, replace = os.fsync, Path.replace

        def synced(file: int) -> None:
            done.append("fsync")
            fsync(file)

        def replaced(path: Path, target: Path) -> Path:
            done.append(Path(target).name)
            return replace(path, target)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "replace", replaced)
        evaluate(questions(2), Length(), run_dir=run_dir)
        assert done == ["fsync", "run.json", "fsync", "scores.jsonl", "fsync", "run.json"]


class TestLeftovers:
    def test_parts_of_dead_processes_are_swept_away(self, run_dir: Path) -> None:
        """Whatever process has such a number by now: none but this run writes here."""
        run_dir.mkdir()
        names = [".scores.jsonl.400000", f".run.json.{os.getppid()}", ".scores.jsonl.99999999999999999999"]
        others = [".scores.jsonl.mine", ".other.jsonl.1"]
        for name in [*names, *others]:
            (run_dir / name).write_text("x")
        evaluate(questions(2), Length(), run_dir=run_dir)
        assert sorted(path.name for path in run_dir.iterdir() if path.name.startswith(".")) == sorted(others)

    @pytest.mark.parametrize("name", [".run.json", ".scores.jsonl"])
    def test_a_full_disk_leaves_none(self, run_dir: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        real = Path.open

        def full(path: Path, *args: Any, **kwargs: Any) -> Any:
            file = real(path, *args, **kwargs)
            if path.name.startswith(name):
                file.close()
                raise OSError(28, "No space left on device")
            return file

        monkeypatch.setattr(Path, "open", full)
        with pytest.raises(RagmetricsError, match="cannot be written: No space left on device"):
            evaluate(questions(2), Length(), run_dir=run_dir)
        assert list(run_dir.glob(".*")) == []

    def test_the_directory_is_its_owners_alone(self, tmp_path: Path) -> None:
        evaluate(questions(2), Length(), run_dir=tmp_path / "a" / "b")
        assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
        there = tmp_path / "there"
        there.mkdir(mode=0o755)
        there.chmod(0o755)
        evaluate(questions(2), Length(), run_dir=there)
        assert stat.S_IMODE(there.stat().st_mode) == 0o755, "one that was there stays as it is"
        assert len(lines(there)) == 2


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda text: text[:-20],
        lambda text: re.sub(r'"value": [\d.]+', '"value": NaN', text, count=1),
        lambda text: text.replace('"scores": {"rated"', '"scores": {"other"', 1),
    ],
)
def test_a_finished_run_that_was_spoilt_later_is_not_complete(run_dir: Path, tmp_path: Path, spoilt: Any) -> None:
    """Rows that are lost unnoticed would make a mean, a comparison or a gate of the others alone."""
    for path in (run_dir, tmp_path / "other"):
        evaluate(questions(3), Rated(), llm=Model(), run_dir=path, progress=False)
    scores = run_dir / "scores.jsonl"
    scores.write_text(spoilt(scores.read_text()))
    found = Evaluation.load(run_dir)
    assert len(found) == 2
    stopped = (
        "scores.jsonl is damaged: 1 line cannot be read: run the same command again to restore these rows, "
        "or copy run.json and scores.jsonl again"
    )
    assert (found.stopped, found.state) == (stopped, "damaged")
    assert found.gate("rated >= 0").results[0].unmet == (f"the run is not complete: {stopped}",)
    assert Evaluation.load(tmp_path / "other").compare(found).incomplete == (f"{run_dir} is not complete: {stopped}",)
    again = evaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir, progress=False)
    assert (len(again), Evaluation.load(run_dir).stopped) == (3, None)
