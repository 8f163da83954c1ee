"""Two runs side by side as one HTML file, like the page of one run: it opens without a network, and escapes all texts.

The parts: `_html_comparison_head` says which runs and what forbids to credit the system, `_html_differences` (with
`_html_difference_chart`) what became of each metric, `_html_left_over` what no difference rests on; all of them are markup that
needs no script. `_html_paired_rows` (of two times `_html_paired_side`) holds the rows, which the script shows.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._kernel._errors import InvalidInput
from .._store._run_dir import SCORES
from ._html_comparison_head import comparison_header
from ._html_differences import difference_cards, difference_slices
from ._html_fitted import LARGEST, Content, bytes_of, fitted_page, put_page
from ._html_gates import gate_list
from ._html_left_over import left_over, rests_on
from ._html_page import COMPARISON
from ._html_paired_rows import PairedRows

if TYPE_CHECKING:
    from ._comparison import Comparison, MetricComparison
    from ._gate_results import Decision
    from ._row_pairs import Pairing


def write_comparison(
    comparison: Comparison,
    path: str | os.PathLike[str],
    max_megabytes: float = LARGEST,
    decision: Decision | None = None,
) -> None:
    """Write the page of a comparison, with what became of gates; ``Comparison.to_html`` tells the rest.

    Raises:
        InvalidInput: the size is none, the path is that of a run's scores, or the comparison does not know its rows.
    """
    pairing = comparison.pairing
    if pairing is None:
        raise InvalidInput("this comparison does not know its rows: have it made by Evaluation.compare")
    for run in (pairing.before, pairing.after):
        folder = run.evaluation.run_dir
        if folder is not None and Path(path).resolve() == (folder / SCORES).resolve():
            raise InvalidInput(f"{path} holds the scores of a run that is compared: give another path")
    most = bytes_of(max_megabytes)
    put_page(path, fitted_page(_content(comparison, pairing, decision), most))


def _content(comparison: Comparison, pairing: Pairing, decision: Decision | None) -> Content:
    rows = PairedRows(pairing, comparison.metrics)
    return Content(
        title=f"{comparison.before} \u2192 {comparison.after} \u2013 ragmetrics comparison",
        kind=COMPARISON,
        parts={
            "header": comparison_header(comparison, rows),
            "gates": gate_list(decision),
            "cards": difference_cards(comparison),
            "slices": difference_slices(comparison),
            "left_over": left_over(comparison, rows),
            "rests_on": rests_on(comparison),
        },
        data={
            "metrics": [_metric(item) for item in comparison.metrics],
            "names": [comparison.before, comparison.after],
        },
        rows=lambda without: rows.to_dict(without, comparison.by),
        order=rows.order(),
        evidence=rows.evidence,
    )


def _metric(item: MetricComparison) -> dict[str, Any]:
    """What the script knows of a metric; ``total``: the sum of the sizes of all changes."""
    values = item.values
    return {
        "name": item.name,
        "scale": list(item.scale) if item.scale else None,
        "better": item.higher_is_better,
        "credited": item.credited,
        "why": item.why,
        "total": math.fsum(abs(new - old) for old, new in zip(values.before, values.after, strict=True)),
    }
