"""Rows for ``evaluate``: the answers of an application, and lists with one item per row.

Strategy. The application is what is evaluated, so any exception of it is a finding about the row of its question, unlike a bug in a
metric.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._kernel._metric import Metric
from .._support._secrets import conceal
from .._values._errors import InvalidInput
from .._values._sample import Sample
from .._values._settings import check_whole

Row = Sample | InvalidInput


async def asked_rows(
    samples: Sequence[Sample],
    ask: Callable[[str], Awaitable[Mapping[str, Any]]],
    *,
    who: str,
    workers: int = 4,
    record: bool = True,
) -> list[Row]:
    """Ask an application the question of every sample: the rows for ``evaluate``, in order.

    Args:
        samples: the samples, each with a ``user_input``.
        ask: takes a question and returns the fields of the sample that answer it, such as ``response``. One that is to be called
            synchronously is called with ``in_own_thread``.
        who: what messages call the application, such as ``query engine``.
        workers: how many questions are asked at the same time.
        record: whether a question that fails has an ``InvalidInput`` for its row; otherwise the exception is raised.

    Raises:
        InvalidInput: a sample has no question, or ``workers`` is no number from 1; before the first question is asked.
    """
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    from .._support._blocking import all_of  # noqa: PLC0415  loads asyncio

    check_whole("workers", workers, least=1)
    questions = [_question(sample) for sample in samples]
    slots = asyncio.Semaphore(workers)

    async def asked(sample: Sample, question: str) -> Row:
        async with slots:
            outcome = (await asyncio.gather(ask(question), return_exceptions=True))[0]
        if not isinstance(outcome, BaseException):
            return replace(sample, **outcome)
        if not record or not isinstance(outcome, Exception):
            raise outcome
        said = conceal(" ".join(str(outcome).split()))
        problem = InvalidInput(f"the {who} failed: {type(outcome).__name__}{f': {said}' if said else ''}")
        vars(problem)["sample"] = sample  # which evaluate keeps as the row
        return problem

    return await all_of(map(asked, samples, questions))


def _question(sample: Sample) -> str:
    if not isinstance(sample.user_input, str) or not sample.user_input.strip():
        raise InvalidInput(f"sample {sample.id!r} has no user_input to ask")
    return sample.user_input


def rows_of_columns(
    metric: Metric, columns: Mapping[str, Any], read: Callable[[str, Any], Any] | None = None
) -> list[dict[str, Any]]:
    """The rows for ``evaluate``.

    Args:
        metric: whose inputs the columns are.
        columns: the lists by name; an optional one may be None.
        read: takes the kind of an input (such as ``texts``) and the item of a row, and returns the item as the core reads it.

    Raises:
        InvalidInput: an input is missing, unknown or not a list, or the lists differ in length.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    kinds = {item.name: item.kind for item in metric.inputs}
    missing = [item.name for item in metric.inputs if item.required and item.name not in given]
    if missing:
        raise InvalidInput(f"{metric.name} needs the input '{missing[0]}': give a list with one item per row.")
    for name, values in given.items():
        if name not in kinds:
            raise InvalidInput(f"{metric.name} has no input '{name}'; it has {', '.join(sorted(kinds))}.")
        if not isinstance(values, list):
            kind = type(values).__name__
            raise InvalidInput(f"{metric.name}: '{name}' must be a list with one item per row, got {kind}.")
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"{metric.name}: all inputs must be lists of the same length, got {lengths}.")
    if read is not None:
        given = {name: [read(kinds[name], item) for item in values] for name, values in given.items()}
    return [dict(zip(given, row, strict=True)) for row in zip(*given.values(), strict=True)]
