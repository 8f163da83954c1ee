"""A dozen files as people have them, each read at the first or the second command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

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
    """Read at once too; what it measured of its own is kept."""
    ((place, sample, problem),) = read(exports.promptfoo(tmp_path))
    assert (place, problem) == ("results.json, results.results item 1", None)
    assert replace(sample, metadata={}) == replace(BASE, retrieved_contexts=CONTEXTS[:1], reference=TRUTH)
    assert sample.metadata["provider"] == {"id": "openai:gpt-4o-mini", "label": ""}


def _needs(export: Export) -> None:
    pytest.importorskip({"excel": "openpyxl", "hugging_face_parquet": "pyarrow"}.get(export.__name__, "pytest"))
