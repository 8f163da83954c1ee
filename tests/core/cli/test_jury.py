"""``--jury``: several models instead of one, by their names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from loopback import OpenAIServer


def graded(body: dict[str, Any]) -> str:
    return json.dumps({"score": {"mild": 5, "strict": 2, "odd": 4}[body["model"]], "reason": "so"})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(graded) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        yield running


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "r1", "question": "When?", "answer": "In 1889.", "reference": "1889"}\n')
    return path


def test_each_metric_that_asks_an_llm_is_a_jury_of_the_models(server: OpenAIServer, rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    result = call(
        "evaluate", rows, "-m", "correctness,token_f1", "--jury", "openai:mild, openai:strict,openai:odd", "--out", out,
        "--gate", "correctness >= 3",
    )  # fmt: skip
    assert "jury correctness: how far its 3 jurors agree is not known" in " ".join(result.stdout.split()), result.stderr
    (row,) = (json.loads(line) for line in out.read_text().splitlines())
    score = row["scores"]["correctness"]
    assert score["value"] == 4.0
    assert [(item["juror"], item["model"], item["value"]) for item in score["details"]["jurors"]] == [
        ("correctness (mild)", "mild", 5.0),
        ("correctness (strict)", "strict", 2.0),
        ("correctness (odd)", "odd", 4.0),
    ]
    assert "jurors" not in row["scores"]["token_f1"]["details"]
    assert len(server.chats) == 3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["-m", "correctness", "--jury", "openai:mild"],
            "--jury takes at least two models, separated by commas, such as openai:gpt-4o-mini,ollama:qwen3, got 'openai:mild'",
        ),
        (
            ["-m", "correctness", "--llm", "openai:mild", "--jury", "openai:mild,openai:odd"],
            "--llm and --jury both choose the judge: give only one of them",
        ),
        (["-m", "token_f1", "--jury", "openai:mild,openai:odd"], "--jury: none of the metrics asks an LLM: token_f1"),
        (
            ["-m", "correctness", "--jury", "lexical,lexical"],
            "two members ask the same model (LexicalJudge)",
        ),
    ],
)
def test_what_cannot_be_a_jury(rows: Path, options: list[str], problem: str) -> None:
    result = call("evaluate", rows, *options)
    assert (result.exit_code, problem in result.stderr) == (2, True), result.stderr


def test_a_dry_run_calls_no_model(server: OpenAIServer, rows: Path) -> None:
    result = call("evaluate", rows, "-m", "correctness", "--jury", "openai:mild,openai:odd", "--dry-run")
    assert "2 calls" in result.stdout
    assert server.chats == []
