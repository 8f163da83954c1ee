"""The page of several runs: it needs no script, fits a narrow screen, and shows texts of the data as texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.report.comparing import run_of
from ragmetrics_core import compare_runs

from .conftest import Opener

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("width", [1280, 380])
def test_the_best_runs_and_each_pair(opened: Opener, tmp_path: Path, width: int) -> None:
    runs = [
        run_of(
            (
                ({"id": f"q{row}", "lang": "de" if row % 2 else HOSTILE}, {HOSTILE: float(row < right)})
                for row in range(40)
            ),
            name=name,
        )
        for name, right in (("a", 10), ("b", 40), (HOSTILE, 38))
    ]
    compare_runs(runs, by="lang").to_html(tmp_path / "page.html")
    page = opened(tmp_path / "page.html", width=width, scripts=False)
    assert page.locator("h1").inner_text() == "3 runs compared with a"
    assert "cannot be told apart; a is worse" in page.locator("#best").inner_text()
    assert page.locator("h2").all_inner_texts()[1:5] == [
        f"a \N{RIGHTWARDS ARROW} {name}{part}" for name in ("b", HOSTILE) for part in ("", ": slices by lang")
    ]
    assert page.locator(".metrics .name").all_inner_texts() == [HOSTILE, HOSTILE]
    assert page.locator("img").count() == 0
    assert page.locator("#slices-0, #slices-1").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
