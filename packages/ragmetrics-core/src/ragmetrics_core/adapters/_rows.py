"""Rows for ``evaluate``: the answers of an application.

Strategy. The application is what is evaluated, so any exception of it is a finding about the row of its question, unlike a bug in a
metric.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
