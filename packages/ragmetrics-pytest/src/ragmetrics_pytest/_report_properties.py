"""What a session came to, as properties in JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ._outcome import Outcome


def add_properties(config: pytest.Config, outcome: Outcome) -> None:
    """Give the properties to whoever writes such a report: pytest's own plugin, where ``--junit-xml`` is given."""
    for plugin in config.pluginmanager.get_plugins():
        add = getattr(plugin, "add_global_property", None)
        if callable(add):
            for name, value in _properties(outcome):
                add(name, value)


def _properties(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "ragmetrics.run_dir", str(outcome.run_dir)
    for item in outcome.evaluation.summary().metrics if outcome.evaluation is not None else ():
        name = f"ragmetrics.{item.name}"
        yield f"{name}.rows", f"{item.scored} of {item.rows}"
        if item.mean is not None:
            yield f"{name}.mean", f"{item.mean:.6g}"
        if item.interval is not None:
            yield f"{name}.interval", f"{item.interval.low:.6g} to {item.interval.high:.6g}"
    for result in outcome.decision.results if outcome.decision is not None else ():
        yield f"ragmetrics.gate: {result.name}", result.verdict
    compared = (*outcome.comparison.metrics, *outcome.comparison.slices) if outcome.comparison is not None else ()
    for part in compared:
        where = part.name if part.slice is None else f"{part.name}, {part.slice}"
        yield f"ragmetrics.compared: {where}", part.verdict
