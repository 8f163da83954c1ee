"""``ragmetrics run``: ask an application the questions of a file, keep its answers, judge them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.cli.calling import call
from loopback import OpenAIServer

APP = """
from pathlib import Path

def answer(question):
    with Path("asked.txt").open("a") as file:
        file.write(question + "\\n")
    if question == "Who?" and not Path("up").exists():
        raise ConnectionError("the index is down")
    return {"answer": "Paris", "contexts": ["It stands in Paris."]}

def broken(question):
    raise ConnectionError(question)

def printing(question):
    print("asked", question)
    return "Paris"

def interrupted(question):
    if question == "When?":
        import _thread
        _thread.interrupt_main()
        import time
        time.sleep(30)
    return "Paris"
"""
QUESTIONS = ["Where?", "When?", "Who?"]


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with an application and its questions."""
    monkeypatch.delitem(__import__("sys").modules, "myapp", raising=False)
    (folder / "myapp.py").write_text(APP)
    lines = [json.dumps({"id": name[:4], "prompt": name, "reference": "Paris"}) for name in QUESTIONS]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    return folder


def run(*arguments: str, app: str = "myapp:answer") -> tuple[int, str, str]:
    result = call("run", app, "questions.jsonl", "--map", "question=prompt", "--max-concurrency", "1", *arguments)
    return result.exit_code, result.stdout, result.stderr


def without_times(text: str) -> str:
    head, _, tail = text.partition("; ")
    assert tail.endswith(" s at most\n") or not tail
    return head


def test_answers_go_to_stdout_without_a_file(home: Path) -> None:
    status, out, err = run()
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row.get("response") for row in rows] == ["Paris", "Paris", None]
    assert rows[2]["metadata"]["app_error"] == "ConnectionError: the index is down"
    first, second = err.splitlines()
    assert without_times(first + "\n") == "3 questions: 2 answered, 1 failed"
    assert second == "ragmetrics: 1 question failed: ConnectionError: the index is down"
    assert status == 0


def test_the_same_command_asks_only_what_is_not_answered(home: Path) -> None:
    assert run("--out", "answers.jsonl")[0] == 0
    (home / "up").touch()
    status, out, err = run("--out", "answers.jsonl")
    assert (status, without_times(out), err) == (0, "3 questions: 3 answered, 0 failed", "")
    assert (home / "asked.txt").read_text().split() == ["Where?", "When?", "Who?", "Who?"]
    assert len((home / "answers.jsonl").read_text().splitlines()) == 3
    assert call("evaluate", "answers.jsonl", "-m", "exact_match").exit_code == 0


def test_metrics_judge_in_the_same_command(home: Path) -> None:
    status, out, err = run("-m", "exact_match", "--run-dir", "runs/a", "--gate", "exact_match >= 0.1")
    assert without_times(out.partition("\n")[0] + "\n") == "3 questions: 2 answered, 1 failed"
    assert "exact_match  1.000  2 of 3" in out
    assert "the application failed: ConnectionError: the index is down" in " ".join(out.split())
    assert status == 1  # the gate says that a third of the rows failed
    assert {path.name for path in (home / "runs" / "a").iterdir()} == {"answers.jsonl", "run.json", "scores.jsonl"}
    (home / "up").touch()
    status, out, err = run("-m", "exact_match", "--run-dir", "runs/a", "--gate", "exact_match >= 0.1")
    assert "exact_match  1.000  3 of 3" in out
    assert (status, err) == (0, "")
    assert (home / "asked.txt").read_text().split() == ["Where?", "When?", "Who?", "Who?"]


def test_wrong_options_are_found_before_the_first_question(home: Path) -> None:
    for options, message in {
        ("-m", "faithfullness"): "there is no metric 'faithfullness'; did you mean 'faithfulness'? ",
        ("-m", "faithfulness"): "faithfulness asks an LLM: add --llm MODEL (or --llm lexical, offline)\n",
        ("-m", "exact_match", "--gate", "recall >= 1"): "--gate 'recall >= 1': 'recall'",
        ("--timeout", "0"): "--timeout must be a positive number of seconds, got 0.0\n",
        ("--gate", "exact_match >= 0.1"): "--gate is about judging: add --metrics\n",
        ("--llm", "lexical"): "--llm MODEL (or --llm lexical, offline) is about judging: add --metrics\n",
        ("--price-as", "gpt-4o"): "--price-as is about judging: add --metrics\n",
        ("--out", "questions.jsonl"): "--out: questions.jsonl is the file that the questions are read from: ",
    }.items():
        status, out, err = run(*options)
        assert (status, out) == (2, "")
        assert err.startswith(f"ragmetrics: {message}"), err
    assert not (home / "asked.txt").exists()


def test_it_judges_as_evaluate_does(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a jury, for the values of a column."""
    (home / "up").touch()
    options = ("-m", "correctness", "--jury", "openai:mild,openai:strict", "--by", "id")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with OpenAIServer(
        lambda body: json.dumps({"score": 5 if body["model"] == "mild" else 2, "reason": "so"})
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        status, out, err = run("--out", "a.jsonl", *options)
        judged = call("evaluate", "a.jsonl", *options)
    assert (status, err) == (0, "")
    for text in (out, judged.stdout):
        assert "correctness  3.500  3 of 3" in text
        assert re.findall(r"^id=\w+\S* +3.500  1 of 1", text, re.MULTILINE) == [
            *("id=When      3.500  1 of 1", "id=Wher      3.500  1 of 1", "id=Who?      3.500  1 of 1"),
        ]
        assert "jury correctness: its 2 jurors agree with Krippendorff's alpha -0.667" in text


def test_every_option_of_evaluate_about_judging_is_one_of_run() -> None:
    others, own = (
        set(re.findall(r"--[a-z-]+", re.sub(r"-\n +", "-", call(name, "--help").stdout)))
        for name in ("evaluate", "run")
    )
    assert others - own == {"--traces", "--sample", "--dry-run"}
    assert own - others == {"--send", "--headers-from"}


def test_what_an_application_prints_is_no_row(home: Path) -> None:
    status, out, err = run(app="myapp:printing")
    assert [json.loads(line)["response"] for line in out.splitlines()] == ["Paris"] * 3
    assert "asked Where?\nasked When?\nasked Who?\n" in err
    assert status == 0


def test_no_answer_at_all_is_an_error(home: Path) -> None:
    status, _, err = run("--out", "answers.jsonl", app="myapp:broken")
    assert status == 2
    assert err.splitlines() == [
        *(f"ragmetrics: 1 question failed: ConnectionError: {name}" for name in QUESTIONS),
        "ragmetrics: no question was answered",
    ]


def test_an_application_that_is_not_there(home: Path) -> None:
    status, _, err = run(app="myapp:anser")
    assert status == 2
    assert err == (
        "ragmetrics: there is no application 'myapp:anser': the module 'myapp' has no 'anser'; did you mean 'answer'?\n"
    )


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_the_answers(home: Path) -> None:
    status, _, err = run("--out", "answers.jsonl", app="myapp:interrupted")
    assert status == 130
    assert err == (
        "ragmetrics: stopped (all replies are kept in answers.jsonl); to go on:\n"
        "ragmetrics run myapp:interrupted questions.jsonl --map question=prompt --max-concurrency 1 --out answers.jsonl\n"
    )
    assert len((home / "answers.jsonl").read_text().splitlines()) == 1


def test_questions_from_standard_input(home: Path) -> None:
    result = call("run", "myapp:answer", "-", stdin=b'{"question": "Where?"}\n')
    assert json.loads(result.stdout)["response"] == "Paris"
