"""The tables of docs/agreement.md are those that the bench measures; the sources with few rows are measured again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "agreement.md"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agreement", ROOT / "bench" / "agreement.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("source", ["mtrag", "pairs", "people"])
def test_the_page_has_what_is_measured(bench: ModuleType, shared_data: Path, source: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    tables = bench.measured(shared_data, [source])
    lines = [line for rows in tables.values() for line in bench.lines_of(rows)]
    assert lines
    missing = [line for line in lines if line not in page]
    assert not missing, "publish the new figures: python bench/agreement.py --write"


def test_every_source_is_on_the_page_with_every_metric(bench: ModuleType) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for source in bench.SOURCES:
        rows = [line for line in page.splitlines() if line.startswith(f"| {source.name} | ")]
        rows = [row for row in rows if "Krippendorff" not in row and "1 to 4 |" not in row]
        assert [row.split(" | ")[1].strip("`") for row in rows] == [metric.name for metric in source.metrics]


def test_the_tables_by_hand(bench: ModuleType) -> None:
    tables = {"people": [["a", "b", "2", "3", "–"]], "pairs": []}
    assert bench.as_markdown(tables) == (
        "### How far people agree with each other\n\n"
        "| labels | of what | people per row | rows | Krippendorff's alpha |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| a | b | 2 | 3 | – |"
    )
