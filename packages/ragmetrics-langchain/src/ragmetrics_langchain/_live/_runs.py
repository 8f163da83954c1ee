"""Which events belong together: from LangChain's stream of events to one finished run per call of a chain.

Strategy. A run is remembered from its start to the end of its tree. The root of a tree is a run without a parent, or with one
that this handler has not seen (it may be attached to an inner step, or stand below a LangSmith trace). However the root ends, its
whole tree is then forgotten, also cancelled children, which never end. What arrives later finds its parent among the recently
finished runs and is ignored. Every event counts once per run id, because a handler that is passed twice gets root events twice.

Hooks come from many threads at once, so all state is here, behind one lock, and nothing here calls anybody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from langchain_core.runnables.config import var_child_runnable_config

from ragmetrics_core import Score

from ._tree import FinishedRun, Kind, Node, Outcome, Tree

__all__ = ["Runs"]

RECENT = 2048
"""Ids of finished runs that are remembered for late children."""

INTERRUPTS = {"GraphInterrupt", "NodeInterrupt"}
CONTROL_FLOW = INTERRUPTS | {"GraphBubbleUp"}
"""Exceptions that control the flow of a graph; a step that raises one has not failed."""

FALLBACKS = "RunnableWithFallbacks"
NOBODY = UUID(int=0)
CUT_SHORT = (GeneratorExit, KeyboardInterrupt)


class Runs:
    """The trees of runs that are under way."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a stream that is collected meanwhile ends too, on the same thread
        self._nodes: dict[UUID, Node] = {}
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
        **start: Any,
    ) -> None:
        """A run starts; ``start`` has its inputs, metadata and tags."""
        with self._lock:
            if run_id in self._nodes:
                return
            parent = self._nodes.get(parent_run_id) if parent_run_id is not None else None
            parent = parent or self._fallbacks()
            if parent is not None:
                node = self._nodes[run_id] = Node(kind, name, parent, parent.tree, query)
                node.tree.begin(run_id, node, start["inputs"], start["tags"])
            elif parent_run_id in self._recent:
                self._remember(run_id)
            else:
                root = FinishedRun(run_id, kind, name, parent_run_id=parent_run_id, **start)
                self._nodes[run_id] = Tree(root, query).root

    def _fallbacks(self) -> Node | None:
        """The run that this one is an attempt of. LangChain gives the attempts of ``with_fallbacks`` no parent, but the config
        that it makes for them stands in the context.
        """
        ambient = var_child_runnable_config.get() or {}
        parent = self._nodes.get(getattr(ambient.get("callbacks"), "parent_run_id", None) or NOBODY)
        return parent if parent is not None and parent.name == FALLBACKS and parent.is_open else None

    def end(self, run_id: UUID, outputs: Any, inputs: Any = None) -> FinishedRun | None:
        """A run returns; if it was a root, what is known of it."""
        with self._lock:
            node = self._nodes.get(run_id)
            if node is None or not node.is_open:
                return None
            tree = node.tree
            tree.end(node, outputs)
            if node is not tree.root:
                return None
            self._forget(tree)
        if isinstance(outputs, Score):
            outputs = tree.last
        # only streams have their inputs at the end; one without outputs was left before its first piece
        cut = (outputs is None and inputs is not None) or tree.is_cut_short()
        return tree.finished(
            inputs, outputs, "interrupted" if tree.interrupted else "incomplete" if cut else "complete"
        )

    def fail(self, run_id: UUID, error: BaseException, inputs: Any = None) -> FinishedRun | None:
        """A run raises; if it was a root, what is known of it."""
        with self._lock:
            node = self._nodes.get(run_id)
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
        return tree.finished(inputs, None, outcome, error)

    def interrupt(self, run_id: UUID, *, waits: bool) -> None:
        """A graph says that it waits for somebody, or that it goes on."""
        with self._lock:
            node = self._nodes.get(run_id)
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
