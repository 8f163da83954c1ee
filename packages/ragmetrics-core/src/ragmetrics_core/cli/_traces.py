"""The traces of ``--traces``: DATA as samples, with a count of what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._read._input_file import STDIN
from .._traces._api import Unread, samples_from_traces
from .._values._errors import InvalidInput
from .._values._sample import Sample
from ._options import flag
from ._output import complain

TRACES = flag(
    "--traces",
    "DATA holds traces of an application: OTLP as JSON, or what Phoenix, LangSmith, Langfuse or MLflow export; each answer is "
    "a row. What cannot be read is counted by reason.",
)


class Traces:
    """The samples of a file of traces. They can be read several times."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.unread = Unread()
        self._kept: list[Sample] | None = None

    def __iter__(self) -> Iterator[Sample]:
        if self.path == STDIN:  # it can be read only once
            self._kept = list(self._read()) if self._kept is None else self._kept
            return iter(self._kept)
        return self._read()

    def _read(self) -> Iterator[Sample]:
        self.unread.clear()
        is_empty = True
        for sample in samples_from_traces(self.path, on_unreadable=self.unread):
            is_empty = False
            yield sample
        if is_empty:
            why = str(self.unread) if self.unread else "it is empty"
            self.unread.clear()
            raise InvalidInput(f"{self.path} holds no trace that can be read: {why}")


@contextmanager
def samples_in(data: str, *, traces: bool) -> Iterator[str | Traces]:
    """Give the block the rows of DATA. After it, print which traces cannot be read, if any."""
    if not traces:
        yield data
        return
    samples = Traces(data)
    try:
        yield samples
    finally:
        if samples.unread:
            complain(str(samples.unread))
