"""Several metrics of one sample at the same time, in async code.

Prints:

    faithfulness: 1
    context_recall: 0.4286
    answer_accuracy: 0.5
"""

import asyncio

from ragmetrics_core import Sample
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import AnswerAccuracy, ContextRecall, Faithfulness

SAMPLE = Sample(
    user_input="Who wrote Dubliners, and when did it appear?",
    response="James Joyce wrote Dubliners.",
    retrieved_contexts=["Dubliners is a collection of short stories that James Joyce wrote."],
    reference="James Joyce wrote Dubliners. It appeared in London in 1914.",
)


async def main() -> None:
    llm = LexicalJudge()
    metrics = [Faithfulness(llm=llm), ContextRecall(llm=llm), AnswerAccuracy(llm=llm)]
    for score in await asyncio.gather(*(metric.ascore(SAMPLE) for metric in metrics)):
        print(score)


asyncio.run(main())
