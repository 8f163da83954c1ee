"""Collect LangChain's events into one finished run for each call of a chain, with everything that happened below it.

Which events belong together. A run is remembered from its start to the end of its tree. The root of a tree is a run without a
parent, or with one that this handler has not seen (the handler may be attached to an inner step, or the run may be below a
LangSmith trace). However the root ends, its whole tree is then forgotten, also cancelled children, which never end. An event that
arrives later finds its parent among the recently finished runs and is ignored. Every event counts once per run id, because a
handler that is passed twice gets root events twice.

What a hook costs. It runs inside the user's chain, so it calls no other code and never waits. In an asynchronous chain LangChain
sends every event of a synchronous handler through a thread pool, and the chain waits: about 20 hops per call, and one more per
token of a stream, far more than the work itself. Coroutine functions are awaited in place, but in a synchronous chain each of
their events costs an event loop. (``run_inline`` would help, but then the other handlers of the chain miss ``on_llm_start``.) So
a hook does its work when it is called, and returns something that can be awaited but is not a coroutine: this works for both ways
in which LangChain calls it. To be awaited in place, it looks like a coroutine function: ``inspect.iscoroutinefunction`` goes by
the code of an object, and a hook has the code of one. If LangChain ever checked otherwise, hooks would merely go through the
thread pool again.

What a graph returns. A graph with a checkpointer returns its whole state, so its answer may belong to an earlier turn.
Its steps show which turn it belongs to: values in the input of the first step existed before, and values that no step returns were
not written in this call.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import var_child_runnable_config

from ragmetrics_core import Score
from ragmetrics_core.adapters import is_judging

from ._values import HISTORY, REWRITTEN, distinct_documents, document_lists, mapping_of, returned_contexts, text_of

Kind = Literal["chain", "llm", "retriever", "tool"]
Outcome = Literal["complete", "error", "incomplete", "interrupted"]


@dataclass(frozen=True)
class FinishedRun:
    """One call of a chain, seen from outside. The extractors of a ``RagEvaluationCallback`` get this object.

    Attributes:
        run_id: LangChain's id of the root run.
        kind: what was called: ``chain`` (graphs included), ``llm``, ``retriever`` or ``tool``.
        name: the name of the root run.
        inputs: the inputs of the call.
        outputs: the value that the call returned, complete or not; None if it failed. If the value is a metric's score, the
            inputs of the metric.
        documents: the documents that its retrievers found, each document once, in the order of the searches; None if nothing was
            searched.
        listed: the last list of documents that any step returned, for chains that retrieve without a retriever.
        texts: the last contexts that any step returned as texts, under a name such as ``context``.
        queries: the queries of its retrievers.
        rewritten: the first text that a step returned under a name such as ``standalone_question``.
        history: the earlier messages that a step got, or loaded, under a name such as ``chat_history``.
        written: the keys of a graph's state that its steps wrote in this call; None if it is not a graph, or they are unknown.
        earlier: ids of the messages that a graph had before this call.
        metadata, tags: of the root run, from its config.
        outcome: how the call ended.
        error: the exception that the call raised.
        parent_run_id: the parent run, seen by the handler or not; None if the root run is also the root of its trace.
    """

    run_id: UUID
    kind: Kind
    name: str | None
    inputs: Any
    outputs: Any = None
    documents: Sequence[Document] | None = None
    listed: Sequence[Document] | None = None
    texts: Sequence[str] | None = None
    queries: Sequence[str] = ()
    rewritten: str | None = None
    history: Sequence[Any] = ()
    written: frozenset[str] | None = None
    earlier: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    outcome: Outcome = "complete"
    error: BaseException | None = None
    parent_run_id: UUID | None = None


@dataclass(slots=True, eq=False)
class Node:
    """One run of a tree. ``is_step``: whether it is a node of the graph at the root."""

    kind: Kind
    name: str | None
    parent: Node | None
    tree: Tree
    query: str | None
    is_open: bool = True
    failed: bool = False
    documents: list[Document] | None = None
    is_step: bool = False

    def ancestors(self) -> Iterator[Node]:
        """Yield the runs from the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Tree:
    """A root run and all runs below it.

    Attributes:
        start: what is known of the root from its start.
        nodes: the runs by their ids.
        interrupted: whether a graph waits for a person.
        last: the outputs of the root's last direct step.
    """

    def __init__(self, start: FinishedRun, query: str | None) -> None:
        self.start = start
        self.root = Node(start.kind, start.name, None, self, query)
        self.nodes: dict[UUID, Node] = {start.run_id: self.root}
        self.interrupted = False
        self.last: Any = None
        self._finders: list[Node] = []
        self._listed: list[Document] | None = None
        self._texts: list[str] | None = None
        self._written: set[str] = set()
        self._earlier: set[str] = set()
        self._has_steps = False
        self._steps_ended = False
        self._is_readable = True
        self._rewritten: str | None = None
        self._history: Sequence[Any] = ()
        self._note_finder(self.root)

    def begin(self, run_id: UUID, node: Node, inputs: Any, tags: Sequence[str]) -> None:
        """Record that a run starts below another run of the tree."""
        self.nodes[run_id] = node
        # LangGraph tags the nodes of its graphs
        if node.parent is self.root and any(str(tag).startswith("graph:step:") for tag in tags):
            node.is_step = self._has_steps = True
            messages = (mapping_of(inputs) or {}).get("messages")
            if not self._steps_ended and isinstance(messages, list | tuple):
                self._earlier.update(item.id for item in messages if isinstance(item, BaseMessage) and item.id)
        if not self._steps_ended:
            self._note_history(inputs)
        self._note_finder(node)

    def _note_history(self, value: Any) -> None:
        """Copy the first earlier messages that a step got, because the program may add to its list."""
        if not self._history and isinstance(value, Mapping):
            lists = (value[name] for name in HISTORY if isinstance(value.get(name), list | tuple))
            self._history = tuple(next(lists, ()))

    def _note_finder(self, node: Node) -> None:
        """Remember the run if it may find documents: an outermost retriever, or a tool."""
        if node.kind in ("retriever", "tool") and all(above.kind != "retriever" for above in node.ancestors()):
            self._finders.append(node)

    def end(self, node: Node, outputs: Any) -> None:
        """Record that a run returned, with everything that the sample may need of it."""
        node.is_open = False
        if node.kind == "retriever":
            node.documents = list(outputs or ())
        elif node.kind == "tool":
            node.documents = next(document_lists(getattr(outputs, "artifact", outputs)), node.documents)
        elif node is not self.root and node.kind == "chain":
            for documents in document_lists(outputs):
                self._listed = documents
            if isinstance(outputs, Mapping):
                self._texts = returned_contexts(outputs)[1] or self._texts
                self._rewritten = self._rewritten or next(filter(None, map(text_of, map(outputs.get, REWRITTEN))), None)
                if not self._has_steps:  # what a step of a graph returns may be of this turn
                    self._note_history(outputs)
        if node.is_step:
            self.step_returned(outputs)
        if node.parent is self.root:
            self.last = outputs

    def step_returned(self, outputs: Any) -> None:
        """Record that a node of the graph returned an update of the state, a command with an update, or a list of these."""
        self._steps_ended = True
        for item in outputs if isinstance(outputs, list | tuple) else [outputs]:
            # LangGraph's Command
            update = item.update if hasattr(item, "update") and hasattr(item, "goto") else item
            found = {} if update is None else _keys(update)
            self._is_readable = self._is_readable and found is not None
            self._written.update(found or ())

    def documents(self, *, complete: bool) -> list[Document] | None:
        """Return all documents that were found, each document once; None if no retriever searched.

        For a complete run, documents of failed attempts are left out, because the answer does not rest on them.
        """
        searches = {above for node in self._finders if node.kind == "retriever" for above in node.ancestors()}
        # a tool that searches has found what its retrievers found
        found = [node for node in self._finders if node.documents is not None and node not in searches]
        if complete:
            found = [node for node in found if not any(above.failed for above in node.ancestors())] or found
        return distinct_documents(document for node in found for document in node.documents or ()) if found else None

    def is_cut_short(self) -> bool:
        """Whether a run below the root is still open, and all its ancestors are open too.

        A step that has ended no longer waits for the runs that it started. A call that the step cancelled never ends, so it does
        not count.
        """
        return any(
            node.is_open and all(above.is_open for above in node.ancestors() if above is not self.root)
            for node in self.nodes.values()
            if node is not self.root
        )

    def finished(self, inputs: Any, outputs: Any, outcome: Outcome, error: BaseException | None = None) -> FinishedRun:
        """Return the finished run when the root run has ended."""
        return replace(
            self.start,
            inputs=self.start.inputs if inputs is None else inputs,
            outputs=outputs,
            documents=self.documents(complete=outcome == "complete"),
            listed=self._listed,
            texts=self._texts,
            written=frozenset(self._written) if self._has_steps and self._is_readable else None,
            earlier=frozenset(self._earlier),
            rewritten=self._rewritten,
            history=self._history,
            queries=tuple(node.query for node in self._finders if node.kind == "retriever" and node.query),
            outcome=outcome,
            error=error,
        )


def _keys(update: Any) -> Mapping[str, Any] | None:
    if isinstance(update, list | tuple):
        pairs = all(isinstance(item, tuple) and len(item) == 2 for item in update)
        return dict(update) if pairs else None
    return mapping_of(update)


Event = Mapping[str, Any]
"""All arguments of a hook, under LangChain's own names."""

RECENT = 2048
"""The number of finished runs whose ids are remembered, to recognize children that arrive late."""

INTERRUPTS = {"GraphInterrupt", "NodeInterrupt"}
CONTROL_FLOW = INTERRUPTS | {"GraphBubbleUp"}
"""Exceptions that control the flow of a graph; a step that raises one has not failed."""

FALLBACKS = "RunnableWithFallbacks"
NO_RUN = UUID(int=0)
CUT_SHORT = (GeneratorExit, KeyboardInterrupt)


class Runs:
    """The trees of runs in progress. Hooks are called from many threads at once, so all state is here, behind one lock."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread
        self._nodes: dict[UUID, Node] = {}
        self._recent: OrderedDict[UUID, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def start(self, event: Event, *, kind: Kind, inputs: str) -> None:
        """Record that a run starts, unless it belongs to a metric. ``inputs``: the event's key of its inputs. A stream gets its
        inputs only at its end.
        """
        if is_judging():
            return
        run_id, parent_id, name = event["run_id"], event.get("parent_run_id"), event.get("name")
        start_inputs, tags = event[inputs], tuple(event.get("tags") or ())
        query = start_inputs if kind == "retriever" else None
        if kind == "tool" and event.get("inputs") is not None:
            start_inputs = event["inputs"]
        with self._lock:
            if run_id in self._nodes:
                return
            parent = self._nodes.get(parent_id) if parent_id is not None else None
            parent = parent or self._fallbacks()
            if parent is not None:
                node = self._nodes[run_id] = Node(kind, name, parent, parent.tree, query)
                node.tree.begin(run_id, node, start_inputs, tags)
            elif parent_id in self._recent:
                self._remember(run_id)
            else:
                metadata = event.get("metadata") or {}
                root = FinishedRun(
                    run_id, kind, name, start_inputs, metadata=metadata, tags=tags, parent_run_id=parent_id
                )
                self._nodes[run_id] = Tree(root, query).root

    def _fallbacks(self) -> Node | None:
        """Return the run of ``with_fallbacks`` that this run is an attempt of. LangChain gives such attempts no parent, but the
        config of the attempt is in the context.
        """
        ambient = var_child_runnable_config.get() or {}
        parent = self._nodes.get(getattr(ambient.get("callbacks"), "parent_run_id", None) or NO_RUN)
        return parent if parent is not None and parent.name == FALLBACKS and parent.is_open else None

    def end(self, event: Event, *, outputs: str) -> FinishedRun | None:
        """Record that a run returned. For a root run, return what is known of it. ``outputs``: the event's key of its outputs."""
        result, inputs = event[outputs], event.get("inputs")
        with self._lock:
            node = self._nodes.get(event["run_id"])
            if node is None or not node.is_open:
                return None
            tree = node.tree
            tree.end(node, result)
            if node is not tree.root:
                return None
            self._forget(tree)
        if isinstance(result, Score):
            result = tree.last
        # only streams have inputs at their end; a stream without outputs was closed before its first chunk
        is_cut = (result is None and inputs is not None) or tree.is_cut_short()
        return tree.finished(
            inputs, result, "interrupted" if tree.interrupted else "incomplete" if is_cut else "complete"
        )

    def fail(self, event: Event) -> FinishedRun | None:
        """Record that a run raised or was cancelled. For a root run, return what is known of it."""
        error: BaseException = event["error"]
        with self._lock:
            node = self._nodes.get(event["run_id"])
            if node is None or not node.is_open:
                return None
            node.is_open = False
            tree = node.tree
            node.failed = not _is_one_of(error, CONTROL_FLOW)
            tree.interrupted = tree.interrupted or _is_one_of(error, INTERRUPTS)
            if node.is_step and type(error).__name__ == "ParentCommand":
                tree.step_returned(error.args[0])
            if node is not tree.root:
                return None
            self._forget(tree)
        is_cut = isinstance(error, CUT_SHORT) or type(error).__name__ == "CancelledError"
        outcome: Outcome = "incomplete" if is_cut else "interrupted" if _is_one_of(error, INTERRUPTS) else "error"
        return tree.finished(event.get("inputs"), None, outcome, error)

    def wait(self, event: Event, *, waits: bool) -> None:
        """Record that a graph of LangGraph waits for a person, or continues."""
        with self._lock:
            node = self._nodes.get(event["event"].run_id)
            if node is not None:
                node.tree.interrupted = waits

    def _forget(self, tree: Tree) -> None:
        for run_id in tree.nodes:
            del self._nodes[run_id]
            self._remember(run_id)

    def _remember(self, run_id: UUID) -> None:
        self._recent[run_id] = None
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)


def _is_one_of(error: BaseException, names: Iterable[str]) -> bool:
    """Whether an exception has a class with one of these names. The classes are LangGraph's, which may not be installed."""
    return any(cls.__name__ in names for cls in type(error).__mro__)


def ignore(runs: Runs, event: Event) -> None:
    """Ignore a chunk of an answer, because the end of the run has the whole answer."""


class Done:
    """An awaitable that is already done."""

    def __await__(self) -> Iterator[None]:
        return iter(())


DONE = Done()


async def _stub() -> None:
    """Provide the code object of a coroutine function."""


def _newer(self: Any, event: Any) -> None:
    """A hook that this version of LangChain does not have."""


class Hook:
    """A callback method of a watcher. It reports the event to the watcher's runs. If the event finishes a run, it calls the
    watcher's ``_finish`` with that run.

    LangChain passes some arguments by position; their names are read from the method of the same name in LangChain's
    ``BaseCallbackHandler``.
    """

    __code__ = _stub.__code__  # ``inspect`` recognises a function by this attribute and the next three
    __defaults__ = None
    __kwdefaults__ = None

    def __init__(self, note: Callable[..., FinishedRun | None], **about: Any) -> None:
        self._note = note
        self._about = about
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
        event = {**dict(zip(self._positional, positional, strict=False)), **named}
        finished = self._note(watcher._runs, event, **self._about)
        if finished is not None:
            watcher._finish(finished)
        return DONE


class RunWatcher(BaseCallbackHandler):
    """Watches runs and calls ``_finish`` with each finished run. Runs of metrics are not watched."""

    on_chain_start: Any = Hook(Runs.start, kind="chain", inputs="inputs")
    on_chain_end: Any = Hook(Runs.end, outputs="outputs")
    on_chain_error: Any = Hook(Runs.fail)
    on_llm_start: Any = Hook(Runs.start, kind="llm", inputs="prompts")
    on_chat_model_start: Any = Hook(Runs.start, kind="llm", inputs="messages")
    on_llm_new_token: Any = Hook(ignore)
    on_stream_event: Any = Hook(ignore)
    on_llm_end: Any = Hook(Runs.end, outputs="response")
    on_llm_error: Any = Hook(Runs.fail)
    on_retriever_start: Any = Hook(Runs.start, kind="retriever", inputs="query")
    on_retriever_end: Any = Hook(Runs.end, outputs="documents")
    on_retriever_error: Any = Hook(Runs.fail)
    on_tool_start: Any = Hook(Runs.start, kind="tool", inputs="input_str")
    on_tool_end: Any = Hook(Runs.end, outputs="output")
    on_tool_error: Any = Hook(Runs.fail)
    on_interrupt: Any = Hook(Runs.wait, waits=True)
    on_resume: Any = Hook(Runs.wait, waits=False)

    def __init__(self) -> None:
        self._runs = Runs()

    @property
    def ignore_retry(self) -> bool:
        """True: a failed attempt is a separate run, and its failure is seen there."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """True: the user's custom events say nothing about question, contexts and answer."""
        return True

    def _finish(self, run: FinishedRun) -> None:
        raise NotImplementedError


@cache
def hearing_graphs(cls: Any) -> Any:
    """Add LangGraph's handler class as a base class if LangGraph is installed. Only such handlers are notified that a graph
    waits.

    A graph that ``interrupt_before`` or ``interrupt_after`` stops looks like a graph that has ended. Newer versions of LangGraph
    have an event that distinguishes the two cases.
    """
    if importlib.util.find_spec("langgraph") is None or importlib.util.find_spec("langgraph.callbacks") is None:
        return cls
    base = getattr(importlib.import_module("langgraph.callbacks"), "GraphCallbackHandler", None)
    if base is None or issubclass(cls, base):
        return cls
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls, base), names)
