"""Options and arguments that several commands share, each with one help text."""

from __future__ import annotations

from typing import Any

import typer


def option(metavar: str, text: str, *names: str, default: Any = None, least: float | None = None) -> Any:
    """Declare an option: the placeholder of its value in the help, its help text, and its names if they differ from the
    parameter's name.
    """
    return typer.Option(default, *names, metavar=metavar, help=text, min=least)


def flag(name: str, text: str) -> Any:
    """Declare an option without a value, with its help text."""
    return typer.Option(False, name, help=text)


def argument(metavar: str, text: str, default: Any = ...) -> Any:
    """Declare an argument: its name in the help, and its help text. Without a default value it is required."""
    return typer.Argument(default, metavar=metavar, help=text)


MAX_MEGABYTES = option(
    "NUMBER",
    "The largest size of the page. Where the evidence of all rows does not fit, contexts that no claim cites are left out first, "
    "then the evidence of the rows that need it least.",
    default=12.0,
)
LLM = option(
    "MODEL",
    "openai:MODEL; PROVIDER:MODEL, such as anthropic, azure, bedrock, gemini, mistral, ollama, vllm, openrouter or "
    "litellm (address and key from the variables of each; `ragmetrics doctor` lists them); server:MODEL: a lean client "
    "for the server at --base-url; lexical: offline, a baseline.",
)
BASE_URL = option("URL", "Address of an OpenAI-compatible server, such as http://localhost:11434/v1.")
BUDGET = option("KIND=N", "calls=NUMBER, tokens=NUMBER or dollars=NUMBER: stop when so much is spent. Repeatable.")
PRICE_AS = option(
    "MODEL",
    "The name of --llm in the price table, MODEL or PROVIDER:MODEL, such as openai:gpt-4o-mini, for a deployment or a gateway "
    "that has a name of its own.",
)
TIMEOUT = option("SECONDS", "Seconds for one attempt of a call; by default learnt from the answers so far.")
MAX_RETRIES = option("N", "How often a call that was lost is made again.", default=5)
PROGRESS = option("WORD", "auto: a bar in a terminal; always; never.", default="auto")
DATA = argument("DATA", "A .jsonl, .json, .csv, .tsv (.gz may follow), .xlsx or .parquet file; - reads standard input.")
ENCODING = option("NAME", "Of a text file that is not UTF-8: cp1252, latin-1, utf-16, ...")
AT = option(
    "WHERE", "Where the rows are: the name of a sheet, or the path to a list in a JSON file, as in results.results."
)
RUN = argument("RUN", "The directory of --run-dir, or what --out, to_jsonl() or to_parquet() wrote.")
