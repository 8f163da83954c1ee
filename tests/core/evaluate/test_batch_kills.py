"""A run with batches that dies at each of its steps, and is started again: no question is paid for twice."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.batches import Provider
from core.evaluate.test_batches import QUESTIONS, run, scores
from ragmetrics_core import Batch, SQLiteReplies

MOST_STEPS = 300
CALLS = ("upload", "create", "retrieve", "download", "list")
WAITS = Batch(poll=0.001, grace=0.001, window_rows=4)


class Killed(BaseException):
    """The process has died."""


def dies_at(step: int, patch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the run die at a step: before or after a write or a call. Returns how many steps are left."""
    left = step

    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if given and isinstance(given[0], Path) and given[0].parent.name != "batches":
                return function(*given, **named)  # such as the lock, which ends with a process
            count()
            result = function(*given, **named)
            count()
            return result

        return call

    def count() -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise Killed

    for owner, names in ((os, ["fsync"]), (Path, ["unlink"]), (Provider, CALLS), (SQLiteReplies, ["keep"])):
        for name in names:
            patch.setattr(owner, name, dying(getattr(owner, name)))
    return lambda: left


@pytest.mark.slow
def test_a_run_that_dies_at_any_step_pays_nothing_twice(tmp_path: Path) -> None:
    run(Provider(), tmp_path / "online", batch=False)
    whole = scores(tmp_path / "online")
    for step in range(1, MOST_STEPS):
        provider, path = Provider(), tmp_path / str(step)
        with pytest.MonkeyPatch.context() as patch:
            left = dies_at(step, patch)
            with contextlib.suppress(Killed):
                run(provider, path, WAITS)
        finished = left() > 0
        run(provider, path, WAITS)
        assert scores(path) == whole, step
        online = provider.paid[provider.online[0]] - 1  # the question in flight when the run died
        assert sum(provider.paid.values()) - online == QUESTIONS, step
        if finished:
            assert step > 100
            return
    raise AssertionError("the run has more steps than were expected")
