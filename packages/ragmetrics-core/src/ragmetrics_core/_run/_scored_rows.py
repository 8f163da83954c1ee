"""The rows of a run and their scores by metric, in input order: the content of an ``Evaluation``, with exports as tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from .._kernel._metric import Metric
from .._store._files import SCORES
from .._store._loaded_run import LoadedRun
from .._store._prices import ModelUsage
from .._store._records import Records, record_line
from .._store._run_dir import UNFINISHED, UNVERIFIED, Fault
from .._store._run_settings import MetricColumn, RunSettings
from .._values._errors import InvalidInput, Setting
from .._values._layout import printable
from .._values._sample import Sample
from .._values._score import Score
from ..statistics import Interval, always_valid_interval, mean_interval
from ._export import frame_of, write_csv
from ._worst_rows import DisputedRows, WorstRows, disputed_rows, worst_rows

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


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


Run = TypeVar("Run", bound="ScoredRows")
State = Literal["finished", "stopped", "interrupted", "damaged", "unverified"]


@contextmanager
def damage_first(*runs: ScoredRows) -> Iterator[None]:
    """Put a warning about damaged runs before the message of any error inside this block, because the damage may be the cause."""
    try:
        yield
    except InvalidInput as error:
        damaged = [f"{run.run_dir}: {run.doubt}" for run in runs if run.state == "damaged"]
        if not damaged:
            raise
        raise InvalidInput("; ".join(dict.fromkeys([*damaged, str(error)]))) from None


@dataclass(frozen=True, repr=False)
class ScoredRows:
    """Rows and their scores, in input order.

    Attributes:
        records: every row with its place and its scores. They are built at each access, so changing one changes nothing in the
            run.
        metrics: the metrics, in the order given.
        caveats: warnings about the models that were asked.
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: the usage of every model.
        stopped: why the run ended before its last row, or that its scores are damaged; None if neither is true.
        left: number of rows that were not scored because the gates were decided without them.
        earlier: the usage of every model in earlier parts of the run, before this part resumed it.
        waited: for each metric, the seconds that its rows waited for models, summed over all rows.
        run_dir: the directory of the run; None if it was not kept.
        settings: the settings that determine the scores, as in ``run.json``; None if they are not known, as for a file of scores.
        fault: ``damaged`` or ``unverified``, as in ``state``; None if neither is true.
    """

    records: Records
    metrics: tuple[MetricColumn, ...]
    caveats: tuple[str, ...] = ()
    source: str = ""
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    stopped: str | None = None
    left: int = 0
    earlier: tuple[ModelUsage, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)
    run_dir: Path | None = None
    settings: RunSettings | None = field(
        default=None, compare=False
    )  # models without a description can only be compared by identity
    fault: Fault | None = None

    @classmethod
    def of(cls: type[Run], run: LoadedRun) -> Run:
        """Return the result of a run from its stored account."""
        account = {name: value for name, value in vars(run.account).items() if name != "seal"}
        return cls(run.records, run.metrics, run_dir=run.run_dir, settings=run.settings, **account)

    @classmethod
    def load(cls: type[Run], run_dir: str | os.PathLike[str]) -> Run:
        """Load the finished part of the run in this directory; its rows are read when they are accessed.

        Args:
            run_dir: the directory of a run, or a file that ``to_jsonl`` or ``--out`` wrote; such a file has no settings and no
                models.

        Raises:
            InvalidInput: the path is neither of them, or no row was finished there.
        """
        return cls.of(LoadedRun.of(Path(run_dir)))

    @property
    def state(self) -> State:
        """The state of the run.

        ``finished``; ``stopped`` on purpose, by a budget or a person; ``interrupted``: it has not reached its end; ``damaged``:
        its scores differ from those that it ended with; ``unverified``: it is finished, but was written by an earlier version that
        kept no digest of the scores.
        """
        if self.fault == "damaged":
            return "damaged"
        if self.stopped is not None:
            return "interrupted" if self.stopped == UNFINISHED else "stopped"
        return self.fault or "finished"

    @property
    def doubt(self) -> str:
        """One sentence that says why the scores may differ from those that the run ended with; empty if they do not, or if it
        has not ended.
        """
        return {"damaged": str(self.stopped), "unverified": UNVERIFIED}.get(self.fault or "", "")

    @property
    def drawn(self) -> Mapping[str, Any] | None:
        """How the order of the rows was drawn, if the run may stop when its gates are decided; None if it may not."""
        return self.settings.drawn if self.settings else None

    @property
    def largest(self) -> int | None:
        """The number of rows of the largest cluster, if the run may stop when its gates are decided; None if it may not."""
        return self.drawn["largest"] if self.drawn else None

    @property
    def interval_of(self) -> Callable[..., Interval | None]:
        """The function that computes intervals of means, with the arguments of `mean_interval`: always valid if the run may stop
        when its gates are decided.
        """
        return mean_interval if self.largest is None else partial(always_valid_interval, largest=self.largest)

    @property
    def interval_of_rows(self) -> Callable[..., Interval | None]:
        """The same for values whose clusters are not given: an always-valid interval holds whichever rows are alike."""
        return self.interval_of if self.largest is None else partial(self.interval_of, hidden=True)

    def check_all_rows(self, what: str) -> None:
        """Check that the number of rows did not depend on their scores; ``what`` cannot use the run otherwise.

        Raises:
            InvalidInput: rows were left out because the gates were decided without them.
        """
        if self.left:
            name = printable(name_of_run(self) or "this run")
            why = f"{name} stopped when its gates were decided, before {self.left} of its rows, so {what} would be biased: "
            cure = (
                "score it again without ",
                Setting("stop"),
                " and with ",
                Setting("replace", True),
                " (replies are kept)",
            )
            raise InvalidInput(why, *cure)

    @cached_property
    def rows(self) -> Sequence[Sample]:
        """The samples that were evaluated."""
        return self.records.samples()

    @cached_property
    def places(self) -> Sequence[str]:
        """The place of each row in the input, such as ``questions.jsonl, line 7``."""
        return self.records.places()

    @cached_property
    def scores(self) -> Scores:
        """The scores by metric: ``scores[metric]`` or ``scores["name"]`` has one score per row."""
        return Scores({item.name: self.records.scores(item.name) for item in self.metrics})

    __iter__: ClassVar[None] = None  # iteration is disabled because it could mean rows, metrics or scores

    def __getitem__(self, metric: str | Metric) -> list[float | None]:
        """Return the values of a metric, one per row; None for a row that was not scored. ``scores[metric]`` has the reason."""
        return [score.value for score in self.scores[metric]]

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        # must not read scores: asyncio puts the result into the repr of a finished task
        size = size_in_words(len(self), len(self.metrics))
        return printable(f"<Evaluation of {size}: {', '.join(item.name for item in self.metrics)}>")

    def worst(self, metric: str | Metric, n: int = 10) -> WorstRows:
        """Return the rows with the worst values of a metric, the worst first; ``print`` shows each with its evidence.

        The worst values are the lowest, or the highest if low values are good (``higher_is_better`` of the metric). Rows
        without a value are left out; ``summary()`` says why they have none.

        Args:
            metric: the metric, or its name.
            n: the largest number of rows, at least 1; fewer are returned if fewer have a value.

        Raises:
            InvalidInput: there is no such metric, its scale has no worse end, or ``n`` is not a whole number from 1.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return worst_rows(self.records, self.metrics, name, n)

    def disagreements(self, metric: str | Metric, n: int = 10) -> DisputedRows:
        """Return the rows on which the jurors of a ``Jury`` differ most, the largest difference first; ``print`` shows the
        evidence of all jurors.

        The difference is the mean difference between two jurors. Rows on which they agree are left out, and rows on which
        fewer than two have a value. For a metric that is not a jury the result is empty.

        Args:
            metric: the jury, or its name.
            n: the largest number of rows, at least 1.

        Raises:
            InvalidInput: there is no such metric, or ``n`` is not a whole number from 1.
        """
        name = metric.name if isinstance(metric, Metric) else metric
        return disputed_rows(self.records, self.metrics, name, n)

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object per row: its place, the sample, and every score with its evidence. If the run ended before its
        last row, the last line also has the reason, as ``stopped``.

        Raises:
            InvalidInput: the path is the scores file of the run directory, which already has this content.
        """
        self._spare_own_scores(path)
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            reasons = chain(repeat(None, len(self.records) - 1), [self.stopped])
            file.writelines(
                record_line(record, stopped=why) for record, why in zip(self.records, reasons, strict=False)
            )

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table for spreadsheets: one row per sample, with the columns of ``to_pandas()``.

        Lists are written as JSON. A text that a spreadsheet would read as a formula gets a leading apostrophe.

        Raises:
            InvalidInput: the path is the scores file of the run directory.
        """
        self._spare_own_scores(path)
        write_csv(path, list(self.records), [item.name for item in self.metrics])

    def to_pandas(self, *, evidence: bool = False) -> pd.DataFrame:
        """Return a data frame with one row per sample. Every column has one type, so ``to_parquet`` and ``to_sql`` accept the
        frame.

        * the fields of the sample that any row has; a document that is not a text becomes JSON;
        * ``metadata.<key>``: one column per key. Values of mixed types, lists and objects become JSON texts;
        * ``<metric>``: the value; ``<metric>_passing`` if the metric gives verdicts; ``<metric>_label`` if it labels rows;
          ``<metric>_state``; ``<metric>_note``, the reason or the error.

        If a metric has the name of another column, its columns get a number as suffix: ``response_2``.

        A pass rate is ``frame["<metric>_passing"].mean()``, over rows with a verdict, as in ``summary()``.

        Args:
            evidence: adds ``<metric>_claims``, ``_parts`` (the kind of the claims, such as "response claims"), ``_verdicts``,
                ``_passages`` and ``_against`` (numbers, from 1, of the passages that support and that contradict a claim) and
                ``_reasons``. These are lists of equal length, which ``frame.explode([...])`` turns into rows. Also adds
                ``<metric>_details``, all evidence as JSON.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return frame_of(list(self.records), [item.name for item in self.metrics], evidence=evidence)

    def _spare_own_scores(self, path: str | os.PathLike[str]) -> None:
        if self.run_dir is not None and Path(path).resolve() == (self.run_dir / SCORES).resolve():
            raise InvalidInput(f"{path} is the scores file of this run and already has these scores: give another path")


def name_of_run(run: ScoredRows) -> str:
    """Return the directory, the file or the source of a run; empty if it has none."""
    return str(run.run_dir or run.records.path or run.source)


def size_in_words(rows: int, metrics: int) -> str:
    """Return the size of a run in words, such as ``12 rows, 1 metric``."""
    return f"{rows} row{'s' * (rows != 1)}, {metrics} metric{'s' * (metrics != 1)}"
