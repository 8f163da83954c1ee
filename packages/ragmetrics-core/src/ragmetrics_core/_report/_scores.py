"""The scores of a run by metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .._kernel._metric import Metric
from .._kernel._score import Score


class Scores(Mapping[str, Sequence[Score]]):
    """The scores of every metric, in row order; the key is the metric or its name."""

    def __init__(self, columns: Mapping[str, Sequence[Score]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, metric: str | Metric) -> Sequence[Score]:
        name = metric.name if isinstance(metric, Metric) else metric
        if name not in self._columns:
            raise KeyError(f"no metric {name!r}; there are {', '.join(self._columns)}")
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Scores({self._columns!r})"
