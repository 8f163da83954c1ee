"""What the bridges to Haystack's generators and embedders have in common: what a component is, and getting it ready.

Strategy. Haystack's components keep the parameters of their constructor under the same names, which is how Haystack saves them.
So the parameters are the settings. ``to_dict`` would say the same, but it refuses a component whose key was given as a text. A
component that does not keep its parameters, or that has a setting which is no JSON value (a callable, an object), cannot say
what it is; its answers are then never replayed in another run.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Mapping
from typing import Any, TypeVar

from ragmetrics_core.adapters import Bridge, Explained

Q = TypeVar("Q")
A = TypeVar("A")
C = TypeVar("C", bound="Component[Any, Any]")

OPERATIONAL = re.compile(
    r"client|(?:async_)?http_client|http_client_kwargs|batch_size|max_retries|progress_bar|streaming_callback|timeout"
)
"""Settings that decide how a component is called, not what it answers."""


class Component(Bridge[Q, A]):
    """A bridge to a component of Haystack, which is warmed up before it is called.

    What is called without the retries is a copy of the component as it is then: its clients are made when it is warmed up, one for
    synchronous and one for asynchronous calls, and may be closed and made anew.
    """

    _provider = "haystack"

    def __init__(self, component: Any, **settings: Any) -> None:
        super().__init__(component, **settings)
        self._lock = threading.Lock()
        self._is_warm = False

    def _has_async(self, model: Any) -> bool:
        return hasattr(model, "run_async")

    def _ready(self, model: Any) -> Any:
        failure = Explained(self._name(model), self._secrets(model), fatal=True)
        with self._lock, failure:
            if not self._is_warm:
                call_if_any(model, "warm_up")
                self._is_warm = True
            return self._called(model)
        raise failure.problem

    async def _ready_async(self, model: Any) -> Any:
        if not hasattr(model, "warm_up_async"):
            return self._ready(model)
        failure = Explained(self._name(model), self._secrets(model), fatal=True)
        with failure:
            await model.warm_up_async()
            with self._lock:
                return self._called(model)
        raise failure.problem

    def _called(self, model: Any) -> Any:
        return self._stand_in.of(model, *(getattr(model, name, None) for name in ("client", "async_client")))

    def _settings(self, model: Any) -> Mapping[str, Any] | None:
        parameters = list(inspect.signature(type(model).__init__).parameters.values())[1:]
        named = [item.name for item in parameters if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)]
        if not all(hasattr(model, name) for name in named):
            return None
        settings = {name: getattr(model, name) for name in named if not OPERATIONAL.fullmatch(name)}
        connection = getattr(model, "http_client_kwargs", None)
        if "http_client_kwargs" in named and isinstance(connection, Mapping) and connection.get("headers"):
            settings["http_client_headers"] = connection["headers"]
        return {"settings": settings}

    def __copy__(self: C) -> C:
        other = super().__copy__()
        other._is_warm = False
        return other


def call_if_any(component: Any, method: str) -> None:
    """Call a method of the component's life cycle, ``warm_up`` or ``close``, if it has one."""
    if hasattr(component, method):
        getattr(component, method)()


async def call_async_if_any(component: Any, method: str) -> None:
    """The same on the running loop, by the component's asynchronous method if it has one."""
    if hasattr(component, f"{method}_async"):
        await getattr(component, f"{method}_async")()
    else:
        call_if_any(component, method)
