"""What the tests of reading share."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Mapping
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.cli.calling import call
from ragmetrics_core import InvalidInput, Metric, Sample, Score, evaluate, read_samples

ROWS = [
    {"id": "q1", "user_input": "Où ?", "retrieved_contexts": ["a, b", 'c "d"']},
    {"id": "q2", "user_input": "Wo?\nUnd wann?", "retrieved_contexts": ["e"]},
]


EXPECTED = [Sample(**row) for row in ROWS]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Anything(Metric):
    """Scores every row that can be read, whatever it holds."""

    def measure(self, metadata: Mapping[str, Any] | None = None) -> Score:
        return Score(1.0)


def read(source: Any, limit: int | None = None, **options: Any) -> list[tuple[str, Sample, str | None]]:
    """Of each row its place, its sample, and why it could not be read."""
    records = evaluate(source, Anything(), limit=limit, progress=False, **options).records
    errors = [record.scores["anything"].error for record in records]
    return [
        (record.place, record.sample, error and error.removeprefix("InvalidInput: "))
        for record, error in zip(records, errors, strict=True)
    ]


def sample_of(row: Any, columns: dict[str, str] | None = None, separator: str | None = None) -> Sample:
    """What one row in memory is read as."""
    (sample,) = read_samples([row], columns=columns, separator=separator)
    return sample


def counted(source: Any, **options: Any) -> int | None:
    """The rows that the bar of a run knows of before it begins; None where it does not know their number."""
    shown = io.StringIO()
    with redirect_stderr(shown), suppress(InvalidInput):
        evaluate(source, Anything(), progress="always", **options)
    found = re.search(r"/(\d+) \[", shown.getvalue())
    return int(found[1]) if found else None


def looked_at(path: Path, columns: dict[str, str] | None = None) -> dict[str, Any]:
    """What ``ragmetrics look`` says of a file."""
    maps = [word for pair in (columns or {}).items() for word in ("--map", "=".join(pair))]
    found: dict[str, Any] = json.loads(call("look", path, "--json", *maps).stdout)
    return found


def samples(source: Any, **options: Any) -> list[Sample]:
    return [sample for _, sample, _ in read(source, **options)]


def write(path: Path, data: str | bytes) -> Path:
    content = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
