"""LangChain's models as the core's."""
