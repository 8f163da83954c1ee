"""What a session came to, as properties in JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ._session import Outcome

__all__ = ["add_properties"]


def add_properties(config: pytest.Config, outcome: Outcome) -> None:
    """Give the properties to whoever writes such a report: pytest's own plugin, where ``--junit-xml`` is given."""
    for plugin in config.pluginmanager.get_plugins():
        add = getattr(plugin, "add_global_property", None)
        if callable(add):
            for name, value in _properties(outcome):
                add(name, value)


def _properties(outcome: Outcome) -> Iterator[tuple[str, str]]:
    yield "ragmetrics.run_dir", str(outcome.run_dir)
    for item in outcome.evaluation.summary().metrics if outcome.evaluation else ():
        name = f"ragmetrics.{item.name}"
        yield f"{name}.rows", f"{item.scored} of {item.rows}"
        if item.mean is not None:
            yield f"{name}.mean", f"{item.mean:.6g}"
        if item.interval is not None:
            yield f"{name}.interval", f"{item.interval.low:.6g} to {item.interval.high:.6g}"
    for decision in outcome.decisions:
        for result in decision.results:
            yield f"ragmetrics.gate: {result.name}", result.verdict
