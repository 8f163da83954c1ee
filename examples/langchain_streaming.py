"""The same chain, streamed: an answer that is read to its end is judged, one that is left early is not.

Needs ``pip install langchain-openai numpy``, and ``OPENAI_API_KEY`` (or ``OPENAI_BASE_URL`` of any compatible server).

Prints:

    Ada Lovelace was born in London.
    scored: faithfulness 1
    incomplete: not judged
"""

from langchain_callback import chain, model

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import RagEvaluationCallback

QUESTION = "Where was Ada Lovelace born?"

callback = RagEvaluationCallback([Faithfulness()], llm=model)
with callback.attached():  # for every chain that is called in the block
    for piece in chain.stream(QUESTION):
        print(piece, end="")
    print()
    for _ in chain.stream(QUESTION):
        break  # the user has gone

for record in sorted(callback.results, key=lambda record: record.status, reverse=True):
    scores = ", ".join(f"{name} {score:.3g}" for name, score in record.scores.items())
    print(f"{record.status}: {scores or 'not judged'}")
