"""LangChain's hooks, each one line: which event of which run.

The names of the parameters are LangChain's own, as some are passed by name and some by place; what no rule needs is left in
``event``.
No hook calls anybody or waits for anything: a hook is a part of the user's chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ragmetrics_core.adapters import is_judging

from ._inline import inline
from ._runs import FinishedRun, Kind, Runs

__all__ = ["RunWatcher"]


class RunWatcher(BaseCallbackHandler):
    """Watches runs and calls ``_finish`` with each one that has finished; runs of metrics are not watched."""

    def __init__(self) -> None:
        self._runs = Runs()

    @property
    def ignore_retry(self) -> bool:
        """True: an attempt that fails has an end of its own."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """True: events of the user's own say nothing about question, contexts and answer."""
        return True

    def _finish(self, run: FinishedRun) -> None:
        raise NotImplementedError

    def _start(self, kind: Kind, inputs: Any, run_id: UUID, event: Mapping[str, Any], query: str | None = None) -> None:
        if not is_judging():
            self._runs.start(
                kind,
                run_id,
                event.get("parent_run_id"),
                event.get("name"),
                query,
                inputs=inputs,
                metadata=event.get("metadata") or {},
                tags=tuple(event.get("tags") or ()),
            )

    def _end(self, outputs: Any, run_id: UUID, event: Mapping[str, Any]) -> None:
        run = self._runs.end(run_id, outputs, event.get("inputs"))
        if run is not None:
            self._finish(run)

    def _fail(self, error: BaseException, run_id: UUID, event: Mapping[str, Any]) -> None:
        run = self._runs.fail(run_id, error, event.get("inputs"))
        if run is not None:
            self._finish(run)

    @inline
    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **event: Any) -> None:  # noqa: ARG002
        """A chain, a graph or one of their steps starts; the inputs of a stream are known only when it ends."""
        self._start("chain", inputs, run_id, event)

    @inline
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **event: Any) -> None:
        """A chain, a graph or one of their steps returns."""
        self._end(outputs, run_id, event)

    @inline
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        """A chain, a graph or one of their steps raises, or is given up."""
        self._fail(error, run_id, event)

    @inline
    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **event: Any) -> None:  # noqa: ARG002
        """A completion model is asked."""
        self._start("llm", prompts, run_id, event)

    @inline
    def on_chat_model_start(
        self,
        serialized: Any,  # noqa: ARG002
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **event: Any,
    ) -> None:
        """A chat model is asked."""
        self._start("llm", messages, run_id, event)

    @inline
    def on_llm_new_token(self, token: Any, **event: Any) -> None:
        """A piece of an answer; the end has all of it."""

    @inline
    def on_stream_event(self, *args: Any, **event: Any) -> None:
        """A piece of an answer in newer versions; the end has all of it."""

    @inline
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **event: Any) -> None:
        """A model has answered."""
        self._end(response, run_id, event)

    @inline
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        """A model could not answer."""
        self._fail(error, run_id, event)

    @inline
    def on_retriever_start(self, serialized: Any, query: str, *, run_id: UUID, **event: Any) -> None:  # noqa: ARG002
        """A retriever is asked."""
        self._start("retriever", query, run_id, event, query)

    @inline
    def on_retriever_end(self, documents: Sequence[Document], *, run_id: UUID, **event: Any) -> None:
        """A retriever has found what it finds."""
        self._end(documents, run_id, event)

    @inline
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        """A retriever has failed."""
        self._fail(error, run_id, event)

    @inline
    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: UUID, **event: Any) -> None:  # noqa: ARG002
        """A tool is called."""
        inputs = event.get("inputs")
        self._start("tool", input_str if inputs is None else inputs, run_id, event)

    @inline
    def on_tool_end(self, output: Any, *, run_id: UUID, **event: Any) -> None:
        """A tool has answered."""
        self._end(output, run_id, event)

    @inline
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **event: Any) -> None:
        """A tool has failed."""
        self._fail(error, run_id, event)

    @inline
    def on_interrupt(self, event: Any) -> None:
        """A graph of LangGraph stops and waits for somebody."""
        self._wait(event, waits=True)

    @inline
    def on_resume(self, event: Any) -> None:
        """A graph of LangGraph goes on after an interrupt."""
        self._wait(event, waits=False)

    def _wait(self, event: Any, *, waits: bool) -> None:
        if event.run_id is not None:
            self._runs.interrupt(event.run_id, waits=waits)
