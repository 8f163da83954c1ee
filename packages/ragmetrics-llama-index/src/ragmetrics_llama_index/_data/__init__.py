"""Responses, data sets, test sets and retrieval metrics of LlamaIndex."""
