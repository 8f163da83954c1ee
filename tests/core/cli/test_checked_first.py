"""A slip of the pen in any option of a command that pays for calls is one line and status 2, and no call is made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.calling import call
from loopback import OpenAIServer

RATING = "answer_relevance_rating"
NAMES = "columns of the metadata: lang, place, doc; fields have their own names, such as 'user_input'"
NO_FORMAT = (
    "must have a name that ends in .jsonl or .parquet (rows, scores and evidence, for programs), .html (the same, for "
    "people), .csv (rows and scores as a table) or .md (the summary)"
)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.chdir(tmp_path)
    lines = [
        {
            "id": f"q{n}",
            "question": f"{n}?",
            "answer": f"{n}",
            "reference": "5",
            "lang": "de",
            "place": {"page": n},
            **({"doc": "a"} if n == 5 else {}),
        }
        for n in range(8)
    ]
    Path("q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("file").write_text("x")
    Path("folder.jsonl").mkdir()
    Path("docs").mkdir()
    Path("docs/a.txt").write_text("Paris is the capital of France. " * 20)
    Path("mine.py").write_text(
        "from ragmetrics_core.metrics import TokenF1, RubricScore\n"
        "f1 = TokenF1(name='mine')\nLIST = [f1]\ndef make():\n    return f1\nclass Other: ...\n"
    )
    with OpenAIServer() as server:
        yield server


WRONG = {
    "--by lnag": f"--by lnag: no row has it; {NAMES}",
    "--by place": "q.jsonl, line 1: --by place is an object: name a column with one value per row, such as place.page",
    f"--by lnag --gate '{RATING} >= 0.5'": f"--by lnag: no row has it; {NAMES}",
    f"--cluster dco --gate '{RATING} >= 0.5'": f"--cluster dco: no row has it; {NAMES}",
    f"--cluster doc --gate '{RATING} >= 0.5'": (
        "--cluster doc: 7 of 8 rows have none (q.jsonl, line 1, q.jsonl, line 2, q.jsonl, line 3, q.jsonl, line 4, q.jsonl, line "
        "5 and 2 more): give each row one; a row that shares nothing with others gets its own"
    ),
    "--cluster doc": "--cluster only applies to gates: add --gate 'METRIC >= NUMBER', or leave --cluster out",
    "--gate 'faithfulnes >= 0.5'": f"--gate 'faithfulnes >= 0.5': 'faithfulnes' is not among the metrics: {RATING}",
    "--fail-under faith=0.5": f"--fail-under: 'faith' is not among the metrics of this run: {RATING}",
    "--map question=promt": (
        "--map question=promt reads 'user_input' from the column 'promt', which is in no row (there are: id, question, answer, "
        "reference, lang, place.page, doc)"
    ),
    "--out scores.xlsx": f"--out: scores.xlsx {NO_FORMAT}",
    "--out folder.jsonl": "--out: folder.jsonl is a directory: give the path of a file",
    "--out no/scores.jsonl": "--out: there is no directory no",
    "--out q.jsonl": "--out: q.jsonl is the file that the rows are read from: give another path",
    "--run-dir file": "--run-dir file cannot be made a directory: file is a file",
    "--at sheet": "--at sheet does not apply to q.jsonl, which is neither a workbook nor a .json file: leave it out",
    "--encoding none": "--encoding must be one such as cp1252, latin-1, utf-16 or utf-8, got 'none'",
    "--empty none": "--empty must be 'skip' or 'zero', got 'none'",
    "--on-error none": "--on-error must be 'record' or 'raise', got 'none'",
    "--budget cals=1": "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'cals=1'",
    "--budget calls=1 --budget calls=9": "--budget: calls is given twice: give it once",
    f"--undecided no --gate '{RATING} >= 0.5'": "--undecided must be pass or fail, got 'no'",
    "--replace": "--replace only applies to the scores in a run directory: give --run-dir DIR, or leave it out",
    "--embeddings none": (
        "--embeddings none: there is no provider 'none': use openai:MODEL, PROVIDER:MODEL (anthropic, azure, bedrock, deepseek, "
        "fireworks, gemini, groq, mistral, ollama, vllm, llamacpp, lmstudio, openrouter, together, litellm), "
        "sentence-transformers:MODEL or hashing"
    ),
    "--by lang --by id": "--by is given 2 times, and takes one value: give it once",
    "--run-dir a --run-dir b": "--run-dir is given 2 times, and takes one value: give it once",
    "--llm server:other": "--llm is given 2 times, and takes one value: give it once",
    "--metrics mine:f1(k=1)": "mine:f1 is a metric object that already has its settings: write mine:f1 without (k=1)",
    "--metrics mine:LIST": "'mine:LIST' is not a Metric but a list: name a subclass of Metric, or an instance of one",
    "--metrics mine:make": "'mine:make' is not a Metric but a function: name a subclass of Metric, or an instance of one",
    "--metrics mine:Other": "'mine:Other' is not a Metric but a class: name a subclass of Metric, or an instance of one",
    "--metrics mine:f2": "there is no metric 'mine:f2': the module 'mine' has no 'f2'",
}


def words(text: str) -> list[str]:
    """The words of a command; a text in single quotes is one word."""
    return [word for place, part in enumerate(text.split("'")) for word in ([part] if place % 2 else part.split())]


@pytest.mark.parametrize(("options", "message"), WRONG.items(), ids=WRONG)
def test_of_evaluate(judge: OpenAIServer, options: str, message: str) -> None:
    models = ["--llm", "server:judge", "--base-url", judge.base_url]
    result = call("evaluate", "q.jsonl", "-m", RATING, *models, *words(options))
    assert (result.stderr, result.exit_code) == (f"ragmetrics: {message}\n", 2)
    assert judge.requests == []


GENERATE = {
    "--out folder.jsonl": "--out: folder.jsonl is a directory: give the path of a file",
    "--out no/t.jsonl": "--out: there is no directory no",
    "--out t.csv": "--out: t.csv must have a name that ends in .jsonl, so that it can be read again",
    "--out t.jsonl --run-dir file": "--run-dir file cannot be made a directory: file is a file",
    "--out t.jsonl --budget cals=1": "--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got 'cals=1'",
    "--out t.jsonl --two-passages 3": "--two-passages must be a share from 0 to 1, got 3.0",
    "--out t.jsonl --out u.jsonl": "--out is given 2 times, and takes one value: give it once",
}


@pytest.mark.parametrize(("options", "message"), GENERATE.items(), ids=GENERATE)
def test_of_generate(judge: OpenAIServer, options: str, message: str) -> None:
    models = ["--llm", "server:judge", "--base-url", judge.base_url]
    result = call("generate", "docs", *models, *words(options))
    assert (result.stderr, result.exit_code) == (f"ragmetrics: {message}\n", 2)
    assert judge.requests == []


def test_of_doctor(judge: OpenAIServer) -> None:
    models = ["--llm", "server:judge", "--base-url", judge.base_url]
    result = call("doctor", *models, "--embeddings", "none")
    assert result.stderr.startswith("ragmetrics: --embeddings none: there is no provider 'none': use ")
    assert result.exit_code == 2
    assert judge.requests == []


def test_of_rows_on_standard_input(judge: OpenAIServer) -> None:
    """What was read for the check is not lost to the run."""
    rows = Path("q.jsonl").read_bytes()
    models = ["--llm", "server:judge", "--base-url", judge.base_url]
    wrong = call("evaluate", "-", "-m", RATING, *models, "--by", "lnag", stdin=rows)
    assert (wrong.exit_code, judge.requests) == (2, [])
    right = call("evaluate", "-", "-m", "mine:f1", "--by", "lang", stdin=rows)
    assert right.exit_code == 0
    assert "mine" in right.stdout
    assert "8 rows" in right.stdout


def test_a_column_that_begins_late(judge: OpenAIServer) -> None:
    lines = [{"answer": "a", "reference": "a", **({"late": "x"} if n > 1000 else {})} for n in range(1002)]
    Path("long.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = call("evaluate", "long.jsonl", "-m", "token_f1", "--by", "late")
    assert result.stderr == (
        "ragmetrics: --by late: none of the first 1,000 rows has it; columns of the metadata: none; fields have their own names, "
        "such as 'user_input'\n"
    )


def test_options_that_may_be_given_often(judge: OpenAIServer) -> None:
    options = ["-m", "token_f1", "-m", "mine:f1", "--gate", "token_f1 <= 0.9", "--gate", "mine <= 0.9"]
    result = call("evaluate", "q.jsonl", *options)
    assert result.exit_code == 0
    assert "mine <= 0.9" in result.stdout


def test_jurors_without_an_address_are_at_the_base_url(judge: OpenAIServer) -> None:
    judge.responder = lambda body: json.dumps({"reason": "so", "score": 2, "rating": 2, "answer": 2})
    result = call(
        "evaluate", "q.jsonl", "-m", RATING, "--jury", "server:a,openai:b,server:c", "--base-url", judge.base_url
    )
    assert result.stderr == ""
    assert {body["model"] for body in judge.chats} == {"a", "b", "c"}


def test_a_jury_of_models_that_have_addresses_needs_no_base_url(judge: OpenAIServer) -> None:
    result = call("evaluate", "q.jsonl", "-m", RATING, "--jury", "server:a,server:b")
    assert result.stderr == (
        "ragmetrics: --llm server:a does not say where the server is: give --base-url http://localhost:8000/v1 or set "
        "OPENAI_BASE_URL\n"
    )


@pytest.mark.parametrize("jury", ["vllm:a,vllm:b", "ollama:a,lexical"])
def test_an_address_that_no_juror_needs(judge: OpenAIServer, jury: str) -> None:
    result = call("evaluate", "q.jsonl", "-m", RATING, "--jury", jury, "--base-url", judge.base_url)
    assert result.stderr.startswith("ragmetrics: --base-url needs openai:MODEL or server:MODEL in --llm or --jury, or")
    assert (result.exit_code, judge.requests) == (2, [])
