"""The evidence of rows in a page: everything that is known of a row, in blocks that are unpacked when a row is looked at.

Strategy. A page has a size that can be sent to somebody. So the evidence of the worst rows goes in first, and what no longer fits
is left out; the page says how many rows that concerns. A block holds some dozens of rows: fewer would compress badly, more would
have to be unpacked for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._store._exchanges import Exchanges
from .._store._records import Record, json_value, record_dict
from .._store._run_settings import MetricColumn, row_digest
from ._html_packed import packed

ROWS = 48
"""Rows of a block."""


@dataclass(frozen=True)
class Evidence:
    """The blocks of a page.

    Attributes:
        blocks: each the packed records of some rows, by their index.
        rows: the indices of the rows of each block, in the order of the records in it.
        left_out: the indices of the rows that did not fit.
    """

    blocks: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    left_out: frozenset[int]

    @classmethod
    def of(cls, evidence: Callable[[int], Any], order: Sequence[int], most: int) -> Evidence:
        """What is known of the rows, in this order, as long as it takes at most so many bytes."""
        blocks: list[str] = []
        rows: list[tuple[int, ...]] = []
        left = most
        for part in _parts(order):
            fitting = [evidence(row) for row in part]
            block = packed(fitting)
            while fitting and len(block) > left:  # the last block has as many rows as fit
                fitting = fitting[: len(fitting) * left // (len(block) + 1)]
                block = packed(fitting) if fitting else ""
            if fitting:
                blocks.append(block)
                rows.append(tuple(part[: len(fitting)]))
                left -= len(block)
            if len(fitting) < len(part):
                break
        known = {row for part in rows for row in part}
        return cls(tuple(blocks), tuple(rows), frozenset(order) - known)


def _parts(order: Sequence[int]) -> Iterator[Sequence[int]]:
    return (order[start : start + ROWS] for start in range(0, len(order), ROWS))


def row_evidence(record: Record, exchanges: Exchanges, metrics: Sequence[MetricColumn]) -> dict[str, Any]:
    """Everything about a row, as plain JSON values that are finite; and by metric the digest that labels of it get."""
    found: dict[str, Any] = json_value(record_dict(record))
    read = {item.name: row_digest(record.sample, item.inputs) for item in metrics if item.inputs is not None}
    return {**found, "exchanges": json_value(exchanges.of(record)), "digests": read}
