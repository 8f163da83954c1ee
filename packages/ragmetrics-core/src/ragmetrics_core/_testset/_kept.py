"""The directory of a run that writes a test set: the journal of ``evaluate`` and, beside it, the questions as they come.

Only the journal is needed to go on: a question whose replies are all there is made again within a millisecond. ``testset.jsonl`` is
there to be looked at, and holds the whole test set when the run is over. Questions of another test set are not written over: their
file is set aside as ``testset.1.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .._kernel._sample import Sample
from .._store._files import check_directory, free_name, make_directory, replaced, worded
from .._store._journal import Journal
from .._store._run_dir import JOURNAL
from ._values import line_of

QUESTIONS = "testset.jsonl"


class KeptQuestions:
    """What a run keeps on disk.

    Args:
        path: the directory; made when there is something to keep.

    Attributes:
        journal: the replies.

    Raises:
        InvalidInput: the path cannot be a directory, or the journal in it is something else.
    """

    def __init__(self, path: Path) -> None:
        check_directory(path)
        self.journal = Journal(path / JOURNAL)
        self._file = path / QUESTIONS
        self._there = self._read()
        self._added: set[str] = set()

    def _read(self) -> set[str]:
        """The lines that are there; the last one may be torn."""
        if not self._file.is_file():
            return set()
        with worded(self._file):
            text = self._file.read_bytes().decode("utf-8", "replace")
        return {f"{line}\n" for line in text.split("\n")[:-1]} | {text.split("\n")[-1]} - {""}

    def add(self, sample: Sample) -> None:
        """Write a question, unless it is there.

        Raises:
            RagmetricsError: it cannot be written.
        """
        line = line_of(sample)
        if not self._added and self._is_of_another(line):
            self._set_aside()
        self._added.add(line)
        if line in self._there:
            return
        make_directory(self._file.parent)
        with worded(self._file), self._file.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line)

    def finish(self, samples: Iterable[Sample]) -> None:
        """The run is over: write the questions in their order.

        Raises:
            RagmetricsError: they cannot be written.
        """
        lines = [line_of(sample) for sample in samples]
        if not lines:
            return
        if not self._there <= set(lines):
            self._set_aside()
        with replaced(self._file) as file:
            file.writelines(line.encode() for line in lines)

    def close(self) -> None:
        """Nothing more will be kept."""
        self.journal.close()

    def _is_of_another(self, line: str) -> bool:
        """Whether the file holds questions, and not this first one among them, or a line that is torn."""
        return bool(self._there) and (line not in self._there or any(not known.endswith("\n") for known in self._there))

    def _set_aside(self) -> None:
        with worded(self._file):
            self._file.rename(free_name(self._file))
        self._there = set()
