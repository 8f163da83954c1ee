"""Show the means of live traffic, with intervals that hold however often they are looked at. No model is called.

\b
DIR is the directory of a RunDirSink, or the file of a JsonlSink.

\b
Examples:
  ragmetrics live live
  ragmetrics live live --by tenant
  ragmetrics live live --follow 10

Exit status: 0; 2 there are no scores; 70 a bug; 130 stopped.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from .._evaluate._evaluation import Evaluation
from .._store._run_settings import RunSettings
from .._values._sample import session_of
from ._options import argument, option
from ._output import clear_errors, loaded, say_results

DIR = argument("DIR", "The directory of a RunDirSink, or the file of a JsonlSink.")
BY = option("COLUMN", "The metrics for each value of this column too, such as tenant.", "--by")
FOLLOW = option("SECONDS", "Show them again and again, after so many seconds, until Ctrl-C.", "--follow", least=0.1)


def live(run: Path = DIR, *, by: str | None = BY, follow: float | None = FOLLOW) -> None:
    """Show live traffic."""
    with clear_errors():
        while True:
            say_results(_always_valid(loaded(run, said=True)).summary(by))
            if follow is None:
                return
            time.sleep(follow)


def _always_valid(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with intervals that hold at any time; calls of one session may be alike."""
    found = filter(None, (session_of(record.sample.metadata) for record in evaluation.records))
    sessions = Counter((name, str(value)) for name, value in found)
    drawn = {"stop": True, "largest": max(sessions.values(), default=1)}
    return replace(evaluation, settings=RunSettings(evaluation.metrics, drawn, {}, {}))
