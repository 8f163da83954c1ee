"""Context utilization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import Score, Steps
from ragmetrics_core.metrics import ContextPrecision


@dataclass(frozen=True)
class ContextUtilization(ContextPrecision):
    """Context precision without a reference: are the contexts that the response uses ranked first?

    Like ``ContextPrecision``, but every context is judged for the response instead of the reference.

    Attributes:
        per_passage: judge every context in a separate call; False: all of them in one call.

    Source: the RAGAS documentation, "Context Utilization", https://docs.ragas.io.
    """

    # the parameters name the inputs, so they differ on purpose
    def measure(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, user_input: str, response: str, retrieved_contexts: Sequence[str]
    ) -> Steps[Score]:
        """Judge every context against the response."""
        return (yield from self.judge_contexts(user_input, response, retrieved_contexts))
