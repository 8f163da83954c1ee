"""Show the results of a run and the evidence of its scores. No model is called.

\b
RUN is the directory of a run (--run-dir of `ragmetrics evaluate`) or a file
of scores (--out).

\b
Examples:
  ragmetrics show runs/today
  ragmetrics show runs/today --metric faithfulness --worst 5
  ragmetrics show runs/today --row q17
  ragmetrics show runs/today --disputed 5
  ragmetrics show runs/today --failed

Marks: ✔ a positive verdict, ✘ a negative one, – neither (no passage states it), • a rating.

Exit status: 0; 2 there is no such run, metric or row; 70 a bug; 130 stopped.
"""

# Everything in a row comes from data and replies, so control characters are printed as escapes.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .._evaluate._evaluation import Evaluation
from .._run._slices import row_name
from .._run._worst_rows import failed_lines, full_lines, why_no_worst
from .._show._tables import first_of, hanging, room
from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._findings import Line
from .._values._layout import printable
from ._options import RUN, flag, option
from ._output import clear_errors, loaded, say, say_lines, say_results

if TYPE_CHECKING:
    from .._store._records import Record

METRIC = option("NAME", "Only this metric; alone, its ten worst rows.", "--metric")
WORST = option("N", "The rows with the worst values of each metric, the worst first, with their evidence.", "--worst")
DISPUTED = option(
    "N", "The rows on which the jurors of each jury differ most, with the evidence of all jurors.", "--disputed"
)
ROW = option("ID", "All of one row: its texts, its scores, their evidence and raw replies.", "--row")
FAILED = flag("--failed", "The rows in which a metric failed, with the error and raw replies.")
LABELS = option(
    "FILE",
    "What people say of rows: the summary shows the mean that they would give too (`ragmetrics calibrate` says more).",
    "--labels",
)
BY = option("COLUMN", "The metrics for each value of this column too, such as lang.", "--by")

USUAL = 10
"""The number of rows shown for a metric if no number is given."""


def show(
    run: Path = RUN,
    *,
    metric: str | None = METRIC,
    worst: int | None = WORST,
    disputed: int | None = DISPUTED,
    row: str | None = ROW,
    failed: bool = FAILED,
    by: str | None = BY,
    labels: Path | None = LABELS,
) -> None:
    """Show a run, or rows of it."""
    with clear_errors():
        given = {"--worst": worst, "--disputed": disputed, "--row": row, "--failed": failed or None, "--by": by}
        if len(ways := [name for name, value in given.items() if value is not None]) > 1:
            raise InvalidInput(f"{' and '.join(ways)} cannot be combined: give only one of them")
        if metric is not None and by is not None:
            raise InvalidInput("--by shows all metrics: leave --metric out")
        rows_only = metric is not None or (bool(ways) and by is None)
        if labels is not None and rows_only:
            raise InvalidInput("--labels adds to the summary, but this command shows rows: leave it out")
        evaluation = loaded(run, said=not rows_only)
        names = _names(evaluation, metric)
        if row is not None:
            say_lines([full_lines(record, names, room()) for record in _rows_named(evaluation, row)])
        elif failed:
            _show_failed(evaluation, names)
        elif disputed is not None:
            say_lines(_disputed(evaluation, names, disputed))
        elif worst is not None or metric is not None:
            say_lines(_worst(evaluation, names, USUAL if worst is None else worst))
        else:
            calibration = None if labels is None else evaluation.calibrate(labels)
            say_results(evaluation.summary(by, calibration=calibration))


def _names(evaluation: Evaluation, metric: str | None) -> list[str]:
    names = [item.name for item in evaluation.metrics]
    if metric is not None and metric not in names:
        raise InvalidInput(f"--metric: there is no metric {metric!r}; there are {', '.join(names)}")
    return names if metric is None else [metric]


def _worst(evaluation: Evaluation, names: Sequence[str], number: int) -> Iterator[Iterable[Line]]:
    """Return the parts of the output: for each metric a title, then its worst rows."""
    if number < 1:
        raise InvalidInput(f"--worst must be at least 1, got {number}")
    for item in evaluation.metrics:
        problem = why_no_worst(item) if len(names) > 1 else None
        if problem is not None:
            yield _title(problem)
        elif item.name in names:
            rows = evaluation.worst(item.name, number)
            found = f"the {rows.end} of {len(evaluation)} rows" if rows else "no row has a value"
            yield _title(f"{item.name}: {found}")
            yield from rows.lines(room())


def _disputed(evaluation: Evaluation, names: Sequence[str], number: int) -> Iterator[Iterable[Line]]:
    """Return the parts of the output: for each metric with jurors a title, then the rows on which the jurors differ most."""
    if number < 1:
        raise InvalidInput(f"--disputed must be at least 1, got {number}")
    juries = [item.name for item in evaluation.summary().metrics if item.jury and item.name in names]
    if not juries:
        raise InvalidInput("--disputed: no metric of this run has jurors, as a Jury has")
    for name in juries:
        rows = evaluation.disagreements(name, number)
        yield _title(f"{name}: {f'the most disputed of {len(evaluation)} rows' if rows else rows.if_none}")
        yield from rows.lines(room())


def _title(text: str) -> list[Line]:
    return [Line(line, "title") for line in hanging(printable(text), room())]


def _rows_named(evaluation: Evaluation, name: str) -> list[Record]:
    """Return the rows with this id, or at this place of the input, such as ``row 3``."""
    named = [(row_name(record), record.place, index) for index, record in enumerate(evaluation.records)]
    found = [evaluation.records[index] for *names, index in named if name in names]
    if not found:
        some = [called for called, *_ in named]
        raise InvalidInput(f"--row: no row is called {name!r}; rows are called {first_of(some)}")
    return found


def _show_failed(evaluation: Evaluation, names: Sequence[str]) -> None:
    found = (
        (record, {name: record.scores[name] for name in names if record.scores[name].error is not None})
        for record in evaluation.records
    )
    if parts := [failed_lines(record, scores, room()) for record, scores in found if scores]:
        say_lines(parts)
    else:
        say(f"no score failed in {count_of(len(evaluation), 'row')}")
