"""Write questions with reference answers from DOCS: each about one passage or two, checked, and no two alike.

\b
Examples:
  ragmetrics generate handbook/ -n 50 --llm ollama:qwen3:8b --out test.jsonl
  ragmetrics generate handbook/ -n 100 --unanswerable 0.2 --two-passages 0.1 \\
    --llm openai:gpt-4o-mini --run-dir runs/testset --out test.jsonl
  ragmetrics generate faq.md --llm lexical --out test.jsonl

Exit status: 0 there are questions, and the output says what is missing; 2 there are none, or the input, a model or the budget
ended the run early; 70 a bug, after its traceback; 130 stopped with Ctrl-C.
"""

# Questions that were paid for are written even if the run ends early. A document or question that failed is named in the output;
# a run whose other questions are good does not fail because of it.

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from .._show._tables import hanging, room
from .._testset import Testset, generate_testset
from .._testset._chunks import CHUNK_OVERLAP, CHUNK_SIZE
from .._testset._documents import by_reason
from .._testset._kinds import NO_ANSWER
from .._values._errors import InvalidInput
from ._options import BASE_URL, BUDGET, LLM, MAX_RETRIES, PRICE_AS, PROGRESS, TIMEOUT, argument, option
from ._output import JSONL, check_ending, check_out, clear_errors, parse_progress, say, stop, stop_unfinished, write
from ._parsing import parse_budget, parse_models, priced

NEXT = """
next, in Python, with a function ask() of yours that returns the response and
the retrieved_contexts of a question, as a mapping:
  from ragmetrics_core import Testset, evaluate
  rows = [one.updated(ask(one.user_input)) for one in Testset.load({out!r})]
  evaluate(rows, "faithfulness,context_recall", llm="openai:gpt-4o-mini")"""

DOCS = argument(
    "DOCS",
    "A folder of text, Markdown, HTML and PDF files, one such file, or a .jsonl, .json, .csv or .parquet file with a "
    "column content.",
)
NUMBER = option("N", "How many questions altogether.", "-n", "--number", least=1, default=10)
UNANSWERABLE = option("SHARE", "Share of the questions that no passage answers, 0 to 1.", "--unanswerable", default=0.0)
TWO_PASSAGES = option("SHARE", "Share of the questions that need two passages, 0 to 1.", "--two-passages", default=0.0)
REFUSAL = option(
    "TEXT", "Reference of the questions that no passage answers, in your system's words.", default=NO_ANSWER
)
SEED = option("N", "The same seed chooses the same passages.", default=0)
SIZE = option("N", "Most characters of a passage.", default=CHUNK_SIZE)
OVERLAP = option("N", "Most characters that a passage repeats of the one before.", default=CHUNK_OVERLAP)
RUN_DIR = option(
    "DIR", "Keep every reply and the questions in this directory; the same command goes on there where it was stopped."
)
OUT = option("FILE", "Write the questions to this .jsonl file.", default=...)
MAX_CONCURRENCY = option("N", "Most calls to the model in flight.", least=1, default=16)


def generate(
    docs: Path = DOCS,
    *,
    out: Path = OUT,
    number: int = NUMBER,
    unanswerable: float = UNANSWERABLE,
    two_passages: float = TWO_PASSAGES,
    refusal: str = REFUSAL,
    llm: str | None = LLM,
    base_url: str | None = BASE_URL,
    chunk_size: int = SIZE,
    chunk_overlap: int = OVERLAP,
    seed: int = SEED,
    run_dir: Path | None = RUN_DIR,
    budget: list[str] | None = BUDGET,
    price_as: str | None = PRICE_AS,
    max_concurrency: int = MAX_CONCURRENCY,
    timeout: float | None = TIMEOUT,
    max_retries: int = MAX_RETRIES,
    progress: str = PROGRESS,
) -> None:
    """Write questions with reference answers from documents into a file."""
    settings = inspect.signature(generate_testset).parameters
    given: dict[str, Any] = {name: value for name, value in locals().items() if name in settings}
    with clear_errors(out, run_dir):
        if llm is None:
            raise InvalidInput("choose a model with --llm: openai:MODEL, server:MODEL or lexical (offline, a baseline)")
        check_ending(out, JSONL, ".jsonl, so that it can be read again")
        check_out(out, str(docs))
        given["llm"] = parse_models(llm, None, base_url)["llm"]
        priced(given, price_as)
        given["budget"] = parse_budget(budget or [])
        given["progress"] = parse_progress(progress)
        testset = generate_testset(docs, n=number, **given)
        if not testset and testset.stopped is not None:
            stop_unfinished(f"no question was made: {testset.stopped}", run_dir)
        if not testset:
            stop(f"no question was made: {next(iter([*testset.problems, *testset.missing]))}", 2)
        write(cast("Any", testset), out)
        _report(testset, out)
        if testset.stopped is not None:
            stop_unfinished(testset.stopped, run_dir)


def _report(testset: Testset, out: Path) -> None:
    """Print what was skipped, the result, and the next steps."""
    for line in by_reason(testset.skipped):
        say("\n".join(hanging(f"skipped: {line}", room())), err=True)
    result = f"{out}: {replace(testset, skipped=())}"
    say("\n".join(part for line in result.splitlines() for part in hanging(line, room())))
    say(NEXT.format(out=str(out)))
