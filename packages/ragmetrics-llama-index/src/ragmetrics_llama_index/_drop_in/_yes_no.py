"""Faithfulness and relevancy: one verdict, YES or NO, refined over the contexts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from llama_index.core.schema import MetadataMode

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics import RefineFaithfulness, Relevancy

from .._metric._evaluator import OnError
from .._metric._results import MetricResult
from .._metric._templates import Slot, Template
from ._drop_in import DropIn

__all__ = ["FaithfulnessEvaluator", "QueryResponseEvaluator", "RelevancyEvaluator", "ResponseEvaluator"]

EVAL = ("query_str", "context_str")
REFINE = ("query_str", "existing_answer", "context_msg")


def about_information(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """LlamaIndex calls the response under judgement the query."""
    return _with_context(inputs["information"], inputs)


def about_query_and_response(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """LlamaIndex joins the query and the response to one text."""
    return _with_context(f"Question: {inputs['query']}\nResponse: {inputs['response']}", inputs)


def _with_context(query: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if "existing_answer" in inputs:
        context = {"existing_answer": inputs["existing_answer"], "context_msg": inputs["context"]}
    else:
        context = {"context_str": inputs["context"]}
    return {"query_str": query, **context}


class YesNo(DropIn):
    """A judge whose feedback is YES or NO, which LlamaIndex's query transformations look for."""

    _metric: ClassVar[Metric]

    def __init__(
        self,
        llm: Any = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        refine_template: Template | None = None,
        *,
        on_error: OnError = "raise",
        metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        templates = {"eval_template": eval_template, "refine_template": refine_template}
        super().__init__(
            self._metric, llm, templates, raise_error=raise_error, on_error=on_error, metadata_mode=metadata_mode
        )

    def _finished(self, score: Score, result: MetricResult) -> MetricResult:
        if score.value is None:
            return result
        return result.model_copy(update={"feedback": "YES" if result.passing else "NO"})


class FaithfulnessEvaluator(YesNo):
    """Whether the contexts support the response; takes the place of LlamaIndex's class of this name.

    Contexts are packed in order into as few calls as the judge's context window allows; the first YES ends it. The score is 1.0
    or 0.0; the feedback is YES or NO.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        raise_error: raise a ``ValueError`` when the response is not supported, or the judge is unreadable.
        eval_template: a template with ``{query_str}`` (the response) and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    _metric: ClassVar[Metric] = RefineFaithfulness(name="faithfulness")
    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("first", EVAL, about_information, adds_form=False, one_text=True),
        "refine_template": Slot("refine", REFINE, about_information, adds_form=False, one_text=True),
    }


class RelevancyEvaluator(YesNo):
    """Whether the response is in line with query and contexts; takes the place of LlamaIndex's class of this name.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        raise_error: raise a ``ValueError`` when the response is not in line, or the judge is unreadable.
        eval_template: a template with ``{query_str}`` (query and response) and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    _metric: ClassVar[Metric] = Relevancy()
    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("first", EVAL, about_query_and_response, adds_form=False, one_text=True),
        "refine_template": Slot("refine", REFINE, about_query_and_response, adds_form=False, one_text=True),
    }


ResponseEvaluator = FaithfulnessEvaluator
QueryResponseEvaluator = RelevancyEvaluator
