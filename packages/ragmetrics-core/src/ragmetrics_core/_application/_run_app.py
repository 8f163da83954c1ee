"""``run_app``: questions in, rows with the answers of an application out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .._read._columns import Columns
from .._read._input_file import FileOptions
from .._read._rows import open_rows
from .._show._progress import Progress, check_progress, progress_bar
from .._support._secrets import Kept, mask, without_secrets
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._sample import APP_ERROR, Row, Sample
from .._values._settings import check_calls, check_whole
from ._answers import AnswerReader
from ._apps import App, app_of
from ._calls import Call, Loop, answered
from ._kept import ANSWER, APP, SECONDS, KeptAnswers, kept_answers, line_of, sample_in

LONGEST = 20_000_000
"""The largest number of characters of a row, written as JSON."""


def run_app(  # noqa: D417  a line describes three arguments
    app: Any,
    questions: str | os.PathLike[str] | Iterable[Any],
    *,
    out: str | os.PathLike[str] | None = None,
    max_concurrency: int = 4,
    timeout: float | None = 120.0,
    progress: Progress = True,
    limit: int | None = None,
    encoding: str | None = None,
    at: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    send: str | None = None,
    headers_from: str | None = None,
) -> list[Sample]:
    """Ask an application the questions of a data set, and return its answers as rows for ``evaluate``, in order.

    A row is the sample of its question with what the application answered and retrieved. In its ``metadata``, ``app_name`` is the
    name of the application and ``app_seconds`` the time of the call. If the call failed, ``app_error`` says why, and ``evaluate``
    gives this row failed scores with this message. No failure of the application ends the run.

    Args:
        app: a function of the question, its name ``"module:function"``, an object of a framework whose adapter is installed, or an
            address that accepts ``{"user_input": ...}``. It returns (or awaits, yields) a text, a mapping such as
            ``{"response": ..., "retrieved_contexts": [...]}``, or a ``Sample``. Parameters of a function that are named history,
            id, metadata, retrieved_contexts or retrieved_documents get these fields of the sample.
        questions: as the samples of ``evaluate``; each needs a ``user_input``.
        out: a .jsonl file to which each row is written at once. The same call goes on there, and asks no answered question again.
        max_concurrency: how many questions are asked at the same time.
        timeout: seconds for each answer; None: no limit.
        limit: only so many questions, the first ones.
        progress, encoding, at, separator: as for ``evaluate``.
        columns: the place of each field: of response, retrieved_contexts and retrieved_documents in what the application returns,
            as in ``{"answer": "result.text"}``; of all others in the questions.
        send, headers_from: of an address: the path of the question in what is sent, such as ``"input.question"``; the environment
            variable with the headers, each on a line.

    Raises:
        InvalidInput: an argument is impossible, the questions cannot be read, or ``out`` is another file or in use.
        RagmetricsError: ``out`` cannot be written, or over 64 calls hang longer than the timeout.
    """
    return _asked(**locals())


def _asked(app: Any, questions: Any, columns: Any, separator: Any, **given: Any) -> list[Sample]:
    check_calls(given["max_concurrency"], 0, given["timeout"])
    check_progress(given["progress"])
    if given["limit"] is not None:
        check_whole("limit", given["limit"], least=1)
    path = _checked_out(given["out"], questions)
    asked = app_of(app, given["send"], given["headers_from"], given["timeout"])
    reader = AnswerReader(columns, separator)
    file = FileOptions(given["encoding"], given["at"])
    opened = open_rows(questions, given["limit"], Columns(reader.columns, separator), file)
    with (
        kept_answers(path, asked.name) as kept,
        progress_bar(given["progress"], lambda: opened.count(None), "run", "questions") as bar,
        closing(Loop()) as loop,
    ):
        run = AppRun(asked, reader, kept, loop)
        for sample in run.rows(opened.rows, given["max_concurrency"], given["timeout"]):
            bar.advance(APP_ERROR in sample.metadata)
        kept.finish(run.samples)
    return run.samples


def _checked_out(out: Any, questions: Any) -> Path | None:
    if out is None:
        return None
    if not isinstance(out, str | os.PathLike) or not str(out).strip():
        raise InvalidInput(Setting("out"), f" must be the path of a file, got {out!r}")
    path = Path(out)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise InvalidInput(Setting("out"), f": {path} must have a name that ends in .jsonl")
    is_file = isinstance(questions, str | os.PathLike) and path.exists() and Path(questions).exists()
    if is_file and path.samefile(questions):
        raise InvalidInput(Setting("out"), f": {path} is the file that the questions are read from: give another path")
    return path


class AppRun:
    """One run of an application over questions.

    Args:
        app: the application.
        reader: reads its answers.
        kept: the file of answers.
        loop: runs its coroutines.
    """

    def __init__(self, app: App, reader: AnswerReader, kept: KeptAnswers, loop: Loop) -> None:
        self._app, self._reader, self._kept, self._loop = app, reader, kept, loop
        self._rows: dict[int, Sample] = {}

    @property
    def samples(self) -> list[Sample]:
        """The rows, in the order of the questions."""
        return [self._rows[index] for index in sorted(self._rows)]

    def rows(self, questions: Iterator[Row], most: int, timeout: float | None) -> Iterator[Sample]:
        """Ask the questions, at most ``most`` at a time, and yield each row when it is finished."""
        ready: list[Sample] = []

        def calls() -> Iterator[Call[tuple[int, Sample]]]:
            for row in questions:
                question = self._question(row)
                earlier = self._kept.take(question)
                if earlier is not None:
                    self._rows[row.index] = earlier
                    ready.append(earlier)
                elif problem := _unasked(row):
                    ready.append(self._add(row.index, self._written(question, 0.0, app_error=problem)))
                else:
                    yield Call((row.index, question), partial(self._app.ask, question), self._loop)

        for call, outcome in answered(calls(), most, timeout):
            yield from ready
            ready.clear()
            index, question = call.about
            yield self._add(index, self._line(question, outcome, call.seconds, timeout))
        yield from ready

    def _question(self, row: Row) -> Sample:
        """Return the sample of a question without the answer of another application."""
        old = {name: None for name in ANSWER if name not in self._app.given}
        rest = {name: value for name, value in row.sample.metadata.items() if name not in (APP, SECONDS, APP_ERROR)}
        return replace(row.sample, **old, metadata=rest)

    def _line(self, question: Sample, outcome: Future[Any] | None, seconds: float, timeout: float | None) -> str:
        """Return the line of the row of a call."""
        if outcome is None:
            return self._written(question, seconds, app_error=f"no answer within {timeout:g} seconds")
        error = outcome.exception()
        if error is None:
            attempt = Kept()
            with attempt:  # properties and conversions of what it returned are code of the user
                sample = self._reader.row(question, outcome.result(), keeps=self._app.given)
                line = self._written(sample, seconds)
                if len(line) <= LONGEST:
                    return line
                raise InvalidInput(f"its answer is longer than {LONGEST:,} characters")
            error = attempt.error
        return self._written(question, seconds, app_error=_in_words(error))

    def _written(self, sample: Sample, seconds: float, **error: str) -> str:
        own = {APP: self._app.name, SECONDS: round(seconds, 3), **error}
        rest = {name: value for name, value in sample.metadata.items() if name != APP_ERROR}
        return line_of(replace(sample, metadata={**rest, **own}), without_secrets)

    def _add(self, index: int, line: str) -> Sample:
        """Keep a line, and return its row as it is read from the file."""
        self._kept.add(line)
        self._rows[index] = sample_in(line)
        return self._rows[index]


def _unasked(row: Row) -> str | None:
    """Return why a question cannot be asked; None if it can."""
    if row.problem is not None and APP_ERROR not in row.sample.metadata:
        return f"it was not asked: {row.problem}"
    text = row.sample.user_input
    if not isinstance(text, str) or not text.strip():
        cure = "if another column has the question, name it as in question=COLUMN"
        return f"it was not asked: {row.place} has no user_input: {cure}"
    return None


def _in_words(error: BaseException) -> str:
    """Return an exception in one line, without secrets."""
    attempt = Kept()
    message = ""
    with attempt:
        message = " ".join(str(error).split())
    if isinstance(error, RagmetricsError):
        return mask(message, ())
    return mask(f"{type(error).__name__}: {message}" if message else type(error).__name__, ())
