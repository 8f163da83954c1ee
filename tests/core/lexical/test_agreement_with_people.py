"""The offline judge against human labels on real data, by the benchmark that publishes the figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).resolve().parents[3] / "bench" / "lexical_agreement.py"
# What a plain content-word overlap reaches as a continuous score; the judge has to do better with yes and no alone.
PLAIN_OVERLAP = {"begin": 0.915, "mtrag": 0.917, "wice": 0.768, "halueval-qa": 0.932}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    import sys

    spec = importlib.util.spec_from_file_location("lexical_agreement", BENCH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_auroc_by_hand(bench: ModuleType) -> None:
    assert bench.auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert bench.auroc([1.0, 1.0], [True, False]) == 0.5
    assert bench.auroc([0.5, 0.5, 1.0], [False, True, True]) == 0.75


def test_balanced_accuracy_by_hand(bench: ModuleType) -> None:
    assert bench.balanced_accuracy([0.5, 0.4, 0.9, 0.1], [True, True, False, False]) == 0.5
    assert bench.balanced_accuracy([0.5, 0.6, 0.9, 0.1], [True, True, False, False]) == 0.75


@pytest.mark.usefixtures("untraced")
def test_better_than_plain_overlap_on_every_source(bench: ModuleType, shared_data: Path) -> None:
    rows = {source: bench.agreement(source, records) for source, records in bench.load(shared_data).items()}
    assert set(rows) == set(PLAIN_OVERLAP)
    for source, least in PLAIN_OVERLAP.items():
        assert rows[source].auroc >= least
        assert rows[source].unscored < 0.01 * rows[source].records
    published = (BENCH.parents[1] / "docs" / "offline-judge.md").read_text(encoding="utf-8")
    assert bench.table(list(rows.values())) in published, "publish the new figures in docs/offline-judge.md"
