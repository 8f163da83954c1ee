"""Ask an application and make rows for ``evaluate`` of its answers.

The application is what is evaluated, so any exception that it raises is a result for the row of its question, not a bug.
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
    """Ask an application the question of every sample, and return rows for ``evaluate``, in order.

    Args:
        samples: the samples, each with a ``user_input``.
        ask: takes a question and returns the fields of the sample that answer it, such as ``response``. To call a synchronous
            application, use ``in_own_thread``.
        who: the name of the application in messages, such as ``query engine``.
        workers: how many questions are asked at the same time.
        record: True: a question that fails has an ``InvalidInput`` as its row. False: the exception is raised.

    Raises:
        InvalidInput: a sample has no question, or ``workers`` is not a whole number from 1; raised before the first question.
    """
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    from .._support._blocking import all_of  # noqa: PLC0415  loads asyncio

    check_whole("workers", workers, least=1)
    questions = [_question(sample) for sample in samples]
    slots = asyncio.Semaphore(workers)

    async def answered_row(sample: Sample, question: str) -> Row:
        async with slots:
            outcome = (await asyncio.gather(ask(question), return_exceptions=True))[0]
        if not isinstance(outcome, BaseException):
            return replace(sample, **outcome)
        if not record or not isinstance(outcome, Exception):
            raise outcome
        message = conceal(" ".join(str(outcome).split()))
        problem = InvalidInput(f"the {who} failed: {type(outcome).__name__}{f': {message}' if message else ''}")
        vars(problem)["sample"] = sample  # evaluate keeps it as the row
        return problem

    return await all_of(map(answered_row, samples, questions))


def _question(sample: Sample) -> str:
    if not isinstance(sample.user_input, str) or not sample.user_input.strip():
        raise InvalidInput(f"sample {sample.id!r} has no user_input to ask")
    return sample.user_input
