"""What the steps of a run leave that its output does not tell: lists of documents, contexts as texts, and what a graph wrote anew.

Why. A graph with a checkpointer returns its whole state, so what it returns may be the answer of an earlier turn. Its steps tell
the two apart: what the first of them is given was there before, and what none of them returns was not written in this call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from ._reading._contexts import document_lists, returned
from ._reading._names import mapping_of

__all__ = ["Notes", "is_graph_step"]


def is_graph_step(tags: Any) -> bool:
    """Whether a run is a node of a LangGraph graph, by the tag that LangGraph gives it."""
    return any(str(tag).startswith("graph:step:") for tag in tags or ())


class Notes:
    """Notes on the steps of one root run.

    Attributes:
        listed: the last list of documents that a step returned.
        texts: the last contexts that a step returned as texts, under one of the usual names.
        last: what the root's last own step returned.
        written: the keys of the graph's state that its steps wrote; None where the root is no graph, or a step returned what
            cannot be read.
        earlier: ids of the messages that were there before the first step.
    """

    __slots__ = ("_ended", "_unreadable", "earlier", "last", "listed", "texts", "written")

    def __init__(self) -> None:
        self.listed: list[Document] | None = None
        self.texts: list[str] | None = None
        self.last: Any = None
        self.written: set[str] | None = None
        self.earlier: set[str] = set()
        self._ended = False
        self._unreadable = False

    def step_returned(self, outputs: Any) -> None:
        """Any step below the root returned."""
        found = list(document_lists(outputs))
        if found:
            self.listed = found[-1]
        if isinstance(outputs, Mapping):
            self.texts = returned(outputs)[1] or self.texts

    def node_starts(self, inputs: Any) -> None:
        """A node of the graph at the root starts."""
        if self.written is None and not self._unreadable:
            self.written = set()
        messages = (mapping_of(inputs) or {}).get("messages")
        if not self._ended and isinstance(messages, list | tuple):
            self.earlier.update(item.id for item in messages if isinstance(item, BaseMessage) and item.id)

    def node_returned(self, outputs: Any) -> None:
        """A node of the graph at the root returned: an update of the state, a command with one, or a list of these."""
        self._ended = True
        for update in outputs if isinstance(outputs, list | tuple) else [outputs]:
            if hasattr(update, "update") and hasattr(update, "goto"):  # LangGraph's Command
                update = update.update  # noqa: PLW2901
            found = {} if update is None else _keys(update)
            if found is None:
                self._unreadable, self.written = True, None
            elif self.written is not None:
                self.written.update(found)


def _keys(update: Any) -> Mapping[str, Any] | None:
    if isinstance(update, list | tuple):
        pairs = all(isinstance(item, tuple) and len(item) == 2 for item in update)
        return dict(update) if pairs else None
    return mapping_of(update)
