"""Haystack's pipeline of two evaluators, with nothing but its import line changed.

The chat generator here answers from a table, so that no key is needed; without one the evaluators ask OpenAI, as in Haystack.

Prints:

    context relevance: 1.0 [1, 1]
    faithfulness: 0.75 [0.5, 1.0]
    - George Lucas created Python. (0)
    - Java runs on a virtual machine. (1)
"""

import os

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from haystack import Pipeline
from ragmetrics_haystack import ContextRelevanceEvaluator, FaithfulnessEvaluator

questions = ["Who created the Python language?", "Why does Java need a JVM?"]
contexts = [
    ["Python was created by Guido van Rossum in the late 1980s."],
    ["Java source code is compiled to bytecode, which a virtual machine executes."],
]
predicted_answers = [
    "Python is a programming language. George Lucas created Python.",
    "Java runs on a virtual machine.",
]
VERDICTS = {
    "George Lucas": '{"statements": ["Python is a programming language.", "George Lucas created Python."], '
    '"statement_scores": [1, 0]}',
    "Java runs": '{"statements": ["Java runs on a virtual machine."], "statement_scores": [1]}',
}


def judge(messages: list[ChatMessage]) -> str:
    for words, reply in VERDICTS.items():
        if words in str(messages[0].text):
            return reply
    return '{"relevant_statements": ["It helps."]}'


pipeline = Pipeline()
generator = MockChatGenerator(response_fn=judge)
pipeline.add_component("context_relevance", ContextRelevanceEvaluator(chat_generator=generator))
pipeline.add_component("faithfulness", FaithfulnessEvaluator(chat_generator=generator))
results = pipeline.run(
    {
        "context_relevance": {"questions": questions, "contexts": contexts},
        "faithfulness": {"questions": questions, "contexts": contexts, "predicted_answers": predicted_answers},
    }
)
for name in ("context_relevance", "faithfulness"):
    print(f"{name.replace('_', ' ')}: {results[name]['score']} {results[name]['individual_scores']}")
for row in results["faithfulness"]["results"]:
    print(f"- {row['statements'][-1]} ({row['statement_scores'][-1]})")
