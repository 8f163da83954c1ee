"""The list of built-in metrics. It is read from the classes; ``ragmetrics metrics`` and the page of metrics are written from it."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields

from ragmetrics_core import Input, Metric


@dataclass(frozen=True)
class Entry:
    """One metric of the catalogue.

    Attributes:
        name: the name of the metric, as ``--metrics`` takes it.
        cls: its class.
        summary: the first sentence of its documentation.
        inputs: the sample fields that it takes.
        scale: lowest and highest value; None if each score states its own scale.
        calls: model calls per sample, in words (n = retrieved contexts).
        source: the source of its definition.
        settings: the names of its settings.
    """

    name: str
    cls: type[Metric]
    summary: str
    inputs: tuple[Input, ...]
    scale: tuple[float, float] | None
    calls: str
    source: str
    settings: tuple[str, ...]


def catalogue() -> list[Entry]:
    """Return every built-in metric, sorted by name."""
    from ragmetrics_core import metrics  # noqa: PLC0415  this module is part of that package

    classes = [getattr(metrics, name) for name in metrics.__all__]
    entries = [entry(cls) for cls in classes if isinstance(cls, type) and issubclass(cls, Metric)]
    return sorted(entries, key=lambda item: item.name)


def entry(cls: type[Metric]) -> Entry:
    """Make the entry of one metric from its class and its docstring."""
    text = inspect.getdoc(cls) or ""
    source = re.search(r"^Source: (.*?)\Z", text, re.DOTALL | re.MULTILINE)
    settings = tuple(item.name for item in fields(cls) if item.compare and item.name != "name")
    return Entry(
        name=cls.default_name(),
        cls=cls,
        summary=" ".join(text.split("\n\n")[0].split()),
        inputs=cls.declared_inputs(),
        scale=cls.scale,
        calls=cls.calls,
        source=" ".join(source[1].split()) if source else "",
        settings=settings,
    )
