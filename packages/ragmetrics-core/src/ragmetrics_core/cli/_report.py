"""Write RUN, the directory of a run or a file of scores, as one HTML file that can be viewed and sent to others.

\b
Examples:
  ragmetrics report runs/today
  ragmetrics report scores.jsonl --out scores.html
  ragmetrics report runs/today --labels labels.jsonl
  ragmetrics report runs/today --max-megabytes 3

The file opens in any browser without a network. It contains the summary, a table of the rows, and the evidence of every score.
"""

from __future__ import annotations

from pathlib import Path

from .._values._counts import count_of
from ._options import MAX_MEGABYTES, RUN, option
from ._output import HTML, check_ending, check_megabytes, check_out, clear_errors, loaded, put_file, say

OUT = option("FILE", "Where to write it: a .html file.", "--out", default=Path("report.html"))
LABELS = option(
    "FILE",
    "What people say of rows: the page shows the mean that they would give too (`ragmetrics calibrate` says more).",
    "--labels",
)


def report(
    run: Path = RUN, *, out: Path = OUT, labels: Path | None = LABELS, max_megabytes: float = MAX_MEGABYTES
) -> None:
    """Write the file, and say where it is."""
    with clear_errors():
        check_ending(out, HTML, ".html")
        check_out(out, str(run))
        check_megabytes(max_megabytes)
        evaluation = loaded(run)
        calibration = None if labels is None else evaluation.calibrate(labels)
        put_file(
            out, "--out", lambda part: evaluation.to_html(part, max_megabytes=max_megabytes, calibration=calibration)
        )
        say(f"{out}: {count_of(len(evaluation), 'row')}, {out.stat().st_size / 1_000_000:.1f} MB")
