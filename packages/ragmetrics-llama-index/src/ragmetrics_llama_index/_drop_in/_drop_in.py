"""What LlamaIndex's own evaluators share, and so do the classes that take their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode

from ragmetrics_core import Metric

from .._metric._evaluator import MetricEvaluator, OnError
from .._metric._templates import DATA, Slot, Template, as_template, check_shows_data
from ._parsers import on_any_scale

__all__ = ["DropIn", "default_templates"]


class DropIn(MetricEvaluator):
    """An evaluator with LlamaIndex's constructor arguments, template variables and result conventions.

    Contexts are packed to what the judge can read. Failures of the model propagate, as they do in LlamaIndex, unless
    ``on_error`` is ``"record"``.

    Class attributes:
        templates: the keys of ``get_prompts``, and the prompts that they stand for.
        without_scale: the metric for templates of users, who may ask for points on any scale; None where there are no points.
    """

    fills_window = True
    positional: ClassVar[tuple[str, ...]] = ("sleep_time_in_seconds",)
    templates: ClassVar[Mapping[str, Slot]] = {}
    without_scale: ClassVar[type[Metric] | None] = None

    def __init__(
        self,
        metric: Metric,
        llm: Any = None,
        templates: Mapping[str, Template | None] | None = None,
        *,
        raise_error: bool = False,
        on_error: OnError = "raise",
        metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        super().__init__(metric, llm=llm, raise_error=raise_error, on_error=on_error, metadata_mode=metadata_mode)
        self.update_prompts({key: item for key, item in (templates or {}).items() if item is not None})

    def slots(self) -> Mapping[str, Slot]:
        """The keys of ``get_prompts`` and ``update_prompts``, and the prompt of the metric that each stands for."""
        return self.templates

    def _update_prompts(self, prompts_dict: Mapping[str, Template]) -> None:
        slots = self.slots()
        known = dict.fromkeys([DATA, *(name for slot in slots.values() for name in slot.names)])
        for key in prompts_dict.keys() & slots.keys():
            check_shows_data(key, as_template(prompts_dict[key]), known)
        super()._update_prompts(prompts_dict)

    def _asked(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        if self.without_scale is None or not self._templates:
            return self.metric, self._templates
        return on_any_scale(self.metric, self.without_scale), self._templates


def default_templates(
    given: Mapping[str, Template | None], defaults: Mapping[str, Template]
) -> dict[str, BasePromptTemplate]:
    """The templates that were given, and LlamaIndex's own for the others.

    A parser function expects the form of reply that LlamaIndex's templates ask for.
    """
    return {key: as_template(given.get(key) or template) for key, template in defaults.items()}
