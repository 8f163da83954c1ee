"""Ask APP every question of QUESTIONS, keep its answers, and judge them if there are --metrics.

\b
Examples:
  ragmetrics run my_app:answer questions.jsonl --out answers.jsonl
  ragmetrics run my_app:answer questions.jsonl --run-dir runs/today \\
    -m faithfulness,answer_correctness --llm openai:gpt-4o-mini
  ragmetrics run http://localhost:8000/ask questions.jsonl --send question

A question whose call fails is counted, and has the reason in its row; the same command asks it again, and no question that is
answered. The options of `ragmetrics evaluate` about judging are options of this command too.

Exit status: as of `ragmetrics evaluate`; without --metrics, 2 if no question was answered.
"""

from __future__ import annotations

import inspect
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from .._application._kept import SECONDS, line_of
from .._application._run_app import run_app
from .._evaluate._run import Run
from .._values._counts import count_of
from .._values._errors import InvalidInput, Setting
from .._values._sample import APP_ERROR, Sample
from ._evaluate import LIMIT, Judging, evaluate
from ._options import AT, ENCODING, PROGRESS, argument, option
from ._output import clear_errors, complain, parse_progress, say, stop, to_stdout
from ._parsing import SEPARATOR, asks, parse_columns, parse_metrics

APP = argument(
    "APP", "module:function, searched in the current directory too, or an object of a framework named like it."
)
QUESTIONS = argument("QUESTIONS", "Any file that `ragmetrics evaluate` reads; - reads standard input.")
METRICS = option("NAMES", "Judge the answers with these metrics, as `ragmetrics evaluate` does.", "--metrics", "-m")
OUT = option(
    "FILE",
    "Write each question with its answer to this .jsonl file at once; the same command goes on there. Without it, to "
    "answers.jsonl in --run-dir, or to stdout.",
)
MAX_CONCURRENCY = option("N", "Most questions that are asked at the same time.", default=4)
TIMEOUT = option("SECONDS", "Seconds that the application has for each answer.", default=120.0)
MAP = option(
    "FIELD=PLACE",
    "Where a field is: answer, contexts and documents in what the application returns, as in answer=result.text; all others in "
    "the questions, as in question=prompt. Repeatable.",
    "--map",
)
SEND = option("NAME", "Of an address: where the question is in what is sent, such as question or input.question.")
HEADERS_FROM = option(
    "VARIABLE", "Of an address: the environment variable with its headers, each on a line, such as a key."
)
RUN_DIR = option("DIR", "Keep the answers, and all replies and scores of the judge, in this directory.")

FILE = "answers.jsonl"

ASKING = ("max_concurrency", "timeout", "limit", "encoding", "at", "separator", "send", "headers_from")
"""The options that ``run_app`` has under the same names."""

NOT_JUDGING = frozenset(
    (
        "data",
        "encoding",
        "at",
        "columns",
        "separator",
        "traces",
        "limit",
        "sample",
        "max_concurrency",
        "timeout",
        "out",
        "dry_run",
    )
)
"""The options of `ragmetrics evaluate` that are not about judging: rows come from the application, and calls are made."""

USUAL = {name: item.default.default for name, item in inspect.signature(evaluate).parameters.items()}
"""The options of `ragmetrics evaluate`, with their defaults."""

MOST_REASONS = 5
"""The number of reasons for failures that are shown."""


def judging_too(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `ragmetrics evaluate` that are about judging, unless it has options of the same names."""
    own, others = (inspect.signature(each, eval_str=True).parameters for each in (command, evaluate))
    more = [item for name, item in others.items() if name not in {*own, *NOT_JUDGING}]
    parameters = [*(item for item in own.values() if item.kind is not item.VAR_KEYWORD), *more]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {item.name: item.annotation for item in parameters}
    return command


@judging_too
def run(
    app: str = APP,
    questions: str = QUESTIONS,
    *,
    out: Path | None = OUT,
    metrics: list[str] | None = METRICS,
    run_dir: Path | None = RUN_DIR,
    limit: int | None = LIMIT,
    max_concurrency: int = MAX_CONCURRENCY,
    timeout: float = TIMEOUT,
    progress: str = PROGRESS,
    encoding: str | None = ENCODING,
    at: str | None = AT,
    columns: list[str] | None = MAP,
    separator: str | None = SEPARATOR,
    send: str | None = SEND,
    headers_from: str | None = HEADERS_FROM,
    **judging: Any,
) -> None:
    """Ask an application the questions of a file, and judge its answers."""
    given = {**locals(), **judging}
    with clear_errors(None, run_dir or out):
        _run(given, {**judging, "metrics": metrics, "run_dir": run_dir, "progress": progress})


def _run(given: Mapping[str, Any], judging: Mapping[str, Any]) -> None:
    asking = {name: given[name] for name in ASKING}
    asking |= {"progress": parse_progress(given["progress"]), "columns": parse_columns(given["columns"] or [])}
    judge = _judging(judging)
    file = given["run_dir"] / FILE if given["out"] is None and given["run_dir"] is not None else given["out"]
    path = None if to_stdout(file) else file
    printed = path is None and (judge is None or file is not None)
    with redirect_stdout(sys.stderr) if printed else nullcontext():  # what the application prints is no row
        rows = run_app(given["app"], given["questions"], out=path, **asking)
    for row in rows if printed else ():
        say(line_of(row).removesuffix("\n"))
    _report(rows, err=printed)
    if judge is not None:
        judge.judge(rows, None)
    elif rows and all(APP_ERROR in row.metadata for row in rows):
        stop("no question was answered", 2)


def _judging(given: Mapping[str, Any]) -> Judging | None:
    """Return how the answers are judged, after a check of all options that can be checked before the first question."""
    metrics = parse_metrics(given["metrics"] or [])  # also lets the current directory be searched for the application
    if not metrics:
        for name in given.keys() - {"metrics", "run_dir", "progress"}:
            if given[name] != USUAL[name]:
                raise InvalidInput(Setting(name, ...), " is about judging: add ", Setting("metrics", ...))
        return None
    judging = Judging.of({**USUAL, **given}, metrics)
    Run.of({**judging.arguments, "samples": []})
    for name in (item.name for item in metrics if not (given["llm"] or given["jury"]) and asks(item)):
        raise InvalidInput(f"{name} asks an LLM: add ", Setting("llm", ...))
    return judging


def _report(rows: Sequence[Sample], *, err: bool) -> None:
    """Print how many questions were answered, how long it took, and why others were not."""
    failures = Counter(row.metadata[APP_ERROR] for row in rows if APP_ERROR in row.metadata)
    seconds = [row.metadata[SECONDS] for row in rows if APP_ERROR not in row.metadata]
    failed = failures.total()
    times = f"; {statistics.median(seconds):.1f} s at the median, {max(seconds):.1f} s at most" if seconds else ""
    say(f"{count_of(len(rows), 'question')}: {len(seconds)} answered, {failed} failed{times}", err=err)
    for reason, count in failures.most_common(MOST_REASONS):
        complain(f"{count_of(count, 'question')} failed: {reason}")
    if len(failures) > MOST_REASONS:
        complain(f"{count_of(len(failures) - MOST_REASONS, 'further reason')}: see app_error in the rows")
