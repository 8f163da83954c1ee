"""``--dry-run``: the price of a run, in place of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._evaluate._api import estimate
from .._kernel._metric import Metric
from ._output import say

__all__ = ["show_price"]

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

IN_CLI_WORDS = {"(limit=20 with a run_dir)": "(--limit 20 --run-dir DIR)"}


def show_price(data: str, metrics: Sequence[Metric], parsed: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Print what the run would ask and cost; some of its options are parsed, others as they were given."""
    text = str(estimate(data, metrics, **parsed, **{name: given[name] for name in PASSED_ON}))
    for words, option in IN_CLI_WORDS.items():
        text = text.replace(words, option)
    say(text)
