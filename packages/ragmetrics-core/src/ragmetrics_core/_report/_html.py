"""A run as one HTML file that can be sent to anybody: it opens without a network, and holds the evidence of its rows.

The parts: `_html_header` and `_html_cards` (with `_html_charts`) are markup made here, which needs no script; `_html_index` holds
what the table of rows needs of every row, `_html_labels` what label mode needs, and `_html_evidence` all that is known of each,
packed by `_html_packed`, as much as fits by `_html_fitted`; `_html_page` joins them with the sources in the folder `page`, whose
script shows them. Texts become markup in `_kernel._tags` alone.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from .._kernel._tags import EMPTY
from .._store._exchanges import Exchanges
from .._store._run_settings import MetricColumn
from ._html_cards import metric_cards
from ._html_evidence import row_evidence
from ._html_fitted import LARGEST, Content, bytes_of, fitted_page, put_page
from ._html_header import Origin, header, scored_at, without_scores
from ._html_index import RowIndex
from ._html_labels import label_data
from ._html_page import REPORT
from ._html_slices import slice_tables
from ._metric_summary import MetricSummary

if TYPE_CHECKING:
    from ._calibration import Calibration
    from ._evaluation import Evaluation
    from ._summary import Summary


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
    most = bytes_of(max_megabytes)
    summary = evaluation.summary(calibration=calibration)
    index = RowIndex(evaluation.metrics)
    for record in evaluation.records:
        index.add(record)
    with closing(Exchanges(evaluation.run_dir, evaluation.settings, index.values)) as exchanges:
        put_page(path, fitted_page(_content(evaluation, summary, index, exchanges), most))


def _content(evaluation: Evaluation, summary: Summary, index: RowIndex, exchanges: Exchanges) -> Content:
    records = evaluation.records
    return Content(
        title=f"{evaluation.source or summary.title} \u2013 ragmetrics report",
        kind=REPORT,
        parts={
            "header": header(summary, _origin(evaluation, index)),
            "cards": metric_cards(evaluation.metrics, summary.metrics, index.values),
            "reasons": without_scores(summary.reasons) or EMPTY,
        },
        data={
            "metrics": [
                _metric(column, item) for column, item in zip(evaluation.metrics, summary.metrics, strict=True)
            ],
            "slices": slice_tables(index, summary.metrics),
            "labelling": label_data(evaluation.metrics, index),
            "problems": exchanges.problems,
        },
        rows=index.to_dict,
        order=index.worst_first(),
        evidence=lambda row: row_evidence(records[row], exchanges, evaluation.metrics),
    )


def _origin(evaluation: Evaluation, index: RowIndex) -> Origin:
    return Origin(
        evaluation.source,
        len(index),
        index.complete(),
        scored_at(evaluation),
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
