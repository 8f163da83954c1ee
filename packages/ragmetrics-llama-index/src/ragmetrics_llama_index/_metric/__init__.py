"""Any metric of the core as an evaluator of LlamaIndex."""
