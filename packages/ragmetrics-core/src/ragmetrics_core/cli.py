"""The command ``ragmetrics``.

Exit status: 0 when all went well, 1 when a gate of ``--fail-under`` is not met, 2 when the input or a model makes the run
impossible (one line on stderr says why), 130 after Ctrl-C. Tables are plain text, the same on a terminal, in a file and in a CI
log; they go to stdout, everything else to stderr. An exception outside of this library's own tree is a bug: it shows its traceback
and ends with status 70, so that 1 never means anything but a gate.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import ragmetrics_core

from ._cli_generate import generate
from ._cli_metrics import fitting_metrics, parse_metrics
from ._cli_models import parse_budget, parse_models
from ._cli_output import check_out, clear_errors, how_to_continue, parse_progress, say, stop, write
from ._errors import InvalidInput
from ._evaluate import Evaluation
from ._evaluate import evaluate as run_evaluation
from ._metric import Metric
from ._read import open_source
from .metrics import Entry, catalogue

__all__ = ["app", "main"]

MOST_FAILED = 0.5
"""Share of failed rows above which a mean no longer passes a gate: the rows that failed may be the bad ones."""

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


Data = Annotated[str, typer.Argument(help="A .jsonl, .json, .csv, .tsv (.gz may follow) or .parquet file.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics", "-m", help="Names with commas between; settings as in 'ndcg(k=3)'; your own as module:Class."
    ),
]
LLMName = Annotated[
    str | None,
    typer.Option(
        help="openai:MODEL (the key from OPENAI_API_KEY); server:MODEL: a lean client for the server at --base-url; lexical: "
        "offline, a baseline."
    ),
]
EmbeddingsName = Annotated[
    str | None, typer.Option(help="openai:MODEL, sentence-transformers:MODEL, or hashing: offline, a baseline.")
]
BaseURL = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible server, such as http://localhost:11434/v1.")
]
Out = Annotated[Path | None, typer.Option(help="Write rows, scores and their evidence to this JSONL file.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        help="METRIC=VALUE: exit with status 1 if the metric's mean is lower, or if it failed on over half of the rows. Repeatable."
    ),
]
Limit = Annotated[int | None, typer.Option(help="Only the first so many rows.")]
MaxConcurrency = Annotated[int, typer.Option(help="Most calls to models in flight.")]
OnError = Annotated[str, typer.Option(help="record: go on, and count what failed. raise: stop at the first error.")]
RunDir = Annotated[
    Path | None,
    typer.Option(
        help="Keep every reply and the scores in this directory; the same command goes on there where it was stopped."
    ),
]
Some = Annotated[int | None, typer.Option("--sample", help="Only so many rows, chosen at random.")]
Seed = Annotated[int, typer.Option(help="The same seed chooses the same rows.")]
Repeats = Annotated[int, typer.Option(help="Judge every row so many times: the mean counts, the spread is shown.")]
Budget = Annotated[
    list[str] | None,
    typer.Option(help="calls=NUMBER or tokens=NUMBER: stop when so much is spent. Repeatable."),
]
Timeout = Annotated[
    float | None, typer.Option(help="Seconds for one attempt of a call; by default learnt from the answers so far.")
]
Progress = Annotated[str, typer.Option(help="auto: a bar in a terminal; always; never.")]
Empty = Annotated[
    str,
    typer.Option(
        help="Rows without retrieved contexts or with a blank answer: skip leaves them out of the mean and counts them beside it, "
        "zero counts them as the worst value."
    ),
]
MaxRetries = Annotated[int, typer.Option(help="How often a call that was lost is made again.")]


@app.command()
def evaluate(
    data: Data,
    *,
    metrics: Metrics = None,
    llm: LLMName = None,
    embeddings: EmbeddingsName = None,
    base_url: BaseURL = None,
    out: Out = None,
    fail_under: FailUnder = None,
    run_dir: RunDir = None,
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
) -> None:
    """Score the rows of DATA and print a table: mean, scored, unscored, failed, calls, tokens.

    Exit status: 0 all went well; 1 a gate of --fail-under is not met; 2 the input, a model or the budget ended the run early; 70
    a bug, after its traceback; 130 stopped with Ctrl-C.
    """
    with clear_errors(out, run_dir):
        chosen = parse_metrics(metrics or []) or _propose_metrics(data)
        gates = _gates(fail_under or [], chosen)
        check_out(out, data)
        evaluation = run_evaluation(
            data,
            chosen,
            **parse_models(llm, embeddings, base_url),
            run_dir=run_dir,
            max_concurrency=max_concurrency,
            on_error=on_error,  # type: ignore[arg-type]  # checked by evaluate itself
            empty=empty,  # type: ignore[arg-type]  # likewise
            limit=limit,
            sample=sample,
            seed=seed,
            repeats=repeats,
            budget=parse_budget(budget or []),
            timeout=timeout,
            max_retries=max_retries,
            progress=parse_progress(progress),
        )
        _report(evaluation, out, run_dir, gates)


app.command()(generate)


@app.command("metrics")
def list_metrics() -> None:
    """List the built-in metrics: what each says, its inputs, scale, model calls per row (n = retrieved contexts), source."""
    with clear_errors():
        say("\n\n".join(map(_described, catalogue())))


def _described(entry: Entry) -> str:
    inputs = ", ".join(item.name + "?" * (not item.required) for item in entry.inputs) or "as declared"
    scale = f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"
    lines = [
        entry.name,
        f"  {entry.summary.replace('``', '')}",
        f"  inputs (? = optional): {inputs}; scale: {scale}; calls: {entry.calls}",
        f"  source: {entry.source.replace('``', '')}",
    ]
    return "\n".join(lines)


def _propose_metrics(data: str) -> NoReturn:
    row = next(open_source(data, 1).rows)
    if row.problem is not None:
        raise InvalidInput(
            f"choose metrics with --metrics a,b; none can be proposed, for the first row cannot be read: {row.problem}"
        )
    fitting = ", ".join(fitting_metrics(row.sample))
    if not fitting:
        raise InvalidInput(
            "choose metrics with --metrics a,b; no built-in one fits the columns (see `ragmetrics metrics`)"
        )
    raise InvalidInput(f"choose metrics with --metrics a,b; these fit the columns of {Path(data).name}: {fitting}")


def _gates(texts: list[str], metrics: list[Metric]) -> dict[str, float]:
    scales: dict[str, Any] = {metric.name: metric.scale for metric in metrics}
    gates = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = float(number) if equals else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"--fail-under takes METRIC=NUMBER, got {text!r}")
        if name not in scales:
            raise InvalidInput(f"--fail-under: {name!r} is not among the metrics of this run: {', '.join(scales)}")
        scale = scales[name]
        if scale is not None and not scale[0] <= value <= scale[1]:
            raise InvalidInput(
                f"--fail-under: {name} goes from {scale[0]:g} to {scale[1]:g}, so {value:g} is no gate for it"
            )
        gates[name] = value
    return gates


def _report(evaluation: Evaluation, out: Path | None, run_dir: Path | None, gates: dict[str, float]) -> None:
    """Write the file, print the table, and end with the status that they deserve."""
    summary = evaluation.summary()
    try:
        if out is not None:
            write(evaluation, out)
    finally:
        say(str(summary))
    if summary.stopped is not None:
        stop(summary.stopped + how_to_continue(run_dir), 2)
    if not any(item.scored for item in summary.metrics) and any(item.failed for item in summary.metrics):
        stop("nothing was scored: see the failures above" + (how_to_continue(run_dir) if run_dir else ""), 2)
    missed = []
    for name, least in gates.items():
        item = summary[name]
        mean, rows = item.mean, item.scored + item.unscored + item.failed
        if mean is None:
            missed.append(f"{name} has no score, so it is not known to reach {least:g}")
        elif item.failed > MOST_FAILED * rows:
            missed.append(f"{name} failed on {item.failed} of {rows} rows, so its mean says too little for a gate")
        elif mean < least and not math.isclose(mean, least, rel_tol=1e-9):
            missed.append(f"{name} is {mean:.6g}, under {least:g}")
    if missed:
        stop("; ".join(missed), 1)
