"""The value of every provider's key variable is masked in errors, logs, files, reports and what commands print."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from pages import server_rows
from ragmetrics_core import Ask, ModelError, Reply, Usage, evaluate, run_app
from ragmetrics_core.adapters import JsonlSink, conceal, observe
from ragmetrics_core.metrics import AnswerRelevanceRating

OTHERS = ("OPENAI_API_KEY", "LANGFUSE_SECRET_KEY", "PHOENIX_API_KEY", "HF_TOKEN", "MY_APP_HEADERS", "DB_PASSWORD")
VARIABLES = sorted({*OTHERS, *(name for row in server_rows() for name in row.key_variables)})
SECRETS = {name: f"{number:03}-is-the-{name.lower()}" for number, name in enumerate(VARIABLES)}
ALL = " ".join(SECRETS.values())
ROWS = [{"id": str(number), "question": f"Where is {number}?", "answer": "Paris."} for number in range(4)]


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each variable holds a different key; the current directory is empty."""
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, f"Authorization: Bearer {secret}" if name == "MY_APP_HEADERS" else secret)
    monkeypatch.chdir(tmp_path)


def leaked(text: str | bytes) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [name for name, secret in SECRETS.items() if secret.encode() in data]


def in_files(folder: Path) -> dict[str, list[str]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return {path.name: found for path in files if (found := leaked(path.read_bytes()))}


class Telltale:
    """A judge that quotes all keys, in answers and in errors."""

    def __init__(self) -> None:
        self.identity = {"model": "telltale"}
        self._numbers = itertools.count()

    async def agenerate(self, ask: Ask) -> Reply[str]:
        if next(self._numbers) % 2:
            raise ModelError(f"the request with {ALL} was refused")
        return Reply(f'{{"reason": "It was sent with {ALL}.", "score": 1}}', Usage(1, 1, 1))


def test_every_variable_of_a_provider_is_known() -> None:
    assert len(VARIABLES) > 20


@pytest.mark.parametrize("name", VARIABLES)
def test_the_value_of_a_variable_is_masked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"refused: {SECRETS[name]}, sent twice: {SECRETS[name]}"
    assert conceal(text) == text
    monkeypatch.setenv(name, f" {SECRETS[name]}\n")
    assert conceal(text) == "refused: ***, sent twice: ***"


@pytest.mark.parametrize(
    "value", ["none", "not-needed", "EMPTY", "a1b2", "/home/me/keys/4711.json", "~/keys/4711.json"]
)
def test_values_that_are_no_keys_are_not_masked(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", value)
    assert conceal(f"the value is {value}") == f"the value is {value}"


def test_other_variables_are_not_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_NAME", "gpt-4o-mini-2024")
    monkeypatch.setenv("MAX_TOKENS", "123456789")
    assert conceal("gpt-4o-mini-2024 and 123456789") == "gpt-4o-mini-2024 and 123456789"


def test_nothing_of_a_run_has_a_key(keys: None, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def sink(record: Any) -> None:
        raise ValueError(f"cannot send with {ALL}")

    result = evaluate(
        ROWS, "answer_relevance_rating", llm=Telltale(), run_dir=tmp_path / "run", sinks=[sink], progress=False
    )
    scores = result.scores["answer_relevance_rating"]
    assert {score.state for score in scores} == {"scored", "failed"}, scores
    assert any("It was sent with ***" in str(score.details) for score in scores)
    result.to_html(tmp_path / "report.html")
    result.to_jsonl(tmp_path / "scores.jsonl")
    assert leaked(str(result.summary()) + repr(scores)) == []
    assert "cannot send with ***" in caplog.text
    assert leaked(caplog.text) == []
    assert in_files(tmp_path) == {}


def test_what_an_application_says_of_keys_is_masked(keys: None, tmp_path: Path) -> None:
    def app(question: str) -> str:
        if question == "When?":
            raise ValueError(ALL)
        return f"It is {ALL}"

    rows = run_app(app, [{"question": "Where?"}, {"question": "When?"}], out=tmp_path / "answers.jsonl")
    assert rows[0].response == "It is " + " ".join(["***"] * len(VARIABLES))
    assert leaked(repr(rows)) == []
    assert in_files(tmp_path) == {}


def test_numbers_of_an_answer_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "12345678")
    (row,) = run_app(lambda question: {"answer": "It is 12345678", "tokens": 12345678}, ROWS[:1])
    assert (row.response, row.metadata["tokens"]) == ("It is ***", 12345678)


def test_live_evaluation_logs_and_keeps_no_key(keys: None, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Telltale):
        async def agenerate(self, ask: Ask) -> Reply[str]:
            raise RuntimeError(ALL)

    def only(found: Any) -> bool:
        if found.sample.user_input == "When?":
            raise ValueError(ALL)
        return True

    sinks = [JsonlSink(tmp_path / "live.jsonl")]
    observer = observe([AnswerRelevanceRating()], llm=Broken(), sample_rate=1.0, only=only, sinks=sinks, keep=10)
    for question in ("Where?", "When?"):
        with observer as record:
            record.update(question=question, answer="Paris.")
    assert observer.close(timeout=30)
    assert "RuntimeError: ***" in caplog.text
    assert leaked(caplog.text) == []
    assert leaked(repr([found.to_dict() for found in observer.results])) == []
    assert in_files(tmp_path) == {}


LEAKY = """
import os
from dataclasses import dataclass
from ragmetrics_core import Metric, ModelError, Score

def everything():
    return " ".join(os.environ[name] for name in os.environ["NAMES"].split(","))

@dataclass(frozen=True)
class Bug(Metric):
    def measure(self, response: str) -> Score:
        raise RuntimeError(everything())

@dataclass(frozen=True)
class Fatal(Metric):
    def measure(self, response: str) -> Score:
        raise ModelError(everything(), fatal=True)
"""


@pytest.mark.parametrize(("metric", "status"), [("Bug", 70), ("Fatal", 2)])
def test_a_command_prints_and_writes_no_key(
    keys: None, metric: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "leaky", raising=False)
    monkeypatch.setenv("NAMES", ",".join(VARIABLES))
    Path("leaky.py").write_text(LEAKY)
    Path("q.jsonl").write_text('{"answer": "Paris."}\n')
    result = call("evaluate", "q.jsonl", "-m", f"leaky:{metric}", "--run-dir", "run", "--out", "out.jsonl")
    assert result.exit_code == status
    assert "***" in result.stderr
    assert leaked(result.stdout + result.stderr) == []
    assert in_files(tmp_path) == {}
