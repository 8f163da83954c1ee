"""The rows of an LLM evaluator, judged concurrently by the engine of the core.

Strategy. Haystack's promise to the user is kept at this border: one user message per question, whatever the generator raises
concerns its row alone, and nothing is asked again but an unreadable reply. (Retries after lost calls are set up in the generator
itself. Only where it gives up because the server takes no more calls at once does the engine slow down and try again, for these
calls would not have been so many without it.) What each row was told is kept, for ``meta`` and for errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from haystack.dataclasses import ChatMessage

from ragmetrics_core import (
    Ask,
    BadReply,
    Evaluation,
    Message,
    Metric,
    ModelError,
    Reply,
    Sample,
    Score,
    aevaluate,
    evaluate,
)
from ragmetrics_core.adapters import HomeLoop, in_own_thread, is_of_other_loop, model_error

from ._chat import BlockingLLM, call, call_async, chat_messages, read_answer, reply_of
from ._identity import name_of
from ._replies import OfRow
from ._turns import Turns

__all__ = ["GeneratorFailed", "Row", "RowJudge"]

PATIENCE = 600.0
"""Seconds that one call may take; the timeouts of the generator are shorter."""

FIRST_ATTEMPT = 2
"""Messages of a question that is asked for the first time."""

MOST_REFUSALS = 3
"""How often a row is asked anew because the server takes no more calls at once."""


@dataclass(frozen=True)
class Row:
    """The values of one row.

    Attributes:
        number: its number, from 0.
        values: its inputs by name.
    """

    number: int
    values: Mapping[str, Any]


class GeneratorFailed(ModelError):
    """The chat generator raised an exception.

    Attributes:
        question: the text of the last message that it was given.
        cause: the exception.
    """

    question: str
    cause: Exception

    @classmethod
    def by(cls, cause: Exception, question: str) -> GeneratorFailed:
        """The failure that this exception means; made in this way, because errors are copied by what they say."""
        error = cls(f"{type(cause).__name__}: {cause}")
        error.cause, error.question = cause, question
        return error


class RowJudge:
    """Judges the rows of one run.

    Args:
        generator: the chat generator.
        loop: the event loop that the generator's connections belong to.
        max_concurrency: most calls at a time. A generator without an asynchronous method is called one at a time.
        raising: raise the first failure of a row.
        progress: show a progress bar.

    Attributes:
        replies: the last reply to each row, by its number.
        failures: the exceptions that the generator raised, by number of the row.
    """

    def __init__(self, generator: Any, loop: HomeLoop, max_concurrency: int, *, raising: bool, progress: bool) -> None:
        self.replies: dict[int, ChatMessage] = {}
        self.failures: dict[int, GeneratorFailed] = {}
        self._generator = generator
        self._has_async = hasattr(generator, "run_async")
        self._loop = loop
        self._raising = raising
        self._refusals: dict[int, int] = {}
        self._unread: set[int] = set()
        self._asking_again = False
        self._turns = Turns()
        self._settings: dict[str, Any] = {
            "max_concurrency": max_concurrency if self._has_async else 1,
            "timeout": PATIENCE,
            "max_retries": 0,
        }
        self._progress = progress

    def judge(self, rows: Sequence[Row], metric: Metric) -> list[Score]:
        """Score the rows, synchronously; they overlap where the generator has an asynchronous method, so is made for it.

        Raises:
            ModelError: a row failed, and failures are to be raised.
        """
        if not rows:
            return []
        llm = BlockingLLM(self.generate)
        first = evaluate(_samples(rows), metric, llm=llm, progress=self._progress, **self._settings)
        again = self._again(rows)
        second = evaluate(again, metric, llm=llm, **self._settings_of_second) if again else None
        return self._joined(first, second)

    async def ajudge(self, rows: Sequence[Row], metric: Metric) -> list[Score]:
        """The same without blocking the running loop."""
        if not rows:
            return []
        llm: Any = self if self._has_async and self._loop.is_here() else BlockingLLM(self.generate)
        first = await aevaluate(_samples(rows), metric, llm=llm, progress=self._progress, **self._settings)
        again = self._again(rows)
        second = await aevaluate(again, metric, llm=llm, **self._settings_of_second) if again else None
        return self._joined(first, second)

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer the question of one row."""
        known = self._known(ask)
        if known is not None:
            return known
        messages = _one_message(ask.messages)
        attempt = _Attempt()
        with nullcontext() if self._asking_again else self._turns.turn(_number(ask)), attempt:
            return self._read(ask, call(self._generator, messages))
        raise self._failed(ask, messages, attempt.error)

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """The same with the generator's ``run_async``."""
        known = self._known(ask)
        if known is not None:
            return known
        messages = _one_message(ask.messages)
        attempt = _Attempt()
        with attempt:
            return self._read(ask, await call_async(self._generator, messages))
        if is_of_other_loop(attempt.error):
            return await in_own_thread(partial(self.generate, ask))
        raise self._failed(ask, messages, attempt.error)

    def _known(self, ask: Ask) -> Reply[str] | None:
        """The reply of the first round, in the second."""
        if len(ask.messages) > FIRST_ATTEMPT:
            if not self._asking_again:
                self._unread.add(_number(ask))
                raise BadReply("the reply cannot be read", ask.messages[-2].content)
        elif self._asking_again:
            return read_answer(self.replies[_number(ask)])
        return None

    def _again(self, rows: Sequence[Row]) -> list[Sample]:
        """The rows of the second round."""
        self._asking_again = True
        return _samples([row for row in rows if row.number in self._unread])

    @property
    def _settings_of_second(self) -> dict[str, Any]:
        return {**self._settings, "progress": False, "on_error": "raise" if self._raising else "record"}

    def _joined(self, first: Evaluation, second: Evaluation | None) -> list[Score]:
        scores = list(next(iter(first.scores.values())))
        if second is not None:
            for number, score in zip(sorted(self._unread), next(iter(second.scores.values())), strict=True):
                scores[number] = score
        return scores

    def _read(self, ask: Ask, result: Any) -> Reply[str]:
        reply = reply_of(result)
        if reply is not None and hasattr(reply, "meta"):
            self.replies[_number(ask)] = reply
        return read_answer(reply)

    def _failed(self, ask: Ask, messages: Sequence[ChatMessage], cause: Exception) -> ModelError:
        if len(ask.messages) > FIRST_ATTEMPT:  # what stands is the reply that could not be read
            return BadReply(f"asked again, {type(cause).__name__}: {cause}", ask.messages[-2].content)
        if isinstance(cause, ModelError):
            cause.fatal = self._raising
            return cause
        row = _number(ask)
        error = self.failures[row] = GeneratorFailed.by(cause, messages[-1].text or "")
        marks = model_error(cause, name_of(self._generator))
        self._refusals[row] = self._refusals.get(row, 0) + 1
        if marks.rate_limited and self._refusals[row] <= MOST_REFUSALS:
            error.transient = error.rate_limited = True
            error.retry_after = marks.retry_after
        else:
            error.fatal = self._raising
        return error


class _Attempt:
    """A block that an exception ends quietly, to be looked at afterwards. Cancellation and Ctrl-C go through."""

    error: Exception

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True


def _samples(rows: Sequence[Row]) -> list[Sample]:
    return [Sample(metadata={"row": row}) for row in rows]


def _number(ask: Ask) -> int:
    assert isinstance(ask.reply, OfRow)
    return ask.reply.row


def _one_message(messages: Sequence[Message]) -> list[ChatMessage]:
    """The messages of a question with the instructions at the head of the first user message: Haystack sends no system message."""
    system, user, *rest = messages
    return chat_messages([Message("user", f"{system.content}\n\nData: {user.content}"), *rest])
