"""No message of the command speaks of Python: those of the core are looked through, whether a test meets them or not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from core.cli.calling import call
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


ERRORS = ("ModelError", "MissingInput", "InvalidInput")


def raised(module: str) -> list[str]:
    """The texts of all exceptions that a module raises, with ``x`` for what is filled in; and its constants in capitals."""
    source = modules()[module].read_text(encoding="utf-8")
    if not any(word in source for word in ("raise", *ERRORS)):  # parsing takes most of the time
        return []
    found = []
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            found += texts_in(node.exc)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
            found += [text for part in node.args for text in texts_in(part)]
    return found


def texts_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.JoinedStr | ast.Constant):
        return [text_of(node)]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Setting":  # each face writes it in its own way
        return []
    return [text for part in ast.iter_child_nodes(node) for text in texts_in(part)]


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_messages_of_the_core_speak_of_python_only_where_a_caller_of_python_reads_them() -> None:
    messages = {text for module in modules() for text in raised(module) if PYTHON.search(text)}
    assert messages
    assert [message for message in sorted(messages) if not any(part in message for part in CODE_ONLY)] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("-m", "faithfulness"),
            (
                "faithfulness asks an LLM, but none is set in the metric or the run: "
                "give --llm MODEL (or --llm lexical, offline)"
            ),
        ),
        (
            ("-m", "semantic_similarity"),
            (
                "semantic_similarity asks an embedding model, but none is set in the metric or the run: "
                "give --embeddings MODEL (or --embeddings hashing, offline)"
            ),
        ),
        (
            ("-m", "exact_match", "--map", "contexts=Bot said"),
            (
                "--map 'contexts=Bot said' reads 'retrieved_contexts' from the column 'Bot said', which is in no row "
                "(there are: question, answer, contexts, reference)"
            ),
        ),
        (
            ("-m", "exact_match", "--map", "response=a*"),
            "--map 'response=a*': 'a*' may be several columns, but response is one value: name one",
        ),
        (
            ("-m", "ndcg(k=3),ndcg(k=5)"),
            (
                "two metrics are named 'ndcg' (NDCG(k=3) and NDCG(k=5)): give one of them another name, "
                "as in name='ndcg_2'"
            ),
        ),
        (("-m", "exact_match", "--repeats", "0"), "--repeats must be a whole number from 1, got 0"),
        (("-m", "exact_match", "--separator", ""), "--separator must be a text such as '||', got ''"),
        (
            ("-m", "exact_match", "--replace"),
            "--replace only applies to the scores in a run directory: give --run-dir DIR, or leave it out",
        ),
        (
            ("-m", "faithfulness", "--llm", "acme:m"),
            "--llm acme:m: there is no provider 'acme': use openai:MODEL, ",
        ),
        (
            ("-m", "exact_match", "--gate", "exact_match >= 0.5", "--max-failed", "2"),
            "--max-failed must be a share of the rows",
        ),
        (
            ("-m", "exact_match", "--gate", "exact_match=>0.2"),
            "--gate 'exact_match=>0.2': write >= or <= instead of =>",
        ),
        (
            ("-m", "exact_match", "--encoding", "cp1252", "--at", "my list"),
            "--at 'my list' does not apply to ",
        ),
        (("-m", "exact_match", "--by", ""), "--by must name a column, such as 'metadata.lang', got ''"),
    ],
)
def test_settings_are_options(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "answer": "a", "contexts": ["c"], "reference": "a"}\n' * 3, encoding="utf-8")
    result = call("evaluate", rows, *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"ragmetrics: {said}")


def test_two_columns_of_one_field(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "answer": "a", "response": "b"}\n', encoding="utf-8")
    shown = " ".join(call("look", rows).stdout.split())
    assert (
        "the columns 'answer' and 'response' both mean 'response' but differ: keep one of them, or choose: --map "
        "response=answer"
    ) in shown


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
            "ragmetrics: no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give --base-url URL for a "
            "server of your own that needs none\n"
        ),
    )
