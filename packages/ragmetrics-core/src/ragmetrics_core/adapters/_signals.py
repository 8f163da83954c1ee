"""The end of a program by SIGTERM, at which Python does not run exit functions.

The main thread alone runs Python's handlers. But the system may give a signal to any thread, such as one that judges, and then a
main thread that waits, for a line of input or in ``time.sleep``, does not notice. So a thread wakes the main thread.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from .._support._threads import start
from .._values._errors import InvalidInput
from ._live_evaluation import LiveEvaluation

AGAIN = 0.1
"""Seconds after which the main thread is woken again: it may have begun to wait just when it was woken."""


def drain_on_sigterm(*live: LiveEvaluation[Any, Any], timeout: float = 10.0) -> None:
    """At the first SIGTERM, close live evaluations; then call the handler that was set before, and end by the same signal.

    It is meant for plain programs. Servers such as uvicorn and gunicorn handle the signal themselves: call ``aclose`` in their
    shutdown. The program goes on while a thread closes; a second SIGTERM ends it at once.

    Args:
        live: the live evaluations of this program: callbacks, handlers or observers.
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
    if sys.platform != "win32":
        _wake_at_sigterm()


def _wake_at_sigterm() -> None:
    """Start a thread that interrupts what the main thread waits for, by SIGURG, which does nothing else, when any thread gets
    SIGTERM. Event loops that handle signals do the same.
    """
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    other = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    if other != -1:
        signal.set_wakeup_fd(other)
        return
    if signal.getsignal(signal.SIGURG) in (signal.SIG_DFL, signal.SIG_IGN):
        signal.signal(signal.SIGURG, lambda *_: None)

    def watch() -> None:
        while True:
            if os.read(reads, 1) == bytes([signal.SIGTERM]):
                for _ in range(2):
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGURG)
                    time.sleep(AGAIN)

    start(watch)
