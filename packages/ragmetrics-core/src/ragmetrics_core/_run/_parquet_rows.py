"""Write the rows of a run as Parquet files, which ``_store._parquet`` describes and reads.

Rows are written in groups, so memory does not grow with their number. They are read twice: the first time to learn the keys of
the metadata, which are columns, and whether two rows have the same id.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from .._kernel._repeated import holds_verdict, judged_text
from .._kernel._wording import to_json
from .._store._files import replace_file
from .._store._parquet import (
    BATCH,
    GROUP,
    LISTS,
    METADATA,
    OF_ROW,
    OF_SCORE,
    SUFFIXES,
    TEXTS,
    Prompts,
    head_of,
    parquet_package,
    sealed,
    types_of_row,
    types_of_scores,
)
from .._store._records import Record, json_value, score_dict
from .._store._run_dir import RunAccount
from .._store._run_settings import MetricColumn
from .._values._errors import InvalidInput
from .._values._score import Score
from ._columns import REFERENCES, RunRow
from ._export import SURROGATE
from ._judgements import JUDGED, prompts_of
from ._scored_rows import ScoredRows
from ._slices import as_label, cause_of, row_name

MOST_KEYS = 200
"""The largest number of keys of the metadata that are columns. With more, slices are found by reading rows."""


def write_parquet(run: ScoredRows, path: Path, rows_per_file: int | None) -> None:
    """Write the rows of a run; ``Evaluation.to_parquet`` describes the arguments and the errors."""
    package = parquet_package("to_parquet()")
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415

    one = path.suffix.lower() in SUFFIXES
    if rows_per_file is not None and (one or isinstance(rows_per_file, bool) or rows_per_file < 1):
        wrong = f"must be a whole number, at least 1, got {rows_per_file!r}"
        several = f"a directory has several files, and {path} is one: leave rows_per_file out"
        raise InvalidInput(f"to_parquet: rows_per_file: {several if one else wrong}")
    if not one and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InvalidInput(f"to_parquet: {path} exists and is not an empty directory: give another path")
    if not len(run):
        raise InvalidInput("to_parquet: the run has no finished row: there is nothing to write")
    keys, unique, prompts = _keys(run.records)
    account = RunAccount(**{name: getattr(run, name) for name in vars(RunAccount()) if name != "seal"})
    head = head_of(run.metrics, run.settings, sealed(account, len(run)), unique=unique, prompts=prompts)
    schema = schema_of(run.metrics, keys, head)
    if not one:
        path.mkdir(parents=True, exist_ok=True)
    size, records = len(run) if one else rows_per_file or 1_000_000, iter(run.records)
    for number, start in enumerate(range(0, len(run), size)):
        with (
            replace_file(path if one else path / f"part-{number:05}.parquet") as file,
            package.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            part = islice(records, min(size, len(run) - start))
            while tables := [table_of(rows, run.metrics, schema) for rows in _batches(islice(part, GROUP))]:
                writer.write_table(pa.concat_tables(tables), row_group_size=GROUP)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    while rows := list(islice(records, BATCH)):
        yield rows


def _keys(records: Iterable[Record]) -> tuple[list[str], bool, Prompts]:
    """Return the keys of the metadata, whether no two rows have the same id, or without ids the same texts, and the prompts."""
    keys: dict[str, None] = {}
    prompts: dict[str, dict[str, list[str]]] = {}
    digests = array("q")
    for index, record in enumerate(records):
        if len(keys) <= MOST_KEYS:
            keys.update(dict.fromkeys(str(key) for key in record.sample.metadata))
        for metric, score in record.scores.items():
            for name, version in prompts_of(score.unread):
                versions = prompts.setdefault(metric, {}).setdefault(name, [])
                versions.extend({version}.difference(versions))
        row = RunRow.of(record, index)
        digests.append(_digest(["id", row.id] if row.id is not None else row.texts or index) or 0)
    columns: dict[str, str] = {}
    for key in keys if len(keys) <= MOST_KEYS else ():
        if _is_name(key):
            columns.setdefault(key.lower(), key)  # names of columns in SQL do not differ only in case
    return list(columns.values()), len(set(digests)) == len(digests), prompts


def schema_of(metrics: Sequence[MetricColumn], keys: Iterable[str], head: Mapping[bytes, bytes]) -> Any:
    """Return the schema of the files of a run.

    Args:
        metrics: the metrics of the run.
        keys: the keys of the metadata that are columns.
        head: the metadata of the schema.

    Raises:
        InvalidInput: two columns would have the same name, where upper and lower case are equal as in SQL.
    """
    import pyarrow as pa  # noqa: PLC0415

    fields = [*types_of_row().items(), *((f"{METADATA}{key}", pa.string()) for key in keys)]
    for item in metrics:  # one at a time, so that columns of the same name are found
        fields += types_of_scores([item.name]).items()
    names: set[str] = set()
    for name, _ in fields:
        if name.lower() in names or not _is_name(name):
            raise InvalidInput(f"to_parquet: two columns would have the name {name!r}: rename the metric")
        names.add(name.lower())
    return pa.schema(fields, metadata=dict(head))


def table_of(records: Sequence[Record], metrics: Sequence[MetricColumn], schema: Any) -> Any:
    """Return rows and their scores as a table with the columns of this schema."""
    import pyarrow as pa  # noqa: PLC0415

    keys = [name.removeprefix(METADATA) for name in schema.names if name.startswith(METADATA)]
    rows = [_row(record, keys) for record in records]
    columns = {name: [row.get(name) for row in rows] for name in rows[0]}
    for item in metrics:
        columns |= score_columns(item, records)
    return pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)


def score_columns(item: MetricColumn, records: Sequence[Record]) -> dict[str, list[Any]]:
    """Return the scores of a metric as columns of plain values, by their names."""
    shown: dict[int, Any] = {}
    rows = [_of_score(item, record.scores[item.name], record.place, shown) for record in records]
    return {f"{item.name}{part}": [row.get(part) for row in rows] for part in OF_SCORE}


def _of_score(item: MetricColumn, score: Score, place: str, shown: dict[int, Any]) -> dict[str, Any]:
    """Return the columns of one score, without the name of its metric. What does not fit a column joins the evidence."""
    data, usage = score_dict(score, shown), score.usage
    unusual = not JUDGED.isdisjoint(data["details"]) or (score.value is not None and score.scale != item.scale)
    row: dict[str, Any] = {"": data.pop("value"), "_passing": data.pop("passing")}
    for name in ("label", "error"):
        if data[name] is None or _fits(data[name]):
            row[f"_{name}"] = data.pop(name)
        else:
            unusual = True
    cause = None if score.value is not None else cause_of(score.error, score.reason, item.name, place)
    unusual = unusual or not (cause is None or _fits(cause))
    row["_reason"] = None if unusual else cause
    if data["reason"] is None or data["reason"] == row["_reason"]:
        del data["reason"]
    row |= {"_calls": usage.calls, "_tokens": usage.prompt_tokens + usage.completion_tokens}
    row["_seconds"] = usage.seconds or None
    row |= {"_cached_calls": usage.cached_calls, "_prompt_tokens": usage.prompt_tokens, "_unusual": unusual}
    usual: dict[str, Any] = {"metric": item.name, "scale": item.scale and list(item.scale), "details": {}}
    data = {name: value for name, value in data.items() if name not in ("state", "usage")}
    data = {name: value for name, value in data.items() if name not in usual or value != usual[name]}
    return row | {"_evidence": to_json(data) if data else None}


def _row(record: Record, keys: Sequence[str]) -> dict[str, Any]:
    """Return the columns of one row, without the columns of its scores."""
    sample: dict[str, Any] = json_value(record.sample)
    name, row = row_name(record), dict.fromkeys([*OF_ROW, *LISTS])
    row |= {"_row": record.index, "_unusual": not (_fits(record.place) and _fits(name) and name)}
    if record.sample.id is not None and _fits(name):
        row["id"] = name
        if sample["id"] == name:
            del sample["id"]
    for field in (*TEXTS, *LISTS):
        value = sample.get(field)
        if _fits(value) if field in TEXTS else isinstance(value, list) and all(map(_fits, value)):
            row[field] = sample.pop(field)
    if _fits(record.place):
        row["_place"] = record.place
    else:
        sample["_place"] = record.place
    metadata = sample.get("metadata", {})
    labels = {key: as_label(value) for key, value in metadata.items() if not isinstance(value, dict | list)}
    row |= {f"{METADATA}{key}": labels.get(key) if _fits(labels.get(key)) else None for key in keys}
    known = set(keys)
    hidden = (key not in known or (label is not None and not _fits(label)) for key, label in labels.items())
    row["_nested"] = len(labels) < len(metadata) or any(hidden)
    row["_holds_verdict"] = holds_verdict(judged_text(record.sample))
    return row | _digests(RunRow.of(record, record.index)) | {"_sample": to_json(sample) if sample else None}


def _digests(row: RunRow) -> dict[str, int | None]:
    """Return digests of the values by which rows of two runs are paired."""
    return {
        "_id": _digest(row.id),
        "_question": _digest(row.question),
        "_reference": _digest(row.references.get(REFERENCES[0])),
        "_references": _digest(dict(row.references) or None),
    }


def _digest(value: Any) -> int | None:
    """Return a digest of a value as a signed number of 64 bits; None for None."""
    if value is None:
        return None
    text = json.dumps(value, sort_keys=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _fits(value: Any) -> bool:
    """Whether the value is a text that can be encoded."""
    return isinstance(value, str) and (value.isascii() or not SURROGATE.search(value))


def _is_name(text: str) -> bool:
    """Whether a text can be the name of a column in SQL."""
    return _fits(text) and "\0" not in text
