"""Compare runs row by row: is RUN_B better or worse than RUN_A, and how sure is that?

\b
Each is the directory of a run (--run-dir of `ragmetrics evaluate`) or a file
of scores (--out). Only a directory shows which models gave the scores.

With three or more runs, each is compared with the first (or with --baseline), on the rows that all of them have, and for each
metric the best runs are named.

\b
Examples:
  ragmetrics compare runs/before runs/after
  ragmetrics compare runs/before runs/after --by lang --cluster document
  ragmetrics compare runs/before runs/after --out comparison.html
  ragmetrics compare main.jsonl branch.jsonl --markdown comment.md
  ragmetrics compare runs/before runs/after --gate 'faithfulness drop <= 0.03'
  ragmetrics compare runs/v1 runs/v2 runs/v3 --baseline runs/v2

Exit status: 0 the runs were compared, with any verdicts, and all gates passed; 1 a gate failed; 2 the runs cannot be compared,
or no metric has a verdict because the judges differ; 3 a gate is undecided; 70 a bug; 130 stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .._evaluate._evaluation import Comparison, Evaluation
from .._evaluate._several import Comparisons, compare_runs
from .._gate._results import Decision
from .._page._comparison_page import write_comparison
from .._page._several_page import write_several
from .._values._errors import InvalidInput
from ._options import MAX_MEGABYTES, argument, flag, option
from ._output import check_ending, check_files, check_megabytes, clear_errors, complain, loaded, put_texts, stop
from ._parsing import ALLOW_DIFFERENT_JUDGES, MAX_FAILED, MIN_COVERAGE, UNDECIDED, Wanted, parse_wanted

BEFORE = argument(
    "RUN_A", "The run that came first: the directory of --run-dir, or what --out, to_jsonl() or to_parquet() wrote."
)
AFTER = argument("RUN_B", "The run that is compared with it.")
MORE = argument("RUN", "More runs: all of them are compared with the first.", None)
BASELINE = option("RUN", "The run that the others are compared with; the first if not given.")
ALL_PAIRS = flag("--all-pairs", "Of three or more runs, show the difference between any two.")
BY = option(
    "COLUMN",
    "Compare every value of this column too, such as lang; or every label that a metric gave in RUN_A, such as "
    "answer_or_abstain.",
    "--by",
)
CLUSTER = option(
    "COLUMN",
    "Rows that share a value of this column, such as document, are alike: intervals and p-values count with that.",
    "--cluster",
)
MARGIN = option("SHARE", "The largest difference that does not matter, as a share of a metric's scale.", default=0.03)
OUT = option(
    "FILE",
    "Write a page to look at (.html: verdicts, slices, and of two runs changed rows side by side), a comment for a pull request "
    "(.md), or everything for programs (.json).",
)
AS_JSON = option("FILE", "Write everything as JSON; - writes it to stdout, and the table to stderr.", "--json")
AS_MARKDOWN = option("FILE", "Write a comment for a pull request; - writes it to stdout.", "--markdown")
GATES = option(
    "GATE",
    "'METRIC drop <= NUMBER', in quotes: how much worse RUN_B may be, on the metric's scale (non-inferiority); 'METRIC change "
    "within NUMBER': how far it may lie from RUN_A (equivalence); or, with two runs, 'METRIC >= NUMBER' for its mean. Passes or "
    "fails (status 1) by the 95 % interval, and is undecided (status 3) else; with --by in every slice too. Repeatable.",
    "--gate",
)
LABELS = option(
    "FILE",
    "What people say of rows of RUN_A; a second --labels of the same rows in RUN_B. Tells the difference that people "
    "would see over all rows.",
    "--labels",
)

MARKDOWN, JSON, HTML = "--markdown", "--json", "--html"
"""The output formats; the first two are options too."""

ENDINGS = {".md": MARKDOWN, ".markdown": MARKDOWN, ".json": JSON, ".html": HTML, ".htm": HTML}
"""The output format for each ending of a file name."""


def compare(
    before: Path = BEFORE,
    after: Path = AFTER,
    more: list[Path] | None = MORE,
    *,
    baseline: Path | None = BASELINE,
    all_pairs: bool = ALL_PAIRS,
    by: str | None = BY,
    cluster: str | None = CLUSTER,
    margin: float = MARGIN,
    allow_different_judges: bool = ALLOW_DIFFERENT_JUDGES,
    out: Path | None = OUT,
    as_json: Path | None = AS_JSON,
    markdown: Path | None = AS_MARKDOWN,
    gates: list[str] | None = GATES,
    min_coverage: float | None = MIN_COVERAGE,
    max_failed: float | None = MAX_FAILED,
    undecided: str | None = UNDECIDED,
    labels: list[Path] | None = LABELS,
    max_megabytes: float = MAX_MEGABYTES,
) -> None:
    """Compare runs, show the tables, and write the requested files."""
    given = locals()
    with clear_errors():
        paths = _baseline_first([before, after, *(more or ())], baseline)
        files = {"--out": out, "--json": as_json, "--markdown": markdown}
        if out is not None:
            check_ending(out, ENDINGS, ".html (for people), .md (a comment for a pull request) or .json (everything)")
        check_files(files, paths, "a file of a run that is compared")
        check_megabytes(max_megabytes)
        wanted = parse_wanted(given)
        if all_pairs and not more:
            complain("--all-pairs changes nothing, as two runs are one pair")
        if labels and more:
            raise InvalidInput("--labels is for two runs: compare two of them, or leave --labels out")
        if labels and len(labels) != 2:
            raise InvalidInput("--labels must be given twice (the labels of RUN_A, then those of RUN_B) or not at all")
        credited, decision = _compared([loaded(path, said=True) for path in paths], given, wanted, files)
        if not credited:
            stop(
                "no difference can be credited to the system, because judges or settings differ in every metric: score both runs "
                "alike, or add --allow-different-judges to compare them nevertheless",
                2,
            )
        if complaint := wanted.complaint(decision):
            stop(complaint, wanted.status(decision))


def _compared(
    runs: list[Evaluation], given: dict[str, Any], wanted: Wanted, files: dict[str, Path | None]
) -> tuple[bool, Decision]:
    """Compare the runs, show the result, and return whether any difference is credited, and the decision on the gates."""
    how = {name: given[name] for name in ("by", "cluster", "margin", "allow_different_judges")}
    if len(runs) > 2:
        several = compare_runs(runs, **how, all_pairs=given["all_pairs"])
        decision = several.decided(wanted.gates, wanted.conditions) if wanted.gates else Decision(())
        show(several, decision, files, partial(write_several, several, decision=decision))
        return any(item.credited for pair in several.pairs for item in pair.metrics), decision
    labels = given["labels"]
    calibration = (runs[0].calibrate(labels[0]), runs[1].calibrate(labels[1])) if labels else None
    comparison = runs[0].compare(runs[1], **how, calibration=calibration)
    decision = wanted.decide(runs[1], comparison)
    write_page = partial(write_comparison, comparison, max_megabytes=given["max_megabytes"], decision=decision)
    show(comparison, decision, files, write_page)
    return any(item.credited for item in comparison.metrics), decision


def _baseline_first(paths: list[Path], baseline: Path | None) -> list[Path]:
    if baseline is None:
        return paths
    if baseline not in paths:
        raise InvalidInput(f"--baseline {baseline} is none of the runs: {', '.join(map(str, paths))}")
    paths.remove(baseline)
    return [baseline, *paths]


def show(
    comparison: Comparison | Comparisons,
    decision: Decision,
    files: dict[str, Path | None],
    write_page: Callable[[Path], None],
) -> None:
    """Write the files, and print the tables unless a file goes to stdout."""
    gated = bool(decision.results)
    data = {**comparison.to_dict(), **({"gates": decision.to_dict()} if gated else {})}
    out = files["--out"]
    texts: dict[str, str | Callable[[Path], None]] = {
        HTML: write_page,
        JSON: json.dumps(data, indent=1, allow_nan=False),
        MARKDOWN: (f"{decision.to_markdown()}\n" if gated else "") + comparison.to_markdown(),
    }
    shown = (comparison, decision) if gated else (comparison,)
    put_texts(texts | {"--out": texts[ENDINGS[out.suffix.lower()]]} if out else texts, files, *shown)
