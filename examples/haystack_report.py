"""Haystack's own reports from the outputs of these evaluators.

Prints:

    {'metrics': ['exact_match', 'map', 'ndcg'], 'score': [0.5, 0.9166666666666666, 1.0]}
    What is the capital of France? {'exact_match': 1, 'map': 1.0, 'ndcg': 1.0}
    When was it first mentioned? {'exact_match': 0, 'map': 0.8333333333333333, 'ndcg': 1.0}
    exact match of the second run: [0, 1]
"""

import os

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack.evaluation import EvaluationRunResult

from haystack import Document
from ragmetrics_haystack import AnswerExactMatchEvaluator, DocumentMAPEvaluator, DocumentNDCGEvaluator

questions = ["What is the capital of France?", "When was it first mentioned?"]
expected = ["Paris", "9th century"]
relevant = [[Document(content="France")], [Document(content="9th century"), Document(content="9th")]]
retrieved = [
    [Document(content="France")],
    [Document(content="9th century"), Document(content="10th century"), Document(content="9th")],
]
graded = [[Document(content="France", score=1.0)], [Document(content="9th century", score=1.0)]]


def run(name: str, answers: list[str]) -> EvaluationRunResult:
    results = {
        "exact_match": AnswerExactMatchEvaluator().run(ground_truth_answers=expected, predicted_answers=answers),
        "map": DocumentMAPEvaluator().run(ground_truth_documents=relevant, retrieved_documents=retrieved),
        "ndcg": DocumentNDCGEvaluator().run(ground_truth_documents=graded, retrieved_documents=retrieved),
    }
    return EvaluationRunResult(name, inputs={"question": questions, "answer": answers}, results=results)


first = run("first", ["Paris", "10th century"])
print(first.aggregated_report(output_format="json"))
rows = first.detailed_report(output_format="json")
assert isinstance(rows, dict)
for number, question in enumerate(rows["question"]):
    print(question, {name: rows[name][number] for name in ("exact_match", "map", "ndcg")})

second = run("second", ["Lyon", "9th century"])
print("exact match of the second run:", second.results["exact_match"]["individual_scores"])
