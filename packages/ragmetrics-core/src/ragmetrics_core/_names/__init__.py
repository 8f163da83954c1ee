"""Metrics and models by name, as configurations and the command line write them: ``faithfulness``, ``openai:gpt-4o-mini``."""
