"""How fast traces are read, and in how much memory: ``python bench/traces.py 1000000`` writes 2 GB of OTLP first.

Batches of 100 spans of 2 kB, as OpenTelemetry's collector writes them. Each trace is a chain with a search for four documents and a
model, and four traces are open at once.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ragmetrics_core import samples_from_traces

RANDOM = random.Random(1)
WORDS = [f"word{number}" for number in range(3000)]
JSON = "application/json"


def text(words: int) -> str:
    return " ".join(RANDOM.choices(WORDS, k=words))


def span(trace: int, number: int, parent: int, kind: str, **values: str) -> dict[str, Any]:
    given = {"openinference.span.kind": kind, **{name.replace("__", "."): value for name, value in values.items()}}
    start = 1_700_000_000_000_000_000 + trace * 1_000_000
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{trace * 16 + number:016x}",
        "parentSpanId": f"{trace * 16 + parent:016x}" if parent else "",
        "name": f"{kind} {number}",
        "startTimeUnixNano": str(start + number),
        "endTimeUnixNano": str(start + 900_000 - number),
        "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in given.items()],
        "status": {"code": 1},
    }


def trace(number: int) -> list[dict[str, Any]]:
    question, answer, pages = text(12), text(40), [text(28) for _ in range(4)]
    inputs = json.dumps({"context": "\n".join(pages), "question": question})
    said = json.dumps({"generations": [[{"text": answer, "message": {"kwargs": {"content": answer, "type": "ai"}}}]]})
    documents = {"documents": [{"page_content": page, "metadata": {"page": 1}} for page in pages]}
    listed = {f"retrieval.documents.{at}.document.content": page for at, page in enumerate(pages)}
    message = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": inputs}
    plain = {"input__value": question, "output__value": answer}
    return [
        span(number, 1, 0, "CHAIN", **plain, metadata='{"lang": "en"}'),
        span(number, 2, 1, "CHAIN", input__value=question, output__value=inputs, output__mime_type=JSON),
        span(number, 3, 2, "RETRIEVER", output__value=json.dumps(documents), output__mime_type=JSON, **listed),
        span(number, 4, 2, "CHAIN", input__value=question, output__value=question),
        span(number, 5, 1, "PROMPT", input__value=inputs, input__mime_type=JSON, output__value=inputs),
        span(number, 6, 1, "LLM", input__value=inputs, output__value=said, output__mime_type=JSON, **message),
        span(number, 7, 1, "CHAIN", input__value=answer, output__value=answer),
        span(number, 8, 1, "CHAIN", **plain),
    ]


def spans() -> Iterator[dict[str, Any]]:
    numbers = count(1)
    waiting = [trace(next(numbers)) for _ in range(4)]
    while True:
        at = RANDOM.randrange(4)
        yield waiting[at].pop()
        if not waiting[at]:
            waiting[at] = trace(next(numbers))


def main(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.json"
        source = spans()
        with path.open("w") as file:
            for _ in range(number // 100):
                batch = [next(source) for _ in range(100)]
                file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": batch}]}]}) + "\n")
        clock, processor = time.perf_counter(), time.process_time()
        samples = sum(1 for _ in samples_from_traces(path))
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{path.stat().st_size / 1e9:.2f} GB, {samples:,} samples, at most {most:.0f} MB")
        print(f"{number / clock:,.0f} spans/s by the clock, {number / processor:,.0f} by the time of the processor")


if __name__ == "__main__":
    main(int(sys.argv[1]))
