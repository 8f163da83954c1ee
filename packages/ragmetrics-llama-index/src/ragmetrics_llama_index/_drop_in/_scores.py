"""The judges that give a number: correctness, answer relevancy, context relevancy, and similarity by embeddings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any, ClassVar

from llama_index.core.base.embeddings.base import SimilarityMode, similarity
from llama_index.core.evaluation import answer_relevancy, context_relevancy, correctness
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import MetadataMode

from ragmetrics_core import BadReply, InvalidInput, Metric
from ragmetrics_core.adapters import UNREADABLE, Parser, VectorSimilarity, check_threshold, with_prompts, without_scale
from ragmetrics_core.metrics import AnswerRelevanceRating, ContextRelevanceRating, Correctness, SemanticSimilarity
from ragmetrics_core.replies import ScoreReply

from .._metric._prompts import Template
from .._metric._results import MetricResult
from ._judge import DropIn, Reading, Refining, asking, refining

ScoreFunction = Callable[[str], tuple[float | None, str | None]]

NO_REFERENCE = "(NO REFERENCE ANSWER SUPPLIED)"


@dataclass(frozen=True)
class AnyScore(ScoreReply):
    """A score on whatever scale the template names."""

    low: float = -1e9
    high: float = 1e9

    def instructions(self) -> str:
        """The shape of the reply, for templates that ask for it."""
        return 'Reply with one JSON object and nothing else: {"reason": "<why, in one or two sentences>", "score": <number>}'


def score_of(found: tuple[float | None, str | None], text: str) -> tuple[float, str]:
    """The score and the reasoning that a parser function found; without a finite score the reply is a ``BadReply``."""
    score, reasoning = found
    if score is None:
        raise BadReply(UNREADABLE, text)
    if not math.isfinite(score):
        raise BadReply(f"{score} is not a finite number", text)
    return float(score), reasoning or text


class Graded(DropIn):
    """A judge that gives a number: any fraction, as in LlamaIndex, and on any scale where the user has a parser or a template.

    Class attributes:
        full: the most points there are, where the score is the points divided by the threshold; None where it is the grade itself.
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
        return None if self.parser_function is None else Reading(self.parser_function, score_of)

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
    templates = asking("grade", "query", "reference_answer", "generated_answer", missing=NO_REFERENCE)

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
    templates = asking("rate", "query", "response", one_text=True)

    raise_error: bool = False
    eval_template: InitVar[Template | None] = None
    score_threshold: float = 2.0
    parser_function: ScoreFunction | None = None


@dataclass(eq=False, repr=False)
class ContextRelevancyEvaluator(Refining, Graded):
    """How relevant the contexts are to the query, 0 to 1; replaces LlamaIndex's class of the same name.

    Contexts are packed in order into as few calls as the judge's context window allows; the best rating counts. Without a
    ``refine_template`` your own ``eval_template``, or that of LlamaIndex for your parser, words every call.

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
    # either template may word every call
    templates = refining("{query}", "{existing_score}", context_str="{context}", context_msg="{context}")

    score_threshold: float = 4.0
    parser_function: ScoreFunction | None = None

    def _wording(self) -> tuple[Metric, Mapping[str, BasePromptTemplate]]:
        metric, templates = super()._wording()
        if "eval_template" in templates:
            templates = {"refine_template": templates["eval_template"], **templates}
        return metric, templates


@dataclass(eq=False, repr=False)
class SemanticSimilarityEvaluator(DropIn):
    """How close the response is to the reference in meaning; replaces LlamaIndex's class of the same name.

    Args:
        embed_model, on_error: as in ``MetricEvaluator``.
        similarity_fn: makes a number of two vectors, instead of a mode.
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
