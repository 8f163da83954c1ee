"""The calls that programs wait for: what makes two calls the same, and how programs that ask the same share one reply.

A key is hashed once, because a call is looked up many times. Prompts with equal words and reply formats have one number,
because a number is compared faster than all of a prompt's words. The program that made a call books its cost; others book a
cached call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from itertools import count
from typing import Any, overload

from .._kernel._drive import Call
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome
from .._values._requests import Ask, Message, Reply, Request, Usage

FIRST_ATTEMPT = 2
"""Messages of a question of a prompt; further attempts have more, and equal none that is not written out."""


class Key:
    """What makes two calls the same: model, request, repeat. Hashed once: a call is looked up many times.

    Args:
        model: the model that is asked.
        request: what it is asked.
        repeat: which repeat it is.
        known_as: what tells a question from others before it is written out; None: all that is sent does.

    Attributes:
        repeat: the same.
        digest: its key in the store of replies; None until it is needed.
        looked_up: how many replies this run had kept there when it was last looked up; -1: never.
    """

    __slots__ = ("_hash", "_parts", "digest", "looked_up", "repeat")

    def __init__(self, model: Any, request: Request, repeat: int, known_as: Hashable = None) -> None:
        # a text has one vector, however often it is asked for
        self.repeat = repeat if isinstance(request, Ask) else 0
        self._parts = (id(model), self.repeat, request if known_as is None else known_as)
        hashed: object = self._parts[2]
        if known_as is None and isinstance(request, Ask) and type(request.messages) is tuple and request.messages:
            last = request.messages[-1]
            if type(last) is Message:  # equal questions have equal last messages, and one is hashed faster than all
                hashed = (last.content, request.reply)
        self._hash = hash((id(model), self.repeat, hashed))
        self.digest: bytes | None = None
        self.looked_up = -1

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self._parts == other._parts


class PendingCall:
    """A request, resolved to the model that answers it.

    Attributes:
        model: the model.
        traits: what it says about itself.
        call: the model's own function with its argument.
        make: makes such a call of another request, as a batch needs.
        request: the request.
        key: what makes it the same as another one.
        tried_in_place: whether it was made in place, and lost.
        known: the reply as a second program gets it; None: it was not looked for, or is not there.
    """

    __slots__ = ("call", "key", "known", "make", "model", "request", "traits", "tried_in_place")

    def __init__(  # noqa: PLR0917  keywords cost time
        self,
        model: Any,
        traits: ModelTraits,
        call: Call,
        make: Callable[[Request], Call],
        request: Request,
        key: Key,
    ) -> None:
        self.model = model
        self.traits = traits
        self.call = call
        self.make = make
        self.request = request
        self.key = key
        self.tried_in_place = False
        self.known: Reply[Any] | None = None

    def again(self) -> PendingCall:
        """The same call, for another program that asks the same."""
        return PendingCall(self.model, self.traits, self.call, self.make, self.request, self.key)


class RowMemory(dict[Key, Reply[Any]]):
    """The replies that one row has had so far, each as a second program gets it; and what it has asked.

    Most metrics ask what another one has asked. Then nothing is written out, hashed or resolved again to find that out.

    Attributes:
        asked: the call for a question, by what equal ones have in common: model (which the call holds, so that its id stays its
            own), repeat, form of the prompt, texts.
        asked_by: for each program the metric that it is of, its requests, and as many of their calls as were answered.
    """

    __slots__ = ("_written", "asked", "asked_by")

    def __init__(self) -> None:
        super().__init__()
        self.asked_by: list[tuple[Any, list[Request], list[PendingCall]]] = []
        self.asked: dict[tuple[int, int, int, Hashable], PendingCall] = {}
        self._written = False

    def key(self, model: Any, request: Request, repeat: int, known_as: Hashable) -> Key:
        """The key of a call that need not be written out, unless a question came written out: that may equal any other."""
        if (
            known_as is None
            and not self._written
            and isinstance(request, Ask)
            and len(request.messages) == FIRST_ATTEMPT
        ):
            self._write_out()
        return Key(model, request, repeat, None if self._written else known_as)

    def _write_out(self) -> None:
        """Find what was asked, and what will be, by all that is sent."""
        self._written = True
        for pending in self.asked.values():
            reply = self.get(pending.key)
            if reply is not None:
                self[Key(pending.model, pending.request, pending.key.repeat)] = reply

    def asked_before(self, known_as: tuple[int, int, int, Hashable]) -> PendingCall | None:
        """The call for a question that was asked before."""
        same = self.asked.get(known_as)
        if same is None:
            return None
        if same.known is None:
            same.known = self.get(same.key)
        return same if same.known is not None else same.again()


SHARED = Usage(calls=1, cached_calls=1)
"""What an answer costs a program that only shares it."""


def to_share(outcome: Outcome) -> Outcome:
    """The outcome of a question, with a place for what the programs of a row make of it."""
    if isinstance(outcome, Reply):
        return outcome.booked(outcome.usage, {})
    return outcome


@overload
def as_shared(outcome: Reply[Any]) -> Reply[Any]: ...
@overload
def as_shared(outcome: Outcome) -> Outcome: ...
def as_shared(outcome: Outcome) -> Outcome:
    """The outcome for a program that did not pay for it."""
    if isinstance(outcome, Reply):
        return outcome.booked(SHARED, outcome.made)
    twin = copy(outcome)  # each program that raises an error writes on it what it had spent itself
    twin.usage = SHARED if outcome.usage else None
    return twin


MOST = 1000
"""Prompts that are held at a time: a metric may make one for each row, and they would fill the memory."""


class Forms:
    """The forms of the prompts of a run, by number, as a number is compared faster than all of a prompt's words."""

    def __init__(self) -> None:
        self._prompts: dict[int, tuple[int, Any]] = {}
        self._forms: dict[Hashable, int] = {}
        self._numbers = count()

    def number(self, prompt: Any) -> int:
        """The number of the form of a ``Prompt`` that writes out late; no other form has it, now or later."""
        known = self._prompts.get(id(prompt))
        if known is None:
            if len(self._prompts) >= MOST:
                self._prompts.clear()
                self._forms.clear()
            form = (prompt.system, prompt.reply, frozenset(prompt.numbered))
            number = self._forms.get(form)
            if number is None:
                number = self._forms[form] = next(self._numbers)
            # the entry holds the prompt, so that its id stays its own
            known = self._prompts[id(prompt)] = (number, prompt)
        return known[0]
