"""A model whose answers can be kept, and ways to look at what a run has kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.evaluate.doubles import AsyncModel
from ragmetrics_core import Evaluation


class Model(AsyncModel):
    """A model with an identity, whose answer is the text itself over a hundred."""

    def __init__(self, answer: object = lambda text: str(int(text) / 100), **settings: Any) -> None:
        super().__init__(answer)
        self.identity = {"model": "hundredth", "base_url": "http://localhost:1/v1", **settings}


def lines(run_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run_dir / "scores.jsonl").read_text().splitlines()]


def values(evaluation: Evaluation) -> list[float | None]:
    return [score.value for score in evaluation.scores["rated"]]
