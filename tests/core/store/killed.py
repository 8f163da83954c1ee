"""A run in a separate process, to be killed: ``python -m core.store.killed BASE_URL RUN_DIR ROWS CONCURRENCY``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from core.evaluate.doubles import RATE
from ragmetrics_core import Metric, Score, Steps, evaluate, together
from ragmetrics_core.llms import OpenAIServerLLM


@dataclass(frozen=True)
class Chained(Metric):
    """One question, then two at once that depend on its answer."""

    def measure(self, user_input: str) -> Steps[Score]:
        first = yield from RATE.ask(text=f"first {user_input}")
        answers = yield from together(
            RATE.ask(text=f"second {user_input} {first}"), RATE.ask(text=f"third {user_input}")
        )
        return Score((float(first) + sum(map(float, answers))) / 3, details={"said": [first, *answers]})


def samples(rows: int) -> list[dict[str, str]]:
    return [{"user_input": f"question {number}"} for number in range(rows)]


def main(base_url: str, run_dir: str, rows: str, concurrency: str) -> None:
    llm = OpenAIServerLLM(base_url, "loopback", structured="text")
    evaluate(samples(int(rows)), Chained(), llm=llm, run_dir=Path(run_dir), max_concurrency=int(concurrency))


if __name__ == "__main__":
    main(*sys.argv[1:])
