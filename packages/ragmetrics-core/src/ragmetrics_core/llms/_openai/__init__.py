"""``OpenAILLM``: the OpenAI protocol through the ``openai`` package, with all kinds of its clients."""
