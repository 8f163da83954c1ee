"""A run as one HTML file that can be sent to anybody: it opens without a network, and holds the evidence of its rows.

The parts: `_html_header` and `_html_cards` (with `_html_charts`) are markup made here, which needs no script; `_html_index` holds
what the table of rows needs of every row, `_html_evidence` all that is known of each, both packed by `_html_packed`, and
`_html_labels` what label mode needs; `_html_page` joins them with the sources in the folder `page`, whose script shows them. Texts
become markup in `_kernel._tags` alone.
"""

from __future__ import annotations

import os
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._kernel._errors import InvalidInput
from .._kernel._tags import EMPTY, joined
from .._store._exchanges import Exchanges
from .._store._run_dir import SCORES
from .._store._scored_by import MetricColumn
from ._html_cards import metric_cards
from ._html_evidence import Evidence
from ._html_header import Origin, header, without_scores
from ._html_index import RowIndex
from ._html_labels import label_data
from ._html_packed import data_block, packed
from ._html_page import joined_page
from ._html_slices import slice_tables
from ._metric_summary import MetricSummary

if TYPE_CHECKING:
    from ._calibration import Calibration
    from ._evaluation import Evaluation

__all__ = ["LARGEST", "write_html"]

LARGEST = 12.0
"""Megabytes of a page, unless somebody asks for another size."""

MEGABYTE = 1_000_000


def write_html(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    max_megabytes: float = LARGEST,
    calibration: Calibration | None = None,
) -> None:
    """Write the page of an evaluation.

    Args:
        evaluation: the run.
        path: the file.
        max_megabytes: how large the file may become; evidence that does not fit is left out, that of the best rows first.
        calibration: of this run, with the means that people would give.

    Raises:
        InvalidInput: ``max_megabytes`` is no positive number, or the calibration is that of another run.
    """
    if isinstance(max_megabytes, bool) or not isinstance(max_megabytes, int | float) or not max_megabytes > 0:
        raise InvalidInput(f"max_megabytes must be a number greater than 0, got {max_megabytes!r}")
    page = page_of(evaluation, int(max_megabytes * MEGABYTE), calibration)
    # not line by line: the digests of the policy are of these very characters
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(page)


def page_of(evaluation: Evaluation, most: int, calibration: Calibration | None = None) -> str:
    """The page, of about so many bytes at most."""
    summary = evaluation.summary(calibration=calibration)
    index = RowIndex(evaluation.metrics)
    for record in evaluation.records:
        index.add(record)
    parts = {
        "header": header(summary, _origin(evaluation, index)),
        "cards": metric_cards(evaluation.metrics, summary.metrics, index.values),
        "reasons": without_scores(summary.reasons) or EMPTY,
    }
    title = f"{evaluation.source or summary.title} \u2013 ragmetrics report"
    data: dict[str, Any] = {
        "metrics": [_metric(column, item) for column, item in zip(evaluation.metrics, summary.metrics, strict=True)],
        "slices": slice_tables(index, summary.metrics),
        "megabytes": round(most / MEGABYTE, 1),
        "labelling": label_data(evaluation.metrics, index),
    }
    exchanges = Exchanges(evaluation.run_dir, evaluation.settings, index.values)
    data["problems"] = exchanges.problems
    # what is always there, and at its largest: with the notes of all rows
    whole = data | {"rows": index.to_dict(range(len(index))), "blocks": [list(range(len(index)))]}
    fixed = joined_page(title, {**parts, "data": data_block("index", packed(whole))})
    order = index.worst_first()
    with closing(exchanges):
        evidence = Evidence.of(evaluation.records, exchanges, order, max(most - len(fixed.encode()), 0))
    data |= {"rows": index.to_dict(evidence.left_out), "blocks": evidence.rows}
    blocks = [data_block(f"block-{number}", block) for number, block in enumerate(evidence.blocks)]
    return joined_page(title, {**parts, "data": joined([data_block("index", packed(data)), *blocks])})


def _origin(evaluation: Evaluation, index: RowIndex) -> Origin:
    return Origin(
        evaluation.source,
        len(index),
        index.complete(),
        _scored_at(evaluation),
        evaluation.settings,
        index.prompts,
    )


def _metric(column: MetricColumn, item: MetricSummary) -> dict[str, Any]:
    """What the script knows of a metric."""
    return {
        "name": column.name,
        "scale": list(item.scale) if item.scale else None,
        "better": column.higher_is_better,
        "labels": list(item.labels),
    }


def _scored_at(evaluation: Evaluation) -> datetime | None:
    """When the scores were written: their file says so; those of a run without one were made in this process."""
    if evaluation.run_dir is None and evaluation.settings is not None:
        return datetime.now(timezone.utc)
    file = evaluation.run_dir / SCORES if evaluation.run_dir else Path(evaluation.source)
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)
    except OSError:
        return None
