"""Join several runs into one: their rows one after the other, in a directory as any run has it.

The runs may have different metrics. A row then has the scores of the metrics that were asked about it. For every other metric it
has a score that says "not asked" (see ``_values._score.not_asked``), which counts nowhere.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from .._store._files import ANOTHER, SCORES, replace_file
from .._store._loaded_run import LoadedRun
from .._store._lock import only_writer
from .._store._prices import add_up
from .._store._records import KeptRecords, Record, json_value, record_line
from .._store._run_dir import ACCOUNT, RunAccount, read_account, write_account
from .._store._run_settings import RunSettings, digest_of, join_settings
from .._store._scores_file import Seal
from .._values._errors import InvalidInput, Setting
from .._values._score import is_asked, not_asked
from ._evaluation import Evaluation


def join_runs(
    runs: Iterable[Evaluation],
    run_dir: str | os.PathLike[str] | None = None,
    *,
    places: Sequence[str] | None = None,
    once: bool = False,
    replace: bool = False,
) -> Evaluation:
    """Join the rows of several runs, such as the runs of several processes, into one run. Their metrics may differ.

    Args:
        runs: the runs, at least one.
        run_dir: a directory for the result, for ``Evaluation.load`` and for every command that takes a run.
        places: the place of each row, in the order of the runs and their rows; default: its place in its run.
        once: merge rows that are the same in every field into one, with the first score of each metric; without it each row
            counts.
        replace: overwrite a run in the run_dir; without it such a run is refused.

    Raises:
        InvalidInput: no runs; settings, metrics of one name or their judges differ; wrong places; or the directory has a run.
    """
    parts = list(runs)
    if not parts:
        raise InvalidInput("runs is empty: give at least one Evaluation")
    settings = join_settings([_settings(part) for part in parts])
    scales = {item.name: item.scale for item in settings.metrics}
    rows = sum(map(len, parts))
    if places is not None and len(places) != rows:
        raise InvalidInput(f"places must have one entry for each of the {rows} rows, got {len(places)}")
    records = _records(parts, scales, places)
    if once:
        records = _each_once(records)
    account = _account(parts)
    if run_dir is None:
        kept_records = KeptRecords()
        for record in records:
            kept_records.add(record)
        return Evaluation.of(LoadedRun(settings.metrics, account, kept_records, settings))
    path = Path(run_dir)
    with only_writer(path):
        _check_free(path, replace=replace)
        write_account(path, settings, account)  # the seal of the run that was there goes before its scores
        seal = Seal()
        with replace_file(path / SCORES) as file:
            for record in records:
                line = record_line(record).encode()
                seal.add(line)
                file.write(line)
        write_account(path, settings, dataclasses.replace(account, seal=seal))
    return Evaluation.load(path)


def _settings(part: Evaluation) -> RunSettings:
    if not isinstance(part, Evaluation):
        raise InvalidInput(f"runs must be Evaluations, got {type(part).__name__}")
    if part.settings is None:
        raise InvalidInput(
            f"{part.source or 'a run'} cannot be joined to others: its metrics and models are unknown, because it is a file of "
            "scores or its run.json is damaged"
        )
    part.check_all_rows("a run that is joined from it")
    return part.settings


def _check_free(path: Path, *, replace: bool) -> None:
    if not replace and ((path / SCORES).exists() or read_account(path) is not None):
        why = f" holds a run already ({SCORES}, {ACCOUNT}): "
        raise InvalidInput(Setting("run_dir", str(path)), why, *ANOTHER, ", or ", Setting("replace", True))


def _records(
    parts: Sequence[Evaluation], scales: Mapping[str, tuple[float, float] | None], places: Sequence[str] | None
) -> Iterator[Record]:
    for index, record in enumerate(chain.from_iterable(part.records for part in parts)):
        scores = {
            name: record.scores[name] if name in record.scores else not_asked(name, scale)
            for name, scale in scales.items()
        }
        yield Record(index, record.place if places is None else places[index], record.sample, scores)


def _each_once(records: Iterable[Record]) -> Iterator[Record]:
    """Return the records without duplicate rows, with new numbers."""
    found: dict[str, Record] = {}
    for record in records:
        key = digest_of(json.dumps(json_value(record.sample), sort_keys=True))
        there = found.get(key)
        if there is None:
            found[key] = Record(len(found), record.place, record.sample, record.scores)
            continue
        there.scores = {name: score if is_asked(score) else record.scores[name] for name, score in there.scores.items()}
    return iter(found.values())


def _account(parts: Sequence[Evaluation]) -> RunAccount:
    """Return the account of the joined run; seconds and calls are summed."""
    seconds = [part.seconds for part in parts if part.seconds is not None]
    waited: dict[str, float] = {}
    for part in parts:
        for name, total in part.waited.items():
            waited[name] = waited.get(name, 0.0) + total
    sources = {part.source for part in parts}
    return RunAccount(
        source=sources.pop() if len(sources) == 1 else "",
        seconds=sum(seconds) if len(seconds) == len(parts) else None,
        models=add_up(*(part.models for part in parts)),
        earlier=add_up(*(part.earlier for part in parts)),
        caveats=tuple(dict.fromkeys(chain.from_iterable(part.caveats for part in parts))),
        waited=waited,
        stopped=next((part.stopped for part in parts if part.stopped is not None), None),
    )
