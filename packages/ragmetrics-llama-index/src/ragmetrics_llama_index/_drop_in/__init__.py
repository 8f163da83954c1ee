"""Evaluators that replace LlamaIndex's own, under the same names."""
