"""Test doubles for metrics, and suites that tell whether a model of your own keeps its side of the contract.

Importing this needs no pytest; running the suites does.
"""

from __future__ import annotations

from ._embeddings_contract import EmbeddingsContract
from ._llm_contract import LLMContract
from ._scripted import ScriptedEmbeddings, ScriptedLLM

__all__ = ["EmbeddingsContract", "LLMContract", "ScriptedEmbeddings", "ScriptedLLM"]
