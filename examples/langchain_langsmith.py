"""An evaluation with LangSmith, offline: ``upload_results=False`` keeps everything on this machine.

Needs ``pip install langchain-openai numpy``, and ``OPENAI_API_KEY`` (or ``OPENAI_BASE_URL`` of any compatible server).

Prints:

    {'question': 'Where was Ada Lovelace born?'}
      faithfulness 1.0
      exact_match 1.0
"""

import warnings
from typing import Any
from uuid import uuid4

from langchain_callback import chain, model, retriever
from langsmith import Client, evaluate
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example

from ragmetrics_core.metrics import ExactMatch, Faithfulness
from ragmetrics_langchain import as_langsmith_evaluator

warnings.filterwarnings("ignore", message="'upload_(results|runs)' parameter is in beta")

DATA = [("Where was Ada Lovelace born?", "Ada Lovelace was born in London.")]


def target(inputs: dict[str, Any]) -> dict[str, Any]:
    """LangSmith passes no documents on to evaluators, so they are part of the output."""
    with tracing_context(enabled=False):  # LangChain would send the chain's own trace
        question = inputs["question"]
        return {"answer": chain.invoke(question), "context": retriever.invoke(question)}


examples = [
    Example(id=uuid4(), dataset_id=uuid4(), inputs={"question": question}, outputs={"answer": answer})
    for question, answer in DATA
]
results = evaluate(
    target,
    data=examples,
    evaluators=[as_langsmith_evaluator(Faithfulness(), llm=model), as_langsmith_evaluator(ExactMatch())],
    upload_results=False,
    client=Client(api_key="not needed"),
)
for row in results:
    print(row["example"].inputs)
    for item in row["evaluation_results"].get("results", []):
        print(f"  {item.key} {item.score}")
