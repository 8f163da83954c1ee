"""Models asked by a server whose answers are odd: each answer costs its own row and no other, and a second run goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopback import ODD_ANSWERS, ODD_CHATS, ODD_VECTORS, OpenAIServer, Response
from ragmetrics_core import Metric, ModelError, Prompt, Score, Steps, arun, embed, evaluate, run
from ragmetrics_core._kernel._drive import Models
from ragmetrics_core.replies import ScoreReply

__all__ = ["assert_each_call_fails_alone", "assert_each_row_fails_alone"]

RATE = Prompt("Rate the text.", ScoreReply(0, 1), name="rate")


@dataclass(frozen=True)
class Rated(Metric):
    """One question, answered with the value."""

    def measure(self, user_input: str) -> Steps[Score]:
        return Score((yield from RATE.ask(text=user_input))[0])


def assert_each_row_fails_alone(server: OpenAIServer, llm: Any, run_dir: Path) -> None:
    """A run over one row for each odd answer, and a good row between any two; then the same run again."""
    odd = dict(enumerate({**ODD_ANSWERS, **ODD_CHATS}.values()))
    rows = [{"user_input": text} for number in odd for text in (f"odd {number}.", f"good {number}.")]

    def answer(body: Any) -> Response:
        sent = str(body["messages"])
        return next((odd[number] for number in odd if f"odd {number}." in sent), Response("0.5"))

    server.responder = answer
    for _ in range(2):
        result = evaluate(rows, Rated(), llm=llm, run_dir=run_dir, max_retries=0, max_concurrency=4, progress=False)
        scores = dict(zip((row["user_input"] for row in rows), result.scores["rated"], strict=True))
        assert [text for text, score in scores.items() if score.error] == [f"odd {number}." for number in odd]
        assert {score.value for score in scores.values() if not score.error} == {0.5}


def assert_each_call_fails_alone(server: OpenAIServer, embeddings: Any) -> None:
    """Every odd answer to a list of texts is a ``ModelError``, and the next answer is read as ever."""

    def program() -> Any:
        return (yield from embed(["a"]))

    models = Models(embeddings=embeddings)
    for name, answer in {**ODD_ANSWERS, **ODD_VECTORS}.items():
        for asked in (lambda: run(program(), models), lambda: asyncio.run(arun(program(), models))):
            server.queue.append(answer)
            try:
                found = asked()
            except ModelError:
                found = None
            assert not found or found == [[]], f"{name}: {found}"
            assert len(asked()[0]) > 0
