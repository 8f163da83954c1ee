"""``run_app``: every kind of application, every kind of answer, and applications that do their worst."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Document, InvalidInput, RagmetricsError, Sample, evaluate, run_app
from waiting import until

ROWS = [{"id": "a", "question": "Where?", "reference": "Paris"}, {"id": "b", "question": "When?", "lang": "en"}]


def answered(row: Sample) -> dict[str, Any]:
    """A row without the time of its call."""
    found = row.to_dict()
    assert found["metadata"].pop("app_seconds") >= 0
    return found


def ask(app: Any, **options: Any) -> Sample:
    """The row of one question."""
    (row,) = run_app(app, ROWS[:1], **options)
    return row


def why(app: Any, **options: Any) -> str:
    """Why the question has no answer."""
    row = ask(app, **options)
    assert (row.response, row.retrieved_contexts, row.retrieved_documents) == (None, None, None)
    return row.metadata["app_error"]


def test_a_row_is_its_question_with_the_answer() -> None:
    def app(question: str) -> dict[str, Any]:
        return {"answer": f"{question} Paris.", "contexts": ["It is in Paris."], "model": "m1"}

    first, second = map(answered, run_app(app, ROWS))
    name = f"{__name__}:{app.__qualname__}"
    assert first == {
        "id": "a",
        "user_input": "Where?",
        "response": "Where? Paris.",
        "retrieved_contexts": ["It is in Paris."],
        "reference": "Paris",
        "metadata": {"model": "m1", "app_name": name},
    }
    assert second["metadata"] == {"lang": "en", "model": "m1", "app_name": name}


def text(question: str) -> str:
    return "Paris"


async def coroutine(question: str) -> str:
    await asyncio.sleep(0)
    return "Paris"


def generator(question: str) -> Iterator[str]:
    yield "Pa"
    yield "ris"


async def asynchronous_generator(question: str) -> AsyncIterator[str]:
    yield "Pa"
    await asyncio.sleep(0)
    yield "ris"


async def coroutine_of_a_stream(question: str) -> AsyncIterator[str]:
    return asynchronous_generator(question)


class Callable:
    async def __call__(self, question: str) -> str:
        return "Paris"

    def method(self, question: str, top_k: int = 3) -> str:
        return "Paris"


@pytest.mark.parametrize(
    "app",
    [
        text,
        coroutine,
        generator,
        asynchronous_generator,
        coroutine_of_a_stream,
        Callable(),
        Callable().method,
        partial(min, "Paris", key=len),
        lambda question, top_k=3: coroutine(question),
        lambda question: ({"response": "Paris"} for _ in range(2)),
    ],
)
def test_kinds_of_applications(app: Any) -> None:
    assert ask(app).response == "Paris"


@dataclass
class Made:
    answer: str
    contexts: list[str]


@pytest.mark.parametrize(
    "value",
    [
        {"response": "Paris", "retrieved_contexts": ["c"]},
        {"output": "Paris", "context": "c"},
        Sample(response="Paris", retrieved_contexts=["c"]),
        Made("Paris", ["c"]),
        iter([{"contexts": ["c"]}, "Pa", "ris"]),
    ],
)
def test_kinds_of_answers(value: Any) -> None:
    row = ask(lambda question: value)
    assert (row.response, row.retrieved_contexts) == ("Paris", ["c"])


def test_documents_and_a_retriever_alone() -> None:
    row = ask(lambda question: {"retrieved_documents": [Document("c", "d1", 0.5), {"id": "d2"}]})
    assert row.retrieved_documents == [Document("c", "d1", 0.5), Document(id="d2")]
    assert row.response is None
    assert "app_error" not in row.metadata


def test_an_application_does_not_choose_what_it_is_compared_with() -> None:
    row = answered(ask(lambda q: {"answer": "x", "question": "else", "reference": "x", "id": "z", "app_name": "me"}))
    assert (row["user_input"], row["reference"], row["id"]) == ("Where?", "Paris", "a")
    assert row["metadata"]["app_name"].startswith(__name__)


def test_fields_by_name_of_the_parameter() -> None:
    rows = [
        {"question": "And when?", "history": [{"role": "user", "content": "Where?"}], "contexts": ["c"], "lang": "en"}
    ]

    def app(question: str, history: Any, metadata: Any, retrieved_contexts: list[str]) -> str:
        return f"{history[0]['content']} {question} {metadata['lang']} {retrieved_contexts[0]}"

    (row,) = run_app(app, rows)
    assert row.response == "Where? And when? en c"
    assert row.retrieved_contexts == ["c"]  # what the application was given is what it answered from
    (other,) = run_app(text, rows)
    assert other.retrieved_contexts is None  # these contexts are not of this answer


def test_columns_of_answers_and_of_questions() -> None:
    (row,) = run_app(
        lambda question: {"result": {"text": f"{question} Paris", "hits": [{"body": "c1"}, {"body": "c2"}]}},
        [{"prompt": "Where?", "gold": "Paris"}],
        columns={"question": "prompt", "reference": "gold", "answer": "result.text", "contexts": "result.hits.body"},
    )
    assert (row.user_input, row.reference, row.response) == ("Where?", "Paris", "Where? Paris")
    assert row.retrieved_contexts == ["c1", "c2"]


AMBIGUOUS = (
    "the answer: the columns 'answer' and 'output' both mean 'response' but differ: keep one of them, or choose: "
    "columns={'response': 'answer'}"
)
DEEP = "the answer: metadata['tree'] is nested more than 100 levels deep, which no file can hold: shorten it, or leave it out"
FORMS = "the application must be module:function, or the address of a server, which starts with http:// or https://"
PLACES = "or name the place of each, as in response=result.text"
FORM = "return a text, or a mapping such as {'response': ..., 'retrieved_contexts': [...]}"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, f"it returned a value of type NoneType: {FORM}"),
        (3, f"it returned a value of type int: {FORM}"),
        (b"Paris", f"it returned a value of type bytes: {FORM}"),
        (("Paris", ["c"]), f"it returned a value of type tuple: {FORM}"),
        ({}, f"there is no response and nothing retrieved: {FORM}, {PLACES}"),
        ({"x": 1}, f"there is no response and nothing retrieved in x: {FORM}, {PLACES}"),
        ({"answer": 3}, "the answer: response must be a str, got int"),
        ({"answer": "x", "contexts": [{"a": 1}]}, "the answer: retrieved_contexts[0] must be a str, got dict"),
        ({"answer": "x", "output": "y"}, AMBIGUOUS),
        ({"answer": "x", "app_error": "no index"}, "the answer: the application failed: no index"),
        (iter(["Pa", 3]), "a stream must yield texts or mappings, got int"),
    ],
)  # fmt: skip
def test_garbage_fails_its_row(value: Any, message: str) -> None:
    assert why(lambda question: value) == message


def deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(500):
        value = {"a": value}
    return {"answer": "x", "tree": value}


class Hostile:
    def __str__(self) -> str:
        raise ZeroDivisionError("no text")


class Bad(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


def raises(error: BaseException) -> Any:
    def app(question: str) -> str:
        raise error

    return app


async def exits(question: str) -> str:
    sys.exit(7)


async def interrupts(question: str) -> str:
    raise KeyboardInterrupt


async def cancels(question: str) -> str:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("app", "message"),
    [
        (raises(ValueError("no\n index")), "ValueError: no index"),
        (raises(ValueError("key sk-abcdefghijkl was refused")), "ValueError: key *** was refused"),
        (raises(SystemExit(3)), "SystemExit: 3"),
        (raises(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raises(StopIteration()), "RuntimeError: the function raised StopIteration"),
        (raises(Bad()), "Bad"),
        (exits, "RuntimeError: it raised SystemExit"),
        (interrupts, "RuntimeError: it raised KeyboardInterrupt"),
        (cancels, "CancelledError"),
        (lambda question: deep(), DEEP),
        (lambda question: {"answer": "x", "odd": Hostile()}, "ZeroDivisionError: no text"),
        (lambda question: "x" * 20_000_001, "its answer is longer than 20,000,000 characters"),
    ],
)  # fmt: skip
def test_failures_are_results_of_their_rows(app: Any, message: str) -> None:
    assert why(app) == message


def test_lone_surrogates_and_control_characters_are_kept() -> None:
    assert ask(lambda question: "\ud800 \x00 \u2028").response == "\ud800 \x00 \u2028"


NOT_ASKED = (
    "it was not asked: row 3 has no user_input: if another column has the question, name it as in question=COLUMN"
)


def test_a_failure_does_not_end_the_run_and_is_the_reason_of_its_scores() -> None:
    def app(question: str) -> str:
        if question == "When?":
            raise ValueError("no index")
        return "Paris"

    result = evaluate(run_app(app, [*ROWS, {"question": " "}]), "exact_match", progress=False)
    assert [score.value for score in result.scores["exact_match"]] == [1.0, None, None]
    assert [score.error for score in result.scores["exact_match"]][1:] == [
        "InvalidInput: row 2: the application failed: ValueError: no index",
        f"InvalidInput: row 3: the application failed: {NOT_ASKED}",
    ]


def test_a_question_that_cannot_be_read_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "Where?"}\nno json\n')
    rows = run_app(text, tmp_path / "q.jsonl")
    assert rows[0].response == "Paris"
    assert rows[1].metadata["app_error"].startswith("it was not asked: q.jsonl, line 2: ")


@pytest.mark.parametrize("kind", ["thread", "coroutine", "stubborn", "stream"])
def test_a_call_that_hangs_ends_at_its_time(kind: str) -> None:
    release = threading.Event()

    def thread(question: str) -> str:
        release.wait()
        return "too late"

    async def waits(question: str) -> str:
        await asyncio.sleep(3600)
        return "too late"

    async def stubborn(question: str) -> str:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:  # noqa: PERF203
                continue
        return "too late"

    def stream(question: str) -> Iterator[str]:
        while not release.is_set():
            yield ""
            time.sleep(0.001)

    app = {"thread": thread, "coroutine": waits, "stubborn": stubborn, "stream": stream}[kind]
    try:
        row = ask(app, timeout=0.2)
        assert row.metadata["app_error"] == "no answer within 0.2 seconds"
        assert row.metadata["app_seconds"] >= 0.2
    finally:
        release.set()


def test_a_coroutine_that_blocks_delays_no_time_limit() -> None:
    release = threading.Event()

    async def app(question: str) -> str:
        release.wait()
        return "too late"

    try:
        assert [row.metadata["app_error"] for row in run_app(app, ROWS, timeout=0.2)] == [
            "no answer within 0.2 seconds"
        ] * 2
    finally:
        release.set()


def test_an_application_that_hangs_for_ever_ends_the_run() -> None:
    release = threading.Event()

    def app(question: str) -> str:
        release.wait()
        return "too late"

    try:
        with pytest.raises(RagmetricsError) as raised:
            run_app(app, ROWS * 50, timeout=0.05, max_concurrency=100)
    finally:
        release.set()
    assert str(raised.value).startswith("the application hangs: ")
    assert str(raised.value).endswith(
        "calls have not returned after 0.05 seconds: restart it, or give it more time with a longer timeout"
    )


def test_at_most_so_many_questions_at_a_time() -> None:
    running = most = 0
    lock, both = threading.Lock(), threading.Barrier(3)

    def app(question: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(30)
        with lock:
            running -= 1
        return question

    rows = run_app(app, ({"question": str(number)} for number in range(9)), max_concurrency=3)
    assert [row.response for row in rows] == list(map(str, range(9)))
    assert most == 3


async def test_it_works_in_a_running_loop() -> None:
    assert ask(coroutine).response == "Paris"


class Asked:
    """An application that notes what it is asked, and fails for some questions."""

    def __init__(self, *failing: str) -> None:
        self.questions: list[str] = []
        self.failing = failing

    def __call__(self, question: str) -> str:
        self.questions.append(question)
        if question in self.failing:
            raise ValueError("down")
        return question.upper()


def test_the_same_call_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "answers.jsonl"
    run_app(Asked("When?"), ROWS, out=out)
    again = Asked()
    rows = run_app(again, [*ROWS, {"question": "Who?"}, ROWS[0]], out=out, max_concurrency=1)
    assert again.questions == ["When?", "Who?", "Where?"]  # a row that is there twice is asked twice
    assert [row.response for row in rows] == ["WHERE?", "WHEN?", "WHO?", "WHERE?"]
    assert [json.loads(line)["response"] for line in out.read_text().splitlines()] == [
        "WHERE?",
        "WHEN?",
        "WHO?",
        "WHERE?",
    ]
    assert list(out.parent.iterdir()) == [out]
    assert [row.response for row in run_app(Asked(), [{**ROWS[1], "lang": "de"}], out=out)] == ["WHEN?"]
    assert len(out.read_text().splitlines()) == 4  # answers to other questions stay
    result = evaluate(out, "exact_match", progress=False)
    assert len(result) == 4


def test_an_edited_row_keeps_its_answer(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    run_app(text, ROWS, out=out)
    (row,) = run_app(text, [{**ROWS[0], "reference": "Lyon", "lang": "fr"}], out=out)
    assert (row.reference, row.metadata["lang"], row.response) == ("Lyon", "fr", "Paris")


def test_a_killed_run_loses_at_most_what_is_not_answered(tmp_path: Path) -> None:
    program = (
        "import os\n"
        "from ragmetrics_core import run_app\n"
        "def app(question):\n"
        "    if question == '3':\n"
        "        os._exit(9)\n"
        "    return question\n"
        "run_app(app, [{'question': str(n)} for n in range(5)], out='answers.jsonl', max_concurrency=1)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    out = tmp_path / "answers.jsonl"
    assert [json.loads(line)["response"] for line in out.read_text().splitlines()] == ["0", "1", "2"]
    with out.open("a") as file:
        file.write('{"user_input": "3", "respo')  # cut by the kill
    again = subprocess.run(
        [sys.executable, "-c", program.replace("os._exit(9)", "print('asked', question)")],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert again.stdout == "asked 3\n"
    assert [json.loads(line)["response"] for line in out.read_text().splitlines()] == ["0", "1", "2", "3", "4"]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    release = threading.Event()

    def app(question: str) -> str:
        release.wait(30)
        return "Paris"

    first = threading.Thread(target=run_app, args=(app, ROWS), kwargs={"out": out})
    first.start()
    try:
        until(out.exists)
        with pytest.raises(
            InvalidInput, match=r"^out='.*answers.jsonl.lock' is in use: process .* or give another out$"
        ):
            run_app(app, ROWS, out=out)
    finally:
        release.set()
        first.join()


def test_files_that_are_no_answers_are_not_touched(tmp_path: Path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "out.jsonl"
    questions.write_text('{"question": "Where?"}\n')
    for path, message in {
        questions: f"out: {questions} is the file that the questions are read from: give another path",
        tmp_path / "a.csv": f"out: {tmp_path / 'a.csv'} must have a name that ends in .jsonl",
        "": "out must be the path of a file, got ''",
    }.items():
        with pytest.raises(InvalidInput) as raised:
            run_app(text, questions, out=path)
        assert str(raised.value) == message
    out.write_text('{"question": "Where?"}\n')
    with pytest.raises(InvalidInput) as raised:
        run_app(text, questions, out=out)
    assert str(raised.value) == f"{out}, line 1: not an answer of an application: give another out"
    assert out.read_text() == '{"question": "Where?"}\n'


def test_answers_of_another_application_are_not_mixed(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    run_app(text, ROWS, out=out)
    with pytest.raises(InvalidInput) as raised:
        run_app(coroutine, ROWS, out=out)
    mine, other = f"{__name__}:text", f"{__name__}:coroutine"
    assert str(raised.value) == f"{out}, line 1: an answer of {mine!r}, and not of {other!r}: give another out"


def test_answers_of_one_application_are_questions_for_another(tmp_path: Path) -> None:
    run_app(raises(ValueError("down")), ROWS, out=tmp_path / "one.jsonl")
    rows = run_app(text, tmp_path / "one.jsonl")
    assert [(row.response, row.metadata.get("app_error")) for row in rows] == [("Paris", None)] * 2


UNKNOWN = "no installed adapter of a framework knows it: write a function that asks it, and give that"
PARAMETERS = " (further parameters may be history, id, metadata, retrieved_contexts, retrieved_documents, or have default values)"


@pytest.mark.parametrize(
    ("app", "message"),
    [
        *((name, f"{FORMS}, got '{name}'") for name in ("answer", "127.0.0.1:8000/ask", "my-app:answer", "app:x()", ":answer")),
        ("src/app.py:x", "the application 'src/app.py:x' names a file: write src.app:x, from the folder that it is in"),
        ("no_such_module:answer", "the application 'no_such_module:answer' names the module 'no_such_module', which is not found"),
        ("json:lods", "there is no application 'json:lods': the module 'json' has no 'lods'; did you mean 'loads'?"),
        (Sample, "the application Sample is a class: give an object of it, or a function"),
        (3, f"the application builtins:int is no function, and {UNKNOWN}"),
        (lambda: "x", "cannot be called with a question alone: too many positional arguments"),
        (lambda question, top_k: "x", "cannot be called with a question alone: missing a required argument: 'top_k'"),
    ],
)  # fmt: skip
def test_what_is_no_application(app: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        run_app(app, ROWS)
    assert str(raised.value).removesuffix(PARAMETERS).endswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_concurrency": 0}, "max_concurrency must be a whole number from 1, got 0"),
        ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"limit": 0}, "limit must be a whole number from 1, got 0"),
        ({"progress": "yes"}, "progress must be True, False or 'always', got 'yes'"),
        ({"encoding": "utf-8"}, "encoding='utf-8' does not apply to rows in memory: leave it out"),
    ],
)
def test_impossible_arguments(options: Any, message: str) -> None:
    app = Asked()
    with pytest.raises(InvalidInput) as raised:
        run_app(app, ROWS, **options)
    assert str(raised.value) == message
    assert app.questions == []


def test_limit_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = run_app(Asked("Where?"), ROWS, limit=1, progress="always")
    assert row.id == "a"
    assert "1/1" in (shown := capsys.readouterr().err)
    assert "1 failed" in shown
    assert "tokens" not in shown
