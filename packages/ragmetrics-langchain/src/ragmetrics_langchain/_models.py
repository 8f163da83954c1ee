"""Whatever was given as a model, as the core takes it: LangChain's own models are wrapped, everything else is left alone."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig

from ragmetrics_core import InvalidInput, Metric, Models, Prompt

from ._embeddings import LangChainEmbeddings
from ._llm import LangChainLLM

__all__ = ["bound", "models_of"]


def models_of(metric: Metric, llm: Any, embeddings: Any) -> Models:
    """The metric's own models, else the ones given.

    Raises:
        InvalidInput: one of them is no model, or the metric asks an LLM and there is none.
    """
    own = metric.models
    llm = own.llm if own.llm is not None else llm
    embeddings = own.embeddings if own.embeddings is not None else embeddings
    if llm is None and _asks_an_llm(metric):
        raise InvalidInput(
            f"{metric.name} asks an LLM, but none is set: give llm=..., a LangChain chat model such as ChatOpenAI(...) "
            "(LangChainLLM(...) with a config of its own), or any LLM of ragmetrics_core"
        )
    # a chat model has a method `generate` of another meaning, so it has to be wrapped before anybody calls that
    return Models(
        LangChainLLM(llm) if isinstance(llm, Runnable) else llm,
        LangChainEmbeddings(embeddings) if isinstance(embeddings, Embeddings) else embeddings,
        metric.name,
    )


def _asks_an_llm(metric: Metric) -> bool:
    """Whether a metric has prompts; one that makes its prompts on the way is found out when it asks."""
    return type(metric).calls != "none" and any(
        isinstance(getattr(metric, item.name), Prompt) for item in fields(metric)
    )


def bound(models: Models, config: RunnableConfig) -> Models:
    """The same models, an LLM of LangChain called with the config."""
    llm = models.llm
    return (
        Models(llm.with_config(config), models.embeddings, models.metric) if isinstance(llm, LangChainLLM) else models
    )
