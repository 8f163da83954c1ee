"""What a run may spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._requests import Usage

__all__ = ["Budget"]

KINDS = ("calls", "tokens")


class Budget:
    """The most calls that a run may make, and the tokens after which it makes no more.

    A call is counted when it is made, so that there are never more than allowed; what it costs in tokens is known when it is
    answered, so the calls in flight at the end may cost more than was left.

    Args:
        limits: by ``calls`` and ``tokens`` (prompt and completion); a kind that is not named has none.

    Raises:
        InvalidInput: a limit has another name, or is not a whole number from 1.
    """

    def __init__(self, limits: Mapping[str, int] | None) -> None:
        self._limits = dict(limits) if isinstance(limits, Mapping) else {}
        example = 'write budget={"calls": 1000} or budget={"tokens": 1_000_000}'
        if limits is not None and not self._limits:
            raise InvalidInput(f"budget must be a mapping, got {limits!r}: {example}")
        for kind, most in self._limits.items():
            if kind not in KINDS:
                raise InvalidInput(f"budget has no limit of {kind!r}: {example}")
            _check(kind, most)
        self._used: dict[str, int] = dict.fromkeys(KINDS, 0)
        self.used_up: str | None = None

    def take(self) -> bool:
        """Count one more call; False where it may not be made."""
        for kind, most in self._limits.items():
            if self._used[kind] >= most:
                self.used_up = f"the budget of {most} {kind} is used up"
                return False
        self._used["calls"] += 1
        return True

    def spend(self, usage: Usage) -> None:
        """Book what a call has cost."""
        self._used["tokens"] += usage.prompt_tokens + usage.completion_tokens


def _check(kind: str, most: Any) -> None:
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(f"budget: {kind} must be a whole number from 1, got {most!r}")
