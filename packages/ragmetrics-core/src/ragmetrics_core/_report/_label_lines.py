"""The rows to label next, as lines to fill in: what was asked and answered, no score, and the weight that the draw gives the row.

A weight is told beside a uniform draw: 1 counts as much as a row drawn uniformly, 2 is the most there can be. So lines of several
draws, and labels of rows that were drawn uniformly, may stand together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._kernel._errors import InvalidInput
from .._store._records import is_given, json_value
from .._store._run_settings import row_digest
from ..statistics import suggest
from ._calibrate import known_labels
from ._judged_rows import judged_rows
from ._labels_in_force import digested_rows, is_stale

if TYPE_CHECKING:
    from ._scored_rows import ScoredRows

SHOWN = ("user_input", "response", "reference", "retrieved_contexts")
"""What somebody needs to see of a row."""

DIGITS = 6
"""Of weights and probabilities in a file."""


def lines_to_label(run: ScoredRows, n: int, metric: str | None, labels: Any, seed: int) -> list[dict[str, Any]]:
    """Draw rows; ``Evaluation.rows_to_label`` says what the arguments are.

    Raises:
        InvalidInput: no metric is named and the run has several, there is none of that name, labels cannot be read, or there are
            not as many rows to draw.
    """
    name = _only(run, metric)
    given = [] if labels is None else known_labels(run, labels, name)
    judged = judged_rows(run, [name], digests=digested_rows(given))
    own = judged.metrics[name]
    labelled = {item.id for item in given if item.claim is None and not is_stale(item, own)}
    without = {place for place, row in enumerate(own.rows) if judged.names[row] in labelled}
    left = len(own.rows) - len(without)
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= left:
        raise InvalidInput(
            f"n must lie between 1 and {left}, the number of rows with a score of {name} and without a label, got {n!r}"
        )
    if len(set(judged.names)) < len(judged.names):
        raise InvalidInput(
            "two rows of this run have the same id, so labels could not tell them apart: give every row an id of its own"
        )
    lines = []
    for drawn in suggest(own.values, n, seed, own.scale, without):
        row = own.rows[drawn.row]
        sample = run.records[row].sample
        lines.append(
            {
                "id": judged.names[row],
                "metric": name,
                "label": None,
                "weight": round(n / left * drawn.weight, DIGITS),
                "probability": round(drawn.probability, DIGITS),
                **({} if own.column.inputs is None else {"digest": row_digest(sample, own.column.inputs)}),
                **{field: json_value(value) for field in SHOWN if is_given(value := getattr(sample, field))},
            }
        )
    return lines


def _only(run: ScoredRows, metric: str | None) -> str:
    names = [item.name for item in run.metrics]
    if metric is None and len(names) == 1:
        return names[0]
    if metric not in names:
        problem = (
            "metric=... is missing: name one of" if metric is None else f"there is no metric {metric!r}; there are"
        )
        raise InvalidInput(f"{problem} {', '.join(names) or 'none'}")
    return metric
