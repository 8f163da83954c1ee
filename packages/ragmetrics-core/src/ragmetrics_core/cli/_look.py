"""Show how the rows of DATA are understood: format, columns, first rows, problems, metrics that fit. No model is called.

\b
Examples:
  ragmetrics look export.csv
  ragmetrics look export.csv --encoding cp1252 --map question=Frage
  bq query --format=json 'SELECT ...' | ragmetrics look -

Exit status: 0 there are rows that can be read; 2 there are none, or the file cannot be read to its end; 70 a bug; 130 stopped.
"""

# Texts of the data are shown on one line each, cut to the width, with control characters as escapes.

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import typer

from .._read._columns import Columns
from .._read._input_file import FileOptions
from .._read._look import Look, keys_of, likely, look_at, rule
from .._show._tables import first_of, hanging, room, whole, wrapped
from .._values._counts import count_of
from .._values._layout import cells, printable, within
from .._values._plain import json_walk
from .._values._sample import Sample
from ._options import AT, DATA, ENCODING, flag, option
from ._output import clear_errors, complain, in_cli_words, say
from ._parsing import COLUMNS, SEPARATOR, SHORT, fitting_metrics, map_for, parse_columns
from ._traces import TRACES, Traces, samples_in

ROWS = option("N", "Rows to show; all are looked at.", "--rows", least=0, default=3)
AS_JSON = flag("--json", "Print one JSON object, for programs.")

ORDER = [item.name for item in fields(Sample)]

READABLE = json_walk(str)
"""Turns dates and any other values of a file into plain JSON values."""

MOST_ITEMS = 5
"""The number of items of a list that are shown."""

MOST_COLUMNS = 40
"""The number of columns that are named as candidates for a field."""


def look(
    data: str = DATA,
    *,
    rows: int = ROWS,
    encoding: str | None = ENCODING,
    at: str | None = AT,
    columns: list[str] | None = COLUMNS,
    separator: str | None = SEPARATOR,
    traces: bool = TRACES,
    as_json: bool = AS_JSON,
) -> None:
    """Show how the rows of a file are understood."""
    with clear_errors(), samples_in(data, traces=traces) as samples:
        reading = Columns(parse_columns(columns or []), separator)
        read = (sample.to_dict() for sample in samples) if isinstance(samples, Traces) else samples
        content, error = look_at(read, rows, reading, FileOptions(encoding, at))
        if isinstance(samples, Traces):
            content.name, content.form = data, lambda: "traces"
        mapped = {item.field: item.column for item in reading.mapped}
        if error is not None and not content.rows:
            raise error
        if as_json:
            unread = {"unreadable": dict(samples.unread)} if isinstance(samples, Traces) else {}
            say(json.dumps({**_as_json(content, mapped), **unread}, indent=1))
        else:
            say("\n\n".join("\n".join(part) for part in _parts(content, mapped) if part))
        if error is not None:
            raise error
        if not content.good:
            complain("no row can be scored: see the problems above")
            raise typer.Exit(2)


def _parts(found: Look, mapped: Mapping[str, str]) -> Iterator[list[str]]:
    """Return the paragraphs of the output."""
    bad = f", {found.bad:,} of them with a problem" if found.bad else ""
    yield hanging(f"{found.name}: {found.form()}: {count_of(found.rows, 'row')}{bad}", room())
    yield list(_columns(found, mapped))
    for place, sample in found.first:
        yield [printable(place), *_shown(sample)]
    if found.problems:
        more = found.bad - len(found.problems)
        texts = [in_cli_words(problem) for problem in found.problems] + ([f"and {more:,} more"] if more else [])
        yield ["problems:", *(line for text in texts for line in wrapped(printable(text), room(), indent="  "))]
    if metrics := fitting_metrics(found.sample):
        yield wrapped(f"metrics that fit: {', '.join(metrics)}", room())
    else:
        yield ["no built-in metric fits (`ragmetrics metrics` lists what each needs)"]


def _columns(found: Look, mapped: Mapping[str, str]) -> Iterator[str]:
    """Say which column is which field, and what to do if a field has no column."""
    width = max(map(len, found.fields), default=0)
    digits = len(f"{found.rows:,}")
    for name in sorted(found.fields, key=ORDER.index):
        (columns, _), *others = found.fields[name].most_common()
        also = f"; other rows: {first_of([', '.join(other) for other, _ in others])}" if others else ""
        filled = f"{found.filled[name]:>{digits},} of {found.rows:,}"
        yield _cut(f"{name:<{width}}  {filled}  {first_of(columns)} ({rule(name, columns, mapped)}{also})")
    missing = [name for name in SHORT if name not in found.fields]
    if found.unused:
        names = first_of(_unused(found, bool(missing)), MOST_COLUMNS if missing else MOST_ITEMS)
        yield from hanging(f"not used: {names} (kept as metadata)", room())
    if missing and found.unused:
        yield from _advice(f"no column for {', '.join(missing)}: if there is one, name it with", map_for(missing))
    for name, short in SHORT.items():
        if keys := keys_of(found.values.get(name)):
            (column, *_), _ = found.fields[name].most_common(1)[0]
            text = f"{name} is an object with {first_of(keys)}: if one of these is meant, write"
            yield from _advice(text, f"--map {short}={column}.{likely(keys, name)}")
    for sentence in found.doubts.sentences():
        yield from hanging(printable(sentence), room())


def _advice(text: str, option: str) -> Iterator[str]:
    """Return the lines of an advice; text to be copied is not broken."""
    return iter(hanging(f"{text} {whole(option)}", room()))


def _unused(found: Look, parts: bool) -> list[str]:
    """Return columns that no field was read from; for columns with objects, their parts, which may contain a field."""
    names = []
    for column in found.unused:
        keys = found.inside.get(column) if parts else None
        names += [f"{column}.{key}" for key in keys or ()] or [column.strip() or "(a column without a name)"]
    if parts and "metadata" in found.fields:
        others = {column.partition(".")[0] for column in found.unused}  # these columns are listed already
        names += [f"metadata.{key}" for key in found.values.get("metadata", ()) if key.partition(".")[0] not in others]
    return names


def _shown(sample: Sample) -> Iterator[str]:
    for name, value in sample.to_dict().items():
        if isinstance(value, list | tuple):
            yield f"  {name}: {len(value)}"
            for number, item in enumerate(value[:MOST_ITEMS], 1):
                yield _cut(f"    {number}. {_one_line(item)}")
            if len(value) > MOST_ITEMS:
                yield f"    and {len(value) - MOST_ITEMS} more"
        else:
            yield _cut(f"  {name}: {_one_line(value)}")


def _one_line(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(READABLE(value), ensure_ascii=False)


def _cut(text: str) -> str:
    shown, width = printable(text), room()
    return shown if cells(shown) <= width else f"{within(shown, width - 3)}..."


def _as_json(found: Look, mapped: Mapping[str, str]) -> dict[str, Any]:
    origins_of = {
        name: {
            "rows": found.filled[name],
            "columns": [
                {"columns": list(columns), "rule": rule(name, columns, mapped), "rows": count}
                for columns, count in origins.most_common()
            ],
        }
        for name, origins in found.fields.items()
    }
    return {
        "file": found.name,
        "form": found.form(),
        "rows": found.rows,
        "good": found.good,
        "fields": origins_of,
        "unused": dict(found.unused),
        "metrics": fitting_metrics(found.sample),
        "doubts": list(found.doubts.sentences()),
        "problems": [in_cli_words(problem) for problem in found.problems],
        "first": [{"place": place, **READABLE(sample.to_dict())} for place, sample in found.first],
    }
