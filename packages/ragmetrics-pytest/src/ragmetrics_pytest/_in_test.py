"""One call of ``ragmetrics_scorer``: a small run of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import pytest

from ragmetrics_core import Evaluation, InvalidInput, RagmetricsError, aevaluate, evaluate, read_samples

from ._marks import marked, registry_of
from ._printable import printable
from ._row import ScoredRow, note_scores
from ._scoring import in_pytest_words, options_of, stop, with_models
from ._state import Part, state_of


class Call:
    """One call.

    Args:
        item: the test.
        number: which call of the test it is, from 1.
        rows: the rows, in any form that ``evaluate`` takes.
        metrics: metrics or their names; none: those of the marker.

    Raises:
        InvalidInput: rows or metrics are not what they should be, or there are no rows.
    """

    def __init__(self, item: pytest.Item, number: int, rows: Any, metrics: Any) -> None:
        self._item = item
        self._state = state_of(item.config)
        given = marked(item)
        self._registry = registry_of(self._state)
        self._names = self._registry.add({**given, "metrics": metrics or given.get("metrics")}, item.nodeid)
        self._samples = read_samples(rows, columns=given.get("columns"))
        if not self._samples:  # a loop over their scores would assert nothing
            raise InvalidInput(f"there are no rows: call {number} of ragmetrics_scorer in {item.nodeid} was given none")
        digest = blake2b(item.nodeid.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        self._part = Part(self._state.parts / f"test-{digest}-{number}")

    def run(self) -> list[ScoredRow]:
        """Score the rows."""
        with self._prepared() as arguments:
            evaluation = evaluate(**arguments)
        return self._finished(evaluation)

    async def arun(self) -> list[ScoredRow]:
        """Score the rows without blocking the running loop."""
        with self._prepared() as arguments:
            evaluation = await aevaluate(**arguments)
        return self._finished(evaluation)

    @contextmanager
    def _prepared(self) -> Iterator[dict[str, Any]]:
        """The arguments of ``evaluate``; without a key the test ends here."""
        self._part.claim()
        self._part.clear()
        try:
            metrics = [with_models(self._registry.metrics[name]) for name in self._names]
            options = {**options_of(self._state), "progress": False}
            yield {"samples": self._samples, "metrics": metrics, "run_dir": self._part.path, **options}
        except RagmetricsError as error:
            words = in_pytest_words(error)
            if not (error.needs_key or words != printable(str(error))):
                raise
            stop(words, needs_key=error.needs_key)

    def _finished(self, evaluation: Evaluation) -> list[ScoredRow]:
        count = len(evaluation)
        self._state.finished(self._part, places=[self._item.nodeid] * count, scored=count)
        rows = [ScoredRow(record.sample, dict(record.scores)) for record in evaluation.records]
        for row in rows:
            note_scores(self._item, row)
        return rows
