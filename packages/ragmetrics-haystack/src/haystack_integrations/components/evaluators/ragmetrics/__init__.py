"""ragmetrics for Haystack: Haystack's nine evaluators as drop-in components, any metric as a component, and bridges to its models.

The nine replace the classes of the same names in ``haystack.components.evaluators``: constructors, sockets, outputs, errors and
saved form are Haystack's; metrics, prompts and reply formats are the core's. Rows are judged concurrently, and one bad row never
costs the others. Each name is loaded when it is asked for, as in Haystack, so a pipeline without a judge loads no model client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from haystack.components.evaluators.document_recall import RecallMode

    from ._drop_in._answers import AnswerExactMatchEvaluator, SASEvaluator
    from ._drop_in._llm_evaluator import LLMEvaluator
    from ._drop_in._rankings import (
        DocumentMAPEvaluator,
        DocumentMRREvaluator,
        DocumentNDCGEvaluator,
        DocumentRecallEvaluator,
    )
    from ._drop_in._scored import ContextRelevanceEvaluator, FaithfulnessEvaluator
    from ._metric_evaluator import MetricEvaluator
    from ._model._embeddings import HaystackEmbeddings
    from ._model._llm import HaystackLLM

__all__ = [
    "AnswerExactMatchEvaluator",
    "ContextRelevanceEvaluator",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentRecallEvaluator",
    "FaithfulnessEvaluator",
    "HaystackEmbeddings",
    "HaystackLLM",
    "LLMEvaluator",
    "MetricEvaluator",
    "RecallMode",
    "SASEvaluator",
]

_MODULES = {
    "AnswerExactMatchEvaluator": "_drop_in._answers",
    "ContextRelevanceEvaluator": "_drop_in._scored",
    "DocumentMAPEvaluator": "_drop_in._rankings",
    "DocumentMRREvaluator": "_drop_in._rankings",
    "DocumentNDCGEvaluator": "_drop_in._rankings",
    "DocumentRecallEvaluator": "_drop_in._rankings",
    "FaithfulnessEvaluator": "_drop_in._scored",
    "HaystackEmbeddings": "_model._embeddings",
    "HaystackLLM": "_model._llm",
    "LLMEvaluator": "_drop_in._llm_evaluator",
    "MetricEvaluator": "_metric_evaluator",
    "RecallMode": "_drop_in._rankings",
    "SASEvaluator": "_drop_in._answers",
}
"""The module of each name."""


if not TYPE_CHECKING:  # a misspelt name is an error to a type checker

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
