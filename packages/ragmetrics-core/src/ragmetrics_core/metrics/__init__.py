"""All built-in metrics, one per file. ``catalogue()`` lists them with their inputs, scale, model calls and source.

A metric is loaded when its name is first used: so the order of the files does not matter where one metric is built on another, and
a program that only ranks never loads a prompt. The lists are written by ``nox -s docs``, from the names of the files.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # generated: imports
    from ragmetrics_core.metrics._answer_accuracy import AnswerAccuracy
    from ragmetrics_core.metrics._answer_correctness import AnswerCorrectness
    from ragmetrics_core.metrics._answer_or_abstain import AnswerOrAbstain
    from ragmetrics_core.metrics._answer_relevance_rating import AnswerRelevanceRating
    from ragmetrics_core.metrics._answer_relevancy import AnswerRelevancy
    from ragmetrics_core.metrics._average_precision import AveragePrecision
    from ragmetrics_core.metrics._catalogue import Entry, catalogue
    from ragmetrics_core.metrics._citation_precision import CitationPrecision
    from ragmetrics_core.metrics._citation_recall import CitationRecall
    from ragmetrics_core.metrics._claim_utilization import ClaimUtilization
    from ragmetrics_core.metrics._context_precision import ContextPrecision
    from ragmetrics_core.metrics._context_recall import ContextRecall
    from ragmetrics_core.metrics._context_relevance import ContextRelevance
    from ragmetrics_core.metrics._context_relevance_rating import ContextRelevanceRating
    from ragmetrics_core.metrics._context_utilization import ContextUtilization
    from ragmetrics_core.metrics._correctness import Correctness
    from ragmetrics_core.metrics._custom_judge import CustomJudge
    from ragmetrics_core.metrics._diagnosis import Diagnosis
    from ragmetrics_core.metrics._exact_match import ExactMatch
    from ragmetrics_core.metrics._fabricated_citations import FabricatedCitations
    from ragmetrics_core.metrics._factual_correctness import FactualCorrectness
    from ragmetrics_core.metrics._faithfulness import Faithfulness
    from ragmetrics_core.metrics._guideline import Guideline
    from ragmetrics_core.metrics._hallucination import Hallucination
    from ragmetrics_core.metrics._hit_rate import HitRate
    from ragmetrics_core.metrics._jury import Jury
    from ragmetrics_core.metrics._misattribution import Misattribution
    from ragmetrics_core.metrics._ndcg import NDCG
    from ragmetrics_core.metrics._noise_sensitivity import NoiseSensitivity
    from ragmetrics_core.metrics._pairwise_comparison import PairwiseComparison
    from ragmetrics_core.metrics._passage_precision import PassagePrecision
    from ragmetrics_core.metrics._precision import Precision
    from ragmetrics_core.metrics._quote_accuracy import QuoteAccuracy
    from ragmetrics_core.metrics._ragchecker import ragchecker_metrics
    from ragmetrics_core.metrics._recall import Recall
    from ragmetrics_core.metrics._reciprocal_rank import ReciprocalRank
    from ragmetrics_core.metrics._refine_faithfulness import RefineFaithfulness
    from ragmetrics_core.metrics._relevancy import Relevancy
    from ragmetrics_core.metrics._relevant_statements import RelevantStatements
    from ragmetrics_core.metrics._response_groundedness import ResponseGroundedness
    from ragmetrics_core.metrics._rubric_score import RubricScore
    from ragmetrics_core.metrics._self_knowledge import SelfKnowledge
    from ragmetrics_core.metrics._semantic_similarity import SemanticSimilarity
    from ragmetrics_core.metrics._single_pass_faithfulness import SinglePassFaithfulness
    from ragmetrics_core.metrics._token_f1 import TokenF1
    from ragmetrics_core.metrics._uncited_claims import UncitedClaims
    # end: imports

# generated: names
__all__ = [
    "NDCG",
    "AnswerAccuracy",
    "AnswerCorrectness",
    "AnswerOrAbstain",
    "AnswerRelevanceRating",
    "AnswerRelevancy",
    "AveragePrecision",
    "CitationPrecision",
    "CitationRecall",
    "ClaimUtilization",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "ContextRelevanceRating",
    "ContextUtilization",
    "Correctness",
    "CustomJudge",
    "Diagnosis",
    "Entry",
    "ExactMatch",
    "FabricatedCitations",
    "FactualCorrectness",
    "Faithfulness",
    "Guideline",
    "Hallucination",
    "HitRate",
    "Jury",
    "Misattribution",
    "NoiseSensitivity",
    "PairwiseComparison",
    "PassagePrecision",
    "Precision",
    "QuoteAccuracy",
    "Recall",
    "ReciprocalRank",
    "RefineFaithfulness",
    "Relevancy",
    "RelevantStatements",
    "ResponseGroundedness",
    "RubricScore",
    "SelfKnowledge",
    "SemanticSimilarity",
    "SinglePassFaithfulness",
    "TokenF1",
    "UncitedClaims",
    "catalogue",
    "ragchecker_metrics",
]
# end: names

ELSEWHERE = {"Entry": "_catalogue", "ragchecker_metrics": "_ragchecker"}
"""The modules of names whose module is not named after them, as ``_context_recall.py`` is after ``ContextRecall``."""

if not TYPE_CHECKING:  # a type checker would take every name for an existing one

    def __getattr__(name: str) -> Any:
        if name in __all__:
            snake_case = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
            value = getattr(importlib.import_module(f"{__name__}.{ELSEWHERE.get(name, f'_{snake_case}')}"), name)
            globals()[name] = value  # found at once from now on
            return value
        from importlib.util import find_spec  # noqa: PLC0415  hardly ever needed

        module = f"{__name__}.{name}"
        if not name.startswith("_") and find_spec(module):  # a public module, such as `claims`
            return importlib.import_module(module)
        from ragmetrics_core._support._other_names import no_attribute  # noqa: PLC0415  for mistakes only

        raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return __all__
