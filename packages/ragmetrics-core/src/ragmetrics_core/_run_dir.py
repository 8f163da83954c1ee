"""The directory of a run: what a run needs to go on where it stopped, and what is left of it when it is done.

``journal.sqlite`` holds the replies, ``scores.jsonl`` the rows with their scores, ``run.json`` what was run. Only the journal is
needed to go on: a row whose replies are all there is scored anew from them, within a millisecond, so there is no second truth to
keep in step. Scores of other settings (another model, another wording) never stay beside new ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ._errors import InvalidInput, RagmetricsError
from ._journal import Journal
from ._metric import Metric
from ._prices import ModelUsage, added_up
from ._read import Row, Source
from ._records import Record, Records, json_value, stored
from ._sample import Sample
from ._scores_file import ScoresFile

__all__ = ["LOOK_AHEAD", "SCORES", "RunDir", "read_run"]

JOURNAL, SCORES, ACCOUNT = "journal.sqlite", "scores.jsonl", "run.json"
VERSION = 1

LOOK_AHEAD = 50
"""Rows that are compared with those of an earlier run before the first call is made."""


class RunDir:
    """The directory of a run that is about to start, or to go on.

    Args:
        path: the directory; made if it is missing.
        metrics: what will be scored.
        settings: everything else that decides about scores, as plain JSON values; its ``chosen`` says which rows are scored.

    Raises:
        InvalidInput: the path is no directory, or one of other metrics, or it holds somebody else's files.
    """

    def __init__(self, path: Path, metrics: Sequence[Metric], settings: Mapping[str, Any]) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"run_dir {path} cannot be made a directory: {error.strerror}") from None
        self._account: dict[str, Any] = {
            "version": VERSION,
            "metrics": [
                {"name": item.name, "scale": list(item.scale) if item.scale else None, "settings": repr(item)}
                for item in metrics
            ],
            "chosen": settings["chosen"],
            "settings": _digest(json.dumps(settings, sort_keys=True, default=str)),
        }
        earlier = _account(path) if (path / ACCOUNT).exists() else None
        if earlier is None and (path / SCORES).is_file() and (path / SCORES).stat().st_size:
            raise InvalidInput(
                f"{path / SCORES} is not that of a run, for there is no {ACCOUNT} beside it: give another run_dir, or move the "
                "file away"
            )
        self.journal = Journal(path / JOURNAL)
        try:
            self._scores = ScoresFile(path / SCORES, writing=True)
            there = self._scores.records()
            if earlier is not None and there:
                _check_metrics(path, earlier, [item.name for item in metrics])
            self._known = {record.index: record.sample for record in islice(there, 4 * LOOK_AHEAD)}
        except BaseException:
            self.journal.close()
            raise
        self._rows = 0
        self._other_settings = earlier is not None and earlier["settings"] != self._account["settings"]
        # a few rows chosen out of many say nothing about the first ones; of such runs the name of the file must do
        self._other_choice = earlier is not None and earlier.get("chosen") != self._account["chosen"]
        parts = (earlier or {}).get("earlier", ()), (earlier or {}).get("models", ())
        spent = added_up(*([ModelUsage.from_dict(item) for item in part] for part in parts))
        self._account["earlier"] = [item.to_dict() for item in spent]
        self.earlier = spent
        self._earlier_source = earlier.get("source") if earlier is not None else None

    def start(self, source: Source) -> Iterator[Row]:
        """Begin; the rows to score.

        Raises:
            InvalidInput: the directory holds the scores of another data set.
        """
        comparable = not (self._other_choice and self._earlier_source == source.name)
        first = list(islice(source.rows, LOOK_AHEAD)) if self._known and comparable else []
        known = {_signature(sample) for sample in self._known.values()}
        if first and known.isdisjoint(_signature(row.sample) for row in first):
            raise InvalidInput(
                f"run_dir {self.path} holds the scores of another data set: none of the first rows of "
                f"{source.name or 'this one'} is among them. Give another run_dir"
            )
        edited = any(row.index in self._known and _text(row.sample) != _text(self._known[row.index]) for row in first)
        if self._other_settings or edited or not comparable:
            # what stands there belongs to other rows or another judge; all replies are still in the journal
            self._scores.clear()
        self._account["source"] = source.name
        self._write_account()
        return chain(first, source.rows)

    def add(self, record: Record) -> None:
        """Write a finished row."""
        self._scores.add(record)
        self._rows += 1

    def snapshot(self) -> Records:
        """What is finished by now, in input order; from any thread."""
        return ScoresFile(self.path / SCORES, writing=False).records()

    def finish(self, account: Mapping[str, Any], *, complete: bool) -> Records:
        """The run is over: one line per row. Rows of an earlier part of the run stay, unless this one has come to its end."""
        self._scores.settle(lambda index: not complete or index < self._rows)
        self._account.update(account)
        self._write_account()
        return self._scores.records()

    def close(self) -> None:
        """Nothing more will be kept."""
        self.journal.close()

    def _write_account(self) -> None:
        part = self.path / f".{ACCOUNT}.{os.getpid()}"
        try:
            part.write_text(json.dumps(self._account, ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path / ACCOUNT)
        except OSError as error:
            raise RagmetricsError(f"{self.path / ACCOUNT} cannot be written: {error.strerror}") from None


def read_run(path: Path) -> tuple[dict[str, Any], Records]:
    """The account and the records of a run.

    Raises:
        InvalidInput: the directory is not that of a run.
    """
    if not (path / ACCOUNT).exists():
        raise InvalidInput(f"{path} is not the directory of a run: it holds no {ACCOUNT}")
    account = _account(path)
    if not (path / SCORES).exists():
        raise InvalidInput(f"{path} holds no {SCORES}: no row was finished there")
    return account, ScoresFile(path / SCORES, writing=False).records()


def _account(path: Path) -> dict[str, Any]:
    file = path / ACCOUNT
    try:
        account: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read ({error}): give another run_dir") from None
    whole = isinstance(account, dict) and isinstance(account.get("metrics"), list) and "settings" in account
    if not whole or account.get("version") != VERSION:
        raise InvalidInput(f"{file} was not written by this version of ragmetrics: give another run_dir")
    return account


def _check_metrics(path: Path, earlier: Mapping[str, Any], names: Sequence[str]) -> None:
    there = [item["name"] for item in earlier["metrics"]]
    if sorted(there) != sorted(names):
        raise InvalidInput(
            f"run_dir {path} is that of other metrics (there: {', '.join(there)}; here: {', '.join(names)}): give another run_dir"
        )


def _signature(sample: Sample) -> str:
    """What makes a row the same row in an edited data set: its question; where it has none, its id; else all of it."""
    if isinstance(sample.user_input, str):
        return f"question {sample.user_input}"
    if sample.id is not None:
        return f"id {sample.id}"
    return _text(sample)


def _text(sample: Sample) -> str:
    return _digest(json.dumps(json_value(stored(sample)), sort_keys=True))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
