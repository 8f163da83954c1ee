"""Faithfulness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core import Metric, Prompt, Score, Steps, together
from ragmetrics_core.metrics.claims import (
    EXTRACT_CLAIMS,
    VERIFY_CLAIMS,
    Claims,
    Verdicts,
    best,
    extract,
    supported_share,
    verify,
)
from ragmetrics_core.metrics.windows import check_window, pack

__all__ = ["Faithfulness"]


@dataclass(frozen=True)
class Faithfulness(Metric):
    """Share of the response's claims that the retrieved contexts support.

    One call takes the response apart into claims, one checks all claims against all contexts. Supported claims / claims; a
    response without claims is unscored. A claim that any passage supports is supported; where another one contradicts it, its
    verdict in the details says so (``contradicted``).

    Attributes:
        window: most tokens of context per call (estimated). Longer contexts are checked in several concurrent calls, and a claim
            is supported if any window supports it. None: all in one call.

    Source: Es et al. 2023, RAGAS, arXiv:2309.15217, section 3, "Faithfulness".
    """

    calls: ClassVar[str] = "2 (with window: 1 + number of windows)"

    window: int | None = None
    extract: Prompt[Claims] = EXTRACT_CLAIMS
    verify: Prompt[Verdicts] = VERIFY_CLAIMS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window is not None:
            check_window(self.name, self.window)

    def measure(self, user_input: str, response: str, retrieved_contexts: Sequence[str]) -> Steps[Score]:
        """Extract the claims, verify them."""
        claims = yield from extract(self.extract, user_input, response)
        if not claims:
            return Score.unscored("the response makes no claims")
        windows = [retrieved_contexts] if self.window is None else pack(retrieved_contexts, self.window)
        checked = yield from together(*(verify(self.verify, claims, texts) for texts in windows))
        verdicts = [best(answers) for answers in zip(*checked, strict=True)]
        return Score(supported_share(verdicts), details={"verdicts": verdicts})
