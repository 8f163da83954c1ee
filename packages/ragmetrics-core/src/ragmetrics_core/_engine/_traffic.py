"""What was learnt about each server: how many calls it accepts, and how long they take. It serves any number of runs.

The runs may take place in several event loops, one after another.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

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
        self._lock = threading.Lock()
        self._uses = 0

    def server_of(self, model: Any) -> Server:
        """Return what was learnt about the server of a model."""
        if id(model) not in self._servers:
            self._servers[id(model)] = Server(model, Pace(self._gate), Deadline(self._timeout))
        return self._servers[id(model)]

    def enter(self) -> bool:
        """Begin to use it in the running event loop; return False if it is in use in another loop. Uses in one loop may overlap."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._uses and self._loop is not loop:
                return False
            self._uses += 1
        if self._loop is not loop:
            self._loop = loop
            for server in self._servers.values():
                server.pace.leave_loop()
                server.deadline.leave_loop()
        return True

    def leave(self) -> None:
        """End a use."""
        with self._lock:
            self._uses -= 1
