"""What a model of LlamaIndex raises: which of it is a failure of the model.

Strategy. LlamaIndex passes on whatever the client library of a model raises, so besides what carries an HTTP status or tells of a
lost connection, any class that an installed library defines stands for a failure. Everything else, from ``TypeError`` to an
exception of the user's own code, is a bug or a wrong setting and propagates as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragmetrics_core.adapters import Explained, secret_texts

from ._identity import settings_of

__all__ = ["explained", "is_bug"]

NO_CLIENTS = frozenset({"llama_index", "pydantic", "pydantic_core", "_pytest", "pytest"})


def is_bug(error: Exception) -> bool:
    """Whether no installed library defines the exception, but for those that have nothing to do with a server."""
    name = type(error).__module__
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    installed = {"site-packages", "dist-packages"} & set(Path(file).parts)
    return not installed or name.partition(".")[0] in NO_CLIENTS


def explained(model: Any, name: str, is_bug: Callable[[Exception], bool] = is_bug) -> Explained:
    """A block in which this model may fail."""
    return Explained(name, secret_texts(settings_of(model)), is_bug=is_bug)
