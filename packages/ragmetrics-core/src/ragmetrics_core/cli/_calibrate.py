"""Compare the judge of RUN with people's labels: agreement, the score that people would give, the best threshold.

\b
RUN is the directory of a run (--run-dir of `ragmetrics evaluate`) or a file
of scores (--out). A line of labels is
  {"id": "q1", "metric": "faithfulness", "label": true, "annotator": "ada"}
(JSONL; or the columns of a CSV file), where label is true, false or a grade.

\b
Examples:
  ragmetrics calibrate runs/today --suggest 50 --metric faithfulness
  ragmetrics calibrate runs/today --labels labels.jsonl
  ragmetrics calibrate runs/today --labels labels.csv --by lang --markdown -

Exit status: 0; 2 the labels cannot be used, or are too few; 70 a bug; 130 stopped.
"""

from __future__ import annotations

import json
from pathlib import Path

from .._values._counts import count_of
from .._values._errors import InvalidInput
from ._options import RUN, option
from ._output import check_files, clear_errors, loaded, put_texts, to_stdout

LABELS = option("FILE", "What people say of rows: .jsonl, .csv, .tsv, .json, .xlsx or .parquet.", "--labels")
METRIC = option("NAME", "Only this metric; it is also the metric of lines that name none.", "--metric")
BY = option("COLUMN", "Tell where the judge is worse than elsewhere, such as lang.", "--by")
CLUSTER = option(
    "COLUMN",
    "Rows that share a value of this column, such as document, are alike: intervals count with that.",
    "--cluster",
)
SUGGEST = option(
    "N",
    "Draw so many rows to label next, half uniformly and half by how unsure the judge is, and write them as lines to "
    "fill in, with the weight that each of them counts for. With it, --labels may be left out.",
    "--suggest",
)
OUT = option(
    "FILE", "Where --suggest writes: a new .jsonl file; - writes to stdout.", "--out", default=Path("to_label.jsonl")
)
SEED = option("N", "The same seed draws the same rows.", default=0)
AS_JSON = option("FILE", "Write everything as JSON; - writes it to stdout, and the text to stderr.", "--json")
AS_MARKDOWN = option("FILE", "Write it as Markdown; - writes it to stdout.", "--markdown")


def calibrate(
    run: Path = RUN,
    *,
    labels: Path | None = LABELS,
    metric: str | None = METRIC,
    by: str | None = BY,
    cluster: str | None = CLUSTER,
    suggest: int | None = SUGGEST,
    out: Path = OUT,
    seed: int = SEED,
    as_json: Path | None = AS_JSON,
    markdown: Path | None = AS_MARKDOWN,
) -> None:
    """Show a calibration, write the requested files, and draw the rows to label next."""
    with clear_errors():
        if labels is None and suggest is None:
            raise InvalidInput("--labels is missing: give a file of labels, or draw rows to label with --suggest 50")
        read = (run,) if labels is None else (run, labels)
        files = {"--json": as_json, "--markdown": markdown}
        if labels is None and any(files.values()):
            raise InvalidInput("--json and --markdown write a calibration, which needs labels: add --labels FILE")
        check_files({**files, **({} if suggest is None else {"--out": out})}, read, "a file that is read here")
        if suggest is not None and not to_stdout(out) and out.exists():
            raise InvalidInput(f"--out: {out} already exists and may contain labels: give the name of a new file")
        evaluation = loaded(run, said=labels is not None and suggest is None)
        # draw rows first: too few labels for a calibration may be the reason for the draw
        lines = [] if suggest is None else evaluation.rows_to_label(suggest, metric, labels, seed=seed)
        if lines:
            text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
            rows = count_of(len(lines), "row")
            note = f"{out}: {rows} to label: write true, false or a grade in the place of null\n"
            put_texts({"--out": text}, {"--out": out}, note)
        if labels is not None:
            calibration = evaluation.calibrate(labels, metric, by=by, cluster=cluster)
            texts = {
                "--json": json.dumps(calibration.to_dict(), indent=1, allow_nan=False),
                "--markdown": calibration.to_markdown(),
            }
            is_stdout_used = bool(lines) and to_stdout(out)
            put_texts(texts, files, calibration, err=is_stdout_used)
