"""Score the rows of DATA and print a table: mean, scored, unscored, failed, calls, tokens.

\b
Examples:
  ragmetrics evaluate rows.jsonl -m faithfulness,context_recall --llm lexical
  ragmetrics evaluate rows.csv -m 'faithfulness,ndcg(k=5)' \\
    --llm openai:gpt-4o-mini --run-dir runs/today --out scores.jsonl
  ragmetrics evaluate rows.jsonl -m faithfulness --llm ollama:qwen3:8b \\
    --gate 'faithfulness >= 0.8' --stop-when-decided

Exit status: 0 all went well; 1 a gate failed (--gate, --fail-under); 2 the input, a model or the budget ended the run early, or a
metric failed on every row that it could score; 3 a gate is undecided; 4 batches are sent (--no-wait); 70 a bug, after its
traceback; 130 stopped with Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from .._evaluate._batch_run import SUBMITTED
from .._evaluate._estimate import Estimate
from .._evaluate._evaluation import Evaluation
from .._evaluate._run import Run
from .._gate._results import Decision
from .._kernel._inputs import Input
from .._kernel._metric import Metric
from .._read._columns import Columns
from .._read._input_file import FileOptions
from .._read._look import keys_of
from .._run._slices import RowGroups
from .._show._tables import hanging, room
from .._summary._summary import Summary
from .._values._errors import InvalidInput, MissingInput
from .._values._sample import Sample
from ._options import AT, BASE_URL, BUDGET, DATA, ENCODING, LLM, MAX_RETRIES, PRICE_AS, PROGRESS, TIMEOUT, flag, option
from ._output import (
    as_option,
    check_out,
    clear_errors,
    complain,
    how_to_continue,
    in_cli_words,
    parse_progress,
    say,
    say_results,
    stop,
    stop_unfinished,
    to_stdout,
    write,
)
from ._parsing import (
    ALLOW_DIFFERENT_JUDGES,
    COLUMNS,
    MAX_FAILED,
    MIN_COVERAGE,
    SEPARATOR,
    SHORT,
    UNDECIDED,
    Wanted,
    compared_with_least,
    map_for,
    parse_batch,
    parse_budget,
    parse_columns,
    parse_metrics,
    parse_models,
    parse_wanted,
    priced,
    propose_metrics,
    with_jury,
)
from ._traces import TRACES, Traces, samples_in

METRICS = option(
    "NAMES",
    "Names with commas between (`ragmetrics metrics` lists them); settings as in 'ndcg(k=3)'; your own as "
    "module:NAME, a class or a metric made of one. Without it, those that fit the data are named.",
    "--metrics",
    "-m",
)
EMBEDDINGS = option(
    "MODEL",
    "openai:MODEL or a server by name, as for --llm; sentence-transformers:MODEL; or hashing: offline, a baseline.",
)
OUT = option(
    "FILE",
    "Write rows, scores and their evidence to this file: .jsonl, .parquet, or .html to look at; .csv takes rows and scores, .md "
    "the summary; - writes JSON lines to stdout, and the table to stderr.",
)
JURY = option(
    "MODELS",
    "Several models as for --llm, with commas between, instead of one: each metric that asks an LLM is asked of all of "
    "them, and has the median of what they say, or the majority of a yes or no. --base-url is the address of those named "
    "server: or openai:.",
    "--jury",
)
FAIL_UNDER = option(
    "METRIC=VALUE",
    "Exit with status 1 if the metric's mean is lower, or if it failed on over half of the rows. It says how sure that "
    "is. Repeatable.",
)
GATES = option(
    "GATE",
    "'METRIC >= NUMBER' or 'METRIC <= NUMBER', in quotes: passes if the 95 % interval of the mean lies on that side, "
    "fails (status 1) if it lies on the other, and is undecided (status 3) else. Repeatable.",
    "--gate",
)
BY = option(
    "COLUMN", "Show the metrics for every value of this column too, such as lang, and decide each --gate for it."
)
CLUSTER = option(
    "COLUMN",
    "Rows that share a value of this column, such as document, are alike: the intervals of --gate count with that.",
)
STOP = flag(
    "--stop-when-decided",
    "Score rows in a random order (--seed), and stop as soon as every --gate is decided. Intervals hold at any number of rows.",
)
BASELINE = option(
    "RUN", "With --stop-when-decided: the earlier run for gates on a drop or a change, its directory or file of scores."
)
LIMIT = option("N", "Only the first so many rows.")
MAX_CONCURRENCY = option("N", "Most calls to models in flight.", default=16)
ON_ERROR = option("WORD", "record: go on, and count what failed. raise: stop at the first error.", default="record")
RUN_DIR = option(
    "DIR", "Keep every reply and the scores in this directory; the same command goes on there where it was stopped."
)
REPLACE = flag(
    "--replace",
    "Where --run-dir holds finished scores of another model, other settings or other rows: keep them there as "
    "scores.1.jsonl, and score anew.",
)
SAMPLE = option("N", "Only so many rows, chosen at random.", "--sample")
SEED = option("N", "The same seed chooses the same rows.", default=0)
REPEATS = option("N", "Judge every row so many times: the mean counts, the spread is shown.", default=1)
EMPTY = option(
    "WORD",
    "Rows without retrieved contexts or with a blank answer: skip leaves them out of the mean and counts them beside it, "
    "zero counts them as the worst value.",
    default="skip",
)
BATCH = flag(
    "--batch",
    "Ask in batches of the provider (OpenAI, Azure): half the price, an answer within a day. It needs --run-dir, and goes on "
    "there if it was stopped; `ragmetrics batches` shows them.",
)
BATCH_POLL = option("SECONDS", "Seconds between two looks at the batches; 60 by default.")
BATCH_GRACE = option(
    "SECONDS", "How long to look for a batch whose creation got no answer, before it is created again; 120 by default."
)
NO_WAIT = flag(
    "--no-wait",
    "With --batch: send the questions and exit with status 4; the same command continues when they are answered.",
)
FINISH_ONLINE = flag("--finish-online", "Cancel open batches, keep what they have answered, and ask the rest online.")
DRY_RUN = flag(
    "--dry-run",
    "Make no call; say how many there would be, what they cost, and how long they take. With --run-dir, what is left.",
)


def evaluate(
    data: str = DATA,
    *,
    metrics: list[str] | None = METRICS,
    llm: str | None = LLM,
    jury: str | None = JURY,
    embeddings: str | None = EMBEDDINGS,
    base_url: str | None = BASE_URL,
    out: Path | None = OUT,
    fail_under: list[str] | None = FAIL_UNDER,
    gates: list[str] | None = GATES,
    by: str | None = BY,
    cluster: str | None = CLUSTER,
    min_coverage: float | None = MIN_COVERAGE,
    max_failed: float | None = MAX_FAILED,
    undecided: str | None = UNDECIDED,
    stop_when_decided: bool = STOP,
    baseline: Path | None = BASELINE,
    allow_different_judges: bool = ALLOW_DIFFERENT_JUDGES,
    run_dir: Path | None = RUN_DIR,
    replace: bool = REPLACE,
    limit: int | None = LIMIT,
    sample: int | None = SAMPLE,
    seed: int = SEED,
    repeats: int = REPEATS,
    budget: list[str] | None = BUDGET,
    price_as: str | None = PRICE_AS,
    max_concurrency: int = MAX_CONCURRENCY,
    timeout: float | None = TIMEOUT,
    max_retries: int = MAX_RETRIES,
    on_error: str = ON_ERROR,
    empty: str = EMPTY,
    progress: str = PROGRESS,
    encoding: str | None = ENCODING,
    at: str | None = AT,
    columns: list[str] | None = COLUMNS,
    separator: str | None = SEPARATOR,
    traces: bool = TRACES,
    batch: bool = BATCH,
    batch_poll: float | None = BATCH_POLL,
    batch_grace: float | None = BATCH_GRACE,
    no_wait: bool = NO_WAIT,
    finish_online: bool = FINISH_ONLINE,
    dry_run: bool = DRY_RUN,
) -> None:
    """Score the rows of a file, print the table, and exit with the matching status."""
    given = locals()
    with clear_errors(out, run_dir), samples_in(data, traces=traces) as samples:
        _evaluate(data, samples, out, given)


def _evaluate(data: str, samples: str | Traces, out: Path | None, given: Mapping[str, Any]) -> None:
    calls_models = not given["dry_run"]
    metrics = parse_metrics(given["metrics"] or []) or propose_metrics(
        data,
        samples,
        Columns(parse_columns(given["columns"] or []), given["separator"]),
        FileOptions(given["encoding"], given["at"]),
    )
    judging = Judging.of(given, metrics)
    if calls_models:
        check_out(out, data)
        judging.judge(samples, out)
    else:
        _show_price(Run.of({**judging.arguments, "samples": samples}).estimate())


@dataclass(frozen=True)
class Judging:
    """The parsed options of a command that judges rows.

    Attributes:
        metrics: the metrics.
        wanted: what the run must show.
        arguments: those of ``evaluate``, except for the samples.
    """

    metrics: Sequence[Metric]
    wanted: Wanted
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, given: Mapping[str, Any], metrics: Sequence[Metric]) -> Judging:
        """Parse the options of `ragmetrics evaluate`, by name.

        Raises:
            InvalidInput: an option cannot be parsed, or has an impossible value.
        """
        called = not given["dry_run"]
        metrics = with_jury(metrics, given["jury"], given["llm"], given["base_url"], called=called)
        wanted = parse_wanted(given, metrics)
        models = parse_models(given["llm"], given["embeddings"], given["base_url"], given["jury"], called=called)
        priced(models, given["price_as"])
        parsed = {
            "columns": parse_columns(given["columns"] or []),
            "budget": parse_budget(given["budget"] or []) if called else None,
            "progress": parse_progress(given["progress"]),
            "batch": parse_batch(given),
            "sinks": (),
        }
        return cls(metrics, wanted, {**given, **models, **parsed, **wanted.stopping(given), "metrics": metrics})

    def judge(self, samples: Any, out: Path | None) -> None:
        """Judge the rows, write the file, print the table, and exit with the matching status."""
        check_first = RowGroups(self.wanted.by, self.wanted.cluster).check_first
        run = Run.of({**self.arguments, "samples": samples}, check_first=check_first, write=as_option)
        _report(run.block(), self.metrics, out, self.arguments["run_dir"], self.wanted)


def _report(run: Evaluation, metrics: Sequence[Metric], out: Path | None, run_dir: Path | None, wanted: Wanted) -> None:
    """Write the file, print the table and the results of the gates, and exit with the matching status."""
    if run.stopped is not None and run.stopped.startswith(SUBMITTED):
        stop(run.stopped, 4)
    summary, decision, problem = None, Decision(()), ""
    try:
        summary = run.summary(wanted.by)
        decision = wanted.decide(run)
    except InvalidInput as error:  # the run is paid for, so its table is shown without slices or without gates
        problem = in_cli_words(error)
    if summary is None:
        summary = run.summary()
    if objects := _objects(run):
        complain(f"judged as text, though a JSON object: {objects}; `ragmetrics look` shows how to name a part of it")
    dead = summary.failed_everywhere
    for name in dead:
        complain(f"{name} failed on every row: {_why(summary, name)}")
    if unread := _unread(run, [metric for metric in metrics if metric.name in dead]):
        complain(f"if other columns have these fields, add {map_for(unread)} (`ragmetrics look` shows the columns)")
    try:
        if out is not None:
            write(run, out, summary.by, decision)
    finally:
        say_results(summary, err=to_stdout(out))
    reached, missed = compared_with_least(summary, wanted.least)
    lines = [line for text in reached for line in hanging(f"fail-under: {text}", room())]
    if lines or decision.results:
        say("\n".join(["", *lines]), err=to_stdout(out))
    if decision.results:
        say_results(decision, err=to_stdout(out))
    _stop_where_unknown(summary, dead, run_dir)
    if problems := list(filter(None, [problem, *missed, wanted.complaint(decision)])):
        stop("; ".join(problems), 2 if problem else 1 if missed else wanted.status(decision))


def _show_price(price: Estimate) -> None:
    """Print the calls and the cost of a run instead of making it."""
    say(price.text(write=as_option))
    if lacking := [item.name for item in price.metrics if item.failed and item.failed == price.rows]:
        complain(f"no row can be scored by {', '.join(lacking)}: `ragmetrics look` shows what is missing")


def _stop_where_unknown(summary: Summary, dead: Sequence[str], run_dir: Path | None) -> None:
    """Exit with status 2 if the run ended early, or if a metric has no score because it failed."""
    if summary.stopped is not None:
        stop_unfinished(summary.stopped, run_dir)
    if dead:
        if run_dir is not None:
            remark, command = how_to_continue(run_dir)
            complain(remark.replace("(", "").replace(")", ""), command)
        raise typer.Exit(2)
    if unknown := [item.name for item in summary.metrics if item.failed and not item.scored]:
        if any(item.scored for item in summary.metrics):
            text = "; ".join(f"{name} was scored on no row: {_why(summary, name)}" for name in unknown)
        else:
            text = "nothing was scored: see the failures above"
        if run_dir is not None:
            stop_unfinished(text, run_dir)
        stop(text, 2)


def _objects(evaluation: Evaluation) -> str:
    """Return the fields whose text in the first row is a JSON object; cells of exports contain the question or answer inside
    such an object.
    """
    first = evaluation.rows[0] if len(evaluation) else Sample()
    texts = {name: getattr(first, name) for name in SHORT}
    return ", ".join(name for name, text in texts.items() if isinstance(text, str) and keys_of(text))


def _unread(evaluation: Evaluation, metrics: Sequence[Metric]) -> list[str]:
    """Return the fields that the metrics need and that have no text in the first row. The text may be in another column, or
    nested in its own.
    """
    row = next((row for row in evaluation.rows if row.to_dict().keys() - {"id"}), None)
    needed = dict.fromkeys(field for metric in metrics for field in metric.inputs)
    return [] if row is None else list(dict.fromkeys(field.name for field in needed if _is_unread(field, row)))


def _is_unread(field: Input, row: Sample) -> bool:
    try:
        field.read("", row)
    except MissingInput:
        return True
    except InvalidInput:
        return field.kind == "text" and isinstance(row.get(field.name), dict | list)
    return False


def _why(summary: Summary, metric: str) -> str:
    """Return the most common cause of a metric's failures."""
    return next(reason.text for reason in summary.reasons if reason.state == "failed" and metric in reason.metrics)
