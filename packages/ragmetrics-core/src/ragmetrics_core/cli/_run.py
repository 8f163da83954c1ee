"""Ask APP every question of QUESTIONS, keep its answers, and judge them if there are --metrics.

\b
Examples:
  ragmetrics run my_app:answer questions.jsonl --out answers.jsonl
  ragmetrics run my_app:answer questions.jsonl --run-dir runs/today \\
    -m faithfulness,answer_correctness --llm openai:gpt-4o-mini
  ragmetrics run http://localhost:8000/ask questions.jsonl --send question

A question whose call fails is counted, and has the reason in its row; the same command asks it again, and no question that is
answered. `ragmetrics evaluate` judges the file of answers with all its options.

Exit status: as of `ragmetrics evaluate`; without --metrics, 2 if no question was answered.
"""

from __future__ import annotations

import inspect
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._application._kept import SECONDS, line_of
from .._application._run_app import run_app
from .._evaluate._run import Run
from .._values._counts import count_of
from .._values._errors import InvalidInput, Setting
from .._values._sample import APP_ERROR, Sample
from ._evaluate import EMBEDDINGS, FAIL_UNDER, GATES, LIMIT, Judging, evaluate
from ._options import AT, BASE_URL, BUDGET, ENCODING, LLM, PRICE_AS, PROGRESS, argument, option
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

USUAL = {name: item.default.default for name, item in list(inspect.signature(evaluate).parameters.items())[1:]}
"""The options of `ragmetrics evaluate` that this command does not have, with their defaults."""

ASKING = ("max_concurrency", "timeout", "limit", "encoding", "at", "separator", "send", "headers_from")
"""The options that ``run_app`` has under the same names."""

JUDGING = (
    "metrics",
    "llm",
    "embeddings",
    "base_url",
    "gates",
    "fail_under",
    "run_dir",
    "budget",
    "price_as",
    "progress",
)
"""The options about judging."""

MOST_REASONS = 5
"""The number of reasons for failures that are shown."""


def run(
    app: str = APP,
    questions: str = QUESTIONS,
    *,
    out: Path | None = OUT,
    metrics: list[str] | None = METRICS,
    llm: str | None = LLM,
    embeddings: str | None = EMBEDDINGS,
    base_url: str | None = BASE_URL,
    gates: list[str] | None = GATES,
    fail_under: list[str] | None = FAIL_UNDER,
    run_dir: Path | None = RUN_DIR,
    limit: int | None = LIMIT,
    budget: list[str] | None = BUDGET,
    price_as: str | None = PRICE_AS,
    max_concurrency: int = MAX_CONCURRENCY,
    timeout: float = TIMEOUT,
    progress: str = PROGRESS,
    encoding: str | None = ENCODING,
    at: str | None = AT,
    columns: list[str] | None = MAP,
    separator: str | None = SEPARATOR,
    send: str | None = SEND,
    headers_from: str | None = HEADERS_FROM,
) -> None:
    """Ask an application the questions of a file, and judge its answers."""
    given = locals()
    with clear_errors(None, run_dir or out):
        _run(given)


def _run(given: Mapping[str, Any]) -> None:
    asking = {name: given[name] for name in ASKING}
    asking |= {"progress": parse_progress(given["progress"]), "columns": parse_columns(given["columns"] or [])}
    metrics = parse_metrics(given["metrics"] or [])  # also lets the current directory be searched for the application
    judging = Judging.of({**USUAL, **{name: given[name] for name in JUDGING}}, metrics) if metrics else None
    if judging is not None:
        Run.of({**judging.arguments, "samples": []})  # finds what is wrong with its options before the first question
        for name in (item.name for item in metrics if given["llm"] is None and asks(item)):
            raise InvalidInput(f"{name} asks an LLM: add ", Setting("llm", ...))
    file = given["run_dir"] / FILE if given["out"] is None and given["run_dir"] is not None else given["out"]
    path = None if to_stdout(file) else file
    rows = run_app(given["app"], given["questions"], out=path, **asking)
    printed = path is None and (judging is None or file is not None)
    for row in rows if printed else ():
        say(line_of(row).removesuffix("\n"))
    _report(rows, err=printed)
    if judging is not None:
        judging.judge(rows, None)
    elif rows and all(APP_ERROR in row.metadata for row in rows):
        stop("no question was answered", 2)


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
