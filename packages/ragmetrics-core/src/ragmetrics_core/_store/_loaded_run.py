"""What a run has left: read from its directory, or from a file of its scores, which tells less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from ._account import ACCOUNT, UNFINISHED, UNVERIFIED, RunAccount, StoredRun, read_account
from ._records import Records
from ._run_dir import SCORES
from ._run_settings import RunSettings
from ._score_lines import read_scores
from ._scored_by import MetricColumn
from ._scores_file import ScoresFile

CURE = "run the same command again to restore these rows, or copy run.json and scores.jsonl again"


@dataclass(frozen=True)
class LoadedRun:
    """A run that was read back.

    Attributes:
        metrics: its metrics.
        account: what became of it.
        records: its rows with their scores, read when they are looked at.
        settings: what decides about its scores; None where nobody knows.
        run_dir: its directory; None for a file of scores.
    """

    metrics: tuple[MetricColumn, ...]
    account: RunAccount
    records: Records
    settings: RunSettings | None = None
    run_dir: Path | None = None

    @classmethod
    def of(cls, path: Path) -> LoadedRun:
        """The run in a directory, or in a file of scores; a file inside the directory of its run stands for that directory.

        Raises:
            InvalidInput: there is neither, or it cannot be read.
        """
        if path.is_dir() or not (path.suffix or path.exists()):
            return cls._in_directory(path)
        if path.name == SCORES and (path.parent / ACCOUNT).is_file():
            return cls._in_directory(path.parent)
        if not path.exists():
            raise InvalidInput(f"{path} is neither the directory of a run nor a file of scores: there is no such file")
        metrics, records = read_scores(path)
        return cls(metrics, RunAccount(str(path)), records)

    @classmethod
    def _in_directory(cls, path: Path) -> LoadedRun:
        """Where ``run.json`` is damaged, as much as the records tell."""
        stored = read_account(path, "read it with the version that wrote it, or score its rows again")
        if stored is None:
            raise InvalidInput(f"{path} is not the directory of a run: it holds no {ACCOUNT}")
        if not (path / SCORES).exists():
            raise InvalidInput(f"{path} holds no {SCORES}: no row was finished there")
        columns = stored.settings.metrics if stored.settings else ()
        scored = ScoresFile(path / SCORES, writing=False, metrics=[item.name for item in columns])
        records = scored.records()
        if stored.settings is not None:
            return cls(columns, _checked(stored, scored), records, stored.settings, path)
        scores = records[0].scores if records else {}
        rebuilt = tuple(MetricColumn.named(name, score.scale, name) for name, score in scores.items())
        damaged = f"{ACCOUNT} is damaged: settings, models and costs of this run are not known"
        return cls(rebuilt, replace(stored.account, caveats=(damaged,)), records, None, path)


def _checked(stored: StoredRun, scored: ScoresFile) -> RunAccount:
    """The account of a run, whose scores are held against those that it ended with."""
    account, seal, there = stored.account, stored.seal, scored.seal
    if seal is None:
        over = account.stopped != UNFINISHED
        found = _as_far_as_read(account, scored.unreadable)
        return replace(found, fault="unverified", caveats=(*found.caveats, UNVERIFIED)) if over else found
    if seal == there:
        return account
    what = "lines have changed since the run ended"
    if there.rows != seal.rows:
        what = f"the run ended with {count_of(seal.rows, 'row')}, and {there.rows} are there"
    elif scored.unreadable:
        what = f"{count_of(scored.unreadable, 'line')} cannot be read"
    return replace(account, fault="damaged", stopped=f"{SCORES} is damaged: {what}: {CURE}")


def _as_far_as_read(account: RunAccount, unreadable: int) -> RunAccount:
    """The account of a run; one that came to its end is not complete all the same where lines of it cannot be read."""
    if account.stopped is not None or not unreadable:
        return account
    return replace(account, stopped=f"{count_of(unreadable, 'line')} of {SCORES} cannot be read: {CURE}")
