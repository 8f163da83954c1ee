"""How each metric treats an answer that declines, found by asking it: a table for the page of metrics.

Two judges answer every question. Where the question has one truthful answer (a response that declines makes no claims, and answers
nothing) both give it; where a judge is asked for an opinion of the whole response, one gives the lowest and one the highest. If the
scores agree, the metric's own rule decides; if not, the judge does.
"""

from __future__ import annotations

import json
from typing import Any

from ragmetrics_core import Ask, Metric, Score, evaluate
from ragmetrics_core.metrics import CustomJudge, Entry, Guideline, Jury, RubricScore, catalogue

__all__ = ["declining_table"]

DECLINES = "I do not know."
KNOWS = "The tower opened in 1889."
ROW = {
    "user_input": "When did the tower open?",
    "response": DECLINES,
    "second_response": KNOWS,
    "reference": KNOWS,
    "retrieved_contexts": [KNOWS, "The museum is in Paris."],
}

SET_UP: dict[str, Metric] = {
    "custom_judge": CustomJudge(instructions="Is it polite?", inputs=["response"], outputs=["score"]),
    "guideline": Guideline("The answer is polite."),
    "rubric_score": RubricScore({1: "rude", 5: "polite"}),
}
"""Metrics that cannot be made without settings."""

NOTES = {
    "answer_correctness": "its factual part is 0; the similarity of the words, a quarter by default, is added",
    "answer_or_abstain": "this is what it asks: here the contexts suffice, so it is needless; where they do not, 1",
    "claim_utilization": "no claim of the reference is said",
    "diagnosis": "labelled `declined`",
    "exact_match": "unless the reference is the same text",
    "pairwise_comparison": "against a response that answers",
    "semantic_similarity": "as similar as its words are to those of the reference",
    "token_f1": "as many words as it shares with the reference",
}
"""What the score alone does not show."""


class Judge:
    """Truthful where there is one truth, else of the lowest opinion or of the highest."""

    instant = True

    def __init__(self, high: bool) -> None:
        self.high = high

    def generate(self, ask: Ask) -> str:
        """Answer in the form that the prompt asks for."""
        name, data = ask.prompt.name, ask.inputs
        return json.dumps(self.truth(name, data) or self.opinion(name, data))

    def truth(self, name: str, data: Any) -> Any:
        """What is true of a response that says that it does not know; None where it is a matter of opinion."""
        if name == "judge_abstention":
            return {"contexts_suffice": "yes", "response_declines": "wholly"}
        if name == "extract_claims":
            return {"claims": [] if data["answer"] == DECLINES else [data["answer"]]}
        if name == "verify_claims":
            by = [number for number, context in enumerate(data["contexts"], 1) if context == KNOWS]
            return {"verdicts": [{"number": 1, "supported_by": by, "supported": bool(by)}]}
        if name == "split_and_check":
            return {"statements": [], "reasons": [], "statement_scores": []}
        if name == "questions_of_answer":
            return {"questions": [ROW["user_input"]] * data["number_of_questions"], "noncommittal": True}
        return None

    def opinion(self, name: str, data: Any) -> Any:
        """The lowest or the highest opinion of the response."""
        if name == "compare_responses":
            return {"reason": "", "better": "A" if (data["response_a"] == DECLINES) is self.high else "B"}
        return OPINIONS[name][self.high]


def choice(key: str, *values: Any) -> list[dict[str, Any]]:
    return [{"reason": "", key: value} for value in values]


OPINIONS: dict[str, list[dict[str, Any]]] = {
    **dict.fromkeys(
        ["supported_by_context", "refine_supported", "in_line_with_context", "refine_in_line"],
        choice("answer", "no", "yes"),
    ),
    **dict.fromkeys(["rate_groundedness", "rate_groundedness_again"], choice("rating", 0, 2)),
    **dict.fromkeys(["rate_answer", "compare_answers"], choice("rating", 0, 4)),
    "judge_usefulness": choice("useful", False, True),
    "grade_correctness": choice("score", 1, 5),
    "rate_answer_relevance": choice("score", 0, 2),
    "grade_by_rubric": choice("score", 1, 5),
    "custom_judge": choice("score", 0, 1),
    "critique_by_guidelines": [{"feedback": "", "passing": False}, {"feedback": "", "passing": True}],
}


def treatment(entry: Entry) -> str:
    """What becomes of a response that declines."""
    if entry.cls is Jury:
        return "as its jurors decide"
    if entry.name not in SET_UP and "response" not in {item.name for item in entry.inputs}:
        return "does not look at the response"
    metric = SET_UP.get(entry.name) or entry.cls()
    low, high = (score_of(metric, Judge(high)) for high in (False, True))
    note = f": {NOTES[entry.name]}" if entry.name in NOTES else ""
    if low.value is None:
        return f"unscored: {low.reason}{note}"
    if low.value != high.value:
        return f"the judge decides, {low.value:g} to {high.value:g}{note}"
    return f"{low.value:g}{note or (f': {low.reason}' if low.reason else '')}"


def score_of(metric: Metric, judge: Judge) -> Score:
    result = evaluate([ROW], metric, llm=judge, embeddings="hashing", progress=False)
    result.raise_for_errors()
    return result.scores[metric][0]


def declining_table() -> str:
    """All metrics in order."""
    rows = [f"| `{entry.name}` | {treatment(entry)} |" for entry in catalogue()]
    return "\n".join([f'| metric | score of "{DECLINES}" |', "|---|---|", *rows])


if __name__ == "__main__":
    print(declining_table())
