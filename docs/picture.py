"""The picture of a report that the README opens with: ``report.png``, from the example data, through Chromium.

A run over ``examples/lindholm`` is written as a page; Chromium takes a picture of its summary on a laptop and of one of its rows on
a phone, and puts one before the other. Where there is no Chromium, that is said, and the picture stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragmetrics_core import Evaluation, evaluate
from ragmetrics_core.llms import LexicalJudge

HERE = Path(__file__).parent
ROWS = HERE.parent / "examples" / "lindholm" / "after.jsonl"
PICTURE = HERE / "report.png"
METRICS = ["faithfulness", "answer_accuracy", "context_recall", "diagnosis"]
ROW = "en-lighthouse"
LARGEST = 200_000
"""Bytes of the picture."""

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--force-color-profile=srgb",
    "--virtual-time-budget=10000",
]

FRAME = """<!doctype html><meta charset="utf-8"><title>picture</title>
<style>
body { margin: 0; background: #e9e6df; width: 1280px; height: 790px; position: relative; overflow: hidden; }
img { position: absolute; box-shadow: 0 4px 16px rgb(0 0 0 / .2); border: 1px solid #cfcac0; }
.laptop { left: 32px; top: 32px; border-radius: 10px; }
.phone { right: 32px; top: 84px; border-radius: 22px; }
</style>
<img class="laptop" src="laptop.png" width="1016" height="726" alt="">
<img class="phone" src="phone.png" width="328" height="678" alt="">
"""


def main() -> None:
    """Take the picture."""
    chromium = chromium_for(PICTURE)
    if chromium is None:
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        page = write_page(folder)
        take(chromium, page.as_uri(), folder / "laptop.png", 1400, 1000)
        take(chromium, f"{page.as_uri()}#row={ROW}", folder / "phone.png", 500, 1033)
        (folder / "frame.html").write_text(FRAME, encoding="utf-8")
        take(chromium, (folder / "frame.html").as_uri(), folder / "report.png", 1280, 790)
        keep(folder / "report.png", PICTURE)


def chromium_for(picture: Path) -> str | None:
    """The path of Chromium; None, and a line that says what that means, if it is not installed."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        print(f"Chromium is not installed, so {picture.name} stays as it is")
    return found


def keep(taken: Path, picture: Path) -> None:
    """Keep a picture that was taken, if it is not too large."""
    size = taken.stat().st_size
    if size > LARGEST:
        sys.exit(f"the picture has {size} bytes, more than {LARGEST}")
    shutil.copyfile(taken, picture)
    print(f"{picture.name}: {size} bytes")


def write_page(folder: Path) -> Path:
    """The page, of a run of which time and duration are always the same."""
    evaluate(ROWS, METRICS, llm=LexicalJudge(), run_dir=folder / "run", progress=False)
    os.utime(folder / "run" / "scores.jsonl", (1_767_258_000, 1_767_258_000))
    page = folder / "report.html"
    replace(Evaluation.load(folder / "run"), seconds=None).to_html(page)
    return page


def take(chromium: str, address: str, picture: Path, width: int, height: int) -> None:
    """A picture of what the browser shows at this address."""
    command = [chromium, *FLAGS, f"--window-size={width},{height}", f"--screenshot={picture}", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if not picture.exists():
        sys.exit(f"Chromium took no picture of {address}: {done.stderr[-500:]}")


if __name__ == "__main__":
    main()
