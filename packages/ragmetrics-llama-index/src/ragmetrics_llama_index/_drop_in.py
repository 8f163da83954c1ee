"""Evaluators that replace LlamaIndex's own, under the same names, with their arguments, templates and parsers.

Strategy. The fields of a class are the arguments of its constructor. Its class attributes name the metric of the core that
judges, and the prompts that its templates replace. A user's parser becomes a reply format, so the core still asks, repeats a
question after an unreadable reply, and records failures. If a parser returns None or raises a ``ValueError``, the reply is
unreadable. Only the author of a parser or a template knows the scale of its scores, so both are used with a metric without a
scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

from llama_index.core.base.embeddings.base import SimilarityMode, similarity
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.evaluation import answer_relevancy, context_relevancy, correctness, guideline, pairwise
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode
from llama_index.core.types import BaseOutputParser

from ragmetrics_core import BadReply, InvalidInput, Metric, Prompt, Reply, Score, Steps, embed
from ragmetrics_core.adapters import prompts_of
from ragmetrics_core.metrics import (
    AnswerRelevanceRating,
    ContextRelevanceRating,
    Correctness,
    Guideline,
    PairwiseComparison,
    RefineFaithfulness,
    Relevancy,
    SemanticSimilarity,
)
from ragmetrics_core.replies import ScoreReply

from ._evaluator import MetricEvaluator, MetricResult, check_threshold
from ._templates import Slot, Template, check_shows_data

M = TypeVar("M", bound=Metric)

UNREADABLE = "Unable to parse the output string."


@dataclass(frozen=True)
class Parser:
    """A reply format that is read by the user's function; the template says how to reply.

    Attributes:
        function: parses the text of a reply. If it raises a ``ValueError`` or LlamaIndex's own exception for this, the reply is
            unreadable.
        value_of: makes the value of a reply from the result of the function and from the text.
    """

    function: Callable[[str], Any]
    value_of: Callable[[Any, str], Any]
    schema: ClassVar[Mapping[str, Any] | None] = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput(f"a parser must be a function of the text of a reply, got {self.function!r}")

    def instructions(self) -> str:
        """Return nothing, because the template says how to reply."""
        return ""

    def parse(self, text: str) -> Any:
        """Return the value of a reply.

        Raises:
            BadReply: the function cannot parse the text.
        """
        try:
            found = self.function(text)
        except (ValueError, OutputParserException) as error:
            raise BadReply(f"{UNREADABLE} {type(error).__name__}: {error}", text) from None
        return self.value_of(found, text)


def with_prompts(metric: M, **changes: Any) -> M:
    """Return the metric with the same changes made to each of its prompts."""
    changed: dict[str, Any] = {name: replace(prompt, **changes) for name, prompt in prompts_of(metric).items()}
    return replace(metric, **changed)


def without_scale(metric: M) -> M:
    """Return the metric with any finite number as a valid score, because only the author of a template or a parser knows its
    scale.
    """
    made: M = _class_without_scale(type(metric))(**{item.name: getattr(metric, item.name) for item in fields(metric)})
    return made


@cache
def _class_without_scale(cls: type[Metric]) -> Any:
    return type(cls.__name__, (cls,), {"scale": None, "__module__": cls.__module__})


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
        """Return the metric of the core, with the evaluator's arguments as its settings."""
        return self.core_metric

    def _parser(self) -> Parser | None:
        """Return the user's parser as a reply format; None without a parser."""
        return None

    def slots(self) -> Mapping[str, Slot]:
        return self.templates

    def _update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        known = [name for slot in self.templates.values() for name in slot.variables]
        for key in prompts_dict.keys() & self.templates.keys():
            check_shows_data(key, prompts_dict[key], known)
        super()._update_prompts(prompts_dict)


@dataclass(eq=False, repr=False)
class Refining(DropIn):
    """A judge that refines its answer from one window of contexts to the next."""

    raise_error: bool = False
    eval_template: InitVar[Template | None] = None
    refine_template: InitVar[Template | None] = None
    metadata_mode: MetadataMode | str = field(default=MetadataMode.NONE, kw_only=True)


def single_slot(prompt: str, *names: str, renamed: Mapping[str, str] | None = None, **form: Any) -> Mapping[str, Slot]:
    """Return the slot of a judge that is asked once.

    Its variables are the ``names``, which are also inputs of the prompt, and the ``renamed`` ones, which have different names
    there.
    """
    variables = {name: f"{{{name}}}" for name in names} | dict(renamed or {})
    return {"eval_template": Slot(prompt, variables, **{"adds_form": False, **form})}


def refine_slots(query: str, answer: str, **aliases: str) -> Mapping[str, Slot]:
    """Return the slots of ``Refining``. The arguments say which inputs LlamaIndex calls the query and the answer so far, and
    name further variables.
    """
    first = {"query_str": query, "context_str": "{context}"}
    refine = {"query_str": query, "existing_answer": answer, "context_msg": "{context}"}
    form: dict[str, Any] = {"aliases": aliases, "adds_form": False, "one_text": True}
    return {"eval_template": Slot("first", first, **form), "refine_template": Slot("refine", refine, **form)}


ScoreFunction = Callable[[str], tuple[float | None, str | None]]

NO_REFERENCE = "(NO REFERENCE ANSWER SUPPLIED)"


@dataclass(frozen=True)
class AnyScore(ScoreReply):
    """A score on the scale that the template states."""

    low: float = -1e9
    high: float = 1e9

    def instructions(self) -> str:
        """Return the shape of the reply, for templates that ask for it."""
        return 'Reply with one JSON object and nothing else: {"reason": "<why, in one or two sentences>", "score": <number>}'


def score_of(found: tuple[float | None, str | None], text: str) -> tuple[float, str]:
    """Return the score and the reasoning that a parser function returned.

    Raises:
        BadReply: there is no finite score.
    """
    score, reasoning = found
    if score is None:
        raise BadReply(UNREADABLE, text)
    if not math.isfinite(score):
        raise BadReply(f"{score} is not a finite number", text)
    return float(score), reasoning or text


class Graded(DropIn):
    """A judge whose score is a number: a fraction, as in LlamaIndex, and on any scale if the user has a parser or a template.

    Class attributes:
        full: the largest number of points, if the score is the points divided by the threshold; None if the score is the grade
            itself.
    """

    full: ClassVar[float | None] = None

    score_threshold: float
    parser_function: ScoreFunction | None

    def __post_init__(self, *templates: Template | None) -> None:
        check_threshold(type(self).__name__, self.score_threshold, positive=self.full is not None)
        super().__post_init__(*templates)

    def _own_metric(self) -> Metric:
        return self.core_metric if self.parser_function is None else without_scale(self.core_metric)

    def _parser(self) -> Parser | None:
        return None if self.parser_function is None else Parser(self.parser_function, score_of)

    def _wording(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        metric, templates = super()._wording()
        if templates and self.parser_function is None:
            metric = with_prompts(without_scale(metric), reply=AnyScore(), check=None)
        return metric, templates

    def _changes(self, value: float, result: MetricResult) -> dict[str, Any]:
        points = value * (self.full or 1.0)
        said: dict[str, Any] = {"passing": points >= self.score_threshold}
        if self.full is not None:
            said["score"] = points / self.score_threshold
            said["scale"] = result.scale if self.score_threshold == self.full else None
        return said

    def _is_error(self, result: MetricResult) -> bool:
        return result.invalid_result


@dataclass(eq=False, repr=False)
class CorrectnessEvaluator(Graded):
    """Grade of the response from 1 to 5; replaces LlamaIndex's class of the same name.

    A grade off the scale, or a reply without a grade, is an invalid result. With your own ``eval_template`` there is no scale:
    any finite number is the score.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        eval_template: a template with ``{query}``, ``{reference_answer}`` and ``{generated_answer}``, or its text.
        score_threshold: lowest passing grade.
        parser_function: reads ``(score, reasoning)`` from a reply, on any scale; None: the core reads a grade from 1 to 5.
    """

    core_metric = with_prompts(Correctness(), check=None)
    positional = ("reference", "sleep_time_in_seconds")
    default_template = correctness.DEFAULT_EVAL_TEMPLATE
    templates = single_slot("grade", "query", "reference_answer", "generated_answer", missing=NO_REFERENCE)

    eval_template: InitVar[Template | None] = None
    score_threshold: float = 4.0
    parser_function: ScoreFunction | None = None


@dataclass(eq=False, repr=False)
class AnswerRelevancyEvaluator(Graded):
    """How relevant the response is to the query, 0 to 1; replaces LlamaIndex's class of the same name.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        raise_error: raise a ``ValueError`` when the reply is unreadable.
        eval_template: a template with ``{query}`` and ``{response}``, or its text.
        score_threshold: points (0 to 2) that make a score of 1.0; fewer do not pass.
        parser_function: reads ``(points, reasoning)`` from a reply; None: the core reads 0 to 2 points, or, with your own
            ``eval_template``, any number.
    """

    core_metric = with_prompts(AnswerRelevanceRating(name="answer_relevancy"), check=None)
    full = 2.0
    default_template = answer_relevancy.DEFAULT_EVAL_TEMPLATE
    templates = single_slot("rate", "query", "response", one_text=True)

    raise_error: bool = False
    eval_template: InitVar[Template | None] = None
    score_threshold: float = 2.0
    parser_function: ScoreFunction | None = None


@dataclass(eq=False, repr=False)
class ContextRelevancyEvaluator(Refining, Graded):
    """How relevant the contexts are to the query, 0 to 1; replaces LlamaIndex's class of the same name.

    Contexts are packed in order into as few calls as the judge's context window allows; the best rating counts. Without a
    ``refine_template`` your own ``eval_template``, or LlamaIndex's for your parser, words every call.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        raise_error: raise a ``ValueError`` when the reply is unreadable.
        eval_template: a template with ``{query_str}`` and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        score_threshold: points (0 to 4) that make a score of 1.0; fewer do not pass.
        parser_function: reads ``(points, reasoning)`` from a reply; None: the core reads 0 to 4 points, or, with your own
            ``eval_template``, any number.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    core_metric = with_prompts(ContextRelevanceRating(name="context_relevancy"), check=None)
    full = 4.0
    default_template = context_relevancy.DEFAULT_EVAL_TEMPLATE
    # one template may replace the prompt of every call
    templates = refine_slots("{query}", "{existing_score}", context_str="{context}", context_msg="{context}")

    score_threshold: float = 4.0
    parser_function: ScoreFunction | None = None

    def _wording(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        metric, templates = super()._wording()
        if "eval_template" in templates:
            templates = {"refine_template": templates["eval_template"], **templates}
        return metric, templates


@dataclass(frozen=True)
class VectorSimilarity(Metric):
    """The similarity of response and reference by any function of their two vectors; it has no bounds.

    Attributes:
        function: takes two vectors and returns their similarity.
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1 embedding request"

    function: Callable[[Sequence[float], Sequence[float]], float] = field(repr=False, compare=False)

    def measure(self, response: str, reference: str) -> Steps[Score]:
        """Embed both texts and compare their vectors."""
        left, right = yield from embed([response, reference])
        value = float(self.function(left, right))
        return Score(value, details={"similarity": value})


@dataclass(eq=False, repr=False)
class SemanticSimilarityEvaluator(DropIn):
    """How close the response is to the reference in meaning; replaces LlamaIndex's class of the same name.

    Args:
        embed_model, on_error: as in ``MetricEvaluator``.
        similarity_fn: takes two vectors and returns their similarity; instead of a mode.
        similarity_mode: ``cosine`` (the default, clipped to -1 to 1), ``dot_product`` or ``euclidean`` (the negative distance).
        similarity_threshold: lowest passing similarity.

    Raises:
        InvalidInput: both a function and a mode are given.
    """

    positional = ("reference",)

    llm: Any = field(default=None, init=False)
    embed_model: Any = None
    similarity_fn: Callable[..., float] | None = None
    similarity_mode: SimilarityMode | str | None = None
    similarity_threshold: float = 0.8
    metadata_mode: MetadataMode | str = field(default=MetadataMode.LLM, init=False)

    def __post_init__(self) -> None:
        self.threshold = self.similarity_threshold
        super().__post_init__()

    def _own_metric(self) -> Metric:
        function = self.similarity_fn
        if function is not None and self.similarity_mode is not None:
            raise InvalidInput("Cannot specify both similarity_fn and similarity_mode: leave one of them out")
        if function is not None and not callable(function):
            raise InvalidInput(f"similarity_fn must be a function of two vectors, got {function!r}")
        mode = SimilarityMode(self.similarity_mode or SimilarityMode.DEFAULT)
        if function is None and mode is SimilarityMode.DEFAULT:
            return SemanticSimilarity()
        return VectorSimilarity(function or partial(similarity, mode=mode), name="semantic_similarity")


VerdictFunction = Callable[[str], tuple[bool | None, float | None, str | None]]

ANSWERS = {"answer_1": "{response_a}", "answer_2": "{response_b}"}


class YesNo(Refining):
    """A judge whose feedback is YES or NO, which LlamaIndex's query transformations look for."""

    def _changes(self, value: float, result: MetricResult) -> dict[str, Any]:  # noqa: ARG002
        return {"feedback": "YES" if result.passing else "NO"}


class FaithfulnessEvaluator(YesNo):
    """Whether the contexts support the response; replaces LlamaIndex's class of the same name.

    Contexts are packed in order into as few calls as the judge's context window allows; the first YES ends it. The score is 1.0
    or 0.0; the feedback is YES or NO.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        raise_error: raise a ``ValueError`` when the response is not supported, or the reply is unreadable.
        eval_template: a template with ``{query_str}`` (the response) and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    core_metric = RefineFaithfulness(name="faithfulness")
    templates = refine_slots("{information}", "{existing_answer}")


class RelevancyEvaluator(YesNo):
    """Whether the response is in line with query and contexts; replaces LlamaIndex's class of the same name.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        raise_error: raise a ``ValueError`` when the response is not in line, or the reply is unreadable.
        eval_template: a template with ``{query_str}`` (query and response) and ``{context_str}``, or its text.
        refine_template: a template with ``{query_str}``, ``{existing_answer}`` and ``{context_msg}``, or its text.
        metadata_mode: which metadata of the source nodes the judge reads with their text; LlamaIndex's own judge reads none.
    """

    core_metric = Relevancy()
    templates = refine_slots("Question: {query}\nResponse: {response}", "{existing_answer}")


ResponseEvaluator = FaithfulnessEvaluator
QueryResponseEvaluator = RelevancyEvaluator


class Critique(BaseModel):
    """A verdict by guidelines."""

    feedback: str
    passing: bool


def critique_of(found: Any, text: str) -> Critique:  # noqa: ARG001
    """Return the verdict and the feedback that an output parser returned."""
    return Critique(feedback=found.feedback, passing=found.passing)


@dataclass(eq=False, repr=False)
class GuidelineEvaluator(DropIn):
    """Whether the response follows guidelines; replaces LlamaIndex's class of the same name.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        guidelines: what a good response does; None: the three of LlamaIndex.
        eval_template: a template with ``{query}``, ``{response}`` and ``{guidelines}``, or its text; instructions on how
            to reply are added to it.
        output_parser: parses an object with ``passing`` and ``feedback`` from a reply, and says how to
            reply; None: the core does both.
    """

    default_template = guideline.DEFAULT_EVAL_TEMPLATE
    templates = single_slot("critique", "query", "response", "guidelines", adds_form=True, one_text=True)

    guidelines: str | None = None
    eval_template: InitVar[Template | None] = None
    output_parser: BaseOutputParser | None = None

    def _own_metric(self) -> Metric:
        return Guideline(self.guidelines or guideline.DEFAULT_GUIDELINES)

    def _parser(self) -> Parser | None:
        if self.output_parser is None:
            return None
        if not hasattr(self.output_parser, "parse"):
            raise InvalidInput(f"output_parser must have a method parse, got {self.output_parser!r}")
        return Parser(self.output_parser.parse, critique_of)

    def _update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        super()._update_prompts(prompts_dict)
        if self.output_parser is not None:
            # the parser adds instructions on how to reply; the original stays unchanged, because templates are shared
            change = {"output_parser": self.output_parser}
            self._templates = {key: item.model_copy(update=change) for key, item in self._templates.items()}


class Verdict(BaseModel):
    """Which of two responses is better, and why."""

    better: str
    reason: str


def verdict_of(found: tuple[bool | None, float | None, str | None], text: str) -> Verdict:
    """Return the verdict that a parser function returned.

    Raises:
        BadReply: there is neither a score nor ``passing``.
    """
    passing, score, feedback = found
    value = score if score is not None else passing
    if value is None:
        raise BadReply(UNREADABLE, text)
    return Verdict(better="tie" if value == 0.5 else "A" if float(value) > 0.5 else "B", reason=feedback or text)


class WholeWords(Prompt[Any]):
    """A comparison that uses a whole reply in prose as the reason, with its marks, as LlamaIndex does."""

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> Any:
        """Return the verdict that the core parses."""
        verdict = super().read(reply, inputs)
        return verdict.model_copy(update={"reason": reply.value.strip()}) if "[[" in reply.value else verdict


@dataclass(eq=False, repr=False)
class PairwiseComparisonEvaluator(DropIn):
    """Whether the response is better than ``second_response``; replaces LlamaIndex's class of the same name.

    Score 1.0 and passing for the response, 0.0 and not passing for the second, 0.5 and neither for a tie. ``pairwise_source``
    says which order decided: ``original``, ``flipped`` (the score still belongs to the response) or ``neither``.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        eval_template: a template with ``{query}``, ``{answer_1}``, ``{answer_2}`` and ``{reference}``, or its text.
        parser_function: reads ``(passing, score, feedback)`` from a reply; None: the core reads the verdict.
        enforce_consensus: ask both orders.
    """

    positional = ("second_response", "reference", "sleep_time_in_seconds")
    default_template = pairwise.DEFAULT_EVAL_TEMPLATE
    templates = single_slot("compare", "query", "reference", renamed=ANSWERS, missing="")

    eval_template: InitVar[Template | None] = None
    parser_function: VerdictFunction | None = None
    enforce_consensus: bool = True

    def _own_metric(self) -> Metric:
        own = PairwiseComparison().compare
        if self.parser_function is None:
            own = WholeWords(**{item.name: getattr(own, item.name) for item in fields(own)})
        return PairwiseComparison(self.enforce_consensus, compare=own)

    def _parser(self) -> Parser | None:
        return None if self.parser_function is None else Parser(self.parser_function, verdict_of)
