"""Metrics as an option of a command: those that are named, and those that could be."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import NoReturn

from ragmetrics_core import InvalidInput, Metric, Sample

from .._names._metrics import metrics_named, unset
from .._read import Columns, FileOptions, open_rows
from .._show._tables import first_of, room, wrapped
from ..metrics import Entry, catalogue


def parse_metrics(texts: Iterable[str]) -> list[Metric]:
    """The metrics that the texts name; those of a user's own are looked for in the current directory too, as ``python -m`` does.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be read or do not fit.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return metrics_named(texts)


def fitting_metrics(sample: Sample) -> list[str]:
    """Names of the built-in metrics whose inputs the sample has, and which work without settings."""
    fitting = []
    for entry in catalogue():
        required = [item.name for item in entry.inputs if item.required]
        # a metric that requires no input learns from its settings what to look at
        if required and all(sample.get(name) is not None for name in required) and not unset(entry.cls, {}):
            fitting.append(entry.name)
    return fitting


def propose_metrics(data: str, columns: Columns, file: FileOptions) -> NoReturn:
    """Name the metrics that fit the columns of a file.

    Raises:
        InvalidInput: always; the message holds their names.
    """
    opened = open_rows(data, 1, columns, file)
    row = next(opened.rows)
    if row.problem is not None:
        raise InvalidInput(
            "choose metrics with --metrics a,b; none can be proposed, for the first row cannot be read: ",
            *row.problem.args,
        )
    fitting = ", ".join(fitting_metrics(row.sample))
    if not fitting:
        raise InvalidInput(
            f"choose metrics with --metrics a,b; no built-in one fits the columns of {opened.name}: "
            f"{_columns(row.sample)} (`ragmetrics metrics` lists what each needs, "
            f"`ragmetrics look {shlex.quote(data)}` what was read)"
        )
    raise InvalidInput(f"choose metrics with --metrics a,b; these fit the columns of {opened.name}: {fitting}")


def _columns(sample: Sample) -> str:
    """The columns that a row has."""
    known = [item.name for item in fields(sample) if item.name != "metadata"]
    names = [name for name in known if getattr(sample, name) is not None] + [str(name) for name in sample.metadata]
    return first_of(names)


def described(entry: Entry) -> str:
    """A metric of the catalogue: its name, what it says, what it takes and costs, where it comes from."""
    inputs = ", ".join(item.name + "?" * (not item.required) for item in entry.inputs) or "as declared"
    scale = f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"
    about = [
        entry.summary.replace("``", ""),
        f"inputs (? = optional): {inputs}",
        f"scale: {scale}; calls: {'1 per retrieved context' if entry.calls == 'n' else entry.calls}",
        f"source: {entry.source.replace('``', '')}",
    ]
    lines = [line for text in about for line in wrapped(text, room(), indent="  ")]
    return "\n".join([entry.name, *lines])
