"""One root run and everything below it, from its start to its end: what it found, and what is known of it when it has finished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from langchain_core.documents import Document

from ._notes import Notes
from ._reading._contexts import distinct, document_lists

__all__ = ["FinishedRun", "Kind", "Node", "Outcome", "Tree", "finished", "note"]

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
        outputs: what it returned, as far as it came; None where it failed. Where that is a metric's score, what the metric
            was given.
        documents: what its retrievers found, each document once, in the order of the searches; None if nothing was searched.
        listed: the last list of documents that any step returned, for chains that retrieve without a retriever.
        texts: the last contexts that any step returned as texts, under a name such as ``context``.
        queries: what its retrievers were asked.
        written: the keys of a graph's state that its steps wrote in this call; None if it is no graph, or cannot be told.
        earlier: ids of the messages that a graph had before this call.
        metadata, tags: of the root run, from its config.
        outcome: how it ended.
        error: what it raised.
        parent_run_id: the run that it stands below, seen or not; None where it is the root of its trace.
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


class Node:
    """One run of a tree."""

    __slots__ = (
        "below_retriever",
        "documents",
        "failed",
        "is_node",
        "is_open",
        "kind",
        "name",
        "parent",
        "query",
        "searches",
        "tree",
    )

    def __init__(self, kind: Kind, name: str | None, parent: Node | None, tree: Tree, query: str | None) -> None:
        self.kind = kind
        self.name = name
        self.parent = parent
        self.tree = tree
        self.query = query
        self.is_open = True
        self.failed = False
        self.documents: list[Document] | None = None
        self.searches = False
        self.is_node = False
        self.below_retriever: bool = parent is not None and (parent.below_retriever or parent.kind == "retriever")

    def ancestors(self) -> Iterator[Node]:
        """From the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Tree:
    """A root run and everything below it."""

    __slots__ = ("interrupted", "nodes", "notes", "root", "sources", "start")

    def __init__(self, start: FinishedRun, query: str | None) -> None:
        self.start = start
        self.root = Node(start.kind, start.name, None, self, query)
        self.nodes: dict[UUID, Node] = {start.run_id: self.root}
        self.sources: list[Node] = []
        self.notes = Notes()
        self.interrupted = False

    def note_source(self, node: Node) -> None:
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


def note(node: Node, tree: Tree, outputs: Any) -> None:
    """Remember of a run that returned what the sample may need."""
    if node.kind == "retriever":
        node.documents = list(outputs or ())
    elif node.kind == "tool":
        node.documents = next(document_lists(getattr(outputs, "artifact", outputs)), node.documents)
    elif node.kind == "chain" and node is not tree.root:
        tree.notes.step_returned(outputs)
    if node.is_node:
        tree.notes.node_returned(outputs)
    if node.parent is tree.root:
        tree.notes.last = outputs


def finished(tree: Tree, inputs: Any, outputs: Any, outcome: Outcome, error: BaseException | None) -> FinishedRun:
    """What is known of a root run at its end."""
    start = tree.start
    return FinishedRun(
        run_id=start.run_id,
        kind=start.kind,
        name=start.name,
        inputs=start.inputs if inputs is None else inputs,
        outputs=outputs,
        documents=tree.documents(complete=outcome == "complete"),
        listed=tree.notes.listed,
        texts=tree.notes.texts,
        written=None if tree.notes.written is None else frozenset(tree.notes.written),
        earlier=frozenset(tree.notes.earlier),
        queries=tuple(node.query for node in tree.sources if node.kind == "retriever" and node.query),
        metadata=start.metadata,
        tags=start.tags,
        outcome=outcome,
        error=error,
        parent_run_id=start.parent_run_id,
    )
