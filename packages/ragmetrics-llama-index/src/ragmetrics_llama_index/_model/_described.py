"""What the bridges to LlamaIndex's LLMs and embedding models have in common: what a model is, and which failures are its own.

Strategy. The settings of a model are its own pydantic fields. One that names itself no further than "unknown", or that holds a
setting that is no JSON value (a callable, an object), cannot say what it is; its replies are then never replayed.

LlamaIndex passes on whatever the client library of a model raises, so besides what carries an HTTP status or tells of a lost
connection, any class that an installed library defines stands for a failure. Everything else, from ``TypeError`` to an exception
of the user's own code, is a bug or a wrong setting and propagates as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from llama_index.core import Settings

from ragmetrics_core import ModelError
from ragmetrics_core.adapters import Bridge, declared_settings, is_of_a_client, secret_texts

Q = TypeVar("Q")
A = TypeVar("A")

NO_CLIENTS = frozenset({"llama_index", "pydantic", "pydantic_core", "_pytest", "pytest"})

OPERATIONAL = re.compile(
    r"(?:embed_)?batch_size|callback_manager|embeddings_cache|(?:async_)?http_client|max_retries|num_workers|rate_limiter"
    r"|reuse_client|show_progress|(?:request_)?timeout|verbose"
)
"""Settings that decide how a model is called, not what it answers."""


class Described(Bridge[Q, A]):
    """A bridge to a model of LlamaIndex, or to that of its ``Settings``, looked up at every call, so that it may be set later."""

    _provider = "llama_index"
    _is_bug = staticmethod(lambda error: not is_of_a_client(error, NO_CLIENTS))
    _setting: ClassVar[str]
    _what: ClassVar[str]

    @property
    def _model(self) -> Any:
        if self._given is not None:
            return self._given
        try:
            return getattr(Settings, self._setting)
        except (ImportError, ValueError) as error:
            problem = (str(error).strip().strip("*").strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"no {self._what} is set: give {self._setting}=... or set llama_index.core.Settings.{self._setting} "
            f"(its default cannot be loaded: {problem})",
            fatal=True,
        )

    def _stated_name(self, model: Any) -> str:
        return str(model.model_name)

    def _name(self, model: Any) -> str:
        return self._stated_name(model)

    def _secrets(self, model: Any) -> tuple[str, ...]:
        return secret_texts(declared_settings(model))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        name = self._stated_name(model)
        if not name or name == "unknown":
            return None
        telling = {key: value for key, value in declared_settings(model).items() if not OPERATIONAL.fullmatch(key)}
        return {"model": name, "settings": telling}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()" if self._given is None else super().__repr__()
