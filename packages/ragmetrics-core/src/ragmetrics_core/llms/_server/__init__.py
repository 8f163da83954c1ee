"""``OpenAIServerLLM``: the OpenAI protocol through a lean client, for servers that are called very often."""
