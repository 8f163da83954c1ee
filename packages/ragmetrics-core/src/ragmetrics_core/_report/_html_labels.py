"""What label mode needs besides the rows: a name for what it keeps, and what each metric asks, in words for people.

The browser keeps labels by the digest of the report. It is of the rows and their scores and not of the file, so the same run
written again, larger or by a later version, finds them again.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from .._kernel._metric import Metric
from .._kernel._saved_settings import built_in_metric
from .._store._run_settings import MetricColumn, class_named
from ._html_index import RowIndex

LONGEST = 400
"""Characters of a description."""


def label_data(metrics: Sequence[MetricColumn], index: RowIndex) -> dict[str, Any]:
    """As the page reads it: the digest, what labels call rows where that is not their id, and per metric what it asks, or None."""
    rows = index.to_dict(())
    told = [rows[name] for name in ("ids", "questions", "answers", "values", "states")]
    digest = sha256(json.dumps([[item.name for item in metrics], told]).encode()).hexdigest()
    names = {row: name for row, name in enumerate(index.names) if name != index.ids[row]}
    return {"digest": digest[:32], "names": names, "asks": [_asked(column) for column in metrics]}


def _asked(column: MetricColumn) -> str | None:
    """The first paragraph of what a built-in metric says of itself."""
    metric = built_in_metric(class_named(column.settings) or column.name, Metric)
    text = inspect.getdoc(metric) if metric else None
    if not text:
        return None
    return " ".join(text.split("\n\n")[0].split()).replace("`", "")[:LONGEST]
