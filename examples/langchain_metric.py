"""A metric at the end of a chain: it is a Runnable like any other, and its judge's calls are children of its run in every trace.

Needs ``pip install langchain-openai numpy``, and ``OPENAI_API_KEY`` (or ``OPENAI_BASE_URL`` of any compatible server).

Prints:

    Ada Lovelace was born in London.
    faithfulness: 1
    supported: Ada Lovelace was born in London.
"""

from langchain_callback import join, model, prompt, retriever
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnablePassthrough

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import MetricRunnable

answer = RunnablePassthrough.assign(context=lambda row: join(row["context"])) | prompt | model | StrOutputParser()
chain = (
    {"context": retriever, "question": RunnablePassthrough()}
    | RunnablePassthrough.assign(answer=answer)
    | RunnablePassthrough.assign(score=MetricRunnable(Faithfulness(), llm=model))
)

result = chain.invoke("Where was Ada Lovelace born?")
print(result["answer"])
print(result["score"])
for verdict in result["score"].details["verdicts"]:
    print("supported:" if verdict["supported"] else "not supported:", verdict["claim"])
