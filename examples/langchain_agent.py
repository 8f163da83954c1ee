"""A LangGraph agent that searches with a tool: the documents come from the retriever inside the tool.

Needs ``pip install langchain langchain-openai numpy``, and ``OPENAI_API_KEY`` (or ``OPENAI_BASE_URL`` of any compatible server).

Prints:

    Ada Lovelace was born in London.
    ['Ada Lovelace was born in London in 1815.', 'Ada Lovelace wrote notes on a machine.']
    faithfulness: 1
"""

from langchain.agents import create_agent
from langchain_callback import model, retriever
from langchain_core.messages import HumanMessage
from langchain_core.tools import create_retriever_tool

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import RagEvaluationCallback

search = create_retriever_tool(retriever, "search", "Searches the library of biographies.")
agent = create_agent(model, [search])

with RagEvaluationCallback([Faithfulness()], llm=model) as callback:
    question = HumanMessage("Where was Ada Lovelace born?")
    state = agent.invoke({"messages": [question]}, config={"callbacks": [callback]})
print(state["messages"][-1].text)

(record,) = callback.results
print(record.sample.retrieved_contexts)
print(record.scores["faithfulness"])
