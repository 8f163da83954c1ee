"""Files of earlier versions: they load, commands read them, and a run that was stopped goes on without a call made twice."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from ragmetrics_core import Evaluation, InvalidInput, evaluate
from ragmetrics_core.metrics import NDCG, Correctness, Faithfulness, Guideline, Jury, SemanticSimilarity

FOLDER = Path(__file__).parent / "fixtures" / "written_by_0_1"
ROWS = FOLDER / "rows.jsonl"
FINISHED = {
    "correctness": [2.0, 5.0, 5.0, 2.0, 5.0, 4.0, 5.0, 2.5],
    "token_f1": [0.8, 1.0, 1.0, 0.75, 1.0, 2 / 3, 1.0, 0.5],
}
SIMILARITY = [1.0, 1.0, 1.0, 1.0, 1.0, 0.9438798074485389, 1.0, 0.75**0.5]


def writer() -> Any:
    """The script that wrote the files; its metric and its models carry the runs on."""
    spec = importlib.util.spec_from_file_location("written_by_0_1", FOLDER / "make.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all files, as the current folder."""
    shutil.copytree(FOLDER, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize(
    ("name", "state", "rows"),
    [
        ("finished", "unverified", 8),
        ("interrupted", "stopped", 4),
        ("with_an_llm", "stopped", 4),
        ("baseline", "unverified", 8),
    ],
)
def test_runs_load(name: str, state: str, rows: int) -> None:
    run = Evaluation.load(FOLDER / name)
    assert (run.state, len(run)) == (state, rows)
    assert [row.id for row in run.rows] == [
        json.loads(line)["id"] for line in ROWS.read_text(encoding="utf-8").splitlines()
    ][:rows]


def test_values_are_read_as_they_were_written() -> None:
    run = Evaluation.load(FOLDER / "finished")
    assert {name: run[name] for name in FINISHED} == {name: pytest.approx(values) for name, values in FINISHED.items()}
    assert run.scores["correctness"][0].details["prompts"] == {"grade_correctness": "4"}


def test_a_run_without_prompts_goes_on(copy: Path) -> None:
    vectors = writer().Vectors()
    run = evaluate(ROWS, SemanticSimilarity(embeddings=vectors), run_dir=copy / "interrupted", progress=False)
    assert vectors.calls == 4  # 8 rows; the first 4 were answered before
    assert run["semantic_similarity"] == pytest.approx(SIMILARITY)
    assert (run.state, Evaluation.load(copy / "interrupted").state) == ("finished", "finished")


def test_a_run_with_an_llm_goes_on(copy: Path) -> None:
    """If it does not because a release changed the words that all prompts share, write the folder ``with_an_llm`` again."""
    made = writer()
    judge = made.Judge()
    run = evaluate(ROWS, made.Politeness(llm=judge), run_dir=copy / "with_an_llm", progress=False)
    assert judge.calls == 4
    assert run["politeness"] == [1.0, 0.0] * 4


def test_a_run_whose_prompts_have_changed_is_left_alone(copy: Path) -> None:
    before = {path.name: path.read_bytes() for path in (copy / "finished").iterdir()}
    with pytest.raises(InvalidInput) as caught:
        evaluate(ROWS, "correctness,token_f1", llm="lexical", run_dir=copy / "finished", progress=False)
    message = str(caught.value)
    for fact in (
        str(copy / "finished"),
        "finished scores",
        "correctness",
        "words of the prompt 'grade'",
        "replace=True",
    ):
        assert fact in message
    assert {path.name: path.read_bytes() for path in (copy / "finished").iterdir()} == before


def test_it_is_scored_anew_beside_the_old_scores(copy: Path) -> None:
    scored = ("rows.jsonl", "-m", "correctness,token_f1", "--llm", "lexical", "--run-dir", "finished")
    refused = call("evaluate", *scored)
    assert refused.exit_code == 2
    assert "words of the prompt 'grade'" in refused.stderr
    assert "--replace" in refused.stderr
    assert call("evaluate", *scored, "--replace").exit_code == 0
    assert Evaluation.load(copy / "finished").state == "finished"
    assert Evaluation.load(copy / "finished" / "scores.1.jsonl")["token_f1"] == pytest.approx(FINISHED["token_f1"])


@pytest.mark.usefixtures("copy")
def test_commands_read_them() -> None:
    shown = call("show", "finished", "--row", "boat")
    assert shown.exit_code == 0
    assert "answer: Es fährt kein Boot." in shown.stdout
    compared = call("compare", "finished", "baseline")
    assert compared.exit_code == 0
    assert "8 rows in both" in compared.stdout
    assert "0.840  1.000      +0.160" in compared.stdout
    calibrated = call("calibrate", "finished", "--labels", "labels.jsonl")
    assert calibrated.exit_code == 0
    assert "8 labelled rows for correctness" in calibrated.stdout
    assert "8 labels without a digest" in calibrated.stdout
    for name, metric in (("finished", "correctness"), ("interrupted", "semantic_similarity"), ("baseline", "token_f1")):
        assert call("report", name, "--out", f"{name}.html").exit_code == 0
        assert metric in Path(f"{name}.html").read_text(encoding="utf-8")


def test_a_file_of_scores_is_read_as_one(copy: Path) -> None:
    shutil.copy("finished/scores.jsonl", "alone.jsonl")
    run = Evaluation.load(copy / "alone.jsonl")
    assert run["correctness"] == pytest.approx(FINISHED["correctness"])
    assert Evaluation.load(copy / "finished").compare(run)["token_f1"].difference == 0.0


def test_a_session_of_pytest_is_compared_with_its_baseline(copy: Path, pytester: pytest.Pytester) -> None:
    pytest.importorskip("ragmetrics_pytest")
    shutil.copy(ROWS, pytester.path)
    pytester.makepyfile(writer().TESTS.replace("right.jsonl", "rows.jsonl"))
    session = pytester.runpytest_inprocess(
        "-o", "asyncio_default_fixture_loop_scope=function", f"--ragmetrics-baseline={copy / 'baseline'}"
    )
    session.assert_outcomes(passed=8)
    assert "compared with" in session.stdout.str()
    assert "8 pairs of rows" in session.stdout.str()


def test_a_haystack_pipeline_loads_and_runs() -> None:
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    pytest.importorskip("ragmetrics_haystack")
    haystack = pytest.importorskip("haystack")
    pipeline: Any = haystack.Pipeline.loads((FOLDER / "pipeline.yaml").read_text(encoding="utf-8"))
    metrics = {name: pipeline.get_component(name).metric for name in ("ranking", "faithful", "short", "near", "jury")}
    assert metrics == {
        "ranking": NDCG(k=3),
        "faithful": Faithfulness(window=500, name="f"),
        "short": Guideline(guidelines="The answer is short."),
        "near": SemanticSimilarity(),
        "jury": Jury([Correctness(threshold=3.0, name="mild"), Correctness(threshold=4.5, name="strict")]),
    }
    ranking, faithful = pipeline.get_component("ranking"), pipeline.get_component("faithful")
    assert (ranking.raise_on_failure, faithful.max_concurrency) == (False, 2)
    asked = {"user_input": ["How tall?"], "response": ["45 metres"], "reference": ["45 metres"]}
    given: dict[str, dict[str, Any]] = {
        "ranking": {"retrieved_documents": [["a", "b"]], "reference_documents": [["a"]]},
        "short": {name: asked[name] for name in ("user_input", "response")},
        "near": {name: asked[name] for name in ("response", "reference")},
        "jury": asked,
        "drop_in": {"questions": ["How tall?"], "contexts": [["It is tall."]], "predicted_answers": ["It is tall."]},
    }
    scores = {name: pipeline.get_component(name).run(**inputs)["score"] for name, inputs in given.items()}
    assert scores == {"ranking": 1.0, "short": 1.0, "near": pytest.approx(1.0), "jury": 4.0, "drop_in": 1.0}
