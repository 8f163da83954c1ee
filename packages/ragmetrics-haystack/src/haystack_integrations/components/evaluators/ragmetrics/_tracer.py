"""Live evaluation of Haystack pipelines, through Haystack's own tracing.

Haystack opens a span for each run of a pipeline and of a component, and sets tags with their inputs and outputs. The tracer reads
these tags and passes everything on to the tracer that was set before, if any. What it reads does not depend on
``HAYSTACK_CONTENT_TRACING_ENABLED``; that setting still decides what the other tracer gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from haystack.tracing.tracer import Span, Tracer
from haystack.tracing.tracer import tracer as proxy

from haystack import Document
from ragmetrics_core import Metric
from ragmetrics_core.adapters import Observer, earlier_turns, is_judging, shows_settings

from ._models import HaystackEmbeddings, HaystackLLM

RUN, INPUTS, OUTPUTS = "haystack.pipeline.run", "haystack.pipeline.input_data", "haystack.component.output"
QUESTIONS = ("query", "question", "text", "messages", "prompt")
"""The names of inputs that hold the question, the most telling first."""

_record: ContextVar[dict[str, Any] | None] = ContextVar("ragmetrics_pipeline", default=None)
"""What was read of the pipeline that is running in this context."""


class RagmetricsTracer(Observer, Tracer):
    """Evaluates every run of a pipeline in the background. ::

        tracer = RagmetricsTracer([Faithfulness()], chat_generator=OpenAIChatGenerator()).enable()
        pipeline.run({"retriever": {"query": "..."}, "prompt_builder": {"question": "..."}})
        tracer.flush()
        print(tracer.results[0].scores["faithfulness"].value)

    The question is an input named ``query``, ``question`` or ``text``, or the last message of the user. The history is an input
    named ``history`` or ``chat_history``, or the messages before the question in ``messages``. The contexts are the documents of
    the last component that returned any, and the answer is what the last answer builder or generator returned. ``with_fields``
    adds a reference or metadata. Only the outermost of nested pipelines is evaluated, and a run that fails is not.

    Args:
        metrics: what to judge; each needs its own name.
        chat_generator: a judge for metrics without one: a chat generator, or any LLM of the core.
        embedder: an embedder of Haystack, or embeddings of the core, for metrics without one.
        settings: the settings of ``LiveEvaluation``.

    Raises:
        InvalidInput: a setting is impossible, an item is not a metric, two metrics have the same name, or a metric asks an LLM and
            there is none.
    """

    @shows_settings()
    def __init__(
        self,
        metrics: Metric | str | Iterable[Metric | str],
        *,
        chat_generator: Any = None,
        embedder: Any = None,
        **settings: Any,
    ) -> None:
        llm = HaystackLLM(chat_generator) if hasattr(chat_generator, "run") else chat_generator
        embeddings = HaystackEmbeddings(embedder) if hasattr(embedder, "run") else embedder
        given: Any = settings
        super().__init__(metrics, llm, embeddings, given)
        self._inner: Tracer | None = None

    def enable(self) -> RagmetricsTracer:
        """Evaluate all pipelines of this process from now on; the tracer that was set before gets all spans, too."""
        if proxy.actual_tracer is not self:
            self._inner, proxy.actual_tracer = proxy.actual_tracer, self
        return self

    def disable(self) -> None:
        """Set the tracer again that was set before ``enable``, unless another one was set since. Pending runs are still judged."""
        if proxy.actual_tracer is self and self._inner is not None:
            proxy.actual_tracer = self._inner

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Open a span; called by Haystack."""
        assert self._inner is not None
        parent = parent_span.inner if isinstance(parent_span, _ReadSpan) else parent_span
        begins = operation_name == RUN and _record.get() is None and not is_judging()
        if begins:
            _record.set({**_asked((tags or {}).get(INPUTS)), **_fields.get()})
        record = _record.get()
        try:
            with self._inner.trace(operation_name, tags=tags, parent_span=parent) as span:
                yield span if record is None or is_judging() else _ReadSpan(span, record)
        finally:
            if begins:
                _record.set(None)
        if begins and record is not None:
            self.hear(record)

    def current_span(self) -> Span | None:
        """Return the span of the tracer that was set before."""
        return None if self._inner is None else self._inner.current_span()


_fields: ContextVar[dict[str, Any]] = ContextVar("ragmetrics_fields", default={})  # noqa: B039  never changed


@contextmanager
def with_fields(**fields: Any) -> Iterator[None]:
    """Add fields such as ``reference``, or metadata, to the runs of pipelines in this block."""
    before = _fields.get()
    _fields.set({**before, **fields})
    try:
        yield
    finally:
        _fields.set(before)


class _ReadSpan(Span):
    """A span whose outputs are noted in a record."""

    def __init__(self, inner: Span, record: dict[str, Any]) -> None:
        self.inner, self._record = inner, record

    def set_tag(self, key: str, value: Any) -> None:
        self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        if key == OUTPUTS and isinstance(value, Mapping):
            self._record |= fields_in(value)
        self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        return self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        return self.inner.get_correlation_data_for_logs()


def fields_in(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contexts and the answer that a component gave, as far as it gave any."""
    found: dict[str, Any] = {}
    documents = output.get("documents")
    if isinstance(documents, list) and all(isinstance(item, Document) for item in documents):
        found["contexts"] = [item.content for item in documents if item.content]
    answers, replies = output.get("answers"), output.get("replies")
    if isinstance(answers, list) and answers and isinstance(data := getattr(answers[0], "data", None), str):
        found["answer"] = data
    elif isinstance(replies, list) and replies and (text := _text(replies[0])):
        found["answer"] = text
    return found


def _asked(data: Any) -> dict[str, Any]:
    """Return the question and the earlier turns among the inputs of a pipeline, as far as there are any."""
    inputs = [item for item in (data, *data.values()) if isinstance(item, Mapping)] if isinstance(data, Mapping) else []
    question = _question(inputs)
    earlier = [given.get(name) for name in ("history", "chat_history") for given in inputs]
    turns = earlier_turns(earlier, [given.get("messages") for given in inputs], question)
    return {"question": question, **({"history": turns} if turns else {})}


def _question(inputs: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the question among the inputs of a pipeline; None if there is none."""
    for name in QUESTIONS:
        for given in inputs:
            value = given.get(name)
            if isinstance(value, list):
                value = next((item for item in reversed(value) if getattr(item, "role", None) == "user"), None)
            if text := _text(value):
                return text
    return None


def _text(value: Any) -> str | None:
    text = value if isinstance(value, str) else getattr(value, "text", None)
    return text if isinstance(text, str) else None
