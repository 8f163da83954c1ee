"""``ragmetrics generate``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import Result

from core.cli import calling
from ragmetrics_core import ModelError, Testset
from ragmetrics_core.testing import ScriptedLLM

CAVEAT = """\
caveat: These questions are a lexical baseline: sentences of the documents
      with a part left blank, which is the answer. Use a language model (such as
      openai:gpt-4o-mini) to have questions written.
"""
NEXT = """
next, in Python, with a function ask() of yours that returns the response and
the retrieved_contexts of a question, as a mapping:
  from ragmetrics_core import Testset, evaluate
  rows = [one.updated(ask(one.user_input)) for one in Testset.load('t.jsonl')]
  evaluate(rows, "faithfulness,context_recall", llm="openai:gpt-4o-mini")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Dubliners is a collection of stories by James Joyce.")
    (tmp_path / "docs" / "b.txt").write_text("\n")
    return tmp_path


def call(*arguments: str) -> Result:
    return calling.call("generate", *arguments)


SCRIPTED = ("--llm", "server:m", "--base-url", "http://localhost/v1")


def scripted(monkeypatch: pytest.MonkeyPatch, llm: ScriptedLLM) -> None:
    """Let this model be the one that ``SCRIPTED`` names."""
    monkeypatch.setattr("ragmetrics_core.llms.OpenAIServerLLM", lambda base_url, model: llm)


def test_a_folder(folder: Path) -> None:
    result = call("docs", "-n", "2", "--llm", "lexical", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr, result.stdout) == (
        0,
        "skipped: b.txt: the document has no text\n",
        f"t.jsonl: 2 of 2 questions, 5 calls, 0 tokens in, 0 tokens out\n{CAVEAT}{NEXT}",
    )
    testset = Testset.load("t.jsonl")
    assert [sample.id for sample in testset] == ["a.md-1", "a.md-2"]
    assert sorted(path.name for path in folder.iterdir()) == ["docs", "t.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs"], "choose a model with --llm: openai:MODEL, server:MODEL or lexical (offline, a baseline)"),
        (
            ["docs", "--llm", "lexical", "--out", "docs/a.md"],
            "--out: docs/a.md must have a name that ends in .jsonl, so that it can be read again",
        ),
        (
            ["d.jsonl", "--llm", "lexical", "--out", "d.jsonl"],
            "--out: d.jsonl is the file that the rows are read from: give another path",
        ),
        (["docs", "--llm", "lexical", "--out", "no/t.jsonl"], "--out: there is no directory no"),
        (["docs/b.txt", "--llm", "lexical"], "no question was made: b.txt: the document has no text"),
        (
            ["docs", "--llm", "lexical", "--base-url", "http://x"],
            (
                "--base-url needs openai:MODEL or server:MODEL in --llm or --jury, or --embeddings openai:MODEL; other jurors take "
                "their address from a variable"
            ),
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
    script = {
        "write_questions": ["1. Who?", "1. What?"],
        "answer_from_document": ['{"answer": "Joyce"}', '{"answer": "More"}'],
        "check_question": ['{"stands_alone": true, "supported": true}', ModelError("wrong key", fatal=True)],
    }
    scripted(monkeypatch, ScriptedLLM(script))
    result = call("docs", "-n", "2", *SCRIPTED, "--max-concurrency", "1", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: wrong key (the row finished before can be found in t.jsonl)\n",
    )
    assert [sample.reference for sample in Testset.load("t.jsonl")] == ["Joyce"]


def test_a_budget_that_ends_the_run(folder: Path) -> None:
    (folder / "docs" / "b.txt").write_text("The museum was built for maps.")
    result = call(
        "docs", "-n", "2", "--llm", "lexical", "--budget", "calls=5", "--max-concurrency", "1", "--out", "t.jsonl"
    )
    assert (result.exit_code, result.stderr) == (
        2,
        "ragmetrics: the budget of 5 calls is used up (with --run-dir DIR, the next run would go on from here)\n",
    )
    assert "1 of 2 questions is missing: the budget of 5 calls is used up" in result.stdout
    assert len(Testset.load("t.jsonl")) == 1


def test_a_budget_that_makes_no_question(folder: Path) -> None:
    (folder / "docs" / "copy.md").write_text((folder / "docs" / "a.md").read_text())
    result = call("docs", "-n", "2", "--llm", "lexical", "--budget", "calls=1", "--out", "t.jsonl")
    assert (result.exit_code, result.stderr, result.stdout) == (
        2,
        (
            "ragmetrics: no question was made: the budget of 1 calls is used up (with --run-dir DIR, the next run would go on "
            "from here)\n"
        ),
        "",
    )


def test_a_refusal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = {
        "write_unanswerable_questions": ["1. Who printed Dubliners?"],
        "check_unanswered": ['{"stands_alone": true, "answered_by": []}'],
    }
    scripted(monkeypatch, ScriptedLLM(script))
    result = call(
        *("docs", "-n", "1", "--unanswerable", "1", "--refusal", "Keine Angabe.", *SCRIPTED, "--out", "t.jsonl"),
    )
    assert (result.exit_code, [sample.reference for sample in Testset.load("t.jsonl")]) == (0, ["Keine Angabe."])


def test_the_number_is_that_of_all_questions(folder: Path) -> None:
    for name in "cdef":
        (folder / "docs" / f"{name}.md").write_text(f"The {name}-wing is a part of the museum. It was built for maps.")
    result = call("docs", "-n", "3", "--llm", "lexical", "--out", "t.jsonl", "--run-dir", "run", "--seed", "5")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "t.jsonl: 3 of 3 questions, 9 calls, 0 tokens in, 0 tokens out",
    )
    assert len({sample.metadata["document_id"] for sample in Testset.load("t.jsonl")}) == 3
    assert (folder / "run" / "testset.jsonl").read_bytes() == (folder / "t.jsonl").read_bytes()
    assert (folder / "run" / "journal.sqlite").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "--unanswerable=0.5",
            "--unanswerable and --two-passages need a language model: LexicalJudge only writes questions with a blank to fill in",
        ),
        ("--two-passages=2", "--two-passages must be a share from 0 to 1, got 2.0"),
        ("--refusal= ", "--refusal must be a text that is not blank, got ' '"),
        ("--chunk-size=0", "--chunk-size must be a whole number from 1, got 0"),
        ("--chunk-overlap=1000", "--chunk-overlap must be less than --chunk-size, got 1000 and 1000"),
        ("--timeout=0", "--timeout must be a positive number of seconds, got 0.0"),
        ("--max-retries=-1", "--max-retries must be a whole number from 0, got -1"),
        ("--budget=x", "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'x'"),
        ("--progress=x", "--progress must be one of auto, always, never, got 'x'"),
    ],
)
def test_options(folder: Path, option: str, message: str) -> None:
    result = call("docs", "--llm", "lexical", "--out", "t.jsonl", option)
    assert (result.exit_code, result.stderr, result.stdout) == (2, f"ragmetrics: {message}\n", "")


def test_the_bar(folder: Path) -> None:
    result = call("docs", "-n", "1", "--llm", "lexical", "--out", "t.jsonl", "--progress", "always")
    assert "generate: 100%" in result.stderr
    assert "0 dropped, 0 tokens" in result.stderr
