"""A metric of one's own, used alone and over a data set.

On the command line, in this folder: ``ragmetrics evaluate questions.jsonl --metrics own_metric:Brevity``.

Prints:

    brevity: 0.5
    Brevity is 0.978 (0.868 to 0.997) on 12 rows.

    questions.jsonl: 12 rows, 1 metric, ... s

    metric    mean    scored   95 % interval  unscored  failed   scale
    brevity  0.978  12 of 12  0.868 to 0.997         0       0  0 to 1

    95 % interval: Wilson with Student's t

    lowest:
      brevity: en-fees (0.741)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragmetrics_core import Metric, Score, evaluate


@dataclass(frozen=True)
class Brevity(Metric):
    """1.0 up to ``most`` words, then falling: twice as many words make 0.5."""

    most: int = 20

    def measure(self, response: str) -> Score:
        words = len(response.split())
        return Score(min(1.0, self.most / words), details={"words": words})


if __name__ == "__main__":
    print(Brevity(most=3).score(response="Paris is the capital of France."))
    print(evaluate(Path(__file__).with_name("questions.jsonl"), Brevity(), progress=False).summary())
