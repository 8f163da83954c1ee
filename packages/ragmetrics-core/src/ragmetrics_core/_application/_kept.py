"""The file of answers: one line of JSON per question, written as soon as it is answered.

A line is a row as ``evaluate`` reads it: the question as it was given, with the answer, and in its ``metadata`` the name of the
application (``app_name``), the seconds of the call (``app_seconds``) and, if it failed, why (``app_error``). A kill costs at most
the line that is being written. At the end of a run the file is written anew in the order of the questions. Answers to other
questions stay behind them, because they were paid for.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO

from .._kernel._wording import to_json
from .._store._files import explain_errors, replace_file, write_all
from .._store._lock import only_writer
from .._store._records import json_value, read_sample
from .._values._errors import InvalidInput, Setting
from .._values._plain import json_walk
from .._values._sample import APP_ERROR, Sample

APP, SECONDS = "app_name", "app_seconds"

ANSWER = ("response", "retrieved_contexts", "retrieved_documents")
"""The fields of a sample that an application fills."""


NOT_TEXTS: frozenset[type] = frozenset({int, bool, float, type(None)})


def line_of(sample: Sample, mask: Callable[[str], str] = str) -> str:
    """Return a row as one line of JSON; ``mask`` is applied to its texts."""
    values = json_value(sample)
    line = to_json(values)
    if mask(line) != line:  # on the line it would also change numbers
        masked = json_walk(lambda value: mask(value) if isinstance(value, str) else value, kept=NOT_TEXTS)
        line = to_json(masked(values))
    return line + "\n"


def sample_in(line: str | bytes) -> Sample:
    """Return the row that ``line_of`` wrote.

    Raises:
        AttributeError, LookupError, RecursionError, TypeError, ValueError: the line is something else.
    """
    sample = read_sample(json.loads(line))
    _ = sample.metadata[APP], sample.metadata[SECONDS]
    return sample


def with_answer(question: Sample, answer: Sample) -> Sample:
    """Return the row of a question with the answer of another row."""
    fields = {name: getattr(answer, name) for name in ANSWER}
    return replace(question, **fields, metadata={**answer.metadata, **question.metadata})


class KeptAnswers:
    """The answers of an application, in a file or only in memory.

    Args:
        path: where they are written; None: nowhere.
        file: the open file.
        found: the answers that were there before.
    """

    def __init__(self, path: Path | None = None, file: IO[bytes] | None = None, found: Iterable[Sample] = ()) -> None:
        self._path, self._file = path, file
        self._found: dict[str, deque[Sample]] = {}
        for sample in found:
            self._found.setdefault(_key(sample), deque()).append(sample)

    def take(self, question: Sample) -> Sample | None:
        """Return the row of a question that was answered before; None if it was not. Each answer is taken once."""
        same = self._found.get(_key(question))
        return with_answer(question, same.popleft()) if same else None

    def add(self, line: str) -> None:
        """Write the line of a row.

        Raises:
            RagmetricsError: it cannot be written.
        """
        if self._path is not None:
            with explain_errors(self._path):
                write_all(self._file, line.encode())

    def finish(self, samples: Iterable[Sample]) -> None:
        """Write all rows anew, in their order, and behind them the answers that no question has taken.

        Raises:
            RagmetricsError: they cannot be written.
        """
        if self._path is not None and self._file is not None:
            self._file.close()
            write_answers(self._path, chain(samples, *self._found.values()))


def _key(sample: Sample) -> str:
    """What the application was asked."""
    return to_json(json_value([sample.id, sample.user_input, sample.history]))


@contextmanager
def kept_answers(path: Path | None, app: str) -> Iterator[KeptAnswers]:
    """Open the file of answers, for one writer; None: they are kept in memory.

    Raises:
        InvalidInput: another process writes there, or the file is no file of answers, or is one of another application.
        RagmetricsError: the file cannot be written.
    """
    if path is None:
        yield KeptAnswers()
        return
    with ExitStack() as held:
        try:
            held.enter_context(only_writer(path.parent / f".{path.name}.lock"))
        except InvalidInput as error:
            parts = (replace(part, name="out") if isinstance(part, Setting) else part for part in error.args)
            raise InvalidInput(*parts) from None
        found = [sample for sample in _read(path, app) if APP_ERROR not in sample.metadata]
        write_answers(path, found)  # without failures, which are asked again, and without a line that was cut
        with explain_errors(path):
            file = held.enter_context(path.open("ab", buffering=0))
        yield KeptAnswers(path, file, found)


def write_answers(path: Path, samples: Iterable[Sample]) -> None:
    """Write all rows of the file anew.

    Raises:
        RagmetricsError: it cannot be written.
    """
    with replace_file(path) as file:
        for sample in samples:
            file.write(line_of(sample).encode())


def _read(path: Path, app: str) -> Iterator[Sample]:
    if not path.exists():
        return
    another = ("give another ", Setting("out"))
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line end was cut by a kill
        try:
            sample = sample_in(line)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise InvalidInput(f"{path}, line {number}: not an answer of an application: ", *another) from None
        if sample.metadata[APP] != app:
            whose = f"{path}, line {number}: an answer of {sample.metadata[APP]!r}, and not of {app!r}: "
            raise InvalidInput(whose, *another)
        yield sample
