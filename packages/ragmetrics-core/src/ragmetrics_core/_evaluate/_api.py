"""``evaluate`` and ``aevaluate``: rows in, an ``Evaluation`` out.

Both do the same run. ``evaluate`` starts an event loop for it. If a loop is already running, as in Jupyter, it starts the new one
in a separate thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .._application._run_app import run_app
from .._calibrate._calibration import Calibration
from .._compare._sample_size import Plan, plan
from .._engine._reply_keys import ReplyStore
from .._gate._gates import Gate
from .._gate._results import Decision, GateResult
from .._kernel._metric import Metric
from .._names._named import embeddings_to_price, llm_to_price
from .._read._columns import Columns
from .._read._input_file import FileOptions
from .._read._rows import open_rows
from .._show._progress import Progress
from .._store._journal import SQLiteReplies
from .._store._segments import SegmentReplies
from .._support._signatures import with_arguments_of
from .._values._requests import AnyEmbeddings, AnyLLM
from .._values._sample import Sample
from ._estimate import Estimate
from ._evaluation import Comparison, Evaluation
from ._join import join_runs
from ._options import Batch, Stop
from ._run import Run
from ._scorer import Scorer
from ._several import Comparisons, compare_runs
from ._sinks import Sink

if TYPE_CHECKING:
    import os

__all__ = [
    "Batch",
    "Calibration",
    "Comparison",
    "Comparisons",
    "Decision",
    "Estimate",
    "Evaluation",
    "Gate",
    "GateResult",
    "Plan",
    "ReplyStore",
    "SQLiteReplies",
    "Scorer",
    "SegmentReplies",
    "Stop",
    "aevaluate",
    "compare_runs",
    "estimate",
    "evaluate",
    "join_runs",
    "plan",
    "read_samples",
    "run_app",
]


def evaluate(  # noqa: D417  a line may describe two arguments
    samples: str | os.PathLike[str] | Iterable[Any],
    metrics: Metric | str | Iterable[Metric | str],
    *,
    llm: AnyLLM | str | None = None,
    embeddings: AnyEmbeddings | str | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    max_concurrency: int = 16,
    on_error: Literal["record", "raise"] = "record",
    progress: Progress = True,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    repeats: int = 1,
    budget: Mapping[str, float] | None = None,
    timeout: float | None = None,
    max_retries: int = 5,
    empty: Literal["skip", "zero"] = "skip",
    sinks: Iterable[Sink] = (),
    replace: bool = False,
    encoding: str | None = None,
    at: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    batch: bool | Batch = False,
    gates: str | Gate | Iterable[str | Gate] = (),
    stop: Literal["when_decided"] | Stop | None = None,
) -> Evaluation:
    """Score samples, in order, also in a running event loop. An error that stops the run has its finished part as ``partial``.

    Args:
        samples: a path (.jsonl, .json, .csv, .xlsx, .parquet; "-": standard input), mappings, ``Sample``s, data frame, Dataset.
        metrics: metrics, or texts such as ``"recall,ndcg(k=3)"``; or a mapping from these to functions that select their samples.
        llm, embeddings: for metrics without: a model or its name, ``"openai:gpt-4o-mini"``, ``"openai:text-embedding-3-small"``.
        run_dir, replace: a directory that keeps replies and scores, where the same call continues; True sets another run aside.
        max_concurrency, timeout, max_retries: most calls in flight; seconds for one, learnt by default; repeats of a lost call.
        on_error: "record" keeps an error that concerns one score in that score; "raise" stops at the first such error.
        progress: a progress bar in a terminal or a notebook; "always" shows it everywhere.
        limit, sample, seed: only so many samples, the first ones; only so many chosen at random; the same seed chooses the same.
        repeats: how often each sample is judged; the score is the mean, and the summary shows how far they differ.
        budget: most ``"calls"``, ``"tokens"`` or ``"dollars"``, such as ``{"dollars": 5}``; every scored row is complete.
        empty: rows without contexts or with a blank answer: "skip" leaves them unscored, "zero" gives the scale's worst value.
        sinks: functions, such as an ``OTelSink``, that get each row with its scores in a thread when it is finished.
        at: where in a file the rows are: the name of a sheet, or the path to a list in a JSON file, such as "results.results".
        columns: the column of each field: ``{"question": "prompt", "answer": "outputs.text", "contexts": "passage_*"}``.
        encoding, separator: of a text file, such as "cp1252"; between the items of a list in one text, such as ``"||"``.
        batch: ask in batches of the provider, at half the price and within a day; a ``Batch`` has settings. It needs a run_dir.
        gates, stop: "when_decided": score samples at random until gates such as "recall >= 0.8" are decided; or a ``Stop``.
    """
    return Run.of(locals()).block()


@with_arguments_of(evaluate)
async def aevaluate(**arguments: Any) -> Evaluation:
    """Score samples with metrics without blocking the running loop. Arguments, result and errors are the same as for ``evaluate``.

    If it is cancelled, the ``CancelledError`` has ``partial`` too. A time limit raises another error: after ``asyncio.wait_for``
    the ``CancelledError`` is the ``__cause__`` of the ``TimeoutError`` (on Python 3.10 the ``__context__`` of that cause).
    """
    return await Run.of(arguments).execute()


def estimate(
    samples: str | os.PathLike[str] | Iterable[Any],
    metrics: Metric | str | Iterable[Metric | str],
    *,
    llm: AnyLLM | str | None = None,
    embeddings: AnyEmbeddings | str | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    max_concurrency: int = 16,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    repeats: int = 1,
    empty: Literal["skip", "zero"] = "skip",
    replace: bool = False,
    encoding: str | None = None,
    at: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    batch: bool | Batch = False,
) -> Estimate:
    """Estimate what ``evaluate`` will ask and cost with the same arguments. No model is called, and no key is needed.

    The metrics go through all rows with made-up replies. The number of tokens that models write is a range, from half of the best
    guess to double. Without ``llm`` there are calls and tokens, but no dollars. If ``run_dir`` has a stopped run, or one limited
    to the first rows, the estimate is what is left to pay, scaled by the rows that have scores.

    Returns:
        An ``Estimate``; ``print`` shows it as a table.

    Raises:
        RagmetricsError: what would stop the run before its first call.
    """
    unused = {
        "on_error": "record",
        "progress": False,
        "budget": None,
        "timeout": None,
        "max_retries": 0,
        "sinks": (),
        "gates": (),
        "stop": None,
    }
    models = {"llm": llm_to_price(llm), "embeddings": embeddings_to_price(embeddings)}
    return Run.of({**locals(), **unused, **models}).estimate()


def read_samples(
    samples: str | os.PathLike[str] | Iterable[Any],
    *,
    limit: int | None = None,
    encoding: str | None = None,
    at: str | None = None,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
) -> list[Sample]:
    """Read samples as ``evaluate`` does, with the same arguments; nothing is scored.

    Raises:
        InvalidInput: the file, or one of the rows, cannot be read; the message names the row.
        MissingExtra: the package that reads a format is not installed.
    """
    samples_read = []
    for row in open_rows(samples, limit, Columns(columns, separator), FileOptions(encoding, at)).rows:
        if row.problem is not None:
            raise row.problem
        samples_read.append(row.sample)
    return samples_read
