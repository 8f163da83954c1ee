"""What a row is called: by its id, else by where it stands in its file."""

from __future__ import annotations

from .._store._records import Record
from ._slices import as_label


def name_of(record: Record) -> str:
    """As labels, comparisons and pages call it: a name by which a row is found again in another file."""
    return as_label(record.sample.id) or _short_place(record)


def row_name(record: Record) -> str:
    """As tables and terminals call it: the id to the letter."""
    row_id = record.sample.id
    return str(row_id) if row_id is not None else _short_place(record)


def _short_place(record: Record) -> str:
    """Where it stands in its file, such as ``line 7``."""
    return record.place.rpartition(", ")[2]
