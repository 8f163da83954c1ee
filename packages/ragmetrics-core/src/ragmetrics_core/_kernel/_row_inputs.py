"""One row as its metrics read it: what several of them name is read and checked once.

Documents above all: rankings are scored by the ten thousand a second, with several metrics that all take the same documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ._inputs import SILENCE, Input
from ._sample import Documents, Sample
from ._score import Score
from ._texts import Texts

READ_ONCE = frozenset({str, list, Documents})
"""Types of values that are the same for all metrics of a row."""


class Reading:
    """One row as its metrics read it. It lives while the row is scored, so that a sample changed afterwards is read anew.

    Args:
        sample: what the row holds.
    """

    __slots__ = ("_bound", "_found", "_inputs", "_read", "_sample", "_shared")

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._inputs: tuple[Input, ...] | None = None
        self._shared: Mapping[str, Any] = {}
        # by the ids of inputs, which are held, so that they stay theirs
        self._bound: dict[int, tuple[tuple[Input, ...], dict[str, Any]]] = {}
        self._read: dict[int, tuple[Input, Any]] = {}
        self._found: dict[Hashable, Any] = {}

    def bound(self, metric: str, inputs: tuple[Input, ...]) -> Mapping[str, Any] | Score:
        """The arguments for the ``measure`` of a metric with these inputs; ``metric`` is its name, for messages.

        Or the unscored score, where the system retrieved or answered nothing.

        Raises:
            MissingInput: see ``Input.read``.
            InvalidInput: see ``Input.read``.
        """
        if inputs is self._inputs:  # signatures that name the same inputs share one tuple
            return self._shared
        known = self._bound.get(id(inputs))
        if known is not None:
            return self._own(known[1])
        bound: dict[str, Any] = {}
        silent: list[Score] = []
        shareable = True
        for item in inputs:
            known_value = self._read.get(id(item))
            if known_value is None:
                value = item.read(metric, self._sample)
                if type(value) in READ_ONCE:
                    self._read[id(item)] = (item, value)
            else:
                value = known_value[1]
            if value is None and not item.required:
                continue  # left to the default in the signature
            if type(value) is Score:
                silent.append(value)
            bound[item.name] = value
            shareable = shareable and type(value) is Documents
        if silent:
            return min(silent, key=lambda score: list(SILENCE.values()).index(score.label or ""))
        if shareable:
            self._inputs, self._shared = inputs, bound
        elif READ_ONCE.issuperset(map(type, bound.values())):
            self._bound[id(inputs)] = (inputs, bound)
            return self._own(bound)
        return bound if shareable else self._own(bound)

    def _own(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments for one metric; of a list a copy, which it may change as it likes."""
        found = self._found
        return {name: Texts.of(value, found) if type(value) is list else value for name, value in bound.items()}
