"""ragmetrics for Acme: every metric as one of its evaluators, its models as judges.

    MetricEvaluator(Faithfulness(), chat=acme.Chat("judge-1", ...)).evaluate(case)

Strategy. A metric names its inputs, and a table says what Acme calls them, so a metric written tomorrow is an evaluator of Acme
too. The bridges of the core call the models: they know threads, event loops, retries, forms of reply and failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import acme

from ragmetrics_core import Ask, InvalidInput, Metric, Reply, Score, Usage
from ragmetrics_core.adapters import Attempts, EmbeddingsBridge, LLMBridge

__all__ = ["AcmeEmbeddings", "AcmeLLM", "MetricEvaluator"]

FIELDS = {"user_input": "question", "response": "answer", "reference": "expected", "retrieved_contexts": "passages"}
"""What Acme calls the inputs of metrics; all others stand among the extras of a case."""


class AcmeLLM(LLMBridge):
    """An LLM behind a chat model of Acme."""

    _provider = "acme"

    def _ask(self, model: acme.Chat, question: Ask, form: Attempts) -> acme.Answer:
        return model.chat([asdict(item) for item in question.messages], **form.parameters())

    async def _ask_async(self, model: acme.Chat, question: Ask, form: Attempts) -> acme.Answer:
        return await model.chat_async([asdict(item) for item in question.messages], **form.parameters())

    def _read(self, answer: acme.Answer) -> Reply[str]:
        return Reply(answer.text, Usage(1, answer.tokens_in, answer.tokens_out), truncated=answer.is_cut_off)

    def _settings(self, model: acme.Chat) -> Mapping[str, Any]:
        return {"model": model.name, "temperature": model.temperature}


class AcmeEmbeddings(EmbeddingsBridge):
    """An embedding model behind an embedder of Acme."""

    _provider = "acme"

    def _has_async(self, model: acme.Embedder) -> bool:
        return hasattr(model, "embed_async")  # no embedder of Acme has it yet

    def _embed(self, model: acme.Embedder, texts: list[str]) -> list[list[float]]:
        return model.embed(texts)

    def _read(self, answer: list[list[float]]) -> Reply[list[list[float]]]:
        return Reply(answer, Usage(1))

    def _settings(self, model: acme.Embedder) -> Mapping[str, Any]:
        return {"model": model.name}


class MetricEvaluator(acme.Evaluator):
    """Any metric as an evaluator of Acme.

    Args:
        metric: the metric; models that it has itself are used first.
        chat: answers it, if it has no LLM of its own.
        embedder: embeds for it, if it has no embedding model of its own.

    Raises:
        ValueError: ``metric`` is no metric; from ``evaluate``, a field of the case is missing or of the wrong type.
        ModelError: from ``evaluate``: a model could not answer.
    """

    def __init__(self, metric: Metric, *, chat: acme.Chat | None = None, embedder: acme.Embedder | None = None) -> None:
        if not isinstance(metric, Metric):
            raise InvalidInput(f"MetricEvaluator takes a metric such as Faithfulness(), got {type(metric).__name__}")
        if metric.llm is None and chat is not None:
            metric = replace(metric, llm=AcmeLLM(chat))
        if metric.embeddings is None and embedder is not None:
            metric = replace(metric, embeddings=AcmeEmbeddings(embedder))
        self.metric = metric
        self.name = metric.name

    def evaluate(self, case: acme.Case) -> acme.Result:
        """The metric's score of the case."""
        return self._result(self.metric.score(**self._inputs(case)))

    async def evaluate_async(self, case: acme.Case) -> acme.Result:
        """The same without blocking the running loop."""
        return self._result(await self.metric.ascore(**self._inputs(case)))

    def _inputs(self, case: acme.Case) -> dict[str, Any]:
        given = {name: getattr(case, field) for name, field in FIELDS.items()} | case.extras
        return {item.name: given.get(item.name) for item in self.metric.inputs}

    def _result(self, score: Score) -> acme.Result:
        return acme.Result(self.name, score.value, score.explain(), score.to_dict())
