"""Test doubles for models, and test suites that check a model of your own.

Importing this needs no pytest; running the suites does.
"""

from __future__ import annotations

from ._contracts import EmbeddingsContract, LLMContract
from ._scripted import ScriptedEmbeddings, ScriptedLLM
from ._store_contract import ReplyStoreContract

__all__ = ["EmbeddingsContract", "LLMContract", "ReplyStoreContract", "ScriptedEmbeddings", "ScriptedLLM"]
