"""How ``ragmetrics run`` asks a Runnable, and reads what it or a function that uses LangChain returns.

The input of a Runnable is a text, or a mapping whose keys its schema names. A chain that ends in a text has lost its documents, so
the retrievers in it are watched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable

from ragmetrics_core import InvalidInput, Sample

from ._samples import sample_of
from ._values import CONVERSATIONS, QUESTIONS, distinct_documents, with_contexts


class Retrieved(BaseCallbackHandler):
    """Notes the documents that the retrievers of a call return."""

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
        """Called by LangChain."""
        self.documents += documents


def function_of(app: Any) -> Callable[[str], Any] | None:
    """Return a function that asks a Runnable; None for another object."""
    if not isinstance(app, Runnable):
        return None
    keys = _keys(app)

    async def ask(question: str) -> Sample:
        retrieved = Retrieved()
        answer = sample_of(await app.ainvoke(_input(keys, question), {"callbacks": [retrieved]}))
        if answer.retrieved_contexts is None and answer.retrieved_documents is None and retrieved.documents:
            return replace(answer, **with_contexts(distinct_documents(retrieved.documents)))
        return answer

    return ask


def fields_of(answer: Any) -> Sample | None:
    """Return the fields of a message, a list of messages, or a mapping with messages or documents; None for another object."""
    return sample_of(answer) if isinstance(answer, (dict, BaseMessage, *CONVERSATIONS)) else None


def _keys(app: Any) -> Collection[str]:
    channels = getattr(
        app, "channels", None
    )  # a graph of LangGraph, whose schema may be of a kind that pydantic refuses
    return channels if channels is not None else app.get_input_jsonschema().get("properties", {})


def _input(keys: Collection[str], question: str) -> Any:
    if "messages" in keys:
        return {"messages": [HumanMessage(question)]}
    name = next((name for name in QUESTIONS if name in keys), next(iter(keys)) if len(keys) == 1 else None)
    if keys and name is None:
        raise InvalidInput(
            f"the input of the Runnable has the keys {', '.join(keys)}: write a function that fills them"
        )
    return question if name is None else {name: question}
