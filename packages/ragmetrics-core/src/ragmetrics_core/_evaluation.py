"""What a run leaves behind: rows, scores, and the ways to look at them or take them elsewhere."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import MissingExtra, RagmetricsError
from ._metric import Metric
from ._prompt import to_json
from ._reasons import reasons_of
from ._sample import Document, Sample
from ._score import Score
from ._summary import MetricSummary, Summary

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

__all__ = ["Evaluation", "Scores"]


class Scores(Mapping[str, list[Score]]):
    """The scores of every metric, in row order; the key is the metric or its name."""

    def __init__(self, columns: Mapping[str, list[Score]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, metric: str | Metric) -> list[Score]:
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


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Rows and their scores, in input order.

    Attributes:
        rows: the samples that were evaluated.
        scores: ``scores[metric]`` or ``scores["name"]`` is the list of that metric's scores, one per row.
        metrics: the metrics, in the order given.
        places: where each row stood in the input, such as ``questions.jsonl, line 7``.
        caveats: what must be known about the models that were asked.
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
    """

    rows: list[Sample]
    scores: Scores
    metrics: tuple[Metric, ...]
    places: list[str]
    caveats: tuple[str, ...] = ()
    source: str = ""
    seconds: float | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Evaluation of {self._size()}: {', '.join(self.scores)}>"

    def summary(self) -> Summary:
        """Per metric: mean with its 95 % interval, scored, unscored, failed, calls, tokens; then why values are missing."""
        labels = [
            str(row.id) if row.id is not None else _short(place)
            for row, place in zip(self.rows, self.places, strict=True)
        ]
        return Summary(
            title=f"{self.source}: {self._size()}" if self.source else self._size(),
            metrics=tuple(
                MetricSummary.of(metric.name, metric.scale, self.scores[metric], labels) for metric in self.metrics
            ),
            reasons=tuple(reasons_of(self.scores, self.places, labels)),
            caveats=self.caveats,
            seconds=self.seconds,
        )

    def raise_for_errors(self) -> None:
        """Raise if any score failed.

        Raises:
            RagmetricsError: the message counts the failed scores and gives the most common errors.
        """
        failed = [reason for reason in self.summary().reasons if reason.state == "failed"]
        if failed:
            count = sum(reason.count for reason in failed)
            causes = "\n".join(f"  {reason}" for reason in failed)
            raise RagmetricsError(f"{count} of {len(self) * len(self.metrics)} scores failed:\n{causes}")

    def to_dict(self) -> dict[str, Any]:
        """The metrics, the rows with their scores, and the summary, as plain JSON values."""
        return {
            "source": self.source,
            "metrics": {metric.name: repr(metric) for metric in self.metrics},
            "rows": list(self._records()),
            "summary": self.summary().to_dict(),
        }

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object per row: its place, the sample, and every score with its evidence."""
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(to_json(record) + "\n" for record in self._records())

    def to_pandas(self) -> pd.DataFrame:
        """One row per sample: its fields, then per metric the value, ``<metric>_state``, and ``<metric>_note`` (why).

        Raises:
            MissingExtra: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415
        except ImportError:
            raise MissingExtra('to_pandas() needs pandas: pip install "ragmetrics-core[pandas]"') from None
        columns: dict[str, list[Any]] = {
            item.name: [getattr(row, item.name) for row in self.rows]
            for item in fields(Sample)
            if any(_is_given(getattr(row, item.name)) for row in self.rows)
        }
        frame = pd.DataFrame(columns, index=range(len(self)))
        for name, scores in self.scores.items():
            frame[name] = pd.Series([score.value for score in scores], dtype=float)
            frame[f"{name}_state"] = [score.state for score in scores]
            frame[f"{name}_note"] = [score.error or score.reason for score in scores]
        return frame

    def _records(self) -> Iterator[dict[str, Any]]:
        for index, (row, place) in enumerate(zip(self.rows, self.places, strict=True)):
            scores = {name: column[index].to_dict() for name, column in self.scores.items()}
            yield {"row": index + 1, "place": place, "sample": _json_value(row), "scores": _json_value(scores)}

    def _size(self) -> str:
        rows, metrics = len(self), len(self.metrics)
        return f"{rows} row{'s' * (rows != 1)}, {metrics} metric{'s' * (metrics != 1)}"


def _short(place: str) -> str:
    return place.rpartition(", ")[2]


def _is_given(value: object) -> bool:
    return value is not None and not (isinstance(value, Mapping) and not value)


def _json_value(value: Any) -> Any:
    """The value as JSON can hold it. Metadata is only carried through, so what JSON has no form for is written as text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, Sample | Document):
        values = {item.name: getattr(value, item.name) for item in fields(value)}
        return {name: _json_value(item) for name, item in values.items() if _is_given(item)}
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _json_value(value.tolist())
    return str(value)
