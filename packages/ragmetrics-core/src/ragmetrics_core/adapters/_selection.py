"""Which calls of an application are judged by which metrics: a random share of them, and no more than the budget allows."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._values._errors import InvalidInput, RagmetricsError
from .._values._sample import session_of
from ._background import settled

if TYPE_CHECKING:
    from .._engine._budget import Budget
    from .._kernel._drive import Models
    from .._values._sample import Sample

WINDOWS = {"hour": 3600.0, "day": 86400.0}


class NotAsked(RagmetricsError):
    """A metric was not asked about a call that others judge."""


class Sampling:
    """A random share of the calls for each metric. All calls of a session are judged, or none, also by several processes.

    Args:
        rate: the share, 0 to 1; or the shares of metrics by name (1 for those without).
        seed: makes the choice repeatable.
        names: the names of the metrics.

    Raises:
        InvalidInput: a share is impossible, or a name is not the name of a metric.
    """

    def __init__(self, rate: float | Mapping[str, float], seed: int | None, names: Iterable[str]) -> None:
        given = rate if isinstance(rate, Mapping) else {"": rate}
        for name, share in given.items():
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                of = f" of {name}" if name else ""
                raise InvalidInput(f"sample_rate{of} is a share from 0 to 1, got {share!r}")
        if isinstance(rate, Mapping) and (unknown := [name for name in rate if name not in names]):
            raise InvalidInput(f"sample_rate names {unknown[0]!r}, but the metrics are {', '.join(names)}")
        self._rates = {name: given.get(name, given.get("", 1.0)) for name in names}
        self._most = max(self._rates.values(), default=given.get("", 1.0))
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311  no secret depends on it

    def draw(self, about: Mapping[str, Any]) -> float | None:
        """Return a number from 0 to 1 that says which metrics judge a call; None if none does.

        Args:
            about: its metadata, which may name its session.
        """
        session = session_of(about)
        # an id that cannot be written as text counts as missing, and must not disturb the application
        text = None if session is None else settled(lambda: f"{self._seed} {session[1]}")
        if text is None or text.exception() is not None:
            number = self._random.random()
        else:
            digest = hashlib.sha256(text.result().encode("utf-8", "surrogatepass")).digest()
            number = int.from_bytes(digest[:6], "big") / 2**48
        return number if number < self._most else None

    def includes(self, name: str, draw: float) -> bool:
        """Whether a metric judges the call with this number."""
        return draw < self._rates.get(name, 1.0)


class RollingBudget:
    """Limits on what the judging costs in an hour and in a day. An hour begins when the one before it has ended.

    Args:
        limits: by ``hour`` and ``day`` the limits of a ``Budget``, such as ``{"hour": {"calls": 500}}``.
        models: the models that are asked.

    Attributes:
        used_up: a sentence that names the limit that stopped a call or an evaluation; None as long as none was stopped.

    Raises:
        InvalidInput: a limit is impossible, or it is in dollars and the price of a model is not known.
        MissingExtra: a limit is in dollars, and the table of prices is not installed.
    """

    def __init__(self, limits: Mapping[str, Mapping[str, float]], models: Iterable[Models]) -> None:
        self.used_up: str | None = None
        models = list(models)
        if not isinstance(limits, Mapping) or not limits or limits.keys() - WINDOWS:
            raise InvalidInput(
                f'budget is a mapping such as {{"hour": {{"calls": 500}}, "day": {{"dollars": 5}}}}, got {limits!r}'
            )
        self._budgets = {name: _budget_of(limits[name], models) for name in limits}
        self._ends = {name: time.monotonic() + WINDOWS[name] for name in limits}
        self._lock = threading.Lock()

    def _current(self) -> dict[str, Budget]:
        now = time.monotonic()
        with self._lock:
            for name in [name for name, end in self._ends.items() if end <= now]:
                self._ends[name] = now + WINDOWS[name]
                self._budgets[name].used = dict.fromkeys(self._budgets[name].limits, 0)
        return self._budgets

    def allows(self) -> bool:
        """Whether one more call may be made. If not, ``used_up`` says why."""
        for name, budget in self._current().items():
            if not budget.allows():
                self.used_up = f"{budget.used_up} for this {name}"
                return False
        return True

    def take(self) -> bool:
        """Count one more call; return False if the budget does not allow it."""
        is_allowed = self.allows()
        for budget in self._current().values() if is_allowed else ():
            budget.take()
        return is_allowed

    def spend(self, *call: Any) -> None:
        """Add the tokens and dollars of a call to the amounts used."""
        for budget in self._current().values():
            budget.spend(*call)


def _budget_of(limits: Mapping[str, float], models: Iterable[Models]) -> Budget:
    from .._store._prices import budget_of  # noqa: PLC0415  loads asyncio

    return budget_of(limits, models)


def row_digest(sample: Sample, inputs: Iterable[str]) -> str:
    """Return the digest of these fields or columns of a call. Only values that are equal to the letter have the same one."""
    from .._store._records import json_value  # noqa: PLC0415  loads asyncio
    from .._store._run_settings import digest_of  # noqa: PLC0415  the same

    return digest_of(json.dumps({name: json_value(sample.get(name)) for name in inputs}, sort_keys=True))
