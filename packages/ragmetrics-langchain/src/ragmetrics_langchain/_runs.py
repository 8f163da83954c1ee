"""Which events belong together: from LangChain's stream of events to one finished run per call of a chain.

Strategy. A run is known from its start to the end of its tree. The root of a tree is a run whose parent is nobody, or nobody
that this handler has seen (it may be attached to an inner step, or stand below a LangSmith trace). When the root ends,
whatever its end is, the whole tree is forgotten, cancelled children included, which never end. What arrives later finds its
parent among the recently finished runs and is ignored. Everything happens once per run id, as a handler that is passed twice
gets root events twice.

All state is here, behind one lock, and nothing here calls anybody: hooks come from many threads at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.runnables.config import var_child_runnable_config

from ._documents import distinct, document_lists

__all__ = ["FinishedRun", "Kind", "Runs"]

Kind = Literal["chain", "llm", "retriever", "tool"]
Outcome = Literal["complete", "error", "incomplete", "interrupted"]

RECENT = 2048
"""Ids of finished runs that are remembered for late children."""

INTERRUPTS = {"GraphInterrupt", "NodeInterrupt"}
CONTROL_FLOW = INTERRUPTS | {"GraphBubbleUp"}
"""Exceptions by which LangGraph moves on; a step that raises one has not failed."""

FALLBACKS = "RunnableWithFallbacks"
NOBODY = UUID(int=0)
CUT_SHORT = (GeneratorExit, KeyboardInterrupt)


@dataclass(frozen=True)
class FinishedRun:
    """One call of a chain, seen from outside: what an extractor of a ``RagEvaluationCallback`` is given.

    Attributes:
        run_id: LangChain's id of the root run.
        kind: what was called: ``chain`` (graphs included), ``llm``, ``retriever`` or ``tool``.
        name: its name.
        inputs: what it was called with.
        outputs: what it returned, as far as it came; None where it failed.
        documents: what its retrievers found, each document once, in the order of the searches; None if nothing was searched.
        listed: the last list of documents that any step returned, for chains that retrieve without a retriever.
        queries: what its retrievers were asked.
        metadata, tags: of the root run, from its config.
        outcome: how it ended.
        error: what it raised.
    """

    run_id: UUID
    kind: Kind
    name: str | None
    inputs: Any
    outputs: Any = None
    documents: Sequence[Document] | None = None
    listed: Sequence[Document] | None = None
    queries: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    outcome: Outcome = "complete"
    error: BaseException | None = None


class _Node:
    """One run of a tree."""

    __slots__ = (
        "below_retriever",
        "documents",
        "failed",
        "is_open",
        "kind",
        "name",
        "parent",
        "query",
        "searches",
        "tree",
    )

    def __init__(self, kind: Kind, name: str | None, parent: _Node | None, tree: _Tree, query: str | None) -> None:
        self.kind = kind
        self.name = name
        self.parent = parent
        self.tree = tree
        self.query = query
        self.is_open = True
        self.failed = False
        self.documents: list[Document] | None = None
        self.searches = False
        self.below_retriever: bool = parent is not None and (parent.below_retriever or parent.kind == "retriever")

    def ancestors(self) -> Iterator[_Node]:
        """From the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class _Tree:
    """A root run and everything below it."""

    __slots__ = ("interrupted", "listed", "nodes", "root", "sources", "start")

    def __init__(self, start: FinishedRun, query: str | None) -> None:
        self.start = start
        self.root = _Node(start.kind, start.name, None, self, query)
        self.nodes: dict[UUID, _Node] = {start.run_id: self.root}
        self.sources: list[_Node] = []
        self.listed: list[Document] | None = None
        self.interrupted = False

    def note_source(self, node: _Node) -> None:
        """Remember who may bring documents: outermost retrievers, and tools that do not search by one."""
        if node.kind == "retriever" and not node.below_retriever:
            self.sources.append(node)
            for above in node.ancestors():
                above.searches = True
        elif node.kind == "tool" and not node.below_retriever:
            self.sources.append(node)

    def documents(self, *, complete: bool) -> list[Document] | None:
        """The union of what was found; None if nobody searched.

        What an attempt found that then failed was not what the answer of a complete run rests on.
        """
        found = [
            node for node in self.sources if node.documents is not None and not (node.kind == "tool" and node.searches)
        ]
        if complete:
            found = [node for node in found if not any(above.failed for above in node.ancestors())] or found
        return distinct(document for node in found for document in node.documents or ()) if found else None

    def is_cut_short(self) -> bool:
        """Whether something below is still at work, for which everybody above it still waits.

        A step that ended gave up what it started: a call that it cancelled never ends, and nobody misses it.
        """
        return any(
            node.is_open and all(above.is_open for above in node.ancestors() if above is not self.root)
            for node in self.nodes.values()
            if node is not self.root
        )


class Runs:
    """The trees of runs that are under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[UUID, _Node] = {}
        self._recent: OrderedDict[UUID, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def start(
        self,
        kind: Kind,
        run_id: UUID,
        parent_run_id: UUID | None,
        name: str | None,
        query: str | None = None,
        **root: Any,
    ) -> None:
        """A run starts; ``root`` is what is known of it, for the case that it is one."""
        with self._lock:
            if run_id in self._nodes:
                return
            parent = self._nodes.get(parent_run_id) if parent_run_id is not None else None
            parent = parent or self._fallbacks()
            if parent is not None:
                node = _Node(kind, name, parent, parent.tree, query)
                parent.tree.nodes[run_id] = node
            elif parent_run_id in self._recent:
                self._remember(run_id)
                return
            else:
                node = _Tree(FinishedRun(run_id, kind, name, **root), query).root
            node.tree.note_source(node)
            self._nodes[run_id] = node

    def _fallbacks(self) -> _Node | None:
        """The run that this one is an attempt of: LangChain gives the attempts of ``with_fallbacks`` no parent.

        The config that it makes for them stands in the context all the same.
        """
        ambient = var_child_runnable_config.get() or {}
        parent = self._nodes.get(getattr(ambient.get("callbacks"), "parent_run_id", None) or NOBODY)
        return parent if parent is not None and parent.name == FALLBACKS and parent.is_open else None

    def end(self, run_id: UUID, outputs: Any, inputs: Any = None) -> FinishedRun | None:
        """A run returns; what has finished with it, if it was a root."""
        with self._lock:
            node = self._nodes.get(run_id)
            if node is None or not node.is_open:
                return None
            node.is_open = False
            tree = node.tree
            found = list(document_lists(getattr(outputs, "artifact", outputs) if node.kind == "tool" else outputs))
            if node.kind == "retriever":
                node.documents = list(outputs or ())
            elif node.kind == "tool" and found:
                node.documents = found[0]
            elif node.kind == "chain" and found and node is not tree.root:
                tree.listed = found[-1]
            if node is not tree.root:
                return None
            self._forget(tree)
        cut = outputs is None or tree.is_cut_short()
        outcome: Outcome = "interrupted" if tree.interrupted else "incomplete" if cut else "complete"
        return _finished(tree, inputs, outputs, outcome, None)

    def fail(self, run_id: UUID, error: BaseException, inputs: Any = None) -> FinishedRun | None:
        """A run raises; what has finished with it, if it was a root."""
        with self._lock:
            node = self._nodes.get(run_id)
            if node is None or not node.is_open:
                return None
            node.is_open = False
            tree = node.tree
            node.failed = not _is_one_of(error, CONTROL_FLOW)
            tree.interrupted = tree.interrupted or _is_one_of(error, INTERRUPTS)
            if node is not tree.root:
                return None
            self._forget(tree)
        cut = isinstance(error, CUT_SHORT) or type(error).__name__ == "CancelledError"
        outcome: Outcome = "incomplete" if cut else "interrupted" if _is_one_of(error, INTERRUPTS) else "error"
        return _finished(tree, inputs, None, outcome, error)

    def _forget(self, tree: _Tree) -> None:
        for run_id in tree.nodes:
            del self._nodes[run_id]
            self._remember(run_id)

    def _remember(self, run_id: UUID) -> None:
        self._recent[run_id] = None
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)


def _is_one_of(error: BaseException, names: Iterable[str]) -> bool:
    """LangGraph stops a graph by an exception; its classes are known by name, as the package may not be there."""
    return any(cls.__name__ in names for cls in type(error).__mro__)


def _finished(tree: _Tree, inputs: Any, outputs: Any, outcome: Outcome, error: BaseException | None) -> FinishedRun:
    start = tree.start
    return FinishedRun(
        run_id=start.run_id,
        kind=start.kind,
        name=start.name,
        inputs=start.inputs if inputs is None else inputs,
        outputs=outputs,
        documents=tree.documents(complete=outcome == "complete"),
        listed=tree.listed,
        queries=tuple(node.query for node in tree.sources if node.kind == "retriever" and node.query),
        metadata=start.metadata,
        tags=start.tags,
        outcome=outcome,
        error=error,
    )
