"""What all models share that are called by the protocol of their provider."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from ..._support._providers import Rung
from ..._support._secrets import conceal, mask, without_secrets
from ..._values._errors import BadReply, InvalidInput, ModelError
from ..._values._requests import Ask, Reply, Usage, counted
from .._wire._attempts import (
    SET_ELSEWHERE,
    Attempts,
    Exchange,
    Ladder,
    asked,
    chat_parameters,
    field_of,
    schema_of,
)
from .._wire._connections import check_model, hashed, is_of_this_machine, shown
from .._wire._failures import Failures, refused_in_body
from .._wire._package_model import PackageModel
from ._clients import NativeClients, Service

SETTINGS = ("base_url", "api_key", "timeout", "max_retries", "key_variable", "structured", "temperature")

EMPTY = "(empty)"
"""What is sent for a message without text, which the providers refuse. An empty message is a bad reply that is asked for again."""


class NativeModel(PackageModel):
    """A model that is called by the protocol of its provider.

    Attributes:
        service: the provider.
        known: the parameters of its protocol that a user may set.
        set_elsewhere: those that a user may not set, and why.
        structured: the highest form of replies that is asked for.
        parameters: the parameters that are sent.
    """

    service: ClassVar[Service]
    known: ClassVar[tuple[str, ...]]
    set_elsewhere: ClassVar[Mapping[str, str]]

    def _set(self, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        """Check and keep the arguments of a constructor. ``defaults``: parameters that are always sent."""
        parameters: Mapping[str, Any] = given["parameters"]
        check_model(given["model"])
        self._check_names(parameters)
        structured: Rung = given["structured"]
        more = chat_parameters(structured, given["temperature"], parameters, self.set_elsewhere)
        forms = self.service.provider.forms
        if structured not in forms:
            raise InvalidInput(
                f"structured must be {' or '.join(forms)}: {self.service.name} does not take {structured!r}"
            )
        self.model, self.structured, self.parameters = given["model"], structured, {**defaults, **more}
        self._clients = NativeClients(self.service, given)
        self._ladder = Ladder(structured)

    def _check_names(self, parameters: Iterable[str]) -> None:
        for name in parameters:
            if name not in {*self.known, *self.set_elsewhere, *SET_ELSEWHERE}:
                near = difflib.get_close_matches(name, [*self.known, *SETTINGS], 1)
                hint = f": did you mean {near[0]!r}?" if near else "."
                raise InvalidInput(
                    f"{name} is not a known parameter of {self.service.name}{hint} Newer ones go into "
                    f"extra_body={{{name!r}: ...}}"
                )

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply. A secret is included at most as a hash."""
        parameters = hashed(self.parameters, self._clients.secrets)
        known = {"provider": self.service.extra, "model": self.model, "base_url": self._clients.base_url}
        return {**known, "structured": self.structured, "parameters": parameters}

    @property
    def on_this_machine(self) -> bool:
        """Whether the server runs on this machine, so that a refused connection is final at once."""
        return is_of_this_machine(self._clients.base_url)

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with all tokens that were sent, whether or not a cache had them.

        Raises:
            ModelError: there is no key, no connection, no such model, no quota left or no answer in time, or the answer does not
                follow the protocol.
            BadReply: the model refused to answer, a filter stopped it, or its answer has no text.
            InvalidInput: a message cannot be sent as UTF-8.
        """
        return self._run(self._exchange(ask))

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop. Usage and errors are the same as for ``generate``."""
        return await self._run_async(self._exchange(ask))

    def _exchange(self, ask: Ask) -> Exchange[Reply[str]]:
        """Ask one question, in a lower form of reply if the model refuses the one before."""
        sent, schema, attempts = self._sent(ask), schema_of(ask) or {}, Attempts(self._ladder, ask)
        return (
            yield from asked(
                attempts,
                lambda: self._in_form(sent, attempts.rung, schema),
                lambda answer: self._read(answer, attempts.answered),
            )
        )

    def _sent(self, ask: Ask) -> dict[str, Any]:
        """Return what is sent for a question in any form of reply."""
        raise NotImplementedError

    def _in_form(self, sent: dict[str, Any], rung: Rung, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is sent, with what asks for a form of reply."""
        raise NotImplementedError

    def _read(self, answer: Any, answered: Callable[[], None]) -> Reply[str]:
        """Read an answer. ``answered`` is called as soon as it is known to follow the protocol.

        Raises:
            ModelError: it does not follow the protocol, or contains an error.
            BadReply: it has no text, or is no reply; ``usage`` is what it cost.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._repr(shown(self.parameters, self._clients.secrets))


def total(usage: Any, *names: str) -> int:
    """Return the sum of counts of tokens; 0 (not known) if one of them cannot be."""
    counts = [count for name in names if (count := field_of(usage, name)) is not None]
    return counted(sum(counts)) if all(counted(count) == count for count in counts) else 0


def no_answer(answer: Any, failures: Failures, what: str) -> ModelError:
    """Return the error for an answer that contains an error, or lacks ``what``."""
    error = field_of(answer, "error")
    refused = refused_in_body(error)
    return (
        failures.other_protocol(str(error or f"it holds no {what}")) if refused is None else failures.refused(refused)
    )


def reply_of(text: str, spent: Usage, failures: Failures, *, is_cut: bool, problem: str | None) -> Reply[str]:
    """Return the reply of a model.

    Args:
        text: its text.
        spent: what it cost.
        failures: the model.
        is_cut: whether its end may be missing.
        problem: why it is none, in words after the name of the model; None: it is one. A text is its reason.

    Raises:
        BadReply: it is none.
    """
    text = without_secrets(text, failures.place.secrets)  # some servers quote the request in their answers
    if problem is None:
        return Reply(text, spent, truncated=is_cut, searched=text)
    said = conceal(text, failures.place.secrets)
    error = BadReply(f"{failures.model} {problem}{': ' if text else ''}{mask(said, ())}", said)
    error.usage = spent  # a refusal costs tokens too
    raise error
