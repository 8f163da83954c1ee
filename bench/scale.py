"""Time and memory at the sizes that large runs have, a sub-command for each part.

    python bench/scale.py blocks [--rows 2000]
    python bench/scale.py columns [--rows 10000000] [--folder DIR]
    python bench/scale.py pairs [--seeds 20]
    python bench/scale.py batches --server PROGRAM [--points 200]

Each line has a figure, its goal and whether it is met. Seconds are those of the clock, with those of the processor beside them,
since other programs may have been busy. Memory is the largest that the process ever had, so each figure has its own process.

``blocks`` scores rows in blocks, with one call of ``evaluate`` for each block and with one ``Scorer``, by a model that accepts 32
calls at once, and counts the refused calls.

``columns`` writes synthetic rows of three metrics into ten Parquet files (one metric has two values, one a few hundred, one a new
value in every row), loads them with ``Evaluation.load``, and asks for the summary, slices and gates. It needs the extra ``parquet``
and 1 GB of disk for 10 million rows.

``pairs`` runs ``bench/pace.py --pairs``, two runs at one server. ``batches`` runs ``bench/batches.py``, runs in batches that are
killed. Other options are passed on to these programs.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from ragmetrics_core import Evaluation, Metric, ModelError, Prompt, Score, Scorer, Steps, aevaluate
from ragmetrics_core._run._parquet_rows import schema_of
from ragmetrics_core._store._parquet import GROUP, head_of, sealed
from ragmetrics_core._store._run_dir import RunAccount
from ragmetrics_core._store._run_settings import MetricColumn
from ragmetrics_core.replies import YesNoReply

FILES = 10
GATES = ("faithfulness >= 0.5", "correctness >= 0.7", "similarity >= 0.4")
ASKED: dict[str, Callable[[Evaluation], object]] = {
    "summary": lambda run: str(run.summary()),
    "slices": lambda run: str(run.summary(by="lang")),
    "gates": lambda run: str(run.gate(*GATES)),
    "gates of slices": lambda run: str(run.gate(*GATES, by="lang")),
}
SECONDS, MEGABYTES = 2.0, 500.0
COMPARED = {
    "comparison in the same order": ("later", 5.0, 1500.0),
    "comparison in another order": ("shuffled", 30.0, 3000.0),
}
"""The folder of the second run beside that of the first, and the goals."""
PROGRAMS = {"pairs": ("pace.py", "--pairs"), "batches": ("batches.py",)}
"""Other programs that are sub-commands here, with their options."""
LANGS = ["de", "en", "fr", "es", "it", "en", "de", None]


def numbers(seed: int, count: int) -> Any:
    """Whole numbers of 64 bits."""
    return pa.array(array("q", random.Random(seed).randbytes(8 * count)))


def shares(seed: int, count: int) -> Any:
    """Numbers from 0 to 1."""
    return pc.divide(pc.cast(pc.bit_wise_and(numbers(seed, count), (1 << 53) - 1), pa.float64()), 2.0**53)


def values(seed: int, count: int) -> dict[str, Any]:
    """The values of three metrics; the first two lack one in a hundred."""
    share = shares(seed, count)
    claims = pc.cast(pc.add(pc.bit_wise_and(numbers(seed + 1, count), 15), 1), pa.float64())
    supported = pc.floor(pc.multiply(pc.sqrt(share), pc.add(claims, 0.999)))
    missing = pc.less(shares(seed + 2, count), 0.01)
    return {
        "faithfulness": pc.if_else(missing, None, pc.min_element_wise(pc.divide(supported, claims), 1.0)),
        "correctness": pc.if_else(missing, None, pc.cast(pc.less(share, 0.8), pa.float64())),
        "similarity": share,
    }


def written(folder: Path, rows: int, seed: int = 0) -> None:
    """Write the rows of a run, as columns: objects for ten million rows would take an hour. The seed is that of the values."""
    metrics = [
        MetricColumn(name, (0.0, 1.0), f"{name.title()}()") for name in ("faithfulness", "correctness", "similarity")
    ]
    head = head_of(metrics, None, sealed(RunAccount("questions.jsonl"), rows), unique=True, prompts={})
    schema, count = schema_of(metrics, ["lang"], head), rows // FILES
    for file in range(FILES):
        number = pa.array(range(file * count, (file + 1) * count))
        text = pc.cast(number, pa.string())
        columns: dict[str, Any] = {
            "_row": number,
            "_place": pc.binary_join_element_wise("questions.jsonl, line ", text, ""),
            "id": pc.binary_join_element_wise("q", text, ""),
            "user_input": pc.binary_join_element_wise("What is the answer to question number ", text, ""),
            "_id": numbers(1000 + file, count),
            "_question": numbers(2000 + file, count),
            "metadata.lang": pa.array(LANGS).take(pc.bit_wise_and(numbers(3000 + file, count), 7)),
            **dict.fromkeys(("_holds_verdict", "_nested", "_unusual"), pa.repeat(False, count)),
        }
        for name, found in values(seed + 10 * file, count).items():
            error = pc.if_else(pc.is_null(found), "ModelError: the server is gone", pa.scalar(None, pa.string()))
            evidence = pc.binary_join_element_wise('{"details": {"verdicts": [{"claim": "', text, '"}]}}', "")
            costs = {"_calls": 2, "_tokens": 500, "_prompt_tokens": 400, "_cached_calls": 0}
            columns |= {name: found, f"{name}_error": error, f"{name}_reason": error, f"{name}_evidence": evidence}
            columns |= {f"{name}{part}": pa.repeat(pa.scalar(cost), count) for part, cost in costs.items()}
            columns[f"{name}_unusual"] = pa.repeat(False, count)
        arrays = [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in schema]
        table = pa.table(arrays, schema=schema)
        pq.write_table(table, folder / f"part-{file:05}.parquet", compression="zstd", row_group_size=GROUP)


def shuffled(source: Path, folder: Path) -> None:
    """Write the rows of a run in another order: files in reverse, and the rows of each file at random."""
    for number, file in enumerate(sorted(source.iterdir(), reverse=True)):
        table = pq.read_table(file)
        order = list(range(len(table)))
        random.Random(number).shuffle(order)
        table = table.take(order)
        pq.write_table(table, folder / f"part-{number:05}.parquet", compression="zstd", row_group_size=GROUP)


def write_runs(folder: Path, rows: int) -> None:
    """Write a run, another one, and this one in another order."""
    written(folder, rows)
    written(beside(folder, "later"), rows, seed=100_000)
    shuffled(beside(folder, "later"), beside(folder, "shuffled"))


def beside(folder: Path, name: str) -> Path:
    """The folder of another run."""
    return folder.with_name(f"{folder.name}-{name}")


def figure(name: str, found: float, goal: float, unit: str) -> None:
    """Print one line."""
    print(f"{name}: {found:.2f} {unit} (goal: {goal:g}): {'met' if found <= goal else 'NOT MET'}", flush=True)


def ask(folder: Path, name: str) -> None:
    """Ask one thing of the run in a folder, and print what it cost."""
    run = Evaluation.load(folder)
    other, seconds, megabytes = COMPARED.get(name, ("", SECONDS, MEGABYTES))
    later = Evaluation.load(beside(folder, other)) if other else run
    clock, processor = time.perf_counter(), time.process_time()
    run.compare(later, allow_different_judges=True) if other else ASKED[name](run)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    figure(f"{name} of {len(run):,} rows ({processor:.2f} s of the processor)", clock, seconds, "s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    figure(f"{name} of {len(run):,} rows", peak, megabytes, "MB")


SHORT = Prompt("Is the answer to the question short?", YesNoReply(), name="short")


@dataclass(frozen=True)
class Short(Metric):
    """Asks one question about a row."""

    def measure(self, user_input: str, response: str) -> Steps[Score]:
        return Score(float((yield from SHORT.ask(question=user_input, answer=response))))


class Limited:
    """A model that accepts 32 calls at once, and answers after 20 ms."""

    def __init__(self) -> None:
        self.now = self.refused = 0

    async def agenerate(self, _: object) -> str:
        if self.now >= 32:
            self.refused += 1
            await asyncio.sleep(0.002)
            raise ModelError("too many calls", transient=True, rate_limited=True)
        self.now += 1
        try:
            await asyncio.sleep(0.02)
        finally:
            self.now -= 1
        return "yes"


async def blocks(count: int) -> None:
    """Score rows in blocks of several sizes."""
    rows = [{"question": f"Question {number}?", "answer": "Yes."} for number in range(count)]
    whole = 0
    for size in (count, count // 8, count // 20):
        parts = [rows[start : start + size] for start in range(0, count, size)]
        alone, kept = Limited(), Limited()
        for part in parts:
            await aevaluate(part, Short(), llm=alone, max_concurrency=256, progress=False)
        async with Scorer(Short(), llm=kept, max_concurrency=256) as scorer:
            for part in parts:
                await scorer.score(part)
        whole = whole or alone.refused
        print(f"blocks of {size} rows, a call of evaluate for each: {alone.refused} refused calls")
        figure(f"blocks of {size} rows, one Scorer", kept.refused, 1.5 * whole, "refused calls")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_blocks = commands.add_parser("blocks", help="rows in blocks")
    of_blocks.add_argument("--rows", type=int, default=2000)
    columns = commands.add_parser("columns", help="a run in Parquet files")
    columns.add_argument("--rows", type=int, default=10_000_000)
    columns.add_argument("--folder", type=Path, help="where the files are; they are written if there are none")
    columns.add_argument("--ask", choices=[*ASKED, *COMPARED], help="ask only this, in this process")
    for name in PROGRAMS:
        commands.add_parser(name, add_help=False)
    given, passed = parser.parse_known_args()
    if given.command in PROGRAMS:
        program, *options = PROGRAMS[given.command]
        raise SystemExit(subprocess.call([sys.executable, Path(__file__).with_name(program), *options, *passed]))
    if passed:
        parser.error(f"unknown arguments: {' '.join(passed)}")
    if given.command == "blocks":
        asyncio.run(blocks(given.rows))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "run"
        for each in (folder, beside(folder, "later"), beside(folder, "shuffled")):
            each.mkdir(exist_ok=True)
        if not any(
            folder.iterdir()
        ):  # in another process: those that this one starts would begin with its peak of memory
            writer = multiprocessing.get_context("spawn").Process(target=write_runs, args=(folder, given.rows))
            writer.start()
            writer.join()
        for name in [given.ask] if given.ask else []:
            ask(folder, name)
        for name in [] if given.ask else [*ASKED, *COMPARED]:
            command = [sys.executable, __file__, "columns", "--folder", str(folder), "--ask", name]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
