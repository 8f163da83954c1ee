"""Options and arguments that several commands have, each with one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def option(metavar: str, text: str, *names: str, least: float | None = None) -> Any:
    """An option of a command: what stands for its value in the help, its help, and its names if the parameter's is not the one."""
    return typer.Option(*names, metavar=metavar, help=text, min=least)


LLMName = Annotated[
    str | None,
    option(
        "MODEL",
        "openai:MODEL, azure:DEPLOYMENT, ollama:MODEL, vllm:MODEL, llamacpp:MODEL, lmstudio:MODEL, openrouter:MODEL or "
        "litellm:MODEL (address and key from the variables of each; `ragmetrics doctor` lists them); server:MODEL: a lean client "
        "for the server at --base-url; lexical: offline, a baseline.",
    ),
]
BaseURL = Annotated[
    str | None, option("URL", "Address of an OpenAI-compatible server, such as http://localhost:11434/v1.")
]
Budget = Annotated[
    list[str] | None,
    option("KIND=N", "calls=NUMBER, tokens=NUMBER or dollars=NUMBER: stop when so much is spent. Repeatable."),
]
Timeout = Annotated[
    float | None, option("SECONDS", "Seconds for one attempt of a call; by default learnt from the answers so far.")
]
MaxRetries = Annotated[int, option("N", "How often a call that was lost is made again.")]
Progress = Annotated[str, option("WORD", "auto: a bar in a terminal; always; never.")]


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .json, .csv, .tsv (.gz may follow), .xlsx or .parquet file; - reads standard input.",
    ),
]
Encoding = Annotated[str | None, option("NAME", "Of a text file that is not UTF-8: cp1252, latin-1, utf-16, ...")]
At = Annotated[
    str | None,
    option(
        "WHERE", "Where the rows are: the name of a sheet, or the path to a list in a JSON file, as in results.results."
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A directory of a run, or a file of scores.")]
