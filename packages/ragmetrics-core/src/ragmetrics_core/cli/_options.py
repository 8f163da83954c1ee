"""Options and arguments that several commands have, each with one help text."""

from __future__ import annotations

from typing import Annotated

import typer

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
Budget = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND=N", help="calls=NUMBER, tokens=NUMBER or dollars=NUMBER: stop when so much is spent. Repeatable."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Seconds for one attempt of a call; by default learnt from the answers so far."
    ),
]
MaxRetries = Annotated[int, typer.Option(metavar="N", help="How often a call that was lost is made again.")]
Progress = Annotated[str, typer.Option(metavar="WORD", help="auto: a bar in a terminal; always; never.")]


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .json, .csv, .tsv (.gz may follow), .xlsx or .parquet file; - reads standard input.",
    ),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of a text file that is not UTF-8: cp1252, latin-1, utf-16, ...")
]
At = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Where the rows are: the name of a sheet, or the path to a list in a JSON file, as in results.results.",
    ),
]
