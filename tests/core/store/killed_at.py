"""A run that dies at one of its steps on the disk: ``python -m core.store.killed_at RUN_DIR ROWS STEP`` exits with 9 there.

A step brings a file to the disk, puts it in its place, moves it or removes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.evaluate.doubles import Rated, questions
from core.store.kept import Model
from ragmetrics_core import evaluate

DIED = 9


def main(run_dir: str, rows: str, step: str) -> None:
    left = int(step)

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(DIED)
            return function(*given, **named)

        return call

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "rename"), (Path, "unlink")):
        setattr(owner, name, dying(getattr(owner, name)))
    evaluate(questions(int(rows)), Rated(), llm=Model(), run_dir=Path(run_dir), progress=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
