"""A dozen files as people have them, each read at the first or the second command."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from core.read import exports
from core.read.exports import ANSWER, CONTEXTS, QUESTION, TRUTH
from core.read.reading import read
from ragmetrics_core import Sample

BASE = Sample(user_input=QUESTION, response=ANSWER)
FOUND = replace(BASE, retrieved_contexts=CONTEXTS)

Export = Callable[[Path], Path]

AT_ONCE: list[tuple[Export, Sample]] = [
    (
        exports.excel,
        replace(FOUND, reference=TRUTH, id="17", metadata={"Checked": "2026-05-31"}),
    ),
    (
        exports.langfuse_json,
        replace(
            FOUND,
            id="4bf92f3577b34da6",
            metadata={
                "env": "prod",
                "timestamp": "2026-05-31T12:00:00.000Z",
                "name": "rag",
                "userId": None,
                "tags": ["prod"],
                "latency": 1.25,
                "input": {"question": QUESTION, "k": 2},
                "output": {"answer": ANSWER, "contexts": CONTEXTS},
            },
        ),
    ),
    (
        exports.langsmith_jsonl,
        Sample(
            user_input=QUESTION,
            reference=TRUTH,
            id="e1",
            metadata={
                "dataset_split": ["base"],
                "dataset_id": "d1",
                "inputs": {"question": QUESTION},
                "outputs": {"answer": TRUTH},
            },
        ),
    ),
    (exports.bigquery_csv, FOUND),
    (
        exports.pandas_csv,
        replace(
            FOUND,
            reference_contexts=[CONTEXTS[0], "Samstags öffnet sie um 10 Uhr."],
            metadata={"": "0"},
        ),
    ),
    (exports.hugging_face_parquet, replace(FOUND, reference=TRUTH)),
    (exports.excel_unicode_text, replace(BASE, retrieved_contexts=CONTEXTS[1:])),
    (exports.google_sheets, Sample(user_input=QUESTION, response=TRUTH, retrieved_contexts=CONTEXTS[:1])),
    (exports.deepeval_json, replace(FOUND, reference=TRUTH, metadata={"source_file": None})),
    (exports.wrapped, BASE),
]


@pytest.mark.parametrize(("export", "sample"), AT_ONCE, ids=[export.__name__ for export, _ in AT_ONCE])
def test_read_at_once(tmp_path: Path, export: Export, sample: Sample) -> None:
    _needs(export)
    path = export(tmp_path)
    (_, first, problem), *_ = read(path)
    assert (first, problem) == (sample, None)
    assert call("look", path).exit_code == 0


def test_promptfoo(tmp_path: Path) -> None:
    """Read at once too; its own measurements are kept."""
    ((place, sample, problem),) = read(exports.promptfoo(tmp_path))
    assert (place, problem) == ("results.json, results.results item 1", None)
    assert replace(sample, metadata={}) == replace(BASE, retrieved_contexts=CONTEXTS[:1], reference=TRUTH)
    assert sample.metadata["provider"] == {"id": "openai:gpt-4o-mini", "label": ""}


def _needs(export: Export) -> None:
    pytest.importorskip({"excel": "openpyxl", "hugging_face_parquet": "pyarrow"}.get(export.__name__, "pytest"))


AT_SECOND: list[tuple[Export, str, tuple[str, ...], Sample]] = [
    (
        exports.excel_csv_german,
        "not UTF-8 text (byte 0xF6 at position 6): if 'Wann öffnet die B' is right there, give --encoding cp1252;",
        ("--encoding", "cp1252"),
        replace(BASE, retrieved_contexts=CONTEXTS[1:], reference=TRUTH),
    ),
    (
        exports.langfuse_csv,
        "user_input is an object with question: if one of these is meant, write --map question=input.question",
        ("--map", "question=input.question,answer=output.answer,contexts=output.contexts"),
        replace(FOUND, id="4bf92f3577b34da6"),
    ),
    (
        exports.langsmith_csv,
        "no column for retrieved_contexts: if there is one, name it with --map contexts=COLUMN",
        ("--map", "contexts=outputs.documents"),
        replace(FOUND, reference=TRUTH, id="e1"),
    ),
    (
        exports.colleague,
        "no column for response: if there is one, name it with --map answer=COLUMN",
        ("--map", "answer=Bot said"),
        replace(FOUND, reference=TRUTH),
    ),
    (
        exports.phoenix_csv,
        (
            "no column for user_input, response, retrieved_contexts, reference: if there is one, name it with "
            "--map question=COLUMN,answer=COLUMN,contexts=COLUMN,reference=COLUMN"
        ),
        (
            "--map",
            "question=attributes.input.value,answer=attributes.output.value,contexts=attributes.retrieval.documents",
        ),
        FOUND,
    ),
    (
        exports.braintrust,
        "no column for reference: if there is one, name it with --map reference=COLUMN",
        ("--map", "reference=expected"),
        replace(FOUND, reference=TRUTH, id="b1"),
    ),
    (
        exports.two_lists,
        "splits.json holds several lists that could be the rows: train (1), test (2): choose one, as in --at test",
        ("--at", "test"),
        BASE,
    ),
]


@pytest.mark.parametrize(("export", "hint", "words", "sample"), AT_SECOND, ids=[item[0].__name__ for item in AT_SECOND])
def test_read_at_the_second_command(
    tmp_path: Path, export: Export, hint: str, words: tuple[str, ...], sample: Sample
) -> None:
    path = export(tmp_path)
    first = call("look", path)
    assert hint in " ".join((first.stdout + first.stderr).split())
    second = call("look", path, *words, "--json")
    assert second.exit_code == 0
    row: dict[str, Any] = json.loads(second.stdout)["first"][0]
    assert {name: value for name, value in row.items() if name not in ("place", "metadata")} == sample.to_dict()


def test_deepeval(tmp_path: Path) -> None:
    """(13) What the table of exports names, and the ideal context, which is no retrieved one."""
    path = exports.deepeval_csv(tmp_path)
    row = json.loads(call("look", path, "--separator", "|", "--json").stdout)["first"][0]
    assert {name: row[name] for name in replace(FOUND, reference=TRUTH).to_dict()} == replace(
        FOUND, reference=TRUTH
    ).to_dict()
    cases = json.loads(exports.deepeval_json(tmp_path).read_text())
    (tmp_path / "both.json").write_text(json.dumps([{**cases[0], "context": [TRUTH]}]))
    ((_, _, problem),) = read(tmp_path / "both.json")
    assert "the columns 'retrieval_context' and 'context' both mean 'retrieved_contexts' but differ: " in str(problem)
    said = call(
        "look", tmp_path / "both.json", "--map", "contexts=retrieval_context,reference_contexts=context", "--json"
    )
    row = json.loads(said.stdout)["first"][0]
    assert (row["retrieved_contexts"], row["reference_contexts"]) == (CONTEXTS, [TRUTH])


def test_json_lines_that_are_named_json(tmp_path: Path) -> None:
    """(6) The name says one thing and the file another: the message says which name is right, and no name is right too."""
    path = exports.bigquery_json(tmp_path)
    assert call("look", path).stderr == (
        "ragmetrics: bq-results-20260531.json, line 2: not JSON (Extra data): a file with one JSON object per line is named "
        ".jsonl\n"
    )
    row = json.loads(call("look", "-", "--json", stdin=path.read_bytes()).stdout)["first"][0]
    assert row == {"place": "stdin, line 1", **FOUND.to_dict(), "metadata": {"n_tokens": "120"}}
