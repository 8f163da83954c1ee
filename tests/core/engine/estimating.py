"""How many tokens a budget counts for a text, where a model reports none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.evaluate.doubles import RATE, AsyncModel
from ragmetrics_core import Ask, Metric, Score, Steps, evaluate

TIMES = 1000
"""So often an answer holds the text: tokens are counted in whole numbers, and what a part of a text weighs has three digits."""


@dataclass(frozen=True)
class Answered(Metric):
    """One question, whose answer may be anything."""

    def measure(self, user_input: str) -> Steps[Score]:
        yield from RATE.ask(text=user_input)
        return Score(1.0)


class Silent(AsyncModel):
    """Answers with one text, and reports no tokens."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text, delay=0)
        self.identity = {"model": name}

    def reply(self, ask: Ask) -> object:
        return self.answer


def tokens_in(text: str, times: int = TIMES) -> float:
    """The tokens of a text, rounded to one by the number of times."""
    return all_tokens_in([text], times)[0]


def all_tokens_in(texts: Iterable[str], times: int = TIMES) -> list[float]:
    """The tokens of each text: what an answer with it costs more than one with nothing."""
    answers = ["", *(" ".join([text] * times) for text in texts)]
    models = [Silent(f"model {number}", answer) for number, answer in enumerate(answers)]
    metrics = [Answered(name=f"answered_{number}", llm=model) for number, model in enumerate(models)]
    counted = []
    for number, caveat in enumerate(evaluate([{"user_input": "?"}], metrics, budget={"tokens": 10**12}).caveats):
        words = rf"model {number} reports no tokens: for the budget, ([\d,]+) tokens were estimated from the texts"
        found = re.fullmatch(words, caveat)
        assert found is not None, caveat
        counted.append(int(found[1].replace(",", "")))
    assert len(counted) == len(models)
    return [(of_text - counted[0]) / times for of_text in counted[1:]]
