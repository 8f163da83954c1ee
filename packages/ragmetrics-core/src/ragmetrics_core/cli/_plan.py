"""Say how many rows show a change, how many labels correct a mean, and what they cost. No model is called.

\b
RUN is a pilot: the directory of a run (--run-dir of `ragmetrics evaluate`) or
a file of scores (--out). Two runs of the same rows by two systems show how many
rows change; one shows how much they differ; without a pilot, ranges of earlier
systems are used.

\b
Examples:
  ragmetrics plan
  ragmetrics plan runs/pilot --change 0.03
  ragmetrics plan runs/before runs/after --change 0.03 --power 0.9 --cluster document
  ragmetrics plan runs/pilot --labels labels.jsonl --width 0.08

Exit status: 0; 2 the runs cannot be used; 70 a bug; 130 stopped.
"""

from __future__ import annotations

import json
from pathlib import Path

from .._evaluate._api import plan as planned
from .._values._errors import InvalidInput
from ._options import argument, option
from ._output import check_files, clear_errors, loaded, put_texts

RUNS = argument("RUN", "At most two pilots.", None)
CHANGE = option("SHARE", "The change to be shown, as a share of a metric's scale.", default=0.05)
POWER = option("SHARE", "The share of comparisons that show it.", default=0.8)
WIDTH = option("SHARE", "The width of the interval of the mean that people would give, from end to end.", default=0.1)
CLUSTER = option(
    "COLUMN", "Rows that share a value of this column, such as document, are alike: they count for less.", "--cluster"
)
LABELS = option("FILE", "What people say of rows of the first pilot: labels are planned by them.", "--labels")
AS_JSON = option("FILE", "Write everything as JSON; - writes it to stdout, and the table to stderr.", "--json")
AS_MARKDOWN = option("FILE", "Write it as Markdown; - writes it to stdout.", "--markdown")


def plan(
    runs: list[Path] | None = RUNS,
    *,
    change: float = CHANGE,
    power: float = POWER,
    width: float = WIDTH,
    cluster: str | None = CLUSTER,
    labels: Path | None = LABELS,
    as_json: Path | None = AS_JSON,
    markdown: Path | None = AS_MARKDOWN,
) -> None:
    """Show a plan, and write the requested files."""
    with clear_errors():
        files = {"--json": as_json, "--markdown": markdown}
        paths = runs or []
        check_files(files, [*paths, *([labels] if labels else [])], "a file that is read here")
        if labels is not None and not paths:
            raise InvalidInput("--labels belong to rows of a pilot: name its run too")
        pilots = [loaded(path, said=True) for path in paths]
        calibration = None if labels is None else pilots[0].calibrate(labels)
        found = planned(*pilots, change=change, power=power, width=width, cluster=cluster, calibration=calibration)
        texts = {"--json": json.dumps(found.to_dict(), indent=1, allow_nan=False), "--markdown": found.to_markdown()}
        put_texts(texts, files, found)
