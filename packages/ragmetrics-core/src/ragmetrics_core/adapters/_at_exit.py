"""The end of the program, for work that should be finished by then."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from functools import partial


def call_at_exit(method: Callable[[], None]) -> None:
    """Have a method called when the program ends. Until then this keeps its object from nothing, least of all from being freed."""
    reference = weakref.WeakMethod(method)
    call = partial(_call, reference)
    atexit.register(call)
    weakref.finalize(getattr(method, "__self__"), atexit.unregister, call).atexit = False  # noqa: B009  of any method


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        method()
