"""Correctness, answer relevancy and context relevancy: judges that give points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from llama_index.core.evaluation import answer_relevancy, context_relevancy, correctness
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics import AnswerRelevanceRating, ContextRelevanceRating, Correctness

from .._metric._evaluator import OnError
from .._metric._results import MetricResult
from .._metric._templates import Slot, Template
from .._metric._thresholds import check_threshold
from ._drop_in import DropIn, default_templates
from ._parsers import FreeAnswerRating, FreeContextRating, FreeCorrectness, ScoreParser, read_by, with_fractions

__all__ = ["AnswerRelevancyEvaluator", "ContextRelevancyEvaluator", "CorrectnessEvaluator"]

ScoreFunction = Callable[[str], tuple[float | None, str | None]]

NO_REFERENCE = "(NO REFERENCE ANSWER SUPPLIED)"


def of_correctness(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A missing reference is named as such."""
    return {**inputs, "reference_answer": inputs["reference_answer"] or NO_REFERENCE}


def of_contexts(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The first and the refining templates call the context differently."""
    existing = {"existing_answer": inputs["existing_score"]} if "existing_score" in inputs else {}
    return {
        "query_str": inputs["query"],
        "context_str": inputs["context"],
        "context_msg": inputs["context"],
        **existing,
    }


class CorrectnessEvaluator(DropIn):
    """Grade of the response from 1 to 5; takes the place of LlamaIndex's class of this name.

    A grade off the scale, or none that can be read, is an invalid result. With an ``eval_template`` of your own there is no scale:
    whatever finite number the judge gives is the score.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        eval_template: a template with ``{query}``, ``{reference_answer}`` and ``{generated_answer}``, or its text.
        score_threshold: lowest passing grade.
        parser_function: reads ``(score, reasoning)`` from a reply, on any scale; None: the core reads a grade from 1 to 5.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
    """

    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot(
            "grade", ("query", "reference_answer", "generated_answer"), of_correctness, adds_form=False
        )
    }
    without_scale = FreeCorrectness
    positional = ("reference", "sleep_time_in_seconds")

    def __init__(
        self,
        llm: Any = None,
        eval_template: Template | None = None,
        score_threshold: float = 4.0,
        parser_function: ScoreFunction | None = None,
        *,
        on_error: OnError = "raise",
    ) -> None:
        check_threshold(type(self).__name__, score_threshold)
        self.parser_function = parser_function
        self.score_threshold = score_threshold
        metric: Correctness = with_fractions(Correctness(), "grade")
        templates: Mapping[str, Template | None] = {"eval_template": eval_template}
        if parser_function is not None:
            metric = read_by(ScoreParser(parser_function), FreeCorrectness(name="correctness"), "grade")
            templates = default_templates(templates, {"eval_template": correctness.DEFAULT_EVAL_TEMPLATE})
        super().__init__(metric, llm, templates, on_error=on_error)

    def _finished(self, score: Score, result: MetricResult) -> MetricResult:
        if score.value is None:
            return result
        return result.model_copy(update={"passing": score.value >= self.score_threshold})


class Points(DropIn):
    """A judge whose score is its points divided by a threshold, so that 1.0 is the threshold reached.

    Class attributes:
        full: the points that the metric of the core divides by.
    """

    full: ClassVar[float]
    score_threshold: float

    def _finished(self, score: Score, result: MetricResult) -> MetricResult:
        if score.value is None:
            return result
        points = score.value * self.full
        changes: dict[str, Any] = {"score": points / self.score_threshold, "passing": points >= self.score_threshold}
        if self.score_threshold != self.full:
            changes["scale"] = None
        return result.model_copy(update=changes)

    def _is_error(self, result: MetricResult) -> bool:
        return result.invalid_result


class AnswerRelevancyEvaluator(Points):
    """How relevant the response is to the query, 0 to 1; takes the place of LlamaIndex's class of this name.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        raise_error: raise a ``ValueError`` when the judge is unreadable.
        eval_template: a template with ``{query}`` and ``{response}``, or its text.
        score_threshold: points (0 to 2) that make a score of 1.0, from which on a response passes.
        parser_function: reads ``(points, reasoning)`` from a reply; None: the core reads 0 to 2 points, or any number
            with an ``eval_template`` of your own.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
    """

    full = 2.0
    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("rate", ("query", "response"), adds_form=False, one_text=True)
    }
    without_scale = FreeAnswerRating

    def __init__(
        self,
        llm: Any = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        score_threshold: float = 2.0,
        parser_function: ScoreFunction | None = None,
        *,
        on_error: OnError = "raise",
    ) -> None:
        check_threshold(type(self).__name__, score_threshold, positive=True)
        self.parser_function = parser_function
        self.score_threshold = score_threshold
        metric: AnswerRelevanceRating = with_fractions(AnswerRelevanceRating(name="answer_relevancy"), "rate")
        templates: Mapping[str, Template | None] = {"eval_template": eval_template}
        if parser_function is not None:
            metric = read_by(ScoreParser(parser_function), FreeAnswerRating(name="answer_relevancy"), "rate")
            templates = default_templates(templates, {"eval_template": answer_relevancy.DEFAULT_EVAL_TEMPLATE})
        super().__init__(metric, llm, templates, raise_error=raise_error, on_error=on_error)


class ContextRelevancyEvaluator(Points):
    """How relevant the contexts are to the query, 0 to 1; takes the place of LlamaIndex's class of this name.

    Contexts are packed in order into as few calls as the judge's context window allows; the best rating counts.

    Args:
        llm: the judge; None: ``Settings.llm``, looked up when it is asked.
        raise_error: raise a ``ValueError`` when the judge is unreadable.
        eval_template: a template with ``{query_str}`` and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        score_threshold: points (0 to 4) that make a score of 1.0, from which on the contexts pass.
        parser_function: reads ``(points, reasoning)`` from a reply; None: the core reads 0 to 4 points, or any number with
            an ``eval_template`` of your own. With either and no ``refine_template`` the ``eval_template`` asks every call.
        on_error: ``"record"`` makes an invalid result of what goes wrong with the model, ``"raise"`` passes it on.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    full = 4.0
    templates: ClassVar[Mapping[str, Slot]] = {
        "eval_template": Slot("first", ("query_str", "context_str"), of_contexts, adds_form=False, one_text=True),
        "refine_template": Slot(
            "refine", ("query_str", "existing_answer", "context_msg"), of_contexts, adds_form=False, one_text=True
        ),
    }
    without_scale = FreeContextRating

    def __init__(  # noqa: PLR0917  LlamaIndex's own signature
        self,
        llm: Any = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        refine_template: Template | None = None,
        score_threshold: float = 4.0,
        parser_function: ScoreFunction | None = None,
        *,
        on_error: OnError = "raise",
        metadata_mode: MetadataMode | str = MetadataMode.NONE,
    ) -> None:
        check_threshold(type(self).__name__, score_threshold, positive=True)
        self.parser_function = parser_function
        self.score_threshold = score_threshold
        metric: ContextRelevanceRating = ContextRelevanceRating(name="context_relevancy")
        metric = with_fractions(metric, "first", "refine")
        templates: Mapping[str, Template | None] = {"eval_template": eval_template, "refine_template": refine_template}
        if parser_function is not None:
            metric = read_by(
                ScoreParser(parser_function), FreeContextRating(name="context_relevancy"), "first", "refine"
            )
            templates = {"refine_template": refine_template} | default_templates(
                templates, {"eval_template": context_relevancy.DEFAULT_EVAL_TEMPLATE}
            )
        super().__init__(
            metric, llm, templates, raise_error=raise_error, on_error=on_error, metadata_mode=metadata_mode
        )

    def _asked(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        metric, templates = super()._asked()
        if "eval_template" in templates and "refine_template" not in templates:
            templates = {**templates, "refine_template": templates["eval_template"]}
        return metric, templates
