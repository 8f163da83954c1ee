"""What the tests of reading share."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core._read import FileOptions, open_rows

ROWS = [
    {"id": "q1", "user_input": "Où ?", "retrieved_contexts": ["a, b", 'c "d"']},
    {"id": "q2", "user_input": "Wo?\nUnd wann?", "retrieved_contexts": ["e"]},
]


EXPECTED = [Sample(**row) for row in ROWS]  # type: ignore[arg-type]


def read(samples: Any, limit: int | None = None, **options: Any) -> list[tuple[str, Sample, str | None]]:
    return [
        (row.place, row.sample, None if row.problem is None else str(row.problem))
        for row in open_rows(samples, limit, options=FileOptions(**options) if options else None).rows
    ]


def samples(source: Any, **options: Any) -> list[Sample]:
    return [sample for _, sample, _ in read(source, **options)]


def write(path: Path, data: str | bytes) -> Path:
    content = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
