"""A run in Parquet files: one file, or a directory of them. Nothing is read before it is needed.

One row has the fields of its sample, and for each metric its value, label, error and costs as columns of one type. So
numbers and labels can be counted without reading evidence, and other programs can query them. What does not fit such a column is
JSON in two kinds of columns, so that every row comes back as it was: ``_sample`` has the rest of the sample, ``NAME_evidence`` the
rest of a score. Columns that begin with an underscore are of use to this program only.

The schema of each file has the settings of the run, as ``run.json`` has them, so that the files need no other file beside them.
Files of one directory are parts of one run, in the order of their names, and must have the same settings.

Rows are read with pyarrow. Columns are counted by SQL: DuckDB reads only the columns that a query names, on all cores, and the
memory that it needs does not grow with the number of rows.
"""

from __future__ import annotations

import glob
import json
import shutil
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from .._values._errors import InvalidInput, MissingExtra
from ._records import Record, Records, read_sample, read_score
from ._run_dir import RunAccount
from ._run_settings import MetricColumn, RunSettings, difference
from ._scores_file import Seal

HEAD = b"ragmetrics"
"""The key of the settings in the metadata of a schema."""

VERSION = 1
SUFFIXES = frozenset({".parquet", ".pq"})

TEXTS = ("user_input", "response", "reference")
LISTS = ("retrieved_contexts", "reference_contexts")
"""The fields of a sample that are columns if they are texts, and lists of texts."""

METADATA = "metadata."
"""The prefix of the columns of metadata, which have the value of each row as text."""

OF_ROW = {
    "_row": "int64",
    "_place": "string",
    "id": "string",
    **dict.fromkeys(TEXTS, "string"),
    "_sample": "string",
    "_id": "int64",
    "_question": "int64",
    "_reference": "int64",
    "_references": "int64",
    "_holds_verdict": "bool_",
    "_nested": "bool_",
    "_unusual": "bool_",
}
"""The columns of a row and their types; lists and the columns of metadata are not among them.

``_id``, ``_question``, ``_reference`` and ``_references`` are digests of the values by which rows of two runs are paired.
``_nested``: the metadata have a list or an object. ``_unusual``: a text of the row cannot be written to its column.
"""

OF_SCORE = {
    "": "float64",
    "_label": "string",
    "_error": "string",
    "_calls": "int64",
    "_tokens": "int64",
    "_seconds": "float64",
    "_evidence": "string",
    "_passing": "bool_",
    "_reason": "string",
    "_cached_calls": "int64",
    "_prompt_tokens": "int64",
    "_unusual": "bool_",
}
"""The columns of a score, after the name of its metric, and their types.

``_reason`` is why a score has no value: its reason, or its error without the place of the row, so that equal causes have equal
texts. The reason of a score with a value is part of its evidence. ``_unusual``: the score has several judgements, or another scale
than its metric, or a text that cannot be written to its column.
"""

GROUP = 50_000
"""The number of rows of a group, which are read together where rows are read."""

BATCH = 1000
"""The number of rows that are converted at a time."""

Prompts = Mapping[str, Mapping[str, Sequence[str]]]
"""For each metric, the versions of each prompt that was used, by the name of the prompt."""


def parquet_package(what: str) -> Any:
    """Return ``pyarrow.parquet``.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f'{what} needs pyarrow: pip install "ragmetrics-core[parquet]"') from None
    return pyarrow.parquet


def quoted(name: str) -> str:
    """Return the name of a column for SQL. A name may have any characters: it comes from a metric or from the metadata."""
    return '"' + name.replace('"', '""') + '"'


class Tables:
    """Runs in Parquet files as views of a database in memory. Queries open no other file, load no extension and use no network.

    What does not fit into memory is written to a temporary directory, which is deleted with this object.

    Args:
        runs: for each view its name, which is part of queries, and the run.

    Raises:
        MissingExtra: duckdb is not installed.
    """

    def __init__(self, **runs: ParquetRecords) -> None:
        self._paths = " or ".join(str(run.path) for run in runs.values())
        try:
            import duckdb  # noqa: PLC0415
        except ImportError:
            needs = f"counting the rows of {self._paths} needs duckdb"
            raise MissingExtra(f'{needs}: pip install "ragmetrics-core[parquet]"') from None
        self._duckdb = duckdb
        folder = tempfile.mkdtemp(prefix="ragmetrics-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        off = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), False)
        self._connection = duckdb.connect(config={"temp_directory": folder, **off})
        self._connection.execute("SET parquet_metadata_cache = true")
        with self._damage():
            for name, run in runs.items():
                files = [glob.escape(str(file.absolute())) for file in run.files]
                # without hive_partitioning=False, a directory named lang=de would be a column
                self._connection.read_parquet(files, union_by_name=True, hive_partitioning=False).create_view(name)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Turn the errors of files into errors of this package. An error of a query is raised unchanged: it is a bug."""
        try:
            yield
        except self._duckdb.ProgrammingError:
            raise
        except self._duckdb.Error as error:
            raise InvalidInput(f"{self._paths} cannot be read ({error}): copy its files again") from None

    def query(self, sql: str, *values: object) -> list[Any]:
        """Return the rows of a query, as tuples.

        Args:
            sql: the query; names of columns must be ``quoted``.
            values: the values of its parameters, each of which is a ``?`` in the query.

        Raises:
            InvalidInput: a file is damaged.
        """
        with self._damage():
            return self._connection.cursor().execute(sql, values).fetchall()


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a run at this path; empty if there are none."""
    if path.is_dir():
        return sorted(
            file for file in path.iterdir() if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
        )
    return [path] if path.suffix.lower() in SUFFIXES and path.exists() else []


def head_of(
    metrics: Sequence[MetricColumn],
    settings: RunSettings | None,
    account: RunAccount,
    *,
    unique: bool | None,
    prompts: Prompts | None,
) -> dict[bytes, bytes]:
    """Return the metadata of the schema of each file of a run.

    Args:
        metrics: the metrics of the run.
        settings: what determines its scores; None if unknown.
        account: how the run went; its seal has the number of its rows.
        unique: whether no two rows have the same id, or without ids the same texts; None if unknown.
        prompts: the prompts that were used; None if unknown.
    """
    content = {
        "version": VERSION,
        "metrics": [item.to_dict() for item in metrics],
        "settings": settings and settings.to_dict(),
        "account": account.to_dict(),
        "fault": account.fault,
        "unique": unique,
        "prompts": prompts,
    }
    return {HEAD: json.dumps(content).encode()}


class ParquetRecords(Records):
    """The records of a run in Parquet files. A row is read when it is used, with the rows of its group.

    Attributes:
        path: the file or the directory.
        files: the files, in order.
        metrics: the metrics of the run.
        settings: what determines its scores; None if unknown.
        account: how the run went.
        unique: whether no two rows have the same id, or without ids the same texts; None if unknown.
        prompts: the prompts that were used; None if unknown.

    Raises:
        InvalidInput: a file cannot be read or was not written by this program, or files are not of one run.
        MissingExtra: pyarrow is not installed.
    """

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self.path = path
        self.files = list(files)
        package = parquet_package(f"reading {path}")
        self._opened = [_open(package, file) for file in files]
        heads = [_head(file, opened) for file, opened in zip(files, self._opened, strict=True)]
        self.metrics, self.settings, self.account, self.unique, self.prompts = heads[0]
        for file, opened, head in zip(files, self._opened, heads, strict=True):
            _check_same(files[0], file, heads[0], head)
            _check_columns(file, opened.schema_arrow, [item.name for item in self.metrics])
        self._groups = [
            (file, group) for file, opened in enumerate(self._opened) for group in range(opened.num_row_groups)
        ]
        sizes = (self._opened[file].metadata.row_group(group).num_rows for file, group in self._groups)
        self._starts = list(accumulate(sizes, initial=0))
        self._cached: tuple[int, Any] = (-1, None)
        self._check_names()
        self._check_number()

    def _check_names(self) -> None:
        """Check that no two columns have names that are equal for SQL."""
        names: dict[str, str] = {}
        for name in (name for opened in self._opened for name in opened.schema_arrow.names):
            same = names.setdefault(name.lower(), name)
            if same != name:
                raise InvalidInput(f"{self.path}: the columns {same!r} and {name!r} differ only in case: rename one")

    def _check_number(self) -> None:
        seal, there = self.account.seal, len(self)
        if seal is not None and seal.rows != there:
            what = f"the run ended with {seal.rows} row{'s' * (seal.rows != 1)}, and {there} are there"
            self.unique = None
            self.account = replace(
                self.account, fault="damaged", stopped=f"{self.path} is damaged: {what}: copy its files again"
            )

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __iter__(self) -> Iterator[Record]:
        for group in range(len(self._groups)):
            for batch in self._read(group).to_batches(max_chunksize=BATCH):
                yield from map(self._record, batch.to_pylist())

    def _at(self, index: int) -> Record:
        index = range(len(self))[index]
        group = bisect_right(self._starts, index) - 1
        if self._cached[0] != group:
            self._cached = (group, self._read(group))
        return self._record(self._cached[1].slice(index - self._starts[group], 1).to_pylist()[0])

    def _read(self, group: int) -> Any:
        """Return the rows of a group."""
        file, number = self._groups[group]
        try:
            return self._opened[file].read_row_group(number)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{self.files[file]} is damaged ({error}): copy the file again") from None

    @cached_property
    def tables(self) -> Tables:
        """The run as a view named ``run``."""
        return Tables(run=self)

    def metadata_columns(self) -> list[str]:
        """Return the names of the columns of metadata, in order."""
        names = (name for opened in self._opened for name in opened.schema_arrow.names)
        return [name for name in dict.fromkeys(names) if name.startswith(METADATA)]

    def is_plain(self, flags: Iterable[str], numbers: Iterable[str]) -> bool:
        """Whether no row is true in a column of flags, or has NaN or infinity in a column of numbers."""
        flagged = " UNION ALL ".join(f"(SELECT 1 FROM run WHERE {quoted(name)} LIMIT 1)" for name in flags)
        # no WHERE, as DuckDB skips groups by their lowest and highest number, and NaN is neither
        finite = " AND ".join(f"bool_and(isfinite({quoted(name)})) IS NOT FALSE" for name in numbers)
        return not self.tables.query(flagged) and bool(self.tables.query(f"SELECT {finite} FROM run")[0][0])

    def _record(self, row: Mapping[str, Any]) -> Record:
        sample = {name: row[name] for name in ("id", *TEXTS, *LISTS) if row[name] is not None}
        try:
            sample |= json.loads(row["_sample"] or "{}")
            place = sample.pop("_place", row["_place"])
            scores = {item.name: _score(row, item) for item in self.metrics}
            return Record(int(row["_row"]), place, read_sample(sample), scores)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidInput(f"{self.path}: the row of {row['_place']} cannot be read: {error}") from None


def _score(row: Mapping[str, Any], item: MetricColumn) -> Any:
    name = item.name
    usage = {part: row[f"{name}_{part}"] or 0 for part in ("calls", "prompt_tokens", "cached_calls", "seconds")}
    usage["completion_tokens"] = (row[f"{name}_tokens"] or 0) - usage["prompt_tokens"]
    parts = {part: row[f"{name}_{part}"] for part in ("label", "error", "passing")}
    parts["reason"] = row[f"{name}_reason"] if parts["error"] is None else None
    data = {"metric": name, "scale": item.scale, "value": row[name], **parts, "usage": usage}
    return read_score(data | json.loads(row[f"{name}_evidence"] or "{}"))


def _open(package: Any, file: Path) -> Any:
    try:
        return package.ParquetFile(file.absolute())  # pyarrow takes s3:/x for an address
    except (ValueError, OSError) as error:
        raise InvalidInput(f"{file} is not a Parquet file that can be read: {error}") from None


def _foreign(file: Path, why: str) -> InvalidInput:
    cure = "give files that Evaluation.to_parquet wrote, or score these rows with evaluate"
    return InvalidInput(f"{file} does not hold the scores of a run ({why}): {cure}")


Head = tuple[tuple[MetricColumn, ...], RunSettings | None, RunAccount, bool | None, Prompts | None]
"""What a schema says of a run: its metrics, its settings, how it went, whether rows are known to be unique, and its prompts."""


def _head(file: Path, opened: Any) -> Head:
    written = (opened.schema_arrow.metadata or {}).get(HEAD)
    if written is None:
        raise _foreign(file, "its schema contains no settings of a run")
    try:
        head = json.loads(written)
        if not isinstance(head, dict) or head.get("version") != VERSION:
            raise _foreign(file, "it was written by another version of ragmetrics")
        return (
            tuple(map(MetricColumn.from_dict, head["metrics"])),
            None if head["settings"] is None else RunSettings.from_dict(head["settings"]),
            replace(RunAccount.from_dict(head["account"]), fault=head["fault"]),
            head["unique"],
            head.get("prompts"),
        )
    except InvalidInput:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise _foreign(file, f"its settings cannot be read: {error}") from None


def _check_same(first: Path, other: Path, there: Head, here: Head) -> None:
    """Check that two files have the same settings."""
    what = "one has another account of the run than the other" if there[2] != here[2] else ""
    if there[1] is None or here[1] is None:
        what = "the settings of only one are known" if there[1] != here[1] else what
    else:
        what = difference(there[1], here[1]) or what
    if there[0] != here[0]:
        names = [", ".join(item.name for item in head[0]) for head in (there, here)]
        what = (
            "metrics with other settings"
            if names[0] == names[1]
            else f"other metrics (there: {names[0]}; here: {names[1]})"
        )
    if what:
        raise InvalidInput(f"{first} and {other} are not parts of one run: {what}: put each run into its own directory")


def types_of_row() -> dict[str, Any]:
    """Return the types of the columns of a row, without the columns of its metadata and scores."""
    import pyarrow as pa  # noqa: PLC0415

    return {name: getattr(pa, kind)() for name, kind in OF_ROW.items()} | dict.fromkeys(LISTS, pa.list_(pa.string()))


def types_of_scores(metrics: Iterable[str]) -> dict[str, Any]:
    """Return the types of the columns of scores."""
    import pyarrow as pa  # noqa: PLC0415

    return {f"{metric}{part}": getattr(pa, kind)() for metric in metrics for part, kind in OF_SCORE.items()}


def _check_columns(file: Path, schema: Any, metrics: Sequence[str]) -> None:
    there = dict(zip(schema.names, schema.types, strict=True))
    for name, kind in (types_of_row() | types_of_scores(metrics)).items():
        if name not in there:
            raise _foreign(file, f"it has no column {name!r}")
        if there[name] != kind:
            raise _foreign(file, f"its column {name!r} has the type {there[name]}, not {kind}")


def sealed(account: RunAccount, rows: int) -> RunAccount:
    """Return the account of a run that ends with this number of rows."""
    return replace(account, seal=Seal(rows))
