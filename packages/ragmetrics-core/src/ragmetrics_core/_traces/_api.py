"""``samples_from_traces``: traces of any export become samples, one trace after the other."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .._values._counts import count_of
from .._values._sample import Sample
from ._grouping import collected, file_traces
from ._samples import samples_of
from ._span import UnreadableTrace

LOGGER = logging.getLogger("ragmetrics")


class Unread(Counter[str]):
    """Counts what cannot be read, by reason: an ``on_unreadable`` that can say what it has seen."""

    def __call__(self, found: UnreadableTrace) -> None:
        """Count it."""
        self[found.reason] += 1

    def __str__(self) -> str:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in self.most_common())
        return f"{count_of(self.total(), 'trace')} cannot be read: {reasons}"


def samples_from_traces(
    source: Any, *, on_unreadable: Callable[[UnreadableTrace], object] | None = None
) -> Iterator[Sample]:
    """Yield a sample for each answer in the traces of an application.

    Question, history, contexts, documents and answer are read from the spans. ``metadata`` has what the application put there, and
    ``trace_id``, ``span_id``, ``session_id``, ``latency`` (seconds), ``prompt_tokens``, ``completion_tokens``, ``cost``, and
    ``contexts``: ``seen``, if the spans show what the model was given, else ``retrieved``. Spans of metrics are left out.

    Args:
        source: the path of a file, or traces in memory. A file holds OTLP as JSON, one batch a line, as the collector's file
            exporter writes it; or one span a line, as JSON of Phoenix, LangSmith or Langfuse, or one trace of MLflow; or spans of
            Phoenix as Parquet. It may be gzipped (``.gz``), and ``-`` reads standard input. In memory: ``ReadableSpan``s of
            OpenTelemetry, runs of ``client.list_runs``, what ``mlflow.search_traces`` returns, mappings as in such files, or a
            data frame.
        on_unreadable: called with every trace, turn or record that cannot be read. Without it, they are counted by reason, and the
            counts are logged as a warning at the end.

    Raises:
        InvalidInput: there is no such file, or it is of no known form.
        MissingExtra: the package that reads Parquet is not installed.
    """
    unread = Unread()
    report = unread if on_unreadable is None else on_unreadable  # a user's counter may be empty, and then false
    is_path = isinstance(source, str | os.PathLike)
    for group in file_traces(Path(source)) if is_path else collected(source):
        for found in [group] if isinstance(group, UnreadableTrace) else samples_of(*group):
            if isinstance(found, UnreadableTrace):
                report(found)
            else:
                yield found
    if unread:
        LOGGER.warning("%s", unread)
