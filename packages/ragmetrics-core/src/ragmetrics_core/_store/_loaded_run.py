"""What a run has left: read from its directory, or from a file of its scores, which tells less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from ._account import ACCOUNT, RunAccount, read_account
from ._records import Records
from ._run_dir import SCORES
from ._run_settings import RunSettings
from ._score_lines import read_scores
from ._scored_by import MetricColumn
from ._scores_file import ScoresFile

__all__ = ["LoadedRun"]


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
            return cls(columns, _as_far_as_read(stored.account, scored.unreadable), records, stored.settings, path)
        scores = records[0].scores if records else {}
        rebuilt = tuple(MetricColumn.named(name, score.scale, name) for name, score in scores.items())
        damaged = f"{ACCOUNT} is damaged: settings, models and costs of this run are not known"
        return cls(rebuilt, replace(stored.account, caveats=(damaged,)), records, None, path)


def _as_far_as_read(account: RunAccount, unreadable: int) -> RunAccount:
    """The account of a run; one that came to its end is not complete all the same where lines of it cannot be read."""
    if account.stopped is not None or not unreadable:
        return account
    lines = f"{count_of(unreadable, 'line')} of {SCORES} cannot be read"
    return replace(account, stopped=f"{lines}: give the command of this run once more, which scores their rows again")
