"""ragmetrics for Haystack.

The classes live in ``haystack_integrations.components.evaluators.ragmetrics``, because Haystack loads saved pipelines from
there without a setting to trust it; this is the short way to import them.
"""

# ruff: noqa: F403, F405
# the names come by a star for type checkers, so that they stand here once

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from haystack_integrations.components.evaluators.ragmetrics import *  # pyright: ignore[reportWildcardImportFromLibrary]

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
    "RagmetricsTracer",
    "RecallMode",
    "SASEvaluator",
    "with_fields",
]

__version__ = "0.1.0"

HOME = "haystack_integrations.components.evaluators.ragmetrics"


if not TYPE_CHECKING:  # a misspelt name is an error to a type checker

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(HOME), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
