"""Finished scores are not lost: to a mistyped command, to another model or other rows, to a kill at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import RATE, AsyncModel, Embedded, Length, Rated, questions, refused
from core.store.kept import Model, lines, values
from loopback import OpenAIServer
from ragmetrics_core import Evaluation, InvalidInput, Metric, ModelError, Score, evaluate
from ragmetrics_core.llms import OpenAIServerLLM

pytestmark = pytest.mark.slow

WAYS_OUT = "give another run_dir, or replace=True, which keeps those scores as scores.1.jsonl"
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "today"


def content(run_dir: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(run_dir.iterdir())}


class TestNothingChangesBeforeAnAnswer:
    """A finished run of ten rows, and a command over it that gets no answer."""

    @pytest.fixture
    def finished(self, run_dir: Path) -> dict[str, bytes]:
        evaluate(questions(10), Rated(), llm=Model(), run_dir=run_dir)
        before = content(run_dir)
        assert before.keys() == {"journal.sqlite", "run.json", "scores.jsonl"}
        return before

    @pytest.mark.parametrize("replace", [False, True])
    def test_a_forgotten_model(self, run_dir: Path, finished: dict[str, bytes], replace: bool) -> None:
        with pytest.raises(
            ModelError, match=r"rated asks an LLM, but none is set in the metric or the run: give llm=\.\.\."
        ):
            evaluate(questions(10), Rated(), run_dir=run_dir, replace=replace)
        assert content(run_dir) == finished

    @pytest.mark.parametrize("rows", [10, 500])
    def test_a_refused_key(self, run_dir: Path, finished: dict[str, bytes], rows: int) -> None:
        """Of the same model, after rows that come from the journal; or of another one that shall take its place."""
        more = questions(rows)
        more.append({"user_input": "new"})
        with pytest.raises(ModelError, match="the key is refused") as caught:
            evaluate(more, Rated(), llm=Model(lambda text: refused()), run_dir=run_dir)
        assert values(caught.value.partial)[:10] == [number / 100 for number in range(10)]
        assert content(run_dir) == finished
        with pytest.raises(ModelError, match="the key is refused"):
            evaluate(more, Rated(), llm=Model(lambda text: refused(), model="b"), run_dir=run_dir, replace=True)
        assert content(run_dir) == finished

    def test_a_server_that_is_not_there(self, run_dir: Path, finished: dict[str, bytes]) -> None:
        """Whose rows all fail, so that the run comes to its end."""
        with OpenAIServer() as server:
            llm = OpenAIServerLLM(server.base_url, "b")
        result = evaluate(questions(3), Rated(), llm=llm, run_dir=run_dir, replace=True, max_retries=0)
        assert [score.state for score in result.scores["rated"]] == ["failed"] * 3
        assert content(run_dir) == finished
        gone = Model(lambda text: ModelError("no server is there", transient=True))
        result = evaluate([*questions(10), {"user_input": "11"}], Rated(), llm=gone, run_dir=run_dir, max_retries=0)
        assert values(result) == [*(number / 100 for number in range(10)), None]
        assert content(run_dir) == finished

    def test_rows_that_cannot_be_read(self, run_dir: Path, tmp_path: Path, finished: dict[str, bytes]) -> None:
        with pytest.raises(InvalidInput, match="there is no file"):
            evaluate(tmp_path / "missing.jsonl", Rated(), llm=Model(), run_dir=run_dir, replace=True)
        with pytest.raises(InvalidInput, match="row 1: a row must be a Sample or a mapping"):
            evaluate([3], Rated(), llm=Model(), run_dir=run_dir, replace=True)
        (tmp_path / "bad.jsonl").write_text("no JSON\n")
        with pytest.raises(InvalidInput, match=r"bad\.jsonl, line 1: not JSON"):
            evaluate(tmp_path / "bad.jsonl", Rated(), llm=Model(), run_dir=run_dir, replace=True)
        rows = [*questions(10), {"question": "a", "query": "b"}]
        with pytest.raises(InvalidInput, match="both mean 'user_input' but differ"):
            evaluate(rows, Rated(), llm=Model(), run_dir=run_dir, on_error="raise")
        assert content(run_dir) == finished

    def test_a_bug(self, run_dir: Path, finished: dict[str, bytes]) -> None:
        with pytest.raises(TypeError, match="a bug"):
            evaluate(questions(11), Rated(), llm=Model(lambda text: TypeError("a bug")), run_dir=run_dir)
        assert content(run_dir) == finished

    def test_nothing_is_made_where_nothing_is(self, tmp_path: Path) -> None:
        for llm in (None, Model(lambda text: refused())):
            with pytest.raises(ModelError):
                evaluate(questions(3), Rated(), llm=llm, run_dir=tmp_path / "a" / "b")
            assert list(tmp_path.iterdir()) == []

    def test_replayed_rows_wait_for_the_first_answer(self, run_dir: Path, finished: dict[str, bytes]) -> None:
        seen: list[bool] = []

        def answer(text: str) -> str:
            seen.append(content(run_dir)["scores.jsonl"] == finished["scores.jsonl"])
            return "0.5"

        result = evaluate(questions(13), Rated(), llm=Model(answer), run_dir=run_dir, max_concurrency=1)
        assert seen == [True, False, False]
        assert values(result) == [*(number / 100 for number in range(10)), 0.5, 0.5, 0.5]
        assert [line["row"] for line in lines(run_dir)] == list(range(1, 14))
        assert not [name for name in content(run_dir) if name.startswith((".", "scores.1"))]


class TestRefused:
    """Other settings over finished scores: said by name, before any call."""

    @pytest.mark.parametrize(
        ("metrics", "models", "more", "words"),
        [
            (
                [Rated(), Length()],
                {"model": "b"},
                {},
                "other settings: the LLM is hundredth at http://localhost:1/v1 there, b at http://localhost:1/v1 here",
            ),
            (
                [Rated(), Length()],
                {"parameters": {"temperature": 0, "seed": 1}},
                {},
                (
                    "other settings: the LLM, hundredth at http://localhost:1/v1, has another parameters.seed, "
                    "parameters.temperature"
                ),
            ),
            (
                [Rated(prompt=RATE.replace(instructions="Rate it well.")), Length()],
                {},
                {},
                "other settings: rated: other words of the prompt 'prompt'",
            ),
            ([Rated(), Length()], {}, {"empty": "zero"}, "other settings: empty=skip there, empty=zero here"),
            ([Rated(), Length()], {}, {"repeats": 3}, "other settings: repeats=1 there, repeats=3 here"),
            (
                [Rated(), Length()],
                {},
                {"sample": 4, "seed": 7},
                "other settings: all rows there, sample=4, seed=7 here",
            ),
            ([Rated(), Length(name="len")], {}, {}, "other metrics (there: rated, length; here: rated, len)"),
            ([Rated(), Length()], {}, {"limit": 3}, "6 rows, and this run has at most 3"),
        ],
        ids=["model", "parameters", "prompt", "empty", "repeats", "sample", "metrics", "limit"],
    )
    def test_by_name(
        self, run_dir: Path, metrics: list[Metric], models: dict[str, Any], more: dict[str, Any], words: str
    ) -> None:
        evaluate(questions(6), [Rated(), Length()], llm=Model("0.25"), run_dir=run_dir)
        before = content(run_dir)
        model = Model("0.75", **models)
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(6), metrics, llm=model, run_dir=run_dir, **more)
        assert str(caught.value) == f"run_dir='{run_dir}' holds the finished scores of {words}: {WAYS_OUT}"
        assert model.asked == []
        assert content(run_dir) == before
        result = evaluate(questions(6), metrics, llm=model, run_dir=run_dir, replace=True, **more)
        assert (run_dir / "scores.1.jsonl").read_bytes() == before["scores.jsonl"]
        assert len(lines(run_dir)) == len(result) == len(Evaluation.load(run_dir))

    def test_edited_rows(self, run_dir: Path) -> None:
        rows = questions(80)
        evaluate(rows, Rated(), llm=Model(), run_dir=run_dir)
        before = content(run_dir)
        rows[70] = {"user_input": "70", "response": "edited", "extra": "new"}
        model = Model()
        with pytest.raises(InvalidInput) as caught:
            evaluate(rows, Rated(), llm=model, run_dir=run_dir)
        assert str(caught.value) == (
            f"run_dir='{run_dir}' holds the finished scores of another row than row 71: the metadata, response differs: {WAYS_OUT}"
        )
        assert content(run_dir) == before
        rows[3]["user_input"] = "99"
        result = evaluate(rows, Rated(), llm=model, run_dir=run_dir, replace=True)
        assert model.asked == ["99"]
        assert (values(result)[3], values(result)[70]) == (0.99, 0.7)
        assert (run_dir / "scores.1.jsonl").read_bytes() == before["scores.jsonl"]
        assert len(lines(run_dir)) == 80
        evaluate(rows, Rated(), llm=model, run_dir=run_dir, replace=True)
        assert not (run_dir / "scores.2.jsonl").exists(), "nothing differs any more"

    def test_a_row_edited_behind_new_ones(self, run_dir: Path) -> None:
        """By then there are new answers; what was finished is kept all the same."""
        rows = questions(6)
        evaluate(
            [*rows[:3], {"user_input": "no number"}, *rows[4:]], Rated(), llm=Model("0.25"), run_dir=run_dir, limit=3
        )
        evaluate(rows, Rated(), llm=Model("0.25"), run_dir=run_dir)
        changed = [*rows[:5], {"user_input": "else"}, {"user_input": "more"}]
        (run_dir / "journal.sqlite").unlink()
        evaluate(changed, Rated(), llm=Model("0.75"), run_dir=run_dir, replace=True, max_concurrency=1)
        kept = [json.loads(line) for line in (run_dir / "scores.1.jsonl").read_text().splitlines()]
        last = {line["row"]: line["sample"]["user_input"] for line in kept}
        assert last == {number + 1: str(number) for number in range(6)}
        assert [line["sample"]["user_input"] for line in lines(run_dir)] == ["0", "1", "2", "3", "4", "else", "more"]

    def test_rows_taken_out_at_the_end(self, run_dir: Path) -> None:
        """A generator tells the number of its rows only when it is read."""
        evaluate(iter(questions(9)), Rated(), llm=Model(), run_dir=run_dir)
        result = evaluate(iter(questions(7)), Rated(), llm=Model(), run_dir=run_dir)
        kept = run_dir / "scores.1.jsonl"
        note = f"the scores of 2 rows that are no longer among the rows of this run: they are kept in {kept}"
        assert (len(result), result.caveats) == (7, (note,))
        assert Evaluation.load(run_dir).caveats == (note,)
        rows = {json.loads(line)["row"] for line in kept.read_text().splitlines()}
        assert rows == set(range(1, 10))

    def test_a_model_that_does_not_say_what_it_is(self, run_dir: Path) -> None:
        evaluate(questions(3), Rated(), llm=AsyncModel("0.5"), run_dir=run_dir)
        model = AsyncModel("0.25")
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Rated(), llm=model, run_dir=run_dir)
        assert str(caught.value) == (
            f"run_dir='{run_dir}' holds the finished scores of other settings: the LLM, AsyncModel, has no attribute `identity`, "
            f"so it is not known whether it is the same: {WAYS_OUT}"
        )
        assert model.asked == []

    def test_its_account_holds_no_settings(self, run_dir: Path) -> None:
        secret = Model("0.5", parameters={"user": "confidential"})
        evaluate(questions(2), Rated(), llm=secret, run_dir=run_dir)
        assert "confidential" not in (run_dir / "run.json").read_text()

    def test_without_a_run_dir(self) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(2), Length(), replace=True)
        assert str(caught.value) == (
            "replace only applies to the scores in a run directory: give run_dir=..., or leave it out"
        )
        with pytest.raises(InvalidInput, match="replace must be True or False, got 'yes'"):
            evaluate(questions(2), Length(), replace="yes")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Counted(Metric):
    """A metric with a function as a setting, which JSON cannot hold."""

    count: Callable[[str], int] = field(default=len)

    def measure(self, response: str) -> Score:
        return Score(min(self.count(response), 10) / 10)


class TestNotRefused:
    """What is the same run, or takes nothing away."""

    def test_metrics_in_another_order(self, run_dir: Path) -> None:
        model = Model()
        evaluate(questions(4), [Rated(), Length()], llm=model, run_dir=run_dir)
        result = evaluate(questions(4), [Length(), Rated()], llm=model, run_dir=run_dir)
        assert len(model.asked) == 4
        assert result.summary()["rated"].scored == result.summary()["length"].scored == 4

    def test_more_rows_and_a_higher_limit(self, run_dir: Path) -> None:
        model = Model()
        for limit in (2, 5, None):
            result = evaluate(questions(9), Rated(), llm=model, run_dir=run_dir, limit=limit)
        assert values(result) == [number / 100 for number in range(9)]
        evaluate(questions(12), Rated(), llm=model, run_dir=run_dir)
        assert sorted(map(int, model.asked)) == list(range(12))

    def test_a_model_that_is_not_asked(self, run_dir: Path) -> None:
        """Who answers nothing decides nothing; but he who did is remembered."""
        for llm in (None, Model(), None):
            evaluate(questions(4), Length(), llm=llm, run_dir=run_dir)
        with pytest.raises(InvalidInput, match="the LLM is hundredth at .* there, b at"):
            evaluate(questions(4), Length(), llm=Model(model="b"), run_dir=run_dir)

    def test_a_forgotten_model_beside_one_that_answers(self, run_dir: Path) -> None:
        class Vectors:
            identity = "vectors"

            async def aembed(self, texts: list[str]) -> list[list[float]]:
                return [[0.5] for _ in texts]

        rows = [{"user_input": str(number), "response": f"r{number}"} for number in range(4)]
        metrics = [Embedded(), Rated()]
        evaluate(rows[:2], metrics, llm=Model("0.25"), embeddings=Vectors(), run_dir=run_dir)
        with pytest.raises(ModelError, match="but none is set"):
            evaluate(rows, metrics, embeddings=Vectors(), run_dir=run_dir)
        with pytest.raises(InvalidInput, match="the LLM is hundredth at .* there, b at"):
            evaluate(rows, metrics, llm=Model(model="b"), embeddings=Vectors(), run_dir=run_dir)

    def test_a_directory_where_nothing_is_finished(self, run_dir: Path) -> None:
        """All rows failed over a wrong model name, say: the right one is another model."""
        wrong = Model(lambda text: ModelError("no such model"), model="wrong")
        assert evaluate(questions(3), Rated(), llm=wrong, run_dir=run_dir).summary()["rated"].failed == 3
        result = evaluate(questions(2), Rated(), llm=Model("0.5"), run_dir=run_dir)
        assert values(result) == [0.5, 0.5]
        assert content(run_dir).keys() == {"journal.sqlite", "run.json", "scores.jsonl"}

    def test_rows_that_failed_may_be_mended(self, run_dir: Path) -> None:
        rows: list[dict[str, Any]] = questions(4)  # type: ignore[assignment]
        rows[1] = {"response": "without a question"}
        rows[2] = {"question": "a", "query": "b"}
        evaluate(rows, Rated(), llm=Model(), run_dir=run_dir)
        result = evaluate(questions(4), Rated(), llm=Model(), run_dir=run_dir)
        assert values(result) == [0.0, 0.01, 0.02, 0.03]

    def test_settings_that_json_cannot_hold(self, run_dir: Path) -> None:
        for _ in range(2):
            evaluate(questions(3), Counted(count=lambda text: len(text) % 10), run_dir=run_dir)
        with pytest.raises(InvalidInput, match="other settings: different count"):
            evaluate(questions(3), Counted(count=str.__len__), run_dir=run_dir)

    def test_a_directory_of_an_older_version(self, run_dir: Path) -> None:
        """One that did not write who gives the scores."""
        evaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir)
        account = json.loads((run_dir / "run.json").read_text())
        del account["judged"], account["run"]
        (run_dir / "run.json").write_text(json.dumps(account))
        with pytest.raises(InvalidInput) as caught:
            evaluate(questions(3), Rated(), llm=Model(), run_dir=run_dir)
        assert str(caught.value) == (
            f"{run_dir / 'run.json'} was not written by this version of ragmetrics: give another run_dir"
        )


def test_a_call_that_is_lost_takes_no_score_away(run_dir: Path) -> None:
    """Nor does one that is lost where the journal is: only what a model really answers takes the place of what it answered."""
    evaluate(questions(4), [Rated(), Length()], llm=Model("0.25"), run_dir=run_dir)
    (run_dir / "journal.sqlite").unlink()
    model = Model(lambda text: "0.75" if text == "0" else ModelError("gone"))
    result = evaluate(questions(5), [Rated(), Length()], llm=model, run_dir=run_dir)
    assert values(result) == [0.75, 0.25, 0.25, 0.25, None]
    assert values(Evaluation.load(run_dir)) == [0.75, 0.25, 0.25, 0.25, None]


DYING = """
import os, sys
from pathlib import Path
from unittest import mock

from core.store.kept import Model
from core.evaluate.doubles import Rated, questions
from ragmetrics_core import evaluate
from ragmetrics_core._store import _run_dir, _journal
from ragmetrics_core._store._scores_file import ScoresFile

path, name, before = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "before"
owner, name = {
    "keep": (_journal.Journal, "keep"), "rename": (Path, "rename"), "replace": (Path, "replace"),
    "account": (_run_dir, "write_account"), "add": (ScoresFile, "add"),
    "settle": (ScoresFile, "settle"),
}[name]
real = getattr(owner, name)

def dying(*args):
    if before:
        os._exit(9)
    real(*args)
    os._exit(9)

with mock.patch.object(owner, name, dying):
    evaluate(questions(12), Rated(), llm=Model("0.75", model="b"), run_dir=path, replace=True, max_concurrency=2, progress=False)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["keep", "rename", "replace", "account", "add", "settle"])
def test_dead_in_the_middle_of_setting_aside(run_dir: Path, name: str, when: str) -> None:
    evaluate(questions(12), Rated(), llm=Model("0.25"), run_dir=run_dir)
    old = (run_dir / "scores.jsonl").read_bytes()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))}
    command = [sys.executable, "-c", DYING, str(run_dir), name, when]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    standing = [path.read_bytes() for path in run_dir.glob("scores*.jsonl")]
    assert old in standing, "what was finished is there"
    if (run_dir / "scores.jsonl").exists():
        assert len(set(values(Evaluation.load(run_dir)))) <= 1, "and never mixed"
    model = Model("0.75", model="b")
    result = evaluate(questions(12), Rated(), llm=model, run_dir=run_dir, replace=True)
    assert values(result) == [0.75] * 12
    assert values(Evaluation.load(run_dir)) == [0.75] * 12
    assert (run_dir / "scores.1.jsonl").read_bytes() == old
    assert content(run_dir).keys() - {"run.1.json"} == {"journal.sqlite", "run.json", "scores.1.jsonl", "scores.jsonl"}
