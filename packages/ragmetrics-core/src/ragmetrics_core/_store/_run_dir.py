"""The directory of a run: what a run needs to go on where it stopped, and what is left of it when it is done.

``journal.sqlite`` holds the replies, ``scores.jsonl`` the rows with their scores, ``run.json`` what was run. Only the journal is
needed to go on: a row whose replies are all there is scored anew from them, within a millisecond, so there is no second truth to
keep in step. Scores of other settings (another model, another wording) never stay beside new ones, and never go without a word.

Strategy. A mistyped command must cost nothing. So a run over finished scores changes no file before the first new answer of a
model is there, which proves that metrics, rows, models and keys are what they should be; until then its rows wait in a file
without a name. A run that needs no answer changes the files when its last row is finished.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn

from .._kernel._errors import BadReply, InvalidInput
from .._kernel._requests import Reply
from .._kernel._row import Row
from .._kernel._steps import Outcome
from .._read import OpenRows
from ._account import ACCOUNT, RunAccount, StoredRun, read_account, write_account
from ._files import check_directory, free_name, make_directory, replaced, sweep, worded
from ._in_memory import KeptRecords
from ._journal import Journal
from ._prices import ModelUsage, added_up
from ._records import Record, Records
from ._run_settings import RunSettings, carried_on, difference
from ._same_rows import changed, is_finished, is_unanswered, rows_finished, signature
from ._scored_by import MetricColumn
from ._scores_file import ScoresFile

JOURNAL, SCORES = "journal.sqlite", "scores.jsonl"

LOOK_AHEAD = 50
"""Rows that are compared with those of an earlier run before the first call is made."""


class RunDir:
    """The directory of a run that is about to start, or to go on. Nothing in it is changed before there is something to keep.

    Args:
        path: the directory; made when it is needed.
        settings: what decides about scores.
        replacing: whether the finished scores of another run may be set aside.

    Attributes:
        journal: the replies.
        earlier: what the models were asked in earlier parts of the run.
        notes: what must be known about the scores that were there.

    Raises:
        InvalidInput: the path cannot be a directory, or files of something else are there.
    """

    def __init__(self, path: Path, settings: RunSettings, *, replacing: bool) -> None:
        check_directory(path)
        self.path = path
        self.notes: tuple[str, ...] = ()
        self._replacing = replacing
        self._earlier = read_account(path)
        self._settings = settings
        self._source = ""
        scores = path / SCORES
        if self._earlier is None and scores.is_file() and scores.stat().st_size:
            raise InvalidInput(
                f"{scores} is not that of a run, for there is no {ACCOUNT} beside it: give another run_dir, or move the file away"
            )
        there = _columns(self._earlier)
        self._scores = (
            ScoresFile(scores, writing=True, metrics=[item.name for item in there]) if scores.exists() else None
        )
        self._waiting: ScoresFile | None = None
        self._finished = 0 if self._scores is None else rows_finished(self._scores)
        self._others = False  # the scores there are of another run: their file is set aside
        self._copying = False  # some of the rows there have changed: a copy of their file is set aside
        self._begun = False
        self._unanswered = False
        self._rows = 0
        self.earlier = self._spent()
        self.journal = Journal(path / JOURNAL)

    def start(self, opened: OpenRows, at_most: Callable[[int], int | None]) -> Iterator[Row]:
        """The rows to score.

        Args:
            opened: the rows of this run.
            at_most: counts them up to a number; None where their number is not known.

        Raises:
            InvalidInput: finished scores of another run, or of other rows, are there, and may not be set aside.
        """
        self._source = opened.name
        if self._scores is None or not self._scores.indexes():
            return opened.rows
        first = list(islice(opened.rows, LOOK_AHEAD))
        rows = chain(first, opened.rows)
        if self._earlier is None or self._earlier.settings is None:
            self._others = True
            return rows
        found = difference(self._earlier.settings, self._settings) or self._other_data(self._scores, first, opened.name)
        if found:
            self._others = True
            self._allow(found)
            return rows
        most = at_most(self._finished)
        if most is not None and most < self._finished:
            self._allow(f"{self._finished} rows, and this run has at most {most}")
            self._copying = True
        return self._compared(self._scores, rows)

    def heard(self, outcome: Outcome) -> None:
        """Note that a model has answered a call, or has failed to."""
        if isinstance(outcome, Reply | BadReply):
            self._begin()
        else:
            self._unanswered = True

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        self._rows += 1
        if not self._finished:
            self._begin()
        if self._begun and self._scores is not None:
            self._scores.add(self._spared(record))
            return
        if self._waiting is None:
            self._waiting = ScoresFile(self.path / SCORES, writing=True, named=False)
        self._waiting.add(self._spared(record))

    def snapshot(self) -> Records:
        """What is finished by now, in input order; from any thread."""
        if self._begun and self._scores is not None:
            return ScoresFile(self.path / SCORES, writing=False).records()
        return self._waiting_records()

    def finish(self, account: RunAccount, *, complete: bool) -> Records:
        """The run is over: one line per row. Rows of an earlier part of the run stay, unless this one has come to its end."""
        if complete and not self._unanswered:
            self._begin()
        if not self._begun or self._scores is None:
            return self._waiting_records()
        left = sum(index >= self._rows for index in self._scores.indexes()) if complete else 0
        if left and self._finished > self._rows:
            rows = "row that is" if left == 1 else "rows that are"
            self._set_aside_copy(f"the scores of {left} {rows} no more among those of this run")
        whole = replace(account, source=self._source, earlier=self.earlier, caveats=(*account.caveats, *self.notes))
        latest = read_account(self.path)
        if (
            latest is not None and latest.seal is not None
        ):  # another process has ended the run: its seal goes before its scores
            write_account(self.path, self._settings, whole)
        seal = self._scores.settle(lambda index: not complete or index < self._rows)
        write_account(self.path, self._settings, whole, seal)
        return self._scores.records()

    def close(self) -> None:
        """Nothing more will be kept."""
        self.journal.close()

    def _begin(self) -> None:
        """Make the first change: set aside what is not of this run, and write what has waited."""
        if self._begun:
            return
        make_directory(self.path)
        for name in (SCORES, ACCOUNT):
            sweep(self.path / name)
        self._check_again()
        if self._others:
            self._set_aside()
            self._others = False
        elif self._copying:
            self._set_aside_copy()
        self._settings = carried_on(self._settings, self._earlier.settings if self._earlier else None)
        write_account(self.path, self._settings, RunAccount(self._source, earlier=self.earlier))
        if self._scores is None:
            self._scores = ScoresFile(self.path / SCORES, writing=True)
        if self._waiting is not None:
            self._scores.take(self._waiting)
        self._begun = True

    def _check_again(self) -> None:
        """Look again: another process may have begun a run here in the meantime."""
        latest = read_account(self.path)
        if latest is None or latest.settings is None or latest == self._earlier:
            return
        if difference(latest.settings, self._settings):
            raise InvalidInput(
                f"another process has just started a run of other settings in {self.path}: give another run_dir"
            )
        self._others, self._earlier, self._scores = False, latest, None
        self.earlier = self._spent()

    def _set_aside(self) -> None:
        scores = self.path / SCORES
        self._scores = None
        with worded(scores):
            if not self._finished:
                scores.unlink()
                return
            kept = free_name(scores)
            scores.rename(kept)
            account = self.path / ACCOUNT
            if account.exists():
                account.rename(kept.with_name(kept.name.replace("scores", "run", 1).replace(".jsonl", ".json")))
        if self._earlier is None or self._earlier.settings is None:
            damaged = f"{ACCOUNT} was damaged, so the scores that stood in {self.path} were set aside as {kept.name}"
            self.notes += (f"{damaged}, and all rows were scored anew from the replies",)
        self._earlier = None

    def _set_aside_copy(self, why: str = "") -> None:
        scores = self.path / SCORES
        kept = free_name(scores)
        with replaced(kept) as copy, scores.open("rb") as file:
            shutil.copyfileobj(file, copy)
        self._copying = False
        self._finished = 0  # nothing is lost from here on
        if why:
            self.notes += (f"{why}: they are kept in {kept}",)

    def _allow(self, what: str) -> None:
        """Go on if nothing finished is lost, or if it may be set aside.

        Raises:
            InvalidInput: it may not.
        """
        if self._finished and not self._replacing:
            self._refuse(what)

    def _refuse(self, what: str) -> NoReturn:
        kept = free_name(self.path / SCORES).name
        raise InvalidInput(
            f"run_dir {self.path} holds the finished scores of {what}. Give another run_dir, or write replace=True, which keeps "
            f"those scores as {kept}"
        )

    def _other_data(self, scores: ScoresFile, first: list[Row], name: str) -> str | None:
        known = {signature(record.sample) for record in islice(scores.records(), 4 * LOOK_AHEAD)}
        if not first or not known.isdisjoint(signature(row.sample) for row in first):
            return None
        return f"another data set: none of the first rows of {name or 'this one'} is among them"

    def _compared(self, scores: ScoresFile, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows, each of them compared with the one that was scored in its place."""
        for row in rows:
            if self._finished and row.index in scores:
                there = scores.read(row.index)
                fields = changed(there.sample, row.sample) if is_finished(there) else None
                if fields:
                    if not self._replacing:
                        self._refuse(f"another row than {row.place}: the {fields} differs")
                    self._copying = True
                    if self._begun:
                        self._set_aside_copy()
            yield row

    def _spared(self, record: Record) -> Record:
        """The record; where a model could not be reached, with the score that the same row has from before."""
        lost = [name for name, score in record.scores.items() if is_unanswered(score.error)]
        if not lost or self._others or self._scores is None or record.index not in self._scores:
            return record
        there = self._scores.read(record.index)
        known = {name: there.scores[name] for name in lost if name in there.scores and there.scores[name].error is None}
        if not known or changed(there.sample, record.sample):
            return record
        return replace(record, scores={**record.scores, **known})

    def _waiting_records(self) -> Records:
        """The rows of a run that has changed no file yet."""
        return KeptRecords() if self._waiting is None else self._waiting.records()

    def _spent(self) -> tuple[ModelUsage, ...]:
        account = self._earlier.account if self._earlier else RunAccount()
        return added_up(account.earlier, account.models)


def _columns(stored: StoredRun | None) -> tuple[MetricColumn, ...]:
    return () if stored is None or stored.settings is None else stored.settings.metrics
