"""Put questions to an application, several at a time, each within a time limit.

Strategy. The application is the user's code and may do anything: block, hang, end the process, swallow its cancellation. So every
call has a thread of its own, and coroutines run in an event loop in another thread. The caller only waits for results until their
time is over. A call that is too late is cancelled if it can be, and is otherwise left behind in its daemon thread.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from .._support._blocking import OwnThreads
from .._support._threads import start
from .._values._errors import InvalidInput, RagmetricsError

T = TypeVar("T")

GLANCE = 0.5
"""Seconds after which a waiting caller heeds Ctrl-C at the latest."""

CLOSING = 1.0
"""Seconds that the end of a run waits for coroutines that it has cancelled."""

MOST_LATE = 64
"""The number of calls that may be left behind. Each of them holds a thread."""

MOST_PIECES = 10_000_000
"""The largest number of characters of a streamed answer, and of its pieces."""


class Loop:
    """The event loop of the coroutines of an application, in a daemon thread."""

    def __init__(self) -> None:
        self._loop = OwnThreads()
        self._running = start(partial(_run, self._loop))

    def submit(self, coroutine: Any) -> Future[Any]:
        """Start a coroutine, and return the future of its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancel what is left behind, and wait a moment for its end."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        wait([self._running], CLOSING)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, then cancel its tasks and close it."""
    loop.run_forever()
    loop.run_until_complete(_cancelled(asyncio.all_tasks(loop)))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def joined(pieces: Iterable[str | Mapping[Any, Any]]) -> Any:
    """Return a streamed answer: its texts are joined to the response, and its mappings are merged."""
    texts: list[str] = []
    fields: dict[Any, Any] = {}
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
        else:
            fields.update(piece)
    response = {"response": "".join(texts)} if texts or not fields else {}
    return {**response, **fields}


@dataclass(eq=False)
class Call(Generic[T]):
    """One question that is put to the application.

    Attributes:
        about: what the caller wants to know of the question.
        ask: puts the question.
        loop: runs coroutines of the application.
        begun: when it was put, on the clock ``time.monotonic``.
        seconds: how long it took; not known before its end.
        is_over: whether its answer comes too late.
    """

    about: T
    ask: Callable[[], Any]
    loop: Loop
    begun: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    is_over: bool = False
    _awaited: Future[Any] | None = None
    _size: int = 0

    def start(self) -> Future[Any]:
        """Start the call in a thread, and return the future of its answer."""
        return start(self._answer)

    def end(self) -> None:
        """Stop waiting for the answer."""
        self.is_over, self.seconds = True, time.monotonic() - self.begun
        if self._awaited is not None:
            self._awaited.cancel()

    def _answer(self) -> Any:
        try:
            answer = self.ask()
            if inspect.isawaitable(answer) or isinstance(answer, AsyncIterable):
                self._awaited = self.loop.submit(self._collected(answer))
                answer = self._awaited.result()
            return joined(map(self._piece, answer)) if isinstance(answer, Iterator) else answer
        finally:
            self.seconds = time.monotonic() - self.begun

    async def _collected(self, answer: Any) -> Any:
        try:
            if inspect.isawaitable(answer):
                answer = await answer
            if isinstance(answer, AsyncIterable):
                return joined([self._piece(piece) async for piece in answer])
        except (SystemExit, KeyboardInterrupt) as error:  # either would end the loop, and with it all other calls
            raise RuntimeError(f"it raised {type(error).__name__}") from error
        return answer

    def _piece(self, piece: Any) -> str | Mapping[Any, Any]:
        """Return the next piece of a streamed answer, within its limits."""
        if not isinstance(piece, str | Mapping):
            raise InvalidInput(f"a stream must yield texts or mappings, got {type(piece).__name__}")
        self._size += 1 + len(piece)
        if self._size > MOST_PIECES or self.is_over:
            raise InvalidInput(f"the stream is longer than {MOST_PIECES:,} characters")
        return piece


def answered(
    calls: Iterable[Call[T]], most: int, timeout: float | None
) -> Iterator[tuple[Call[T], Future[Any] | None]]:
    """Make calls, at most ``most`` at a time, and yield each with its outcome, the first finished first.

    Args:
        calls: the calls, pulled when there is room for one.
        most: how many are made at a time.
        timeout: seconds for each; None: no limit.

    Yields:
        A call, and the future of its answer, which is done; None in its place if the time of the call is over.

    Raises:
        RagmetricsError: too many calls did not return when their time was over.
    """
    waiting = iter(calls)
    pending: dict[Future[Any], Call[T]] = {}
    late: list[Future[Any]] = []
    try:
        while True:
            while len(pending) < most and (call := next(waiting, None)) is not None:
                pending[call.start()] = call
            if not pending:
                return
            wait(pending, min(GLANCE, timeout or GLANCE), FIRST_COMPLETED)
            now = time.monotonic()
            for future, call in list(pending.items()):
                if future.done():
                    del pending[future]
                    yield call, future
                elif timeout is not None and now - call.begun > timeout:
                    del pending[future]
                    call.end()
                    late.append(future)
                    yield call, None
            late = [future for future in late if not future.done()]
            if len(late) > MOST_LATE:
                why = f"the application hangs: {len(late)} calls have not returned after {timeout:g} seconds"
                raise RagmetricsError(f"{why}: restart it, or give it more time with a longer timeout")
    finally:
        for call in pending.values():
            call.end()
