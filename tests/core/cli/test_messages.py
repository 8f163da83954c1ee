"""No message of the command speaks of Python: those of the core are looked through, whether a test meets them or not."""

from __future__ import annotations

import ast
import re

import pytest

from core.cli.calling import call
from ragmetrics_core.cli._messages import in_cli_words
from source_tree import modules, tree

PYTHON = re.compile(
    r"\w+=\.\.\.|\w+=(?:openai\.|\w+LLM\()|=True\b|evaluate\(|(?<!\w)(?:base_url|run_dir|max_retries)(?!\w)"
)
"""What only a caller of the API understands."""

CODE_ONLY = (
    # settings, clients and prompts that no option can give
    "structured=...",
    "client=...",
    "client=openai",
    ".replace(instructions=...)",
    "to evaluate(...,",
    "= yield from",
    "generate_testset needs a model",
    "unknown provider",
    "with base_url=... for any compatible server",
    "needs model=...",
    "RagEvaluationCallback",
    "(*_, **_)",
    "run_dir must be the path of a directory",
    "max_retries must",
    "give it more time with timeout=...",  # of judging beside an application
    "@dataclass(frozen=True)",  # to the author of a metric
    "asks x, but none is set: give x=...",  # x is llm or embeddings: see test_words
    "evaluate(run_dir=",
)
"""Parts of messages that the command cannot cause: they are about arguments that only code can give."""


def raised(module: str) -> list[str]:
    """The texts of all exceptions that a module raises, with ``x`` for what is filled in; and its constants in capitals."""
    found = []
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            found += texts_in(node.exc)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "ModelError",
            "MissingInput",
            "InvalidInput",
        ):
            found += [text for part in node.args for text in texts_in(part)]
    return found


def texts_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.JoinedStr | ast.Constant):
        return [text_of(node)]
    return [text for part in ast.iter_child_nodes(node) for text in texts_in(part)]


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


MESSAGES = sorted({text for module in modules() for text in raised(module) if PYTHON.search(text)})


def test_there_are_messages_to_look_at() -> None:
    assert len(MESSAGES) > 10


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_of_the_core_are_put_into_words_of_the_command_line(message: str) -> None:
    shown = in_cli_words(message)
    assert not PYTHON.search(shown) or any(part in message for part in CODE_ONLY), shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "give reference=... or leave the metric out for this sample",
            "add it to the data as a column 'reference', or leave the metric out",
        ),
        (
            (
                "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or pass api_key=..., or pass base_url=... "
                "for a server of your own that needs none"
            ),
            (
                "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give --base-url for a server of your own "
                "that needs none"
            ),
        ),
        (
            "m asks an LLM, but none is set: give llm=... to the metric or to evaluate()",
            "m asks an LLM, but none is set: add --llm MODEL (or --llm lexical, offline)",
        ),
        (
            "m asks an embedding model, but none is set: give embeddings=... to the metric or to evaluate()",
            "m asks an embedding model, but none is set: add --embeddings MODEL (or --embeddings hashing, offline)",
        ),
        (
            "the columns 'Bot said' and 'answer' both mean 'response' but differ: keep one of them",
            (
                "the columns 'Bot said' and 'answer' both mean 'response' but differ: keep one of them, or choose: --map "
                "'response=Bot said'"
            ),
        ),
        (
            "the columns 'c_1, c_2' and 'd_1' both mean 'retrieved_contexts' but differ: keep one of them",
            "the columns 'c_1, c_2' and 'd_1' both mean 'retrieved_contexts' but differ: keep one of them",
        ),
        ("Check the model name and base_url.", "Check the model name and --base-url."),
        (
            "does base_url end in /v1, as it does for most servers?",
            "does --base-url end in /v1, as it does for most servers?",
        ),
        ("run_dir /tmp/run_dir/a is that of other metrics", "--run-dir /tmp/run_dir/a is that of other metrics"),
        (
            "columns: 'a b*' may be several columns, and response is one value: name one column",
            "--map: 'a b*' may be several columns, and response is one value: name one column",
        ),
        ("two metrics are named 'a': give one of them another name=...", None),
    ],
)
def test_words(said: str, shown: str | None) -> None:
    shown = shown or "two metrics are named 'a': give one of them another name, as in ndcg(k=3, name='ndcg3')"
    assert in_cli_words(said) == shown


def test_a_missing_key(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    rows = f"{tmp_path}/q.jsonl"
    with open(rows, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write('{"question": "a", "answer": "b", "contexts": ["c"]}\n')
    result = call("evaluate", rows, "-m", "faithfulness", "--llm", "openai:gpt-4o-mini")
    assert (result.exit_code, result.stderr) == (
        2,
        (
            "ragmetrics: no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give --base-url for a server of "
            "your own that needs none\n"
        ),
    )
