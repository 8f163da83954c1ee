"""A RAG chain that is evaluated while it runs: question, documents and answer are recovered from LangChain's own events.

Needs ``pip install langchain-openai numpy``, and ``OPENAI_API_KEY`` (or ``OPENAI_BASE_URL`` of any compatible server).

Prints:

    Ada Lovelace was born in London.
    scored: Where was Ada Lovelace born?
      2 contexts, first: Ada Lovelace was born in London in 1815.
      faithfulness: 1
"""

import os

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import RagEvaluationCallback

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit(
        "This example asks a model: set OPENAI_API_KEY (any text, where OPENAI_BASE_URL is a server of your own)."
    )

store = InMemoryVectorStore.from_texts(
    ["Ada Lovelace was born in London in 1815.", "Ada Lovelace wrote notes on a machine.", "Bread is made of flour."],
    OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False),
)
model = ChatOpenAI(model="gpt-4o-mini")
prompt = ChatPromptTemplate.from_template("Answer from the context.\n\nContext: {context}\n\nQuestion: {question}")


def join(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


retriever = store.as_retriever(search_kwargs={"k": 2})
chain = {"context": retriever | join, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()

if __name__ == "__main__":
    callback = RagEvaluationCallback([Faithfulness()], llm=model)
    with callback:  # the end of the block waits for the judge; the chain never does
        print(chain.invoke("Where was Ada Lovelace born?", config={"callbacks": [callback]}))
    for record in callback.results:
        print(f"{record.status}: {record.sample.user_input}")
        contexts = record.sample.retrieved_contexts or []
        print(f"  {len(contexts)} contexts, first: {contexts[0]}")
        for score in record.scores.values():
            print(f"  {score}")
