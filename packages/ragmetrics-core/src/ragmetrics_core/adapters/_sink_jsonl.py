"""A sink that writes records to a file of scores."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._kernel._wording import to_json
from .._values._requests import NO_USAGE, AnyLLM
from .._values._sample import session_of
from .._values._settings import check_whole
from ._answers import cost_of
from ._sinks import JudgedCall, metadata_of, span_of


class JsonlSink:
    """Append every judged call to a file of scores, which ``ragmetrics show``, ``report``, ``compare``, ``calibrate`` and
    ``Evaluation.load`` read: ``sinks=[JsonlSink("live.jsonl")]``.

    A line has everything that ``to_dict`` of the record says, and what is known of these: ``timestamp``; ``span``, the ids of
    OpenTelemetry's trace and span; ``session_id`` (of the metadata: ``session_id``, ``thread_id`` or ``conversation_id``);
    ``seconds``, how long the slowest metric took; ``tokens`` of all metrics; ``dollars``. The file can be read only by its owner,
    as it has the texts of users. Each process needs a file to itself.

    Args:
        path: the file. If it exists, lines are added, unless they have other metrics: then a new file is begun.
        max_bytes: a line that would make the file larger begins a new one; the old one becomes ``live.jsonl.1``, and so on.
        backups: how many old files are kept, the newest ones.
        llm: the judge of all metrics. If the extra ``prices`` is installed and knows the model, lines have ``dollars``.

    Raises:
        InvalidInput: a number is not whole, or is below 1.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int = 100_000_000, backups: int = 5, llm: AnyLLM | None = None
    ) -> None:
        for name, number in (("max_bytes", max_bytes), ("backups", backups)):
            check_whole(name, number, least=1)
        self._path, self._max_bytes, self._backups = Path(path), max_bytes, backups
        self._lines: int | None = None
        self._llm = llm
        self._lock = threading.Lock()

    def __call__(self, record: JudgedCall) -> None:
        """Write a record, unless it was not judged."""
        if not record.scores:
            return
        parts = {"timestamp": datetime.now(timezone.utc).isoformat(), **record.to_dict()}
        parts |= self._known(record, parts)
        with self._lock:
            data = self._line(parts)
            if self._path.exists() and self._path.stat().st_size + len(data) > self._max_bytes:
                self._rotate()
                data = self._line(parts)
            lines, self._lines = self._lines, None  # a line that is not written to its end is found by the next call
            with open(self._path, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(data)
            self._lines = (lines or 0) + 1

    def _known(self, record: JudgedCall, parts: dict[str, Any]) -> dict[str, Any]:
        """Return what is known of a call and its judging."""
        usage = sum((score.usage for score in record.scores.values()), NO_USAGE)
        trace, span = span_of(parts)
        about = {**metadata_of(parts), **(parts.get("metadata") or {})}
        session = session_of(about)
        found = {
            "span": None if trace is None and span is None else {"trace_id": trace, "span_id": span},
            "session_id": None if session is None else session[1],
            "seconds": max(score.usage.seconds for score in record.scores.values()) or None,
            "tokens": usage.prompt_tokens + usage.completion_tokens or None,
            "dollars": None if self._llm is None else cost_of(self._llm, usage),
        }
        return {name: value for name, value in found.items() if value is not None}

    def _line(self, parts: dict[str, Any]) -> bytes:
        cut = ""
        if self._lines is None:
            lines, last = 0, b"\n"
            if self._path.exists():
                with self._path.open("rb") as file:
                    for lines, last in enumerate(file, 1):  # noqa: B007  the last ones
                        pass
            self._lines = lines
            cut = "" if last.endswith(b"\n") else "\n"  # an earlier process was killed
            if not cut and _has_other_metrics(last, parts):  # a file has scores of the same metrics
                self._rotate()
        number = (self._lines or 0) + 1
        return f"{cut}{to_json({'row': number, 'place': f'{self._path.name}, line {number}', **parts})}\n".encode()

    def _rotate(self) -> None:
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, self._backups + 1))]
        for older, newer in zip(names[:0:-1], names[-2::-1], strict=True):
            if newer.exists():
                newer.replace(older)
        self._lines = 0


def _has_other_metrics(line: bytes, parts: dict[str, Any]) -> bool:
    with suppress(AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return bool(json.loads(line)["scores"].keys() != parts["scores"].keys())
    return False
