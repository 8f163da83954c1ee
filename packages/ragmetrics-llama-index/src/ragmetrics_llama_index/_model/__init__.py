"""LlamaIndex's models as the core's."""
