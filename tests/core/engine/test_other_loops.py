"""The engine in an event loop that is not asyncio's own: servers often run in uvloop."""

from __future__ import annotations

import sys
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("there is no uvloop for Windows", allow_module_level=True)

import uvloop

from core.engine.simulated import Places, TokenBucket, constant
from core.engine.test_limits import Client
from core.evaluate.doubles import Rated
from ragmetrics_core import Evaluation, aevaluate


@pytest.mark.parametrize(
    "server",
    [
        lambda: Places(4, constant(0.01), refusal_time=0.001),
        lambda: TokenBucket(100, constant(0.01), burst=0.1, refusal_time=0.001, told="exact"),
    ],
    ids=["places", "pace"],
)
def test_limits_are_learnt_in_uvloop(server: Any) -> None:
    limited = server()

    async def main() -> Evaluation:
        rows = ({"user_input": str(number)} for number in range(60))
        return await aevaluate(rows, Rated(), llm=Client(limited), max_concurrency=16, progress=False)

    result = uvloop.run(main())
    assert [score.value for score in result.scores["rated"]] == [0.5] * 60
    assert limited.refusals > 0
