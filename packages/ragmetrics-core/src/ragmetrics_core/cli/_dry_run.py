"""``--dry-run``: the price of a run, in place of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._evaluate._api import estimate
from .._kernel._metric import Metric
from ._output import as_option, complain, say

PASSED_ON = (
    "run_dir",
    "replace",
    "max_concurrency",
    "empty",
    "limit",
    "sample",
    "seed",
    "repeats",
    "encoding",
    "at",
    "separator",
)
"""Options of the command that ``estimate`` takes too."""


def show_price(data: str, metrics: Sequence[Metric], parsed: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Print what the run would ask and cost; some of its options are parsed, others as they were given."""
    price = estimate(data, metrics, **parsed, **{name: given[name] for name in PASSED_ON})
    say(price.text(write=as_option))
    if lacking := [item.name for item in price.metrics if item.failed and item.failed == price.rows]:
        complain(f"no row can be scored by {', '.join(lacking)}: `ragmetrics look` shows what is missing")
