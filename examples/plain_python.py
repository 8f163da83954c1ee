"""One score in plain Python, with its evidence.

The offline judge needs no key and compares words only. For a real judge: ``llm=OpenAILLM("gpt-4o-mini")``.

Prints:

    faithfulness: 0.5714
    - It is 450 metres tall.
    - It is 450 metres
    - tall.
"""

from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness

metric = Faithfulness(llm=LexicalJudge())
score = metric.score(
    user_input="When was the Eiffel Tower built, and how tall is it?",
    response="The Eiffel Tower was completed in 1889. It is 450 metres tall.",
    retrieved_contexts=["The Eiffel Tower in Paris was completed in 1889. The tower is 330 metres tall."],
)
print(score)
for verdict in score.details["verdicts"]:
    if not verdict["supported"]:
        print("-", verdict["claim"])
