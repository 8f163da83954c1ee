"""The directory of a run: everything that a stopped run needs to continue.

``journal.sqlite`` has the replies, ``scores.jsonl`` the rows with their scores, ``run.json`` the settings of the run and how it
ended. The journal alone is enough to continue: a row whose replies are all in it is scored again within a millisecond. Scores of
other settings (another model, another wording) are never mixed with new ones, and are never lost without a message.

A run has the directory for itself (`_lock`) from before it reads the files there. Reading a run needs no lock.

A mistyped command must cost nothing. So a run over finished scores changes no file before the first new reply of a model, which
proves that metrics, rows, models and keys can be used. Until then its rows wait in a temporary file. A run that needs no reply
changes the files when its last row is finished.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from .._kernel._steps import Outcome
from .._read._rows import OpenRows
from .._values._errors import BadReply, InvalidInput, ModelError, Setting
from .._values._requests import Reply
from .._values._sample import Row, Sample
from .._values._score import is_asked
from ._files import ANOTHER, SCORES, check_directory, explain_errors, free_name, remove_leftovers, replace_file
from ._journal import Journal
from ._prices import ModelUsage, add_up
from ._records import KeptRecords, Record, Records, json_value, round_trip
from ._run_settings import RunSettings, checked_text, difference, digest_of, unequal_names, with_earlier_models
from ._scores_file import ScoresFile, Seal


class InMemory:
    """Keeps the rows of a run in memory, without a directory."""

    journal: Journal | None = None
    earlier: tuple[ModelUsage, ...] = ()
    notes: tuple[str, ...] = ()
    stored: tuple[int, ...] = ()

    def __init__(self) -> None:
        self._records = KeptRecords()

    def start(self, opened: OpenRows, at_most: Callable[[int], int | None]) -> Iterator[Row]:  # noqa: ARG002  no earlier rows
        """The rows to score."""
        return opened.rows

    def earlier_record(self, index: int, sample: Sample) -> Record | None:  # noqa: ARG002  no earlier rows
        """Return None, because there is no earlier part of the run."""
        return None

    def note_outcome(self, outcome: Outcome) -> None:
        """Do nothing, because replies are not written."""

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        self._records.add(record)

    def snapshot(self) -> Records:
        """The rows that are finished so far, in input order."""
        return self._records.in_order()

    def finish(self, account: RunAccount) -> Records:  # noqa: ARG002  nothing is written
        """The finished rows, at the end of the run."""
        return self.snapshot()

    def close(self) -> None:
        """Do nothing, because nothing is open."""


ACCOUNT = "run.json"
VERSION = 1
UNFINISHED = "the run has not come to its end"
Fault = Literal["damaged", "unverified"]
UNVERIFIED = (
    "this run is unverified: an earlier version of ragmetrics wrote it, which kept no digest of scores.jsonl, so it is not known "
    "whether rows are missing or have changed"
)


@dataclass(frozen=True)
class RunAccount:
    """How a run went, without its scores.

    Attributes:
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked.
        earlier: what every model was asked in earlier parts of the run, before this part continued it.
        caveats: what users must know about the models that were asked, and about scores that existed before.
        waited: for each metric the seconds that its rows waited for models, summed over rows.
        stopped: why the run ended before its last row, or that its scores are damaged; None if neither applies.
        left: number of rows that were not scored because the gates were decided without them.
        seal: the seal of its scores at the end; None while the run goes on, and if an earlier version wrote it.
        fault: ``damaged``: its scores are not those that it ended with. ``unverified``: an earlier version wrote it, so that
            cannot be known. None: neither. It follows from the files and is not written.
    """

    source: str = ""
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    earlier: tuple[ModelUsage, ...] = ()
    caveats: tuple[str, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)
    stopped: str | None = None
    left: int = 0
    seal: Seal | None = None
    fault: Fault | None = None

    def to_dict(self) -> dict[str, Any]:
        """The account as ``run.json`` has it. While the run goes on, that is only where it started."""
        begun = {"source": self.source, "earlier": [item.stored() for item in self.earlier]}
        if self.seal is None:
            return begun
        ended = {name: getattr(self, name) for name in ("caveats", "left", "seconds", "stopped", "waited")}
        return {**begun, **ended, "models": [item.stored() for item in self.models], "scores": self.seal.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunAccount:
        """Read what ``run.json`` has, of a finished or an unfinished run.

        Raises:
            AttributeError, LookupError, OverflowError, TypeError, ValueError: it has another shape.
        """
        seconds, seal, stopped = data.get("seconds"), data.get("scores"), data.get("stopped", UNFINISHED)
        return cls(
            source=checked_text(data.get("source", "")),
            seconds=None if seconds is None else float(seconds),
            models=tuple(map(ModelUsage.from_dict, data.get("models", ()))),
            earlier=tuple(map(ModelUsage.from_dict, data.get("earlier", ()))),
            caveats=tuple(map(checked_text, data.get("caveats", ()))),
            waited={name: float(value) for name, value in data.get("waited", {}).items()},
            stopped=None if stopped is None else checked_text(stopped),
            left=int(data.get("left", 0)),
            seal=None if seal is None else Seal.from_dict(seal),
        )


@dataclass(frozen=True)
class StoredRun:
    """A run as ``run.json`` describes it.

    Attributes:
        settings: the settings that decide about its scores; None if ``run.json`` is damaged.
        account: how the run went.
    """

    settings: RunSettings | None
    account: RunAccount


NO_RUN = StoredRun(None, RunAccount())


def write_account(path: Path, settings: RunSettings, account: RunAccount) -> None:
    """Write ``run.json`` into the directory of its run. The scores that it seals must be written before.

    Raises:
        RagmetricsError: it cannot be written.
    """
    content = {"version": VERSION, **settings.to_dict(), **account.to_dict()}
    with replace_file(path / ACCOUNT) as file:
        file.write((json.dumps(content, ensure_ascii=True, indent=1) + "\n").encode())


def read_account(path: Path, cure: tuple[str | Setting, ...] = ANOTHER) -> StoredRun | None:
    """Read the run in this directory; None if there is none.

    Args:
        path: the directory.
        cure: what to do if ``run.json`` was not written by this program, for the message.

    Raises:
        InvalidInput: ``run.json`` was written by another program or another version.
    """
    file = path / ACCOUNT
    if not file.exists():
        return None
    if not file.is_file():
        raise InvalidInput(f"{file} does not describe a run, because it is not a regular file: ", *ANOTHER)
    damaged = StoredRun(None, RunAccount(stopped=UNFINISHED))
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return damaged
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    ours = isinstance(content, dict) and isinstance(content.get("metrics"), list) and "judged" in content
    if not ours or content.get("version") != VERSION:
        raise InvalidInput(f"{file} was not written by this version of ragmetrics: ", *cure)
    try:
        return StoredRun(RunSettings.from_dict(content), RunAccount.from_dict(content))
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):  # it has another shape
        return damaged


def rows_finished(scores: ScoresFile) -> int:
    """The least possible number of rows in the data set: up to the last finished row."""
    return 1 + next((index for index in reversed(scores.indexes()) if is_finished(scores.read(index))), -1)


def is_finished(record: Record) -> bool:
    """Whether none of the requested scores failed."""
    return any(score.error is None and is_asked(score) for score in record.scores.values())


def is_unanswered(error: str | None) -> bool:
    """Whether a score failed because a model could not answer, not because its answer could not be read."""
    return error is not None and error.startswith(f"{ModelError.__name__}: ")


def signature(sample: Sample) -> str:
    """What identifies a row in an edited data set: its question, without one its id, without both the whole row."""
    if isinstance(sample.user_input, str):
        return f"question {sample.user_input}"
    if sample.id is not None:
        return f"id {sample.id}"
    return digest_of(json.dumps(json_value(round_trip(sample)), sort_keys=True))


def changed_fields(there: Sample, here: Sample) -> str:
    """The names of the fields that differ."""
    old, new = (json_value(sample) for sample in (there, round_trip(here)))
    # compared as JSON, because 1 == True in Python
    texts = [{name: json.dumps(value, sort_keys=True) for name, value in sample.items()} for sample in (old, new)]
    return ", ".join(unequal_names(*texts))


JOURNAL = "journal.sqlite"

LOOK_AHEAD = 50
"""The number of rows that are compared with the rows of an earlier run before the first call."""


class RunDir:
    """Keeps the rows of a run in its directory. Nothing there is changed before there is something to keep.

    Args:
        path: the directory; it is made when it is needed.
        settings: the settings that decide about scores.
        replacing: whether the finished scores of another run may be renamed.

    Attributes:
        journal: the replies.
        earlier: what the models were asked in earlier parts of the run.
        notes: what users must know about scores that existed before.

    Raises:
        InvalidInput: the path cannot be a directory, or it has files of another program.
    """

    def __init__(self, path: Path, settings: RunSettings, *, replacing: bool) -> None:
        check_directory(path)
        self.path = path
        self.notes: tuple[str, ...] = ()
        self._replacing = replacing
        stored = read_account(path)
        self._earlier = stored or NO_RUN
        self._settings = settings
        self._source = ""
        scores = path / SCORES
        if stored is None and scores.is_file() and scores.stat().st_size:
            why = f"{scores} does not belong to a run, because there is no {ACCOUNT} beside it: "
            raise InvalidInput(why, *ANOTHER, ", or move the file away")
        names = [item.name for item in self._earlier.settings.metrics] if self._earlier.settings else ()
        self._scores = ScoresFile(scores, writing=True, metrics=names) if scores.exists() else None
        self._waiting: ScoresFile | None = None
        self._finished = 0 if self._scores is None else rows_finished(self._scores)
        self._others = False  # whether the existing scores are of another run: their file is renamed
        self._copying = False  # whether existing rows have changed: a copy of their file is kept
        self._begun = False
        self._unanswered = False
        self._rows = 0
        self.earlier = add_up(self._earlier.account.earlier, self._earlier.account.models)
        self.journal = Journal(path / JOURNAL)

    def start(self, opened: OpenRows, at_most: Callable[[int], int | None]) -> Iterator[Row]:
        """The rows to score.

        Args:
            opened: the rows of this run.
            at_most: counts the rows up to a number; None if their number is not known.

        Raises:
            InvalidInput: there are finished scores of another run, or of other rows, and they may not be renamed.
        """
        self._source = opened.name
        if self._scores is None or not self._scores.indexes():
            return opened.rows
        first = list(islice(opened.rows, LOOK_AHEAD))
        rows = chain(first, opened.rows)
        earlier, found = self._earlier.settings, None
        if earlier is not None:
            found = difference(earlier, self._settings) or self._other_data(self._scores, first, opened.name)
        if earlier is None or found:
            self._others = True
            if found:
                self._check_may_replace(found)
            return rows
        most = at_most(self._finished)
        if most is not None and most < self._finished:
            self._check_may_replace(f"{self._finished} rows, and this run has at most {most}")
            self._copying = True
        return self._compared(self._scores, rows)

    @property
    def stored(self) -> Sequence[int]:
        """The indexes of the rows that an earlier part of this run has kept; known after ``start``."""
        return () if self._others or self._scores is None else self._scores.indexes()

    def earlier_record(self, index: int, sample: Sample) -> Record | None:
        """What an earlier part of this run has kept of a row; None if nothing, or if the row has changed."""
        if self._others or self._scores is None or index not in self._scores:
            return None
        there = self._scores.read(index)
        return None if changed_fields(there.sample, sample) else there

    def note_outcome(self, outcome: Outcome) -> None:
        """At the first reply, begin to change files. If a model did not reply, remember that."""
        if isinstance(outcome, Reply | BadReply):
            if not self._begun:
                self._begin()
        else:
            self._unanswered = True

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        self._rows += 1
        if not self._finished and not self._begun:
            self._begin()
        if any(is_unanswered(score.error) for score in record.scores.values()):
            record = self._with_earlier_scores(record)
        if self._begun and self._scores is not None:
            self._scores.add(record)
            return
        if self._waiting is None:
            self._waiting = ScoresFile(self.path / SCORES, writing=True, named=False)
        self._waiting.add(record)

    def snapshot(self) -> Records:
        """The rows that are finished so far, in input order. May be called from any thread."""
        if self._begun and self._scores is not None:
            return ScoresFile(self.path / SCORES, writing=False).records()
        return self._waiting_records()

    def finish(self, account: RunAccount) -> Records:
        """End the run and write one line per row. Rows of an earlier part of the run are kept, unless this part has all rows."""
        complete = account.stopped is None and not account.left
        if account.stopped is None and not self._unanswered and not self._begun:
            self._begin()
        if not self._begun or self._scores is None:
            return self._waiting_records()
        left = sum(index >= self._rows for index in self._scores.indexes()) if complete else 0
        if left and self._finished > self._rows:
            rows = "row that is" if left == 1 else "rows that are"
            self._set_aside_copy(f"the scores of {left} {rows} no longer among the rows of this run")
        whole = replace(account, source=self._source, earlier=self.earlier, caveats=(*account.caveats, *self.notes))
        seal = self._scores.settle(lambda index: not complete or index < self._rows)
        write_account(self.path, self._settings, replace(whole, seal=seal))
        return self._scores.records()

    def close(self) -> None:
        """Nothing more will be kept."""
        self.journal.close()

    def _begin(self) -> None:
        """Make the first change: rename the scores of another run, and write the rows that have waited."""
        for name in (SCORES, ACCOUNT):
            remove_leftovers(self.path / name)
        if self._others:
            self._set_aside()
            self._others = False
        elif self._copying:
            self._set_aside_copy()
        if self._earlier.settings is not None:
            self._settings = with_earlier_models(self._settings, self._earlier.settings)
        write_account(self.path, self._settings, RunAccount(self._source, earlier=self.earlier))
        if self._scores is None:
            self._scores = ScoresFile(self.path / SCORES, writing=True)
        if self._waiting is not None:
            self._scores.take(self._waiting)
        self._begun = True

    def _set_aside(self) -> None:
        scores = self.path / SCORES
        self._scores = None
        with explain_errors(scores):
            if not self._finished:
                scores.unlink()
                return
            kept = free_name(scores)
            scores.rename(kept)
            account = self.path / ACCOUNT
            if account.exists():
                account.rename(kept.with_name(kept.name.replace("scores", "run", 1).replace(".jsonl", ".json")))
        if self._earlier.settings is None:
            damaged = f"{ACCOUNT} was damaged, so the scores in {self.path} were renamed to {kept.name}"
            self.notes += (f"{damaged}, and all rows were scored again from the replies",)
        self._earlier = NO_RUN

    def _set_aside_copy(self, why: str = "") -> None:
        scores = self.path / SCORES
        kept = free_name(scores)
        with replace_file(kept) as copy, scores.open("rb") as file:
            shutil.copyfileobj(file, copy)
        self._copying = False
        self._finished = 0  # from now on nothing is lost
        if why:
            self.notes += (f"{why}: they are kept in {kept}",)

    def _check_may_replace(self, what: str) -> None:
        """Check that no finished score is lost, or that the scores may be renamed. ``what`` names the run or the rows
        of the scores.

        Raises:
            InvalidInput: scores would be lost, and may not be renamed.
        """
        if not self._finished or self._replacing:
            return
        kept = free_name(self.path / SCORES).name
        cure = (*ANOTHER, ", or ", Setting("replace", True), f", which keeps those scores as {kept}")
        raise InvalidInput(Setting("run_dir", str(self.path)), f" holds the finished scores of {what}: ", *cure)

    def _other_data(self, scores: ScoresFile, first: list[Row], name: str) -> str | None:
        known = {signature(record.sample) for record in islice(scores.records(), 4 * LOOK_AHEAD)}
        if not first or not known.isdisjoint(signature(row.sample) for row in first):
            return None
        return f"another data set: none of the first rows of {name or 'this one'} is among them"

    def _compared(self, scores: ScoresFile, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows unchanged. If a row that an earlier run finished has changed, its old scores are set aside, or refused."""
        for row in rows:
            if self._finished and row.index in scores:
                there = scores.read(row.index)
                fields = changed_fields(there.sample, row.sample) if is_finished(there) else None
                if fields:
                    self._check_may_replace(f"another row than {row.place}: the {fields} differs")
                    self._copying = True
                    if self._begun:
                        self._set_aside_copy()
            yield row

    def _with_earlier_scores(self, record: Record) -> Record:
        """The record. If a model could not be reached, with the score that an earlier run gave to the same row."""
        lost = [name for name, score in record.scores.items() if is_unanswered(score.error)]
        there = self.earlier_record(record.index, record.sample)
        if there is None:
            return record
        known = {name: there.scores[name] for name in lost if name in there.scores and there.scores[name].error is None}
        calls = {name: there.calls[name] for name in known if name in there.calls}
        return replace(record, scores={**record.scores, **known}, calls={**record.calls, **calls})

    def _waiting_records(self) -> Records:
        """The rows that wait because the run has changed no file yet."""
        return KeptRecords() if self._waiting is None else self._waiting.records()


Keeper = InMemory | RunDir
"""Keeps the rows that a run has finished."""
