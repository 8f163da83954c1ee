"""Where the finished rows of a run go: into memory, or into the directory of the run (see ``_run_dir``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ._journal import Journal
from ._prices import ModelUsage
from ._read import Row, Source
from ._records import Record, Records

__all__ = ["InMemory", "Keeper"]


class Keeper(Protocol):
    """Keeps what a run has finished."""

    @property
    def journal(self) -> Journal | None:
        """The replies of this run and of earlier ones, if they are kept."""
        ...

    @property
    def earlier(self) -> tuple[ModelUsage, ...]:
        """What the models were asked in earlier parts of the run."""
        ...

    def start(self, source: Source) -> Iterator[Row]:
        """Begin; the rows to score.

        Raises:
            InvalidInput: they do not belong where they shall be kept.
        """
        ...

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        ...

    def snapshot(self) -> Records:
        """What is finished by now, in input order; from any thread."""
        ...

    def finish(self, account: Mapping[str, Any], *, complete: bool) -> Records:
        """The run is over: the records that stand, in input order.

        Args:
            account: what to tell about the run, as plain JSON values.
            complete: whether it has come to its last row.
        """
        ...

    def close(self) -> None:
        """Nothing more will be kept."""
        ...


class InMemory:
    """Keeps the rows of a run as long as the process lives."""

    journal: Journal | None = None
    earlier: tuple[ModelUsage, ...] = ()

    def __init__(self) -> None:
        self._records: list[Record] = []

    def start(self, source: Source) -> Iterator[Row]:
        """Begin."""
        return source.rows

    def add(self, record: Record) -> None:
        """Keep a finished row."""
        self._records.append(record)

    def snapshot(self) -> Records:
        """What is finished by now, in input order."""
        return sorted(self._records, key=lambda record: record.index)

    def finish(self, account: Mapping[str, Any], *, complete: bool) -> Records:  # noqa: ARG002  nothing is written
        """The run is over."""
        return self.snapshot()

    def close(self) -> None:
        """Nothing is open."""
