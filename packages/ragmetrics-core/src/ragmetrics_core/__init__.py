"""RAG evaluation metrics, written once, usable everywhere.

Metrics live in ``ragmetrics_core.metrics``, models in ``ragmetrics_core.llms`` and ``ragmetrics_core.embeddings``, reply
formats in ``ragmetrics_core.replies``, test doubles in ``ragmetrics_core.testing``. This module holds what all of them
share, ``evaluate`` and ``generate_testset``. Importing it loads no framework, no model client and no numerical library.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._kernel._drive import Models, arun, run
from ._kernel._inputs import Input
from ._kernel._metric import Metric
from ._kernel._prompt import Prompt, ask
from ._kernel._steps import Steps, asked_of, compare, embed, together
from ._kernel._wording import Example
from ._values._assert_score import assert_score
from ._values._details import Details, Evidence
from ._values._errors import BadReply, InvalidInput, MissingExtra, MissingInput, ModelError, RagmetricsError
from ._values._requests import Ask, Compare, Embed, Message, Reply, Request, Usage
from ._values._sample import Document, Sample
from ._values._score import Score

if TYPE_CHECKING:
    from ._evaluate._api import (
        Batch,
        Calibration,
        Comparison,
        Comparisons,
        Decision,
        Estimate,
        Evaluation,
        Gate,
        GateResult,
        Plan,
        ReplyStore,
        Scorer,
        SegmentReplies,
        SQLiteReplies,
        Stop,
        aevaluate,
        compare_runs,
        estimate,
        evaluate,
        join_runs,
        plan,
        read_samples,
        run_app,
    )
    from ._names._named import embeddings_named, llm_named, metrics_named
    from ._testset import Testset, agenerate_testset, generate_testset
    from ._traces._api import samples_from_traces
    from ._traces._span import UnreadableTrace

__all__ = [
    "Ask",
    "BadReply",
    "Batch",
    "Calibration",
    "Compare",
    "Comparison",
    "Comparisons",
    "Decision",
    "Details",
    "Document",
    "Embed",
    "Estimate",
    "Evaluation",
    "Evidence",
    "Example",
    "Gate",
    "GateResult",
    "Input",
    "InvalidInput",
    "Message",
    "Metric",
    "MissingExtra",
    "MissingInput",
    "ModelError",
    "Models",
    "Plan",
    "Prompt",
    "RagmetricsError",
    "Reply",
    "ReplyStore",
    "Request",
    "SQLiteReplies",
    "Sample",
    "Score",
    "Scorer",
    "SegmentReplies",
    "Steps",
    "Stop",
    "Testset",
    "UnreadableTrace",
    "Usage",
    "aevaluate",
    "agenerate_testset",
    "arun",
    "ask",
    "asked_of",
    "assert_score",
    "compare",
    "compare_runs",
    "embed",
    "embeddings_named",
    "estimate",
    "evaluate",
    "generate_testset",
    "join_runs",
    "llm_named",
    "metrics_named",
    "plan",
    "read_samples",
    "run",
    "run_app",
    "samples_from_traces",
    "together",
]

__version__ = "0.1.0"


def _built_in_metrics() -> ModuleType:
    from . import metrics  # noqa: PLC0415  many files

    return metrics


Metric._built_in = staticmethod(_built_in_metrics)  # saved settings name these metrics, but must not import them

NAMED = frozenset({"embeddings_named", "llm_named", "metrics_named"})
TRACES = frozenset({"UnreadableTrace", "samples_from_traces"})
TESTSETS = frozenset({"Testset", "agenerate_testset", "generate_testset"})

if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        # the engine needs asyncio and a progress bar, and test sets need pydantic: slow to import, so imported on first use
        if name in NAMED:
            from ._names import _named  # noqa: PLC0415

            return getattr(_named, name)
        if name in TESTSETS:
            from . import _testset  # noqa: PLC0415

            return getattr(_testset, name)
        if name in TRACES:
            from ._traces import _api, _span  # noqa: PLC0415

            return getattr(_span if name == "UnreadableTrace" else _api, name)
        if name in __all__:
            from ._evaluate import _api  # noqa: PLC0415

            return getattr(_api, name)
        from ._support._other_names import no_attribute  # noqa: PLC0415  for mistakes only

        raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return __all__
