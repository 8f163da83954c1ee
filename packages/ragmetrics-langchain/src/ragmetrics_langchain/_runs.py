"""From LangChain's events to one finished run per call of a chain, with all that happened below it.

Which events belong together. A run is remembered from its start to the end of its tree. The root of a tree is a run without a
parent, or with one that this handler has not seen (it may be attached to an inner step, or stand below a LangSmith trace).
However the root ends, its whole tree is then forgotten, also cancelled children, which never end. What arrives later finds its
parent among the recently finished runs and is ignored. Every event counts once per run id, because a handler that is passed twice
gets root events twice.

What a hook costs. It runs inside the user's chain, so it calls no other code and never waits. In an asynchronous chain LangChain
sends every event of a synchronous handler through a thread pool, and the chain waits: about 20 hops per call, and one more per
token of a stream, far more than the work itself. Coroutine functions are awaited in place, but in a synchronous chain each of
their events costs an event loop. (``run_inline`` would help, but then the other handlers of the chain miss ``on_llm_start``.) So a
hook does its work when it is called, and returns something that can be awaited but is no coroutine: that suits both ways in which
LangChain calls it. To be awaited in place, it looks like a coroutine function: ``inspect.iscoroutinefunction`` goes by the code of
an object, and a hook has the code of one. If LangChain ever checked otherwise, hooks would merely go through the thread pool again.

What a graph returns. A graph with a checkpointer returns its whole state, so the answer in it may be that of an earlier turn.
Its steps show which it is: what the first of them is given was there before, and what none of them returns was not written in
this call.
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

from ._values import distinct_documents, document_lists, mapping_of, returned_contexts

Kind = Literal["chain", "llm", "retriever", "tool"]
Outcome = Literal["complete", "error", "incomplete", "interrupted"]


@dataclass(frozen=True)
class FinishedRun:
    """One call of a chain, seen from outside: what an extractor of a ``RagEvaluationCallback`` is given.

    Attributes:
        run_id: LangChain's id of the root run.
        kind: what was called: ``chain`` (graphs included), ``llm``, ``retriever`` or ``tool``.
        name: its name.
        inputs: what it was called with.
        outputs: what it returned, complete or not; None if it failed. If that is a metric's score, what the metric was given.
        documents: what its retrievers found, each document once, in the order of the searches; None if nothing was searched.
        listed: the last list of documents that any step returned, for chains that retrieve without a retriever.
        texts: the last contexts that any step returned as texts, under a name such as ``context``.
        queries: what its retrievers were asked.
        written: the keys of a graph's state that its steps wrote in this call; None if it is no graph, or this is unknown.
        earlier: ids of the messages that a graph had before this call.
        metadata, tags: of the root run, from its config.
        outcome: how it ended.
        error: what it raised.
        parent_run_id: the run that it stands below, seen or not; None if it is the root of its trace.
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
    written: frozenset[str] | None = None
    earlier: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    outcome: Outcome = "complete"
    error: BaseException | None = None
    parent_run_id: UUID | None = None


@dataclass(slots=True, eq=False)
class Node:
    """One run of a tree; ``is_step``: a node of the graph at its root."""

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
        """From the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Tree:
    """A root run and everything below it.

    Attributes:
        start: what is known of the root from its start.
        nodes: the runs by their ids.
        interrupted: whether a graph waits for a person.
        last: what the root's last own step returned.
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
        self._note_finder(self.root)

    def begin(self, run_id: UUID, node: Node, inputs: Any, tags: Sequence[str]) -> None:
        """A run starts below another one of the tree."""
        self.nodes[run_id] = node
        # LangGraph tags the nodes of its graphs
        if node.parent is self.root and any(str(tag).startswith("graph:step:") for tag in tags):
            node.is_step = self._has_steps = True
            messages = (mapping_of(inputs) or {}).get("messages")
            if not self._steps_ended and isinstance(messages, list | tuple):
                self._earlier.update(item.id for item in messages if isinstance(item, BaseMessage) and item.id)
        self._note_finder(node)

    def _note_finder(self, node: Node) -> None:
        """Remember the run if it may find documents: an outermost retriever, or a tool."""
        if node.kind in ("retriever", "tool") and all(above.kind != "retriever" for above in node.ancestors()):
            self._finders.append(node)

    def end(self, node: Node, outputs: Any) -> None:
        """A run returned; what the sample may need of it is noted."""
        node.is_open = False
        if node.kind == "retriever":
            node.documents = list(outputs or ())
        elif node.kind == "tool":
            node.documents = next(document_lists(getattr(outputs, "artifact", outputs)), node.documents)
        elif node is not self.root and node.kind == "chain":
            for found in document_lists(outputs):
                self._listed = found
            if isinstance(outputs, Mapping):
                self._texts = returned_contexts(outputs)[1] or self._texts
        if node.is_step:
            self.step_returned(outputs)
        if node.parent is self.root:
            self.last = outputs

    def step_returned(self, outputs: Any) -> None:
        """A node of the graph returned an update of the state, a command with one, or a list of these."""
        self._steps_ended = True
        for item in outputs if isinstance(outputs, list | tuple) else [outputs]:
            # LangGraph's Command
            update = item.update if hasattr(item, "update") and hasattr(item, "goto") else item
            found = {} if update is None else _keys(update)
            self._is_readable = self._is_readable and found is not None
            self._written.update(found or ())

    def documents(self, *, complete: bool) -> list[Document] | None:
        """All that was found, each document once; None if no retriever searched.

        The answer of a complete run does not rest on what a failed attempt has found.
        """
        searches = {above for node in self._finders if node.kind == "retriever" for above in node.ancestors()}
        # a tool that searches has found what its retrievers found
        found = [node for node in self._finders if node.documents is not None and node not in searches]
        if complete:
            found = [node for node in found if not any(above.failed for above in node.ancestors())] or found
        return distinct_documents(document for node in found for document in node.documents or ()) if found else None

    def is_cut_short(self) -> bool:
        """Whether a run below the root is still open, and all runs between the two still wait for it.

        A step that has ended gave up whatever it had started: a call that it cancelled never ends, but no step waits for it.
        """
        return any(
            node.is_open and all(above.is_open for above in node.ancestors() if above is not self.root)
            for node in self.nodes.values()
            if node is not self.root
        )

    def finished(self, inputs: Any, outputs: Any, outcome: Outcome, error: BaseException | None = None) -> FinishedRun:
        """What is known of the root run at its end."""
        return replace(
            self.start,
            inputs=self.start.inputs if inputs is None else inputs,
            outputs=outputs,
            documents=self.documents(complete=outcome == "complete"),
            listed=self._listed,
            texts=self._texts,
            written=frozenset(self._written) if self._has_steps and self._is_readable else None,
            earlier=frozenset(self._earlier),
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
"""Ids of finished runs that are remembered for late children."""

INTERRUPTS = {"GraphInterrupt", "NodeInterrupt"}
CONTROL_FLOW = INTERRUPTS | {"GraphBubbleUp"}
"""Exceptions that control the flow of a graph; a step that raises one has not failed."""

FALLBACKS = "RunnableWithFallbacks"
NO_RUN = UUID(int=0)
CUT_SHORT = (GeneratorExit, KeyboardInterrupt)


class Runs:
    """The trees of runs that are under way. Hooks come from many threads at once, so all state is here, behind one lock."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread
        self._nodes: dict[UUID, Node] = {}
        self._recent: OrderedDict[UUID, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def start(self, event: Event, *, kind: Kind, inputs: str) -> None:
        """A run starts, except for one of a metric; its inputs have this name. Those of a stream are known only at its end."""
        if is_judging():
            return
        run_id, parent_id, name = event["run_id"], event.get("parent_run_id"), event.get("name")
        given, tags = event[inputs], tuple(event.get("tags") or ())
        query = given if kind == "retriever" else None
        if kind == "tool" and event.get("inputs") is not None:
            given = event["inputs"]
        with self._lock:
            if run_id in self._nodes:
                return
            parent = self._nodes.get(parent_id) if parent_id is not None else None
            parent = parent or self._fallbacks()
            if parent is not None:
                node = self._nodes[run_id] = Node(kind, name, parent, parent.tree, query)
                node.tree.begin(run_id, node, given, tags)
            elif parent_id in self._recent:
                self._remember(run_id)
            else:
                metadata = event.get("metadata") or {}
                root = FinishedRun(run_id, kind, name, given, metadata=metadata, tags=tags, parent_run_id=parent_id)
                self._nodes[run_id] = Tree(root, query).root

    def _fallbacks(self) -> Node | None:
        """The run that this one is an attempt of. LangChain gives the attempts of ``with_fallbacks`` no parent, but the config
        that it makes for them is in the context.
        """
        ambient = var_child_runnable_config.get() or {}
        parent = self._nodes.get(getattr(ambient.get("callbacks"), "parent_run_id", None) or NO_RUN)
        return parent if parent is not None and parent.name == FALLBACKS and parent.is_open else None

    def end(self, event: Event, *, outputs: str) -> FinishedRun | None:
        """A run returns; if it was a root, what is known of it. Its outputs have this name."""
        found, inputs = event[outputs], event.get("inputs")
        with self._lock:
            node = self._nodes.get(event["run_id"])
            if node is None or not node.is_open:
                return None
            tree = node.tree
            tree.end(node, found)
            if node is not tree.root:
                return None
            self._forget(tree)
        if isinstance(found, Score):
            found = tree.last
        # only streams have their inputs at the end; one without outputs was left before its first piece
        cut = (found is None and inputs is not None) or tree.is_cut_short()
        return tree.finished(inputs, found, "interrupted" if tree.interrupted else "incomplete" if cut else "complete")

    def fail(self, event: Event) -> FinishedRun | None:
        """A run raises or is given up; if it was a root, what is known of it."""
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
        cut = isinstance(error, CUT_SHORT) or type(error).__name__ == "CancelledError"
        outcome: Outcome = "incomplete" if cut else "interrupted" if _is_one_of(error, INTERRUPTS) else "error"
        return tree.finished(event.get("inputs"), None, outcome, error)

    def wait(self, event: Event, *, waits: bool) -> None:
        """A graph of LangGraph says that it waits for a person, or that it goes on."""
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
    """Whether an exception has a class of one of these names: LangGraph, whose classes they are, may not be installed."""
    return any(cls.__name__ in names for cls in type(error).__mro__)


def ignore(runs: Runs, event: Event) -> None:
    """A piece of an answer: the end of the run has all of it."""


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
    """A hook, which has its watcher's runs note the event, and hands over the run that has finished with it.

    LangChain passes some arguments by position; their names are read from its base class.
    """

    __code__ = _stub.__code__  # ``inspect`` recognises a function by this and the next three
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
    """Watches runs and calls ``_finish`` with each one that has finished; runs of metrics are not watched."""

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
        """True: a failed attempt is a separate run, which raises."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """True: the user's own events say nothing about question, contexts and answer."""
        return True

    def _finish(self, run: FinishedRun) -> None:
        raise NotImplementedError


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
