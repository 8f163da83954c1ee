"""The end of a program by SIGTERM, at which Python runs no exit functions."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType
from typing import Any

from .._support._threads import start
from .._values._errors import InvalidInput
from ._live_evaluation import LiveEvaluation


def drain_on_sigterm(*live: LiveEvaluation[Any, Any], timeout: float = 10.0) -> None:
    """At the first SIGTERM, close live evaluations; then call the handler that was set before, and end by the same signal.

    It is meant for plain programs. Servers such as uvicorn and gunicorn handle the signal themselves: call ``aclose`` in their
    shutdown. The program goes on while a thread closes; a second SIGTERM ends it at once.

    Args:
        live: callbacks and handlers that evaluate this program.
        timeout: seconds that all of them together wait for what is pending.

    Raises:
        InvalidInput: it is called in another thread than the main thread, in which alone Python can set signal handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        raise InvalidInput("drain_on_sigterm must be called in the main thread: other threads cannot handle signals")
    previous = signal.getsignal(signal.SIGTERM)
    draining = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if not draining.is_set():
            draining.set()
            # in another thread, if one can be started: the main thread may hold a lock that the judging waits for
            start(drain, here=True)
            return
        signal.signal(number, signal.SIG_DFL)
        if callable(previous):
            previous(number, frame)
        os.kill(os.getpid(), number)

    def drain() -> None:
        end = time.monotonic() + timeout
        try:
            for each in live:
                each.close(max(0.0, end - time.monotonic()))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, handle)
