"""The judges that decide: by yes or no, by guidelines, and between two responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, fields
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.evaluation import guideline, pairwise
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.types import BaseOutputParser

from ragmetrics_core import BadReply, InvalidInput, Metric, Prompt, Reply
from ragmetrics_core.adapters import UNREADABLE, Parser
from ragmetrics_core.metrics import Guideline, PairwiseComparison, RefineFaithfulness, Relevancy

from .._metric._prompts import Template
from .._metric._results import MetricResult
from ._judge import DropIn, Reading, Refining, asking, refining

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
    templates = refining("{information}", "{existing_answer}")


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
    templates = refining("Question: {query}\nResponse: {response}", "{existing_answer}")


ResponseEvaluator = FaithfulnessEvaluator
QueryResponseEvaluator = RelevancyEvaluator


class Critique(BaseModel):
    """A verdict by guidelines."""

    feedback: str
    passing: bool


def critique_of(found: Any, text: str) -> Critique:  # noqa: ARG001
    """The verdict and the feedback that an output parser found."""
    return Critique(feedback=found.feedback, passing=found.passing)


@dataclass(eq=False, repr=False)
class GuidelineEvaluator(DropIn):
    """Whether the response keeps guidelines; replaces LlamaIndex's class of the same name.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        guidelines: what a good response does; None: the three of LlamaIndex.
        eval_template: a template with ``{query}``, ``{response}`` and ``{guidelines}``, or its text; instructions on how
            to reply are added to it.
        output_parser: reads an object with ``passing`` and ``feedback`` from a reply, and says how to reply; None: the core does.
    """

    default_template = guideline.DEFAULT_EVAL_TEMPLATE
    templates = asking("critique", "query", "response", "guidelines", adds_form=True, one_text=True)

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
        return Reading(self.output_parser.parse, critique_of)

    def _update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        super()._update_prompts(prompts_dict)
        if self.output_parser is not None:
            # the parser adds how to reply; templates are shared, so the original stays as it is
            change = {"output_parser": self.output_parser}
            self._templates = {key: item.model_copy(update=change) for key, item in self._templates.items()}


class Verdict(BaseModel):
    """Which of two responses is better, and why."""

    better: str
    reason: str


def verdict_of(found: tuple[bool | None, float | None, str | None], text: str) -> Verdict:
    """The verdict that a parser function found; without a score and without ``passing`` the reply is a ``BadReply``."""
    passing, score, feedback = found
    value = score if score is not None else passing
    if value is None:
        raise BadReply(UNREADABLE, text)
    return Verdict(better="tie" if value == 0.5 else "A" if float(value) > 0.5 else "B", reason=feedback or text)


class WholeWords(Prompt[Any]):
    """A comparison that keeps a reply in prose as the reason, its marks included, as LlamaIndex does."""

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> Any:
        """The verdict, as the core reads it."""
        verdict = super().read(reply, inputs)
        return verdict.model_copy(update={"reason": reply.value.strip()}) if "[[" in reply.value else verdict


@dataclass(eq=False, repr=False)
class PairwiseComparisonEvaluator(DropIn):
    """Whether the response is better than ``second_response``; replaces LlamaIndex's class of the same name.

    Score 1.0 and passing for the response, 0.0 and not passing for the second, 0.5 and neither for a tie. ``pairwise_source``
    says which order decided: ``original``, ``flipped`` (the score is still that of the response) or ``neither``.

    Args:
        llm, on_error: as in ``MetricEvaluator``.
        eval_template: a template with ``{query}``, ``{answer_1}``, ``{answer_2}`` and ``{reference}``, or its text.
        parser_function: reads ``(passing, score, feedback)`` from a reply; None: the core reads the verdict.
        enforce_consensus: ask both orders.
    """

    positional = ("second_response", "reference", "sleep_time_in_seconds")
    default_template = pairwise.DEFAULT_EVAL_TEMPLATE
    templates = asking("compare", "query", "reference", renamed=ANSWERS, missing="")

    eval_template: InitVar[Template | None] = None
    parser_function: VerdictFunction | None = None
    enforce_consensus: bool = True

    def _own_metric(self) -> Metric:
        own = PairwiseComparison().compare
        if self.parser_function is None:
            own = WholeWords(**{item.name: getattr(own, item.name) for item in fields(own)})
        return PairwiseComparison(self.enforce_consensus, compare=own)

    def _parser(self) -> Parser | None:
        return None if self.parser_function is None else Reading(self.parser_function, verdict_of)
