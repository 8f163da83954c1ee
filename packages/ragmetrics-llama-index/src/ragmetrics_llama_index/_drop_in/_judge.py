"""What LlamaIndex's own evaluators have in common, and so do the classes that replace them: arguments, templates and parsers.

Strategy. The fields of a class are the arguments of its constructor; its class attributes say which metric of the core judges
and which prompts its templates replace. A user's parser becomes a reply format, so asking, the one re-ask and the record of
failures stay with the core; where it returns None or raises a ``ValueError``, the reply is unreadable. Only the author of a parser
or a template knows its scale, so it is used with a metric that has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode

from ragmetrics_core import Metric
from ragmetrics_core.adapters import Parser, Slot, check_shows_data, with_prompts

from .._metric._evaluator import MetricEvaluator
from .._metric._prompts import Filled, Template


@dataclass(eq=False, repr=False)
class DropIn(MetricEvaluator):
    """An evaluator with LlamaIndex's constructor arguments, template variables and result conventions.

    A subclass declares its fields in the order of LlamaIndex's arguments, templates as ``InitVar``. Contexts are packed to fill the
    judge's context window.

    Class attributes:
        core_metric: the metric of the core that judges.
        templates: the keys of ``get_prompts``, each with the prompt that it stands for.
        default_template: LlamaIndex's own; a user's parser expects the form of reply that it asks for.
    """

    fills_window = True
    positional: ClassVar[tuple[str, ...]] = ("sleep_time_in_seconds",)
    core_metric: ClassVar[Metric]
    templates: ClassVar[Mapping[str, Slot]] = {}
    default_template: ClassVar[BasePromptTemplate]

    metric: Metric = field(init=False)
    embed_model: Any = field(default=None, init=False)
    threshold: float | None = field(default=None, init=False)
    raise_error: bool = field(default=False, init=False)
    metadata_mode: MetadataMode | str = field(default=MetadataMode.NONE, init=False)

    def __post_init__(self, *templates: Template | None) -> None:
        given = dict(zip(self.templates, templates, strict=True))
        parser, self.metric = self._parser(), self._own_metric()
        if parser is not None:
            self.metric = with_prompts(self.metric, reply=parser, check=None)
            given["eval_template"] = given["eval_template"] or self.default_template
        super().__post_init__()
        self.update_prompts({key: template for key, template in given.items() if template is not None})

    def _own_metric(self) -> Metric:
        """The metric of the core, with the arguments that are its settings."""
        return self.core_metric

    def _parser(self) -> Parser | None:
        """The parser that was given, as a reply format."""
        return None

    def slots(self) -> Mapping[str, Slot]:
        return self.templates

    def _update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        known = [name for slot in self.templates.values() for name in slot.variables]
        for key in prompts_dict.keys() & self.templates.keys():
            check_shows_data(key, Filled(prompts_dict[key]), known)
        super()._update_prompts(prompts_dict)


@dataclass(eq=False, repr=False)
class Refining(DropIn):
    """A judge that refines its answer from one window of contexts to the next."""

    raise_error: bool = False
    eval_template: InitVar[Template | None] = None
    refine_template: InitVar[Template | None] = None
    metadata_mode: MetadataMode | str = field(default=MetadataMode.NONE, kw_only=True)


def asking(prompt: str, *names: str, renamed: Mapping[str, str] | None = None, **form: Any) -> Mapping[str, Slot]:
    """The slot of a judge that is asked once: variables with the ``names`` of the prompt's inputs, and those with other names."""
    variables = {name: f"{{{name}}}" for name in names} | dict(renamed or {})
    return {"eval_template": Slot(prompt, variables, **{"adds_form": False, **form})}


def refining(query: str, answer: str, **aliases: str) -> Mapping[str, Slot]:
    """The slots of ``Refining``: which inputs LlamaIndex calls the query and the answer so far, and further variables for both."""
    first = {"query_str": query, "context_str": "{context}"}
    refine = {"query_str": query, "existing_answer": answer, "context_msg": "{context}"}
    form: dict[str, Any] = {"aliases": aliases, "adds_form": False, "one_text": True}
    return {"eval_template": Slot("first", first, **form), "refine_template": Slot("refine", refine, **form)}


class Reading(Parser):
    """A user's parser, which may also raise LlamaIndex's own exception for what it cannot read."""

    errors = (ValueError, OutputParserException)
