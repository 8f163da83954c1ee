"""A metric of the user's own, as the text of its module."""

from __future__ import annotations

import re

OWN_METRIC = '''
from dataclasses import dataclass
from ragmetrics_core import Metric, Score

@dataclass(frozen=True)
class Shortness(Metric):
    """One minus the share of the limit that the response takes."""

    limit: int = 10

    def measure(self, response: str) -> Score:
        if response == "?":
            return Score.unscored("the response is a question mark")
        if response == "!":
            raise KeyboardInterrupt
        if response == "bug":
            raise ZeroDivisionError("a bug")
        return Score(1 - min(len(response), self.limit) / self.limit)
'''

OWN = "ownmetric:Shortness"


def timeless(output: str) -> str:
    return re.sub(r", \d+\.\d+ s$", "", output, count=1, flags=re.MULTILINE)
