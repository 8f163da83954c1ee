"""``ragmetrics generate``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ragmetrics_core import ModelError, Testset
from ragmetrics_core.cli import _generate as command
from ragmetrics_core.testing import ScriptedLLM

# Before click 8.2 the two outputs were one unless told otherwise.
SEPARATE: dict[str, Any] = (
    {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner.__init__).parameters else {}
)
CAVEAT = """\
caveat: These questions are a lexical baseline: sentences of the documents
      with a part left blank, which is the answer. Use a language model (such as
      openai:gpt-4o-mini) to have questions written.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Dubliners is a collection of stories by James Joyce.")
    (tmp_path / "docs" / "b.txt").write_text("\n")
    return tmp_path


def call(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command.generate)
    return CliRunner(**SEPARATE).invoke(app, arguments)


def scripted(monkeypatch: pytest.MonkeyPatch, llm: ScriptedLLM) -> None:
    monkeypatch.setattr(command, "parse_models", lambda *_: {"llm": llm})


def test_a_folder(folder: Path) -> None:
    result = call("docs", "-n", "2", "--llm", "lexical", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr, result.stdout) == (
        0,
        "skipped: b.txt: the document has no text\n",
        f"t.jsonl: 2 questions, 3 calls, 0 tokens in, 0 tokens out\n{CAVEAT}",
    )
    testset = Testset.load("t.jsonl")
    assert [sample.id for sample in testset] == ["a.md-1", "a.md-2"]
    assert sorted(path.name for path in folder.iterdir()) == ["docs", "t.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs"], "choose a model with --llm openai:MODEL or server:MODEL (or --llm lexical, offline, a baseline)"),
        (
            ["docs", "--llm", "lexical", "--out", "docs/a.md"],
            "--out: the name of docs/a.md must end in .jsonl, so that it can be read again",
        ),
        (
            ["d.jsonl", "--llm", "lexical", "--out", "d.jsonl"],
            "--out: d.jsonl is the file that the rows are read from: give another path",
        ),
        (["docs", "--llm", "lexical", "--out", "no/t.jsonl"], "--out: there is no directory no"),
        (["docs/b.txt", "--llm", "lexical"], "no question was made: b.txt: the document has no text"),
        (
            ["docs", "--llm", "lexical", "--base-url", "http://x"],
            "--base-url needs --llm openai:MODEL, --llm server:MODEL or --embeddings openai:MODEL",
        ),
    ],
)
def test_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "d.jsonl").write_text('{"content": "x"}')
    out = [] if "--out" in arguments else ["--out", "t.jsonl"]
    result = call(*arguments, *out)
    assert (result.exit_code, result.stderr, result.stdout) == (2, f"ragmetrics: {message}\n", "")
    assert not (folder / "t.jsonl").exists()


def test_a_missing_folder(folder: Path) -> None:
    result = call("nowhere", "--llm", "lexical", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr) == (
        2,
        f"ragmetrics: there is no file 'nowhere' (looked in {Path.cwd()})\n",
    )


def test_what_was_paid_for_is_written_when_a_model_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "docs" / "b.txt").write_text("More.")
    script = ["1. Who?", '{"answer": "Joyce"}', ModelError("wrong key", fatal=True)]
    scripted(monkeypatch, ScriptedLLM(script))
    result = call("docs", "-n", "1", "--llm", "m", "--max-concurrency", "1", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: wrong key (the row finished before can be found in t.jsonl)\n",
    )
    assert [sample.reference for sample in Testset.load("t.jsonl")] == ["Joyce"]
