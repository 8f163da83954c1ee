"""One root run and everything below it, from its start to its end: what it found, and what is known of it when it has finished.

A graph with a checkpointer returns its whole state, so the answer in it may be that of an earlier turn. Its steps tell which it
is: what the first of them is given was there before, and what none of them returns was not written in this call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from .._values import VALUES

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
        interrupted: whether a graph waits for somebody.
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
            messages = (VALUES.mapping_of(inputs) or {}).get("messages")
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
            node.documents = next(VALUES.document_lists(getattr(outputs, "artifact", outputs)), node.documents)
        elif node is not self.root and node.kind == "chain":
            for found in VALUES.document_lists(outputs):
                self._listed = found
            if isinstance(outputs, Mapping):
                self._texts = VALUES.returned(outputs)[1] or self._texts
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
        """All that was found, each document once; None if nobody searched.

        The answer of a complete run does not rest on what a failed attempt has found.
        """
        searches = {above for node in self._finders if node.kind == "retriever" for above in node.ancestors()}
        # a tool that searches has found what its retrievers found
        found = [node for node in self._finders if node.documents is not None and node not in searches]
        if complete:
            found = [node for node in found if not any(above.failed for above in node.ancestors())] or found
        return VALUES.distinct(document for node in found for document in node.documents or ()) if found else None

    def is_cut_short(self) -> bool:
        """Whether a run below the root is still open, and all runs between the two still wait for it.

        A step that has ended gave up whatever it had started: a call that it cancelled never ends, but nobody waits for it.
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
    return VALUES.mapping_of(update)
