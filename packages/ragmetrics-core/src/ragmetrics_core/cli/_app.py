"""The command ``ragmetrics``.

Exit status: 0 when all went well, 1 when a gate failed (``--gate``, ``--fail-under``), 2 when the input or a model makes the run
impossible or a metric failed wherever it had something to score (one line on stderr says why), 3 when a gate is undecided, 130
after Ctrl-C. Tables are plain text, as wide as the terminal, or 80 columns in a file and in a CI log; they go to stdout, everything
else to stderr. An exception outside of this library's own tree is a bug: it shows its traceback and ends with status 70, so that 1
never means anything but a gate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import ragmetrics_core

from .._evaluate._options import RunOptions
from .._evaluate._run import Run
from .._read import Columns, FileOptions
from .._show._tables import room, wrapped
from ..metrics import Entry, catalogue
from ._calibrate import CALIBRATE, calibrate
from ._compare import COMPARE, compare
from ._doctor import DOCTOR, doctor
from ._generate import GENERATE, generate
from ._look import LOOK, look
from ._options import At, BaseURL, Budget, Data, Encoding, LLMName, MaxRetries, Progress, Timeout, option
from ._outcome import report, show_price
from ._output import Command, check_out, clear_errors, parse_progress, say
from ._parsing import (
    By,
    Cluster,
    FailUnder,
    GateTexts,
    JuryOf,
    Map,
    MaxFailed,
    MinCoverage,
    Separator,
    Undecided,
    parse_budget,
    parse_columns,
    parse_metrics,
    parse_models,
    parse_wanted,
    propose_metrics,
    with_jury,
)
from ._report import REPORT, report_page
from ._show import SHOW, show

app = typer.Typer(
    name="ragmetrics",
    help="Score RAG answers and retrieval results.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point of the console command."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragmetrics {ragmetrics_core.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Score RAG answers and retrieval results."""


EVALUATE = """Score the rows of DATA and print a table: mean, scored, unscored, failed, calls, tokens.

\b
Examples:
  ragmetrics evaluate rows.jsonl -m faithfulness,context_recall --llm lexical
  ragmetrics evaluate rows.csv -m 'faithfulness,ndcg(k=5)' \\
    --llm openai:gpt-4o-mini --run-dir runs/today --out scores.jsonl
  ragmetrics evaluate rows.jsonl -m faithfulness --llm ollama:qwen3:8b \\
    --gate 'faithfulness >= 0.8' --by lang

Exit status: 0 all went well; 1 a gate failed (--gate, --fail-under); 2 the input, a model or the budget ended the run early, or a
metric failed wherever it had something to score; 3 a gate is undecided; 70 a bug, after its traceback; 130 stopped with Ctrl-C.
"""

Metrics = Annotated[
    list[str] | None,
    option(
        "NAMES",
        "Names with commas between (`ragmetrics metrics` lists them); settings as in 'ndcg(k=3)'; your own as "
        "module:NAME, a class or a metric made of one. Without it, those that fit the data are named.",
        "--metrics",
        "-m",
    ),
]
EmbeddingsName = Annotated[
    str | None,
    option(
        "MODEL",
        "openai:MODEL or a server by name, as for --llm; sentence-transformers:MODEL; or hashing: offline, a baseline.",
    ),
]
Out = Annotated[
    Path | None,
    option(
        "FILE",
        "Write rows, scores and their evidence to this file: .jsonl, or .html to look at; .csv takes rows and scores, .md the "
        "summary; - writes JSON lines to stdout, and the table to stderr.",
    ),
]
Limit = Annotated[int | None, option("N", "Only the first so many rows.")]
MaxConcurrency = Annotated[int, option("N", "Most calls to models in flight.")]
OnError = Annotated[str, option("WORD", "record: go on, and count what failed. raise: stop at the first error.")]
RunDir = Annotated[
    Path | None,
    option(
        "DIR", "Keep every reply and the scores in this directory; the same command goes on there where it was stopped."
    ),
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Where --run-dir holds finished scores of another model, other settings or other rows: keep them there as "
        "scores.1.jsonl, and score anew.",
    ),
]
Some = Annotated[int | None, option("N", "Only so many rows, chosen at random.", "--sample")]
Seed = Annotated[int, option("N", "The same seed chooses the same rows.")]
Repeats = Annotated[int, option("N", "Judge every row so many times: the mean counts, the spread is shown.")]
Empty = Annotated[
    str,
    option(
        "WORD",
        "Rows without retrieved contexts or with a blank answer: skip leaves them out of the mean and counts them beside it, "
        "zero counts them as the worst value.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Make no call; say how many there would be, what they cost, and how long they take. With --run-dir, what is left.",
    ),
]

PASSED_ON = (
    "replace",
    "max_concurrency",
    "on_error",
    "empty",
    "limit",
    "sample",
    "seed",
    "repeats",
    "timeout",
    "max_retries",
    "encoding",
    "at",
    "separator",
)
"""Options other than ``run_dir`` that ``evaluate`` takes, and checks, under the same names."""

GATING = ("by", "cluster", "min_coverage", "max_failed", "undecided")
"""Options that are about gates."""


@app.command(cls=Command, help=EVALUATE, short_help="Score the rows of a file, and print a table.")
def evaluate(
    data: Data,
    *,
    metrics: Metrics = None,
    llm: LLMName = None,
    jury: JuryOf = None,
    embeddings: EmbeddingsName = None,
    base_url: BaseURL = None,
    out: Out = None,
    fail_under: FailUnder = None,
    gates: GateTexts = None,
    by: By = None,
    cluster: Cluster = None,
    min_coverage: MinCoverage = None,
    max_failed: MaxFailed = None,
    undecided: Undecided = None,
    run_dir: RunDir = None,
    replace: Replace = False,
    limit: Limit = None,
    sample: Some = None,
    seed: Seed = 0,
    repeats: Repeats = 1,
    budget: Budget = None,
    max_concurrency: MaxConcurrency = 16,
    timeout: Timeout = None,
    max_retries: MaxRetries = 5,
    on_error: OnError = "record",
    empty: Empty = "skip",
    progress: Progress = "auto",
    encoding: Encoding = None,
    at: At = None,
    columns: Map = None,
    separator: Separator = None,
    dry_run: DryRun = False,
) -> None:
    """Score the rows of a file, print the table, and end with the status that it deserves."""
    given = locals()
    with clear_errors(out, run_dir):
        _evaluate(**given)


def _evaluate(data: str, *, out: Path | None, run_dir: Path | None, dry_run: bool, **given: Any) -> None:
    named = parse_columns(given["columns"] or [])
    file = FileOptions(given["encoding"], given["at"])
    selected = parse_metrics(given["metrics"] or []) or propose_metrics(data, Columns(named, given["separator"]), file)
    selected = with_jury(selected, given["jury"], given["llm"], given["base_url"], called=not dry_run)
    gating = {name: given[name] for name in GATING}
    wanted = parse_wanted(given["gates"], **gating, metrics=selected, fail_under=given["fail_under"])
    models = parse_models(given["llm"], given["embeddings"], given["base_url"], given["jury"], called=not dry_run)
    if not dry_run:
        check_out(out, data)
    options = RunOptions(
        **{"llm": None, "embeddings": None, **models},
        run_dir=run_dir,
        columns=named,
        budget=None if dry_run else parse_budget(given["budget"] or []),
        progress=parse_progress(given["progress"]),
        **{name: given[name] for name in PASSED_ON},
    )
    if dry_run:
        show_price(Run(data, selected, options).estimate())
    else:
        report(Run(data, selected, options, wanted.check_first).block(), selected, out, run_dir, wanted)


app.command(cls=Command, help=LOOK, short_help="Show how the rows of a file are understood.")(look)


app.command(cls=Command, help=COMPARE, short_help="Say whether one run is better or worse than another.")(compare)

app.command(cls=Command, help=CALIBRATE, short_help="Say whether the judge of a run agrees with people.")(calibrate)

app.command(cls=Command, help=SHOW, short_help="Show a run, its worst rows, or one row with all its evidence.")(show)

app.command(cls=Command, help=GENERATE, short_help="Write questions with reference answers from documents.")(generate)

app.command(cls=Command, help=DOCTOR, short_help="Say what works: a judge, an embedding model, this machine.")(doctor)


app.command("report", cls=Command, help=REPORT, short_help="Write a run as one HTML file.")(report_page)


@app.command("metrics", short_help="List the built-in metrics.")
def list_metrics() -> None:
    """List the built-in metrics: what each says, its inputs, scale, model calls per row (n = retrieved contexts), source."""
    with clear_errors():
        say("\n\n".join(map(_described, catalogue())))


def _described(entry: Entry) -> str:
    """A metric of the catalogue: its name, what it says, what it takes and costs, where it comes from."""
    inputs = ", ".join(item.name + "?" * (not item.required) for item in entry.inputs) or "as declared"
    scale = f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"
    about = (
        entry.summary,
        f"inputs (? = optional): {inputs}",
        f"scale: {scale}; calls: {'1 per retrieved context' if entry.calls == 'n' else entry.calls}",
        f"source: {entry.source}",
    )
    lines = [line for text in about for line in wrapped(text.replace("``", ""), room(), indent="  ")]
    return "\n".join([entry.name, *lines])
