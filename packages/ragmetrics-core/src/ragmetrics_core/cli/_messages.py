"""Messages in the words of the command line.

Errors are written for callers of the API, and their cures name arguments of Python. People who type commands have options, columns
and environment variables instead. So every text that the command prints passes through here; a test looks for messages of the
core that would still speak of Python.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

CURES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # inputs
    (
        r"give (\w+)=\.\.\. or leave the metric out for this sample",
        r"add it to the data as a column '\1', or leave the metric out",
    ),
    (
        r"give RubricScore\(rubric=\.\.\.\) or a rubric in every sample",
        "write 'rubric_score(rubric={1: \"poor\", 2: \"good\"})', or give every row a rubric in a column 'rubric'",
    ),
    (r"give one of them another name=\.\.\.", "give one of them another name, as in ndcg(k=3, name='ndcg3')"),
    # files
    (r"\bat='([^']*)'|\bat=\"([^\"]*)\"", lambda match: f"--at {shlex.quote(match[1] or match[2])}"),
    (r"\bencoding=(['\"])(\S*)\1", r"--encoding \2"),
    (r"\bencoding=\.\.\.", "--encoding"),
    # columns
    (
        r"'([^',]+)' and '([^',]+)' both mean '(\w+)' but differ: keep one of them",
        lambda match: f"{match[0]}, or choose: --map {shlex.quote(f'{match[3]}={match[1]}')}",
    ),
    (r"\bcolumns: (?=\S+=\S+ reads |neither |.* may be several columns)", "--map: "),
    (r"\bseparator must be", "--separator must be"),
    # models
    (r"give llm=\.\.\. to the metric or to evaluate\(\)", "add --llm MODEL (or --llm lexical, offline)"),
    (
        r"give embeddings=\.\.\. to the metric or to evaluate\(\)",
        "add --embeddings MODEL (or --embeddings hashing, offline)",
    ),
    (r"(--)?\b(llm|embeddings)=(?='|\")", r"--\2 "),
    (r"is OpenAILLM\(.*?, base_url=\.\.\.\)", "needs --base-url"),
    (
        r"write OpenAIServerLLM\(base_url, .*?\) or set OPENAI_BASE_URL",
        "add --base-url, such as http://localhost:8000/v1",
    ),
    (r"use OpenAILLM\('([^']*)'\)|such as OpenAILLM\('([^']*)'\)", r"such as --llm openai:\1\2"),
    (r"judge several times with repeats=\.\.\.", "judge several times with --repeats N"),
    (r"write jury\(jurors=\.\.\.\)", "name other metrics, and their models with --jury MODEL,MODEL,..."),
    # keys and addresses
    (r"or pass api_key=\.\.\., or pass base_url=\.\.\. for", "or give --base-url for"),
    (r", or pass base_url=\.\.\.\)", ", or give --base-url)"),
    (r", or pass api_key=\.\.\.\)", ")"),
    (r"Set (\w+), or pass api_key=\.\.\.", r"Set the environment variable \1."),
    (
        r"Pass api_key=\.\.\.",
        "To this server no key is sent: --llm openai:MODEL sends the one in the environment variable OPENAI_API_KEY.",
    ),
    (r"api_key is given, and base_url holds credentials too", "OPENAI_API_KEY is set, and --base-url holds a key too"),
    (r"Pass a longer timeout=\.\.\.", "Give a longer --timeout."),
    # runs
    (r'as in budget=\{"tokens": 1_000_000\}', "as in --budget tokens=1_000_000"),
    (r"\(limit=20\s+with\s+a\s+run_dir\)", "(--limit 20 --run-dir DIR)"),
    (r"or write replace=True\b", "or add --replace"),
    (
        r"replace=True is about the scores in a run_dir: give run_dir=\.\.\., or leave replace out",
        "--replace is about the scores in a --run-dir: add --run-dir DIR, or leave --replace out",
    ),
    (r"^margin is a share", "--margin is a share"),
    # labels
    (r"^metric=\.\.\. is missing: name one of", "--metric is missing: name one of"),
    (r"^n must lie between", "--suggest must lie between"),
    # gates
    (r"^(by|cluster)=(?=')|^(.{0,200}: )(by|cluster)=(?=')", r"\2--\1\3 "),
    (r"^(by|cluster) must name", r"--\1 must name"),
    (r"\b(min|max)_(coverage|failed)=", r"--\1-\2 "),
    (r"^(min|max)_(coverage|failed) must be", r"--\1-\2 must be"),
    (r"^(there is no )?gate (?=')", r"\1--gate "),
    # test sets
    (r"\b(unanswerable|two_passages) and two_passages (must|need)", r"\1 and --two-passages \2"),
    (r"\bunanswerable(?= (?:must|and) )", "--unanswerable"),
    (r"(?<![\w-])two_passages (?=must)", "--two-passages "),
    (r"(?<![\w-])chunk_(size|overlap)\b", r"--chunk-\1"),
    # what remains of the names of arguments; a name in a path or a quotation is something else
    (r"^(limit|sample|seed|repeats|timeout|empty|encoding|at|refusal) must be", r"--\1 must be"),
    (
        r"(?<![\w/.'\"-])(base|run|on|max)_(url|dir|error|concurrency|retries)(?![\w/='\"-])",
        r"--\1-\2",
    ),
)
"""Patterns of what the API says, and what they are on a command line."""

PATTERNS = [(re.compile(pattern), words) for pattern, words in CURES]


def in_cli_words(text: str) -> str:
    """The text, with options instead of arguments."""
    for pattern, words in PATTERNS:
        text = pattern.sub(words, text)
    return text
