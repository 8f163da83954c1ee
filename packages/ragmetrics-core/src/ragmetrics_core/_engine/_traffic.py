"""What was learnt about each server: how many calls it accepts, and how long they take. It serves any number of runs.

The runs may take place in several event loops, one after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._values._errors import InvalidInput
from ._deadline import Deadline
from ._gate import Gate, Pace


@dataclass(slots=True)
class Server:
    """What was learnt about the server of one model.

    Attributes:
        model: the model; this reference keeps its ``id`` from being reused.
        pace: when the next call may be made.
        deadline: how long a call may take.
        heard_at: the time of the last answer; -inf if there was none.
    """

    model: Any
    pace: Pace
    deadline: Deadline
    heard_at: float = float("-inf")


class Traffic:
    """Limits the calls to all servers.

    Args:
        max_concurrency: the largest number of calls in flight.
        timeout: seconds for one attempt of a call; None: the limit is learnt from the answers.
    """

    def __init__(self, max_concurrency: int, timeout: float | None = None) -> None:
        self._gate = Gate(max_concurrency)
        self._timeout = timeout
        self._servers: dict[int, Server] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runs = 0

    def server_of(self, model: Any) -> Server:
        """Return what was learnt about the server of a model."""
        if id(model) not in self._servers:
            self._servers[id(model)] = Server(model, Pace(self._gate), Deadline(self._timeout))
        return self._servers[id(model)]

    def is_free(self) -> bool:
        """Whether the running event loop may use it, because no run in another loop does."""
        return not self._runs or self._loop is asyncio.get_running_loop()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Use the running event loop for a run. Runs in one loop may overlap.

        Raises:
            InvalidInput: a run in another event loop has not ended.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._runs:
                raise InvalidInput(
                    "this Scorer is at work in another event loop: use one Scorer for each loop or thread"
                )
            self._loop = loop
            for server in self._servers.values():
                server.pace.leave_loop()
                server.deadline.leave_loop()
        self._runs += 1
        try:
            yield
        finally:
            self._runs -= 1
