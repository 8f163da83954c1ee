"""Question, answer, contexts and references in the values that LangChain programs take and return."""
