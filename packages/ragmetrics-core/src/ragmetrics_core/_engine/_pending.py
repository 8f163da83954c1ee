"""A call that a program waits for, and what makes two calls the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._kernel._drive import Call
from .._kernel._requests import Ask, Reply, Request

if TYPE_CHECKING:
    from ._route import Route

__all__ = ["Key", "PendingCall", "RowMemory"]


class Key:
    """What makes two calls the same: model, request, repeat. Hashed once: a call is looked up many times."""

    __slots__ = ("_hash", "_parts", "repeat")

    def __init__(self, model: Any, request: Request, repeat: int) -> None:
        # a text has one vector, however often it is asked for
        self.repeat = repeat if isinstance(request, Ask) else 0
        self._parts = (id(model), self.repeat, request)
        self._hash = hash(self._parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._parts == other._parts


RowMemory = dict[Key, Reply[Any]]
"""The replies that one row has had so far."""


class PendingCall:
    """A request, resolved to the model that answers it.

    Attributes:
        route: all that leads to that model.
        call: the model's own function with its argument.
        make: makes such a call of another request, as a batch needs.
        request: the request.
        key: what makes it the same as another one.
        digest: its key in the store of replies; None until it is needed.
        looked_up: how many replies this run had kept there when it was last looked up; -1: never.
        tried_in_place: whether it was made in place, and lost.
    """

    __slots__ = ("call", "digest", "key", "looked_up", "make", "request", "route", "tried_in_place")

    def __init__(
        self, route: Route, call: Call, make: Callable[[Request], Call], request: Request, repeat: int
    ) -> None:
        self.route = route
        self.call = call
        self.make = make
        self.request = request
        self.key = Key(route.model, request, repeat)
        self.digest: bytes | None = None
        self.looked_up = -1
        self.tried_in_place = False
