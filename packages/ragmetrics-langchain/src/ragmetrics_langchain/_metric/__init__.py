"""A metric as what LangChain's world calls: a Runnable, an evaluator of LangSmith, an evaluator of openevals."""
