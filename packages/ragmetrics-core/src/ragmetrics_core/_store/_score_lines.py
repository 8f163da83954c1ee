"""A file of scores that stands alone: what ``to_jsonl`` and ``--out`` write, read again by whoever was given it.

Strategy. Nobody can score its rows again, as a run does with a line that a kill cut short. So every line counts: one that cannot be
read is an error that names it, and nothing is left out. The file tells less than the directory of a run: of the metrics their names
and scales, of the prompts their names and versions, and nothing of models and settings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .._kernel._errors import InvalidInput
from .._kernel._score import Score
from ._records import Record, Records, record_of
from ._scored_by import MetricColumn


def read_scores(path: Path) -> tuple[tuple[MetricColumn, ...], Records]:
    """The metrics and the records of a file of scores; its rows are read when they are looked at.

    Raises:
        InvalidInput: the file cannot be read, a line holds no scores, or the lines have scores of different metrics.
    """
    records = ScoreLines(path)
    return tuple(MetricColumn.named(name, scale, name) for name, scale in records.scales.items()), records


class ScoreLines(Records):
    """The records of a file of scores, one per line.

    Attributes:
        scales: by metric, in the order of the first line; None where the scores of a metric differ in their scale.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("q")
        self.scales: dict[str, tuple[float, float] | None] = {}
        with self._opened() as file:
            start = 0
            for number, line in enumerate(file, 1):
                if line.strip():
                    self._check(_record(path, number, line), number)
                    self._starts.append(start)
                start += len(line)
        if not self._starts:
            raise InvalidInput(f"{path} holds no row")

    def _check(self, record: Record, number: int) -> None:
        scores = record.scores
        if not self._starts:
            self.scales = {name: score.scale for name, score in scores.items()}
            self._known = {name: score.value is not None for name, score in scores.items()}
        elif scores.keys() != self.scales.keys():
            here, there = (", ".join(names) or "none" for names in (scores, self.scales))
            raise InvalidInput(
                f"{self._path}, line {number} has scores of {here}, but line 1 of {there}: split the file"
            )
        for name, score in scores.items():
            self._note(name, score)

    def _note(self, name: str, score: Score) -> None:
        """The scale of a metric, if all its scores have the same; one without a value may not know it."""
        if score.value is None:
            return
        if not self._known[name]:
            self._known[name], self.scales[name] = True, score.scale
        elif self.scales[name] != score.scale:
            self.scales[name] = None

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Record]:
        with self._opened() as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _record(self._path, number, line)

    def _at(self, index: int) -> Record:
        with self._opened() as file:
            file.seek(self._starts[index])
            return _record(self._path, index + 1, file.readline())

    def _opened(self) -> IO[bytes]:
        try:
            return self._path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be read: {error.strerror}") from None


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        return record_of(line)
    except ValueError as error:
        raise InvalidInput(
            f"{path}, line {number} holds no scores of a row ({error}): give the directory of a run, or a file that to_jsonl() or "
            "--out wrote"
        ) from None
