"""Read a run back: from its directory, or from a file of its scores, which contains less.

A file of scores is what ``to_jsonl`` and ``--out`` write: the rows with their scores, the names and scales of the metrics, and
the names and versions of the prompts, but nothing about models and settings.

A run scores a row again if a kill has cut its line short. The reader of a file of scores cannot do that, so every line counts: a
line that cannot be read is an error with its number, and no line is left out. Except where live evaluation writes the scores: it
may be writing the last line, and a kill may have cut another one. There such lines are left out, and counted.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO

from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._score import Score
from ._files import LIVE, SCORES
from ._parquet import ParquetRecords, parquet_files
from ._records import Record, Records, record_of
from ._run_dir import ACCOUNT, UNFINISHED, UNVERIFIED, RunAccount, read_account
from ._run_settings import MetricColumn, RunSettings
from ._scores_file import ScoresFile

Scales = set[tuple[float, float] | None]


class ScoreLines(Records):
    """The records of a file of scores, one per line. A row is read when it is used.

    Args:
        path: the file.
        live: whether live evaluation writes it, so that lines that cannot be read are left out.
        most: how many lines are read; None: all of them.

    Attributes:
        cut: the number of lines that were left out, without a last line that is being written.
        scales: for each metric its scale, in the order of the first line; None if its scores have different scales.
        stopped: why the run ended before its last row, which the last line says; None if it did not.

    Raises:
        InvalidInput: the file cannot be read, a line has no scores, or lines have scores of different metrics.
    """

    def __init__(self, path: Path, *, live: bool = False, most: int | None = None) -> None:
        self._path = path
        self._starts = array("q")
        self.cut = 0
        scales: dict[str, tuple[Scales, Scales]] = {}
        with self._opened() as file:
            end = 0
            for number, line in enumerate(islice(file, most), 1):
                start, end = end, end + len(line)
                if line.strip() and (scores := self._scores(number, line, live)) is not None:
                    scales = scales or {name: (set(), set()) for name in scores}
                    if scores.keys() != scales.keys():
                        names_here, names_before = (", ".join(names) or "none" for names in (scores, scales))
                        raise InvalidInput(
                            f"{path}, line {number} has scores of {names_here}, but line 1 of {names_before}: split the file"
                        )
                    for name, score in scores.items():
                        scales[name][score.value is None].add(score.scale)
                    self._starts.append(start)
        if not self._starts:
            raise InvalidInput(f"{path} contains no rows")
        with self._opened() as file:
            file.seek(self._starts[-1])
            said = json.loads(file.readline()).get("stopped")
        self.stopped = said if isinstance(said, str) else None
        # a score without a value may not know its scale
        scale_sets = {name: with_value or without for name, (with_value, without) in scales.items()}
        self.scales = {name: next(iter(several)) if len(several) == 1 else None for name, several in scale_sets.items()}

    def __len__(self) -> int:
        return len(self._starts)

    def _scores(self, number: int, line: bytes, live: bool) -> Mapping[str, Score] | None:
        """Return the scores in a line; None if it is left out."""
        try:
            return _record(self._path, number, line).scores
        except InvalidInput:
            if not live:
                raise
            self.cut += line.endswith(b"\n")
            return None

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
            f"{path}, line {number} contains no scores of a row ({error}): give the directory of a run, or a file that "
            "to_jsonl() or --out wrote"
        ) from None


CURE = "run the same command again to restore these rows, or copy run.json and scores.jsonl again"


@dataclass(frozen=True)
class LoadedRun:
    """A run that was read back.

    Attributes:
        metrics: its metrics.
        account: how the run went.
        records: its rows with their scores, read when they are used.
        settings: the settings that determine its scores; None if unknown.
        run_dir: its directory; None for a file of scores.
    """

    metrics: tuple[MetricColumn, ...]
    account: RunAccount
    records: Records
    settings: RunSettings | None = None
    run_dir: Path | None = None

    @classmethod
    def of(cls, path: Path, most: int | None = None) -> LoadedRun:
        """Read the run in a directory, in Parquet files, or in a file of scores. The file of scores in a run directory means that
        directory. With ``most``, only so many lines of a file of scores are read.

        Raises:
            InvalidInput: there is neither, or it cannot be read; or a directory has both, and no ``run.json``.
        """
        files = [] if (path / ACCOUNT).exists() else parquet_files(path)
        if files and (path / SCORES).exists():
            raise InvalidInput(f"{path} has Parquet files and {SCORES}: give {path / SCORES}, or move it away")
        if files:
            scored = ParquetRecords(path, files)
            return cls(scored.metrics, scored.account, scored, scored.settings)
        if path.is_dir() or not (path.suffix or path.exists()):
            return cls._in_directory(path, most)
        if path.name == SCORES and (path.parent / ACCOUNT).is_file():
            return cls._in_directory(path.parent, most)
        if not path.exists():
            raise InvalidInput(f"{path} is neither the directory of a run nor a file of scores: there is no such file")
        records = ScoreLines(path, live=path.name == SCORES and (path.parent / LIVE).exists(), most=most)
        metrics = tuple(MetricColumn.named(name, scale, name) for name, scale in records.scales.items())
        cut = (f"{count_of(records.cut, 'line')} of {SCORES} cannot be read and left out",) if records.cut else ()
        return cls(metrics, RunAccount(str(path), caveats=cut, stopped=records.stopped), records)

    @classmethod
    def _in_directory(cls, path: Path, most: int | None) -> LoadedRun:
        """Read the run in a directory. If ``run.json`` is damaged, the metrics are known from the scores only."""
        if (path / LIVE).exists() and not (path / ACCOUNT).exists():
            file = cls.of(path / SCORES, most)
            caveats = (_live_caveat(path), *file.account.caveats)
            return replace(file, account=replace(file.account, source=str(path), caveats=caveats))
        stored = read_account(path, ("read it with the version that wrote it, or score its rows again",))
        if stored is None:
            what = f"it contains neither {ACCOUNT} nor Parquet files" if path.exists() else "there is no such directory"
            raise InvalidInput(f"{path} is not the directory of a run: {what}")
        if not (path / SCORES).exists():
            raise InvalidInput(f"{path} contains no {SCORES}: no row of the run was finished")
        columns = stored.settings.metrics if stored.settings else ()
        scored = ScoresFile(path / SCORES, writing=False, metrics=[item.name for item in columns], most=most)
        records = scored.records()
        if stored.settings is not None:
            account = stored.account if most is not None else _verify(stored.account, scored)
            return cls(columns, account, records, stored.settings, path)
        scores = records[0].scores if records else {}
        rebuilt = tuple(MetricColumn.named(name, score.scale, name) for name, score in scores.items())
        damaged = f"{ACCOUNT} is damaged: settings, models and costs of this run are not known"
        return cls(rebuilt, replace(stored.account, caveats=(damaged,)), records, None, path)


def _live_caveat(path: Path) -> str:
    """Say how much of the traffic the scores in the directory of a ``RunDirSink`` are about.

    Raises:
        InvalidInput: its counts cannot be read.
    """
    try:
        counts = json.loads((path / LIVE).read_bytes())
        seen, dropped, pending, untold = (int(counts[name]) for name in ("seen", "dropped", "pending", "untold"))
        since = str(datetime.fromisoformat(counts["since"]))
    except (LookupError, OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path / LIVE} cannot be read: {error}: remove it to read the scores alone") from None
    said = f"{count_of(seen, 'call')} to judge, {dropped} dropped, {pending} pending, {untold} results not written"
    return f"live traffic since {since}: {said}"


def _verify(account: RunAccount, scored: ScoresFile) -> RunAccount:
    """Return the account of a run, with a fault if its scores are not those that the run ended with."""
    seal, there, stopped = account.seal, scored.seal, account.stopped
    if seal == there or (seal is None and stopped == UNFINISHED):
        return account
    what = f"{count_of(scored.unreadable, 'line')} cannot be read" if scored.unreadable else ""
    if seal is None:
        stopped = stopped or (f"{SCORES} is damaged: {what}: {CURE}" if what else None)
        return replace(account, stopped=stopped, fault="unverified", caveats=(*account.caveats, UNVERIFIED))
    if there.rows != seal.rows:
        what = f"the run ended with {count_of(seal.rows, 'row')}, and {there.rows} are there"
    what = what or "lines have changed since the run ended"
    return replace(account, fault="damaged", stopped=f"{SCORES} is damaged: {what}: {CURE}")
