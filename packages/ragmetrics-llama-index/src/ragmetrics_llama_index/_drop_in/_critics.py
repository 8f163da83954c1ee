"""Judges that compare: with guidelines, and with a second response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar

from llama_index.core.evaluation import guideline, pairwise
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.types import BaseOutputParser

from ragmetrics_core import Prompt, Reply
from ragmetrics_core.metrics import Guideline, PairwiseComparison

from .._metric._evaluator import OnError
from .._metric._templates import Slot, Template
from ._drop_in import DropIn, default_templates
from ._parsers import CritiqueParser, VerdictParser, read_by

__all__ = ["GuidelineEvaluator", "PairwiseComparisonEvaluator"]

VerdictFunction = Callable[[str], tuple[bool | None, float | None, str | None]]


class GuidelineEvaluator(DropIn):
    """Whether the response keeps guidelines; takes the place of LlamaIndex's class of this name.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        guidelines: what a good response does; None: LlamaIndex's own three.
        eval_template: a template with ``{query}``, ``{response}`` and ``{guidelines}``, or its text; the words that tell how to
            reply are added to it.
        output_parser: reads an object with ``passing`` and ``feedback`` from a reply, and words how to reply. None: the core's.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
    """

    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("critique", ("query", "response", "guidelines"), one_text=True)
    }

    def __init__(
        self,
        llm: Any = None,
        guidelines: str | None = None,
        eval_template: Template | None = None,
        output_parser: BaseOutputParser | None = None,
        *,
        on_error: OnError = "raise",
    ) -> None:
        metric = Guideline(guidelines or guideline.DEFAULT_GUIDELINES)
        templates: Mapping[str, Template | None] = {"eval_template": eval_template}
        self._output_parser = output_parser
        if output_parser is not None:
            metric = read_by(CritiqueParser.of(output_parser), metric, "critique")
            templates = default_templates(templates, {"eval_template": guideline.DEFAULT_EVAL_TEMPLATE})
        super().__init__(metric, llm, templates, on_error=on_error)

    def _update_prompts(self, prompts_dict: Mapping[str, Template]) -> None:
        super()._update_prompts(prompts_dict)
        if self._output_parser is not None:
            self._templates = {key: _with(template, self._output_parser) for key, template in self._templates.items()}


def _with(template: BasePromptTemplate, parser: BaseOutputParser) -> BasePromptTemplate:
    """A copy with the parser, which words how to reply: templates are shared, so the original stays as it is."""
    return template.model_copy(update={"output_parser": parser})


def of_comparison(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """LlamaIndex numbers the answers, and shows no reference as an empty text."""
    return {
        "query": inputs["query"],
        "reference": inputs["reference"] or "",
        "answer_1": inputs["response_a"],
        "answer_2": inputs["response_b"],
    }


class WholeWords(Prompt[Any]):
    """A comparison whose reason is all that the judge has said, its marks included, where it wrote prose with marks."""

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> Any:
        """The verdict, as the core reads it."""
        verdict = super().read(reply, inputs)
        return verdict.model_copy(update={"reason": reply.value.strip()}) if "[[" in reply.value else verdict


def vars_of(prompt: Prompt[Any]) -> dict[str, Any]:
    """The settings of a prompt by name."""
    return {item.name: getattr(prompt, item.name) for item in fields(prompt)}


class PairwiseComparisonEvaluator(DropIn):
    """Whether the response is better than ``second_response``; takes the place of LlamaIndex's class of this name.

    Score 1.0 and passing for the response, 0.0 and not passing for the second, 0.5 and neither for a tie. ``pairwise_source``
    tells which order decided: ``original``, ``flipped`` (the score is still that of the response) or ``neither``.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        eval_template: a template with ``{query}``, ``{answer_1}``, ``{answer_2}`` and ``{reference}``, or its text.
        parser_function: reads ``(passing, score, feedback)`` from a reply; None: the core reads the verdict.
        enforce_consensus: ask both orders.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
    """

    positional = ("second_response", "reference", "sleep_time_in_seconds")
    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("compare", ("query", "reference", "answer_1", "answer_2"), of_comparison, adds_form=False)
    }

    def __init__(
        self,
        llm: Any = None,
        eval_template: Template | None = None,
        parser_function: VerdictFunction | None = None,
        enforce_consensus: bool = True,
        *,
        on_error: OnError = "raise",
    ) -> None:
        metric = PairwiseComparison(enforce_consensus)
        metric = replace(metric, compare=WholeWords(**vars_of(metric.compare)))
        templates: Mapping[str, Template | None] = {"eval_template": eval_template}
        if parser_function is not None:
            metric = read_by(VerdictParser(parser_function), PairwiseComparison(enforce_consensus), "compare")
            templates = default_templates(templates, {"eval_template": pairwise.DEFAULT_EVAL_TEMPLATE})
        super().__init__(metric, llm, templates, on_error=on_error)
