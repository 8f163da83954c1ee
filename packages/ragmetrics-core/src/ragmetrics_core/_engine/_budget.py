"""What a run may spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._model_traits import ModelTraits
from .._kernel._requests import Ask, Compare, Embed, Usage
from .._kernel._steps import Outcome
from .._support._tokens import tokens_in

KINDS = ("calls", "tokens", "dollars")

EXAMPLE = 'write budget={"calls": 1000}, budget={"tokens": 1_000_000} or budget={"dollars": 5}'

Price = Callable[[Any, Usage], float]
"""What this usage of a model costs, in US dollars."""


class Budget:
    """The most calls that a run may make, and the tokens or dollars after which it makes no more.

    A call is counted when it is made, so that there are never more than allowed; what it costs in tokens is known when it is
    answered, so the calls in flight at the end may cost more than was left. Where a server reports no tokens, they are estimated
    from the texts that were sent and answered.

    Args:
        limits: by ``calls``, ``tokens`` (prompt and completion) and ``dollars``; a kind that is not named has none.
        price: tells dollars; needed where they are limited.

    Attributes:
        limits: the same.
        used: by kind that is limited, what was spent so far.
        used_up: which limit was met by a call that was wanted, in words; None until then.
        estimated: by the name of each model that reports no tokens, how many were estimated for it.

    Raises:
        InvalidInput: a limit has another name, or is no positive number, of calls and tokens a whole one.
    """

    def __init__(self, limits: Mapping[str, float] | None, price: Price | None = None) -> None:
        self.limits = dict(limits) if isinstance(limits, Mapping) else {}
        if limits is not None and not self.limits:
            raise InvalidInput(f"budget must be a mapping, got {limits!r}: {EXAMPLE}")
        for kind, most in self.limits.items():
            if kind not in KINDS:
                raise InvalidInput(f"budget has no limit of {kind!r}: {EXAMPLE}")
            _check(kind, most)
        self._price = price
        self.used: dict[str, float] = dict.fromkeys(self.limits, 0)
        self.used_up: str | None = None
        self.estimated: dict[str, int] = {}

    @property
    def over(self) -> str | None:
        """The kind of which nothing is left."""
        return next((kind for kind, most in self.limits.items() if self.used[kind] >= most), None)

    def take(self) -> bool:
        """Count one more call; False where it may not be made."""
        if not self.limits:
            return True
        kind = self.over
        if kind is not None:
            how = f" (estimated: {', '.join(self.estimated)} reports no tokens)" if self._is_estimated(kind) else ""
            self.used_up = f"the budget of {self.limits[kind]} {kind} is used up{how}"
            return False
        if "calls" in self.used:
            self.used["calls"] += 1
        return True

    def _is_estimated(self, kind: str) -> bool:
        return kind != "calls" and bool(self.estimated)

    @property
    def caveats(self) -> list[str]:
        """What must be known of a budget that rests on estimates."""
        return [
            f"{name} reports no tokens: for the budget {tokens:,} were estimated from the texts"
            for name, tokens in self.estimated.items()
        ]

    def spend(self, outcome: Outcome, traits: ModelTraits, asked: Any, model: Any = None) -> None:
        """Book what a call to a model has cost, besides being a call; ``asked`` is what was sent."""
        if not self.limits:
            return
        usage = self.counted(outcome, traits, asked)
        if usage is not outcome.usage:
            tokens = usage.prompt_tokens + usage.completion_tokens
            self.estimated[traits.called] = self.estimated.get(traits.called, 0) + tokens
        for kind, amount in self.cost(usage, model).items():
            if kind != "calls":
                self.used[kind] += amount

    def counted(self, outcome: Outcome, traits: ModelTraits, asked: Any) -> Usage:
        """What a call has cost, with tokens estimated where a model that is paid for them reports none."""
        usage = outcome.usage or Usage()
        told = usage.prompt_tokens or usage.calls <= usage.cached_calls
        if told or self.limits.keys() <= {"calls"} or not _is_paid(traits, asked):
            return usage
        answer = getattr(outcome, "value", None)
        written = usage.completion_tokens or (tokens_in(answer) if isinstance(answer, str) else 0.0)
        return replace(usage, prompt_tokens=round(sum(map(tokens_in, _sent(asked)))), completion_tokens=round(written))

    def cost(self, usage: Usage, model: Any = None) -> dict[str, float]:
        """What this usage of a model costs, by kind that is limited."""
        costs: dict[str, float] = {}
        for kind in self.limits:
            if kind == "calls":
                costs[kind] = usage.calls - usage.cached_calls
            elif kind == "tokens":
                costs[kind] = usage.prompt_tokens + usage.completion_tokens
            else:
                paid = usage.prompt_tokens or usage.completion_tokens
                costs[kind] = self._price(model, usage) if paid and self._price is not None else 0.0
        return costs


def _is_paid(traits: ModelTraits, asked: Any) -> bool:
    """Whether tokens cost something: an embedding model that does not say where its server is may compute on this machine."""
    return not traits.instant and (isinstance(asked, Ask) or bool(traits.settings.get("base_url")))


def _sent(asked: Any) -> Iterator[str]:
    """The texts of a request, or of several that were sent as one."""
    if isinstance(asked, str):
        yield asked
        return
    parts: Any = asked
    if isinstance(asked, Ask):
        parts = [message.content for message in asked.messages]
    elif isinstance(asked, Embed | Compare):
        parts = asked.texts if isinstance(asked, Embed) else asked.pairs
    for part in parts:
        yield from _sent(part)


def _check(kind: str, most: Any) -> None:
    if kind == "dollars":
        if isinstance(most, bool) or not isinstance(most, int | float) or not 0 < most < float("inf"):
            raise InvalidInput(f"budget: dollars must be a positive number, got {most!r}")
    elif isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(f"budget: {kind} must be a whole number from 1, got {most!r}")
