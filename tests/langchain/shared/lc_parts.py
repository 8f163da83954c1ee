"""Retrievers, models and chains that the LangChain tests put together; nothing here knows the package under test."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tracers import BaseTracer
from langchain_core.tracers.schemas import Run
from pydantic import Field

QUESTION = "Where was Ada Lovelace born?"
ANSWER = "Ada Lovelace was born in London."
D1 = Document("Ada Lovelace was born in London on 10 December 1815.", id="d1", metadata={"page": 1})
D2 = Document("Charles Babbage designed the Analytical Engine.", id="d2", metadata={"page": 2})
D3 = Document("Lord Byron was the father of Ada Lovelace.", id="d3", metadata={"page": 3})


class Shelf(BaseRetriever):
    """Finds the same documents whatever the question is, or fails, or takes its time."""

    documents: list[Document] = Field(default_factory=lambda: [D1, D2])
    error: Any = None
    delay: float = 0.0
    inner: Any = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        time.sleep(self.delay)
        if self.error is not None:
            raise self.error
        if self.inner is not None:
            found: list[Document] = self.inner.invoke(query, config={"callbacks": run_manager.get_child()})
            return found[:1]
        return list(self.documents)


class EchoShelf(BaseRetriever):
    """Finds one document that names the question, so that concurrent runs can be distinguished."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(f"found for {query}", id=query)]


class Scripted(BaseChatModel):
    """A chat model that gives scripted replies: texts, messages, errors, or what a function makes of the messages."""

    says: Any = ANSWER
    delay: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        return self

    def _message(self, messages: list[BaseMessage]) -> AIMessage:
        time.sleep(self.delay)
        said = self.says(messages) if callable(self.says) else self.says
        if isinstance(said, list):
            said = said[min(sum(isinstance(item, AIMessage) for item in messages), len(said) - 1)]
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, AIMessage) else AIMessage(said)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._message(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._message(messages)
        if message.tool_calls:
            calls = [
                {"name": call["name"], "args": str(call["args"]).replace("'", '"'), "id": call["id"], "index": index}
                for index, call in enumerate(message.tool_calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
            return
        words = str(message.content).split(" ")
        for index, word in enumerate(words):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word if index == 0 else f" {word}"))
            if run_manager is not None:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


class Hanging(Scripted):
    """Answers after a long time, and can be cancelled; ``hung`` has an item for each call that hangs or has hung."""

    hung: list[None] = Field(default_factory=list)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        import asyncio

        self.hung.append(None)
        await asyncio.sleep(60)
        raise AssertionError("this should have been cancelled")

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        import asyncio

        yield ChatGenerationChunk(message=AIMessageChunk(content="Ada"))
        self.hung.append(None)
        await asyncio.sleep(60)


def format_docs(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


PROMPT = ChatPromptTemplate.from_template("{context}\n\n{question}")


def lcel(retriever: Any = None, model: Any = None) -> Runnable[Any, Any]:
    """The chain of every tutorial."""
    parts: dict[str, Any] = {"context": (retriever or Shelf()) | format_docs, "question": RunnablePassthrough()}
    return parts | PROMPT | (model or Scripted()) | StrOutputParser()


def with_sources(retriever: Any = None, model: Any = None) -> Runnable[Any, Any]:
    """The chain that returns its question and its documents too."""
    answer = RunnablePassthrough.assign(context=lambda row: format_docs(row["context"])) | PROMPT
    start: Any = {"context": retriever or Shelf(), "question": RunnablePassthrough()}
    return start | RunnablePassthrough.assign(answer=answer | (model or Scripted()) | StrOutputParser())


def calls(name: str, key: str = "call-1", **arguments: Any) -> AIMessage:
    """A message that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": key}])


class Tracer(BaseTracer):
    """Keeps the finished trees of runs."""

    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Run] = []

    def _persist_run(self, run: Run) -> None:
        self.roots.append(run)
