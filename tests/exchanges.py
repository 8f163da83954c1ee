"""Recorded exchanges: for every metric that asks an LLM, what it asks, what is answered, and the score worked out by hand.

Whoever talks to a model on behalf of a metric is held to these: the core's drivers, a real client against a loopback server,
every adapter. A turn is found by the exact text of its system and user messages, so the order of concurrent calls does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ragmetrics_core import Example, Metric, Prompt
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerCorrectness,
    AnswerRelevanceRating,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextRelevanceRating,
    ContextUtilization,
    Correctness,
    CustomJudge,
    FactualCorrectness,
    Faithfulness,
    Guideline,
    PairwiseComparison,
    RefineFaithfulness,
    Relevancy,
    RelevantStatements,
    ResponseGroundedness,
    RubricScore,
    SinglePassFaithfulness,
)

QUESTION = "Where and when was Ada Lovelace born?"
RESPONSE = "She was born in London in 1815 and died in 1852."
REFERENCE = "Ada Lovelace was born in London on 10 December 1815."
CONTEXTS = ["Ada Lovelace was born in London on 10 December 1815.", "Charles Babbage designed the Analytical Engine."]

SAMPLE: Mapping[str, Any] = {
    "user_input": QUESTION,
    "response": RESPONSE,
    "retrieved_contexts": CONTEXTS,
    "reference": REFERENCE,
}

SECOND = "Ada Lovelace was an English mathematician."
SOURCES = "The response names its sources."

R1, R2 = "Ada Lovelace was born in London in 1815.", "Ada Lovelace died in 1852."
G1, G2 = "Ada Lovelace was born in London.", "Ada Lovelace was born on 10 December 1815."


@dataclass(frozen=True)
class Turn:
    """One call: the prompt's name, the data sent, the reply."""

    prompt: str
    data: Mapping[str, Any]
    reply: str


@dataclass(frozen=True)
class Exchange:
    """One metric on one sample: its turns, and the score they lead to."""

    metric: Metric
    turns: Sequence[Turn]
    value: float
    sample: Mapping[str, Any] = field(default_factory=lambda: SAMPLE)
    passing: bool | None = None

    @property
    def name(self) -> str:
        return self.metric.name

    def reply_to(self, system: str, user: str) -> str:
        """The recorded reply to these two messages."""
        prompts = {prompt.name: prompt for prompt in prompts_of(self.metric)}
        for turn in self.turns:
            if prompts[turn.prompt].system == system and json.dumps(turn.data, ensure_ascii=False) == user:
                return turn.reply
        raise AssertionError(f"{self.metric!r} was not expected to ask this:\n{system}\n---\n{user}")


def prompts_of(metric: Metric) -> list[Prompt[Any]]:
    """The prompts among the metric's settings."""
    values = [getattr(metric, item.name) for item in fields(metric)]
    own = getattr(metric, "prompt", None)
    return [value for value in [*values, own] if isinstance(value, Prompt)]


def versions_of(exchange: Exchange) -> dict[str, str]:
    """The versions of the prompts that are asked, by name, as a score records them."""
    versions = {prompt.name: prompt.version for prompt in prompts_of(exchange.metric)}
    return {turn.prompt: versions[turn.prompt] for turn in exchange.turns}


def with_own_words(metric: Metric) -> Metric:
    """The metric with its prompts in other words, and an example whose keys no writer would put in this order."""
    example = Example(
        {"question": {"z": 1, "a": 2}, "data": "d", "b": 3}, {"why": "so", "c": "x", "aa": [{"y": 1, "b": 2}]}
    )
    own = {
        item.name: prompt.replace(version="own", instructions=f"Own words: {prompt.instructions}", examples=(example,))
        for item in fields(metric)
        if isinstance(prompt := getattr(metric, item.name), Prompt)
    }
    return replace(metric, **own)


def claims(*texts: str) -> str:
    return json.dumps({"claims": texts})


def verdicts(*supported: bool) -> str:
    rows = [{"number": n, "reason": f"reason {n}", "supported": value} for n, value in enumerate(supported, 1)]
    return json.dumps({"verdicts": rows})


def numbered(*texts: str) -> list[dict[str, Any]]:
    return [{"number": n, "text": text} for n, text in enumerate(texts, 1)]


def useful(value: bool) -> str:
    return json.dumps({"reason": "because", "useful": value})


EXTRACT_RESPONSE = Turn("extract_claims", {"question": QUESTION, "answer": RESPONSE}, claims(R1, R2))
EXTRACT_REFERENCE = Turn("extract_claims", {"question": QUESTION, "answer": REFERENCE}, claims(G1, G2))
RESPONSE_BY_CONTEXTS = Turn("verify_claims", {"contexts": CONTEXTS, "claims": numbered(R1, R2)}, verdicts(True, False))
REFERENCE_BY_CONTEXTS = Turn("verify_claims", {"contexts": CONTEXTS, "claims": numbered(G1, G2)}, verdicts(True, True))
RESPONSE_BY_REFERENCE = Turn(
    "verify_claims", {"contexts": [REFERENCE], "claims": numbered(R1, R2)}, verdicts(True, False)
)
REFERENCE_BY_RESPONSE = Turn(
    "verify_claims", {"contexts": [RESPONSE], "claims": numbered(G1, G2)}, verdicts(True, True)
)
FACTUAL = [EXTRACT_RESPONSE, EXTRACT_REFERENCE, RESPONSE_BY_REFERENCE, REFERENCE_BY_RESPONSE]

POLITE = CustomJudge(
    "Is the response polite, and does it use {{ braces }}?",
    ["response", ("tone", str)],
    ["reason", "score"],
    [{"inputs": {"response": "Please.", "tone": "formal"}, "outputs": {"reason": "it asks nicely", "score": 1}}],
    name="polite",
)

EXCHANGES: list[Exchange] = [
    Exchange(Faithfulness(), [EXTRACT_RESPONSE, RESPONSE_BY_CONTEXTS], 0.5),
    Exchange(
        # a window of 16 estimated tokens holds one of the two contexts: 52 / 4 = 13 and 47 / 4 = 12 tokens
        Faithfulness(window=24, name="faithfulness_by_windows"),
        [
            EXTRACT_RESPONSE,
            Turn("verify_claims", {"contexts": CONTEXTS[:1], "claims": numbered(R1, R2)}, verdicts(True, False)),
            Turn("verify_claims", {"contexts": CONTEXTS[1:], "claims": numbered(R1, R2)}, verdicts(False, False)),
        ],
        0.5,
    ),
    Exchange(
        SinglePassFaithfulness(),
        [
            Turn(
                "split_and_check",
                {"question": QUESTION, "contexts": CONTEXTS, "answer": RESPONSE},
                json.dumps(
                    {"statements": [R1, R2, G1, G2], "reasons": ["a", "b", "c", "d"], "statement_scores": [1, 0, 1, 1]}
                ),
            )
        ],
        0.75,
    ),
    Exchange(
        RefineFaithfulness(window=24),
        [
            Turn("supported_by_context", {"information": RESPONSE, "context": CONTEXTS[0]}, "NO"),
            Turn(
                "refine_supported",
                {"information": RESPONSE, "existing_answer": "NO", "context": CONTEXTS[1]},
                "**Yes**, it does.",
            ),
        ],
        1.0,
        passing=True,
    ),
    Exchange(ContextRecall(), [EXTRACT_REFERENCE, REFERENCE_BY_CONTEXTS], 1.0),
    Exchange(
        # only rank 2 is useful: (1/2) / 1
        ContextPrecision(),
        [
            Turn(
                "judge_usefulness", {"question": QUESTION, "answer": REFERENCE, "context": CONTEXTS[0]}, useful(False)
            ),
            Turn("judge_usefulness", {"question": QUESTION, "answer": REFERENCE, "context": CONTEXTS[1]}, useful(True)),
        ],
        0.5,
    ),
    Exchange(
        ContextUtilization(),
        [
            Turn("judge_usefulness", {"question": QUESTION, "answer": RESPONSE, "context": CONTEXTS[0]}, useful(True)),
            Turn("judge_usefulness", {"question": QUESTION, "answer": RESPONSE, "context": CONTEXTS[1]}, useful(False)),
        ],
        1.0,
    ),
    # P = 1/2, R = 2/2, F1 = 2 * 0.5 * 1 / 1.5
    Exchange(FactualCorrectness(), FACTUAL, 2 / 3),
    Exchange(FactualCorrectness("precision", name="factual_precision"), [EXTRACT_RESPONSE, RESPONSE_BY_REFERENCE], 0.5),
    Exchange(FactualCorrectness("recall", name="factual_recall"), [EXTRACT_REFERENCE, REFERENCE_BY_RESPONSE], 1.0),
    Exchange(AnswerCorrectness((1.0, 0.0)), FACTUAL, 2 / 3),
    Exchange(
        ContextRelevance(),
        [
            Turn("rate_contexts", {"question": QUESTION, "contexts": CONTEXTS}, '{"reason": "all there", "rating": 2}'),
            Turn("rate_contexts_again", {"question": QUESTION, "contexts": CONTEXTS}, "Rating: 1"),
        ],
        0.75,
    ),
    Exchange(
        ResponseGroundedness(),
        [
            Turn("rate_groundedness", {"contexts": CONTEXTS, "response": RESPONSE}, "1"),
            Turn("rate_groundedness_again", {"contexts": CONTEXTS, "response": RESPONSE}, "0"),
        ],
        0.25,
    ),
    Exchange(
        AnswerAccuracy(),
        [
            Turn("rate_answer", {"question": QUESTION, "reference": REFERENCE, "answer": RESPONSE}, "2"),
            Turn("compare_answers", {"question": QUESTION, "first_answer": RESPONSE, "second_answer": REFERENCE}, "4"),
        ],
        0.75,
    ),
    Exchange(
        RelevantStatements(),
        [
            Turn(
                "find_relevant_statements",
                {"question": QUESTION, "contexts": CONTEXTS},
                json.dumps({"relevant_statements": [CONTEXTS[0]]}),
            )
        ],
        1.0,
    ),
    Exchange(
        Correctness(),
        [
            Turn(
                "grade_correctness",
                {"query": QUESTION, "reference_answer": REFERENCE, "generated_answer": RESPONSE},
                "3.5\nRight about the birth; the death was not asked for.",
            )
        ],
        3.5,
        passing=False,
    ),
    Exchange(
        RubricScore({1: "wrong", 2: "half right", 3: "right"}),
        [
            Turn(
                "grade_by_rubric",
                {
                    "rubric": {"1": "wrong", "2": "half right", "3": "right"},
                    "question": QUESTION,
                    "contexts": CONTEXTS,
                    "reference": REFERENCE,
                    "response": RESPONSE,
                },
                '{"reason": "the date is incomplete", "score": 2}',
            )
        ],
        2.0,
    ),
    Exchange(
        POLITE,
        [Turn("polite", {"response": RESPONSE, "tone": "neutral"}, '{"reason": "no rude word", "score": "yes"}')],
        1.0,
        sample={**SAMPLE, "tone": "neutral"},
    ),
    Exchange(
        Relevancy(window=24),
        [
            Turn("in_line_with_context", {"query": QUESTION, "response": RESPONSE, "context": CONTEXTS[0]}, "NO."),
            Turn(
                "refine_in_line",
                {"query": QUESTION, "response": RESPONSE, "existing_answer": "NO", "context": CONTEXTS[1]},
                '{"reason": "Babbage only", "answer": "no"}',
            ),
        ],
        0.0,
        passing=False,
    ),
    Exchange(
        AnswerRelevanceRating(),
        [
            Turn(
                "rate_answer_relevance",
                {"query": QUESTION, "response": RESPONSE},
                "1. YES. It is about her.\n2. NO. It adds her death.\n\n[RESULT] 1",
            )
        ],
        0.5,
        passing=False,
    ),
    Exchange(
        # 2.5 of 4 for the first window; the second one cannot lower it
        ContextRelevanceRating(threshold=0.5, window=24),
        [
            Turn(
                "rate_context_relevance",
                {"query": QUESTION, "context": CONTEXTS[0]},
                '{"reason": "the birth, but nothing else", "score": 2.5}',
            ),
            Turn(
                "refine_context_relevance",
                {"query": QUESTION, "existing_score": 2.5, "context": CONTEXTS[1]},
                '{"reason": "nothing new", "score": 1}',
            ),
        ],
        0.625,
        passing=True,
    ),
    Exchange(
        Guideline(SOURCES),
        [
            Turn(
                "critique_by_guidelines",
                {"guidelines": SOURCES, "query": QUESTION, "response": RESPONSE},
                '{"feedback": "It names no source.", "passing": false}',
            )
        ],
        0.0,
        passing=False,
    ),
    Exchange(
        # only the second order is decisive, and there B is the response
        PairwiseComparison(),
        [
            Turn(
                "compare_responses",
                {"query": QUESTION, "reference": REFERENCE, "response_a": RESPONSE, "response_b": SECOND},
                '{"reason": "both are short", "better": "tie"}',
            ),
            Turn(
                "compare_responses",
                {"query": QUESTION, "reference": REFERENCE, "response_a": SECOND, "response_b": RESPONSE},
                "A never says where or when. [[B]]",
            ),
        ],
        1.0,
        sample={**SAMPLE, "second_response": SECOND},
        passing=True,
    ),
]

# asks an embedding model as well: vectors [1, 0], [0.6, 0.8] and [0, 1] give cosines 0.6 and 0, mean 0.3
WITH_EMBEDDINGS = Exchange(
    AnswerRelevancy(strictness=2),
    [
        Turn(
            "questions_of_answer",
            {"answer": RESPONSE, "number_of_questions": 2},
            json.dumps({"questions": ["When was she born?", "When did she die?"], "noncommittal": False}),
        )
    ],
    0.3,
)
VECTORS = {QUESTION: [1.0, 0.0], "When was she born?": [0.6, 0.8], "When did she die?": [0.0, 1.0]}
