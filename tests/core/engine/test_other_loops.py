"""The engine in an event loop that is not asyncio's own: servers often run in uvloop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from core.engine.simulated import Places, Server, TokenBucket, constant
from core.engine.test_limits import Client
from core.engine.virtual_time import VirtualTimeLoop, run
from core.evaluate.doubles import Rated
from ragmetrics_core import Evaluation, aevaluate


class Handle:
    """What uvloop gives for a timer that is nearly due: it can be cancelled, but does not know when it is due."""

    _source_traceback = None  # which asyncio's own methods want to shorten

    def __init__(self, timer: asyncio.TimerHandle) -> None:
        self.cancel = timer.cancel


class OtherLoop(VirtualTimeLoop):
    """Promises no more of its timers than that they can be cancelled."""

    def call_at(self, *arguments: Any, **options: Any) -> Any:
        return Handle(super().call_at(*arguments, **options))


def in_uvloop(work: Coroutine[Any, Any, Evaluation]) -> Evaluation:
    import uvloop

    result: Evaluation = uvloop.run(work)
    return result


not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop for Windows")


@pytest.mark.parametrize(
    "run_in",
    [lambda work: run(work, OtherLoop()), pytest.param(in_uvloop, marks=not_on_windows)],
    ids=["other handles", "uvloop"],
)
@pytest.mark.parametrize(
    "server",
    [
        lambda: Places(4, constant(0.01), refusal_time=0.001),
        lambda: TokenBucket(100, constant(0.01), burst=0.1, refusal_time=0.001, retry_after="exact"),
    ],
    ids=["places", "pace"],
)
def test_limits_are_learnt(server: Callable[[], Server], run_in: Callable[[Any], Evaluation]) -> None:
    limited = server()
    rows = ({"user_input": str(number)} for number in range(60))
    result = run_in(aevaluate(rows, Rated(), llm=Client(limited), max_concurrency=16, progress=False))
    assert [score.value for score in result.scores["rated"]] == [0.5] * 60
    assert limited.refusals > 0
