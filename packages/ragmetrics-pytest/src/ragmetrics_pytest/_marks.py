"""Read the ``ragmetrics`` markers while tests are collected, read the rows that they name, and make one test for each row.

Strategy. The markers of a test are merged, and the closest one wins: a class may name the rows and its methods the metrics. All
metrics of a session are scored in one run, in which each name stands for one metric. So if two tests use one name for different
metrics, that is an error here, before anything is paid for. Rows are read once, even if several markers name them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import InvalidInput, Metric, RagmetricsError, Sample, metrics_named, read_samples

from ._row import PARAM, RowParam, printable
from ._state import State

KNOWN = ("rows", "metrics", "llm", "embeddings", "columns")
LONGEST_ID = 60
SCORER = "ragmetrics_scorer"
"""The name of the fixture with which a test scores rows that it makes itself."""


@dataclass(frozen=True)
class Judged:
    """A metric with the models that a marker sets for it.

    Attributes:
        metric: the metric.
        llm: an LLM or its name; None: the LLM of the session.
        embeddings: an embedding model or its name; None: the embedding model of the session.
        test: the first test that named the metric.
    """

    metric: Metric
    llm: Any
    embeddings: Any
    test: str

    def difference_from(self, other: Judged) -> str:
        """Describe how this metric differs from another one; an empty text if they are the same."""
        if self.metric != other.metric:
            return f"{other.metric!r} there, {self.metric!r} here"
        for kind in ("llm", "embeddings"):
            if not _same_model(self._model(kind), other._model(kind)):
                return f"different {kind}"
        return ""

    def _model(self, kind: str) -> Any:
        own = getattr(self.metric, kind)
        return getattr(self, kind) if own is None else own


@dataclass
class Registry:
    """The metrics and rows that the markers of a session name.

    Attributes:
        metrics: the metrics by name.
        samples: for each set of rows that was read, the ``rows`` argument of the marker and its samples. The key is the path, or
            the identity of an object that is not a path, with the ``columns`` argument.
    """

    metrics: dict[str, Judged] = field(default_factory=dict)
    samples: dict[Any, tuple[object, list[Sample]]] = field(default_factory=dict)

    def add(self, given: Mapping[str, Any], test: str) -> tuple[str, ...]:
        """Add the metrics of a marker, and return their names.

        Raises:
            InvalidInput: the marker names no metric or an unknown one, or another test uses the same name for a different metric.
        """
        names = []
        for metric in _metrics(given.get("metrics")):
            judged = Judged(metric, given.get("llm"), given.get("embeddings"), test)
            first = self.metrics.setdefault(metric.name, judged)
            if difference := judged.difference_from(first):
                raise InvalidInput(
                    f"the metric {metric.name!r} differs from the one of that name in {first.test} ({difference}): rename "
                    f"one of them with {type(metric).__name__}(name=...)"
                )
            names.append(metric.name)
        if not names:
            raise InvalidInput(
                "no metric is named: write metrics=[...], as in @pytest.mark.ragmetrics(rows=..., metrics=[...])"
            )
        return tuple(dict.fromkeys(names))

    def read(self, rows: Any, columns: Any, folders: Sequence[Path]) -> list[Sample]:
        """Return the rows that a marker names. A relative path is looked for in ``folders``, the first one first."""
        if isinstance(rows, str | Path):
            rows = next((path for folder in folders if (path := folder / rows).exists()), folders[0] / rows)
        key = (rows if isinstance(rows, Path) else id(rows), repr(columns))
        if key not in self.samples:  # a generator can be read only once
            self.samples[key] = (rows, read_samples(rows, columns=columns))
        return self.samples[key][1]


def registry_of(state: State) -> Registry:
    """Return the registry of this process."""
    if state.registry is None:
        state.registry = Registry()
    return state.registry


def marked(node: pytest.Item | pytest.Function | Any) -> dict[str, Any]:
    """Merge the arguments of all ``ragmetrics`` markers of a test. If several markers give the same argument, the marker closest
    to the test wins.

    Raises:
        InvalidInput: a marker has an unknown or a positional argument, or two markers on the same function or module give the
            same argument, so that one value would be lost. On a class this is allowed, because a class also has the markers of
            its base classes.
    """
    merged: dict[str, Any] = {}
    for place, pairs in groupby(node.iter_markers_with_node("ragmetrics"), key=lambda pair: pair[0]):
        arguments: dict[str, Any] = {}
        for _, mark in pairs:
            unknown = [name for name in mark.kwargs if name not in KNOWN]
            if mark.args or unknown:
                what = repr(unknown[0]) if unknown else "a positional argument"
                raise InvalidInput(f"the marker ragmetrics takes {', '.join(KNOWN)}, got {what}")
            twice = [name for name in mark.kwargs if name in arguments]
            # A class has the markers of its base classes first, then its own, which may override them.
            if twice and not isinstance(place, pytest.Class):
                raise InvalidInput(
                    f"two markers in the same place give {twice[0]}=..., so one value would be lost: merge the markers"
                )
            arguments.update(mark.kwargs)
        merged = {**arguments, **merged}
    return merged


def parametrize_rows(metafunc: pytest.Metafunc, state: State) -> None:
    """Make one test for each row of a marked function.

    Raises:
        pytest.Collector.CollectError: the marker or a row cannot be read.
    """
    node = metafunc.definition
    try:
        given = marked(node)
        if "rows" not in given:  # the marker sets metrics and models for rows that the test makes
            _check_purpose(node, metafunc.fixturenames)
            return
        registry = registry_of(state)
        names = registry.add(given, node.nodeid)
        folders = (node.path.parent, metafunc.config.rootpath)
        samples = registry.read(given["rows"], given.get("columns"), folders)
        if not samples:
            raise InvalidInput("there are no rows")
    except RagmetricsError as error:
        raise pytest.Collector.CollectError(printable(f"{node.nodeid}: {error}")) from None
    if PARAM not in metafunc.fixturenames:
        metafunc.fixturenames.append(PARAM)
    rows = [RowParam(sample, key_of(sample), names, number) for number, sample in enumerate(samples)]
    metafunc.parametrize(PARAM, rows, ids=list(_ids(samples)), indirect=True)


def key_of(sample: Sample) -> str:
    """Return a digest of the whole content of a row."""
    text = json.dumps(sample.to_dict(), sort_keys=True, default=repr)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _check_purpose(node: pytest.Item, fixtures: Sequence[str]) -> None:
    """Refuse a test whose own marker names no rows if the test does not make rows either: it would pass although nothing was
    judged.
    """
    own = any(mark.name == "ragmetrics" for mark in node.own_markers)
    if own and not {SCORER, PARAM, "request"} & set(fixtures):
        raise InvalidInput(
            f"the marker names no rows, and the test scores none: give rows=..., or use {SCORER} in the test"
        )


def _metrics(given: Any) -> Iterator[Metric]:
    several = [given] if isinstance(given, str | Metric) or given is None else given
    for item in several:
        if isinstance(item, str):
            yield from metrics_named([item])
        elif isinstance(item, Metric):
            yield item
        elif item is not None:
            raise InvalidInput(f"metrics must be metrics or their names, got {item!r}")


def _same_model(one: Any, other: Any) -> bool:
    if one is other or (isinstance(one, str) and one == other):
        return True
    identities = [getattr(model, "identity", None) for model in (one, other)]
    return identities[0] is not None and identities[0] == identities[1]


def _ids(samples: Sequence[Sample]) -> Iterator[str]:
    """Return the ids of the tests: the ids of the rows if every row has a printable one and all differ, else "row" with the
    number of the row, from 1.
    """
    texts = [str(sample.id)[:LONGEST_ID] if isinstance(sample.id, str | int) else "" for sample in samples]
    named = all(text.strip() and text.isprintable() for text in texts) and len(set(texts)) == len(texts)
    return iter(texts) if named else (f"row{number}" for number in range(1, len(samples) + 1))
