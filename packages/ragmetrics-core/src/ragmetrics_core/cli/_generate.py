"""``ragmetrics generate``: a test set from a folder of texts, as one JSONL file that ``evaluate`` reads.

It reports as ``evaluate`` does: one line and status 2 for everything that makes the run impossible, and questions that were paid
for are written even then. A document or question that failed is named in the output; a run whose other questions are good does
not fail over it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .._kernel._errors import InvalidInput
from .._report._table import hanging, room
from .._testset import generate_testset
from .._testset._documents import by_reason
from ._models import parse_models
from ._output import check_out, clear_errors, say, stop, write

__all__ = ["GENERATE", "generate"]

GENERATE = """Write questions with reference answers from DOCS: one call per document, and one per question.

\b
Examples:
  ragmetrics generate handbook/ -n 3 --llm openai:gpt-4o-mini --out test.jsonl
  ragmetrics generate faq.md --llm lexical --out test.jsonl

Exit status: 0 there are questions, and the output names whatever failed; 2 there are none, or the input or a model makes the run
impossible; 70 a bug, after its traceback; 130 stopped with Ctrl-C.
"""

Docs = Annotated[
    Path,
    typer.Argument(
        metavar="DOCS",
        help="A folder of text, Markdown, HTML and PDF files, one such file, or a .jsonl, .json, .csv or .parquet file with a "
        "column content.",
    ),
]
Number = Annotated[
    int, typer.Option("-n", "--number", metavar="N", min=1, help="Most questions per document, not altogether.")
]
Out = Annotated[Path, typer.Option(metavar="FILE", help="Write the questions to this .jsonl file.")]
LLMName = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="openai:MODEL, azure:DEPLOYMENT, ollama:MODEL, vllm:MODEL, llamacpp:MODEL, lmstudio:MODEL, openrouter:MODEL or "
        "litellm:MODEL (address and key from the variables of each; `ragmetrics doctor` lists them); server:MODEL: a lean client "
        "for the server at --base-url; lexical: offline, a baseline.",
    ),
]
BaseURL = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of an OpenAI-compatible server, such as http://localhost:11434/v1."),
]
MaxConcurrency = Annotated[int, typer.Option(metavar="N", min=1, help="Most calls to the model in flight.")]


def generate(
    docs: Docs,
    *,
    out: Out,
    number: Number = 10,
    llm: LLMName = None,
    base_url: BaseURL = None,
    max_concurrency: MaxConcurrency = 16,
) -> None:
    """Write questions with reference answers from documents into a file."""
    with clear_errors(out):
        if llm is None:
            raise InvalidInput(
                "choose a model with --llm openai:MODEL or server:MODEL (or --llm lexical, offline, a baseline)"
            )
        if out.suffix.lower() not in (".jsonl", ".ndjson"):
            raise InvalidInput(f"--out: the name of {out} must end in .jsonl, so that it can be read again")
        check_out(out, str(docs))
        model = parse_models(llm, None, base_url)["llm"]
        testset = generate_testset(docs, model, number, max_concurrency=max_concurrency)
        if not testset:
            stop(f"no question was made: {testset.problems[0]}", 2)
        write(cast("Any", testset), out)
        for line in by_reason(testset.skipped):
            say("\n".join(hanging(f"skipped: {line}", room())), err=True)
        testset = replace(testset, skipped=())
        say("\n".join(part for line in f"{out}: {testset}".splitlines() for part in hanging(line, room())))
