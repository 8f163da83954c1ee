"""Recorded exchanges: for every metric that asks an LLM, what it asks, what is answered, and the score worked out by hand.

Each is with the tests of its metric, as ``EXCHANGES``, and is found there. Code that talks to a model on behalf of a metric
is held to these: the core's drivers, a real client against a loopback server, every adapter.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from recording import CONTEXTS, QUESTION, RESPONSE, VECTORS, Exchange, prompts_of, versions_of, with_own_words

__all__ = [
    "CONTEXTS",
    "EXCHANGES",
    "QUESTION",
    "RESPONSE",
    "VECTORS",
    "WITH_EMBEDDINGS",
    "Exchange",
    "prompts_of",
    "versions_of",
    "with_own_words",
]

FOLDER = Path(__file__).parent / "core" / "metrics"


def recorded() -> list[Exchange]:
    """All recorded exchanges, by the names of the files that they stand in."""
    found: list[Exchange] = []
    for path in sorted(FOLDER.glob("test_*.py")):
        if "\nEXCHANGES = " in path.read_text(encoding="utf-8"):
            found += importlib.import_module(f"core.metrics.{path.stem}").EXCHANGES
    return found


EXCHANGES = [exchange for exchange in recorded() if not exchange.embedding_requests]
(WITH_EMBEDDINGS,) = (exchange for exchange in recorded() if exchange.embedding_requests)
"""The one that asks an embedding model as well."""
