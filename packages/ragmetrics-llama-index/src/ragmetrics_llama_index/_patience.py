"""Whether a model of LlamaIndex makes lost calls again itself, as it does by default, or leaves that to ``evaluate``."""

from __future__ import annotations

from typing import TypeVar

from ragmetrics_core.adapters import without_retries

__all__ = ["Patience"]

T = TypeVar("T")


class Patience:
    """How often a model tries: as often as it likes, or once.

    What is handed over to ``evaluate`` is always the same copy, so that its connections outlive a run.
    """

    def __init__(self) -> None:
        self._none: Patience | None = None
        self._copied: tuple[object, object] | None = None
        self._is_none = False

    def none(self) -> Patience:
        """That which tries once."""
        if self._is_none:
            return self
        if self._none is None:
            self._none = Patience()
            self._none._is_none = True
        return self._none

    def of(self, model: T) -> T:
        """The model to call in the place of this one, which may be another one each time, as ``Settings.llm`` may."""
        if not self._is_none:
            return model
        known = self._copied
        if known is None or known[0] is not model:
            known = self._copied = (model, without_retries(model))
        return known[1]  # type: ignore[return-value]  # a copy of the model
