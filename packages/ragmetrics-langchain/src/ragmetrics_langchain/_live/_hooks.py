"""LangChain's hooks, one line each: which event of which run. A hook runs inside the user's chain, so it calls nobody and waits
for nothing, and costs an asynchronous chain no more than its own work.

Why. In an asynchronous chain LangChain sends every event of a synchronous handler through a thread pool, and the chain waits:
about 20 hops per call, and one more per token of a stream, far more than the work itself. Coroutine functions are awaited in
place, but in a synchronous chain each of their events costs an event loop of its own. (``run_inline`` would help, but then the
other handlers of the chain miss ``on_llm_start``.)

Strategy. A hook does its work when it is called, and returns something that can be awaited but is no coroutine. That suits both
ways in which LangChain calls it. To be awaited in place, it passes for a coroutine function: ``inspect.iscoroutinefunction`` goes
by the code of an object, and a hook has the code of one. If LangChain ever checked otherwise, hooks would merely go through the
thread pool again.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from ragmetrics_core.adapters import is_judging

from ._runs import Runs
from ._tree import FinishedRun, Kind

__all__ = ["RunWatcher", "hearing_graphs"]

Event = Mapping[str, Any]


class Done:
    """Can be awaited, and is done."""

    def __await__(self) -> Iterator[None]:
        return iter(())


DONE = Done()


async def _stub() -> None:
    """Lends its code, which says that it is a coroutine function."""


def _newer(self: Any, event: Any) -> None:
    """A hook that this version of LangChain does not have."""


class Hook:
    """A hook, which gives its watcher the whole event: all arguments, under LangChain's own names.

    LangChain passes some of them by position; their names are read from its base class.
    """

    __code__ = _stub.__code__  # ``inspect`` recognises a function by this and the next three
    __defaults__ = None
    __kwdefaults__ = None

    def __init__(self, hear: Callable[[Any, Event], None]) -> None:
        self._hear = hear
        self.__annotations__: dict[str, Any] = {}

    def __set_name__(self, owner: type, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__wrapped__ = getattr(BaseCallbackHandler, name, _newer)
        self.__doc__ = self.__wrapped__.__doc__
        parameters = inspect.signature(self.__wrapped__).parameters.values()
        self._positional = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD][1:]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, watcher: RunWatcher, *positional: Any, **named: Any) -> Done:
        self._hear(watcher, {**dict(zip(self._positional, positional, strict=False)), **named})
        return DONE


def starts(kind: Kind, inputs: str) -> Any:
    """The hook for the start of a run; the inputs of a stream are known only at its end."""
    return Hook(lambda watcher, event: watcher._start(kind, event[inputs], event))


def ends(outputs: str) -> Any:
    """The hook for a run that returns."""
    return Hook(lambda watcher, event: watcher._end(event[outputs], event))


def fails() -> Any:
    """The hook for a run that raises or is given up."""
    return Hook(lambda watcher, event: watcher._fail(event["error"], event))


def passes() -> Any:
    """The hook for a piece of an answer, which is ignored: the end of the run has all of it."""
    return Hook(_pass)


def _pass(watcher: RunWatcher, event: Event) -> None:
    """Nothing is done."""


def waits(*, waits: bool) -> Any:
    """The hook for a graph of LangGraph that stops and waits for somebody, or goes on."""
    return Hook(lambda watcher, event: watcher._wait(event["event"].run_id, waits=waits))


class RunWatcher(BaseCallbackHandler):
    """Watches runs and calls ``_finish`` with each one that has finished; runs of metrics are not watched."""

    on_chain_start = starts("chain", "inputs")
    on_chain_end = ends("outputs")
    on_chain_error = fails()
    on_llm_start = starts("llm", "prompts")
    on_chat_model_start = starts("llm", "messages")
    on_llm_new_token = passes()
    on_stream_event = passes()
    on_llm_end = ends("response")
    on_llm_error = fails()
    on_retriever_start = starts("retriever", "query")
    on_retriever_end = ends("documents")
    on_retriever_error = fails()
    on_tool_start = starts("tool", "input_str")
    on_tool_end = ends("output")
    on_tool_error = fails()
    on_interrupt = waits(waits=True)
    on_resume = waits(waits=False)

    def __init__(self) -> None:
        self._runs = Runs()

    @property
    def ignore_retry(self) -> bool:
        """True: a failed attempt is a run of its own, which raises."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """True: the user's own events say nothing about question, contexts and answer."""
        return True

    def _finish(self, run: FinishedRun) -> None:
        raise NotImplementedError

    def _start(self, kind: Kind, inputs: Any, event: Event) -> None:
        if is_judging():
            return
        query = inputs if kind == "retriever" else None
        if kind == "tool" and event.get("inputs") is not None:
            inputs = event["inputs"]
        about = {"metadata": event.get("metadata") or {}, "tags": tuple(event.get("tags") or ())}
        parent, name = event.get("parent_run_id"), event.get("name")
        self._runs.start(kind, event["run_id"], parent, name, query, inputs=inputs, **about)

    def _end(self, outputs: Any, event: Event) -> None:
        run = self._runs.end(event["run_id"], outputs, event.get("inputs"))
        if run is not None:
            self._finish(run)

    def _fail(self, error: BaseException, event: Event) -> None:
        run = self._runs.fail(event["run_id"], error, event.get("inputs"))
        if run is not None:
            self._finish(run)

    def _wait(self, run_id: Any, *, waits: bool) -> None:
        if run_id is not None:
            self._runs.interrupt(run_id, waits=waits)


@cache
def hearing_graphs(cls: Any) -> Any:
    """The class, with LangGraph's own class of handlers as a base where that is installed: only those hear that a graph waits.

    A graph that ``interrupt_before`` or ``interrupt_after`` stops seems to have come to its end. Newer versions of LangGraph have
    an event that tells the two apart.
    """
    if importlib.util.find_spec("langgraph") is None or importlib.util.find_spec("langgraph.callbacks") is None:
        return cls
    base = getattr(importlib.import_module("langgraph.callbacks"), "GraphCallbackHandler", None)
    if base is None or issubclass(cls, base):
        return cls
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls, base), names)
