"""Judge the rows of an LLM evaluator concurrently with the core's engine, and convert their values and replies from and to JSON.

Strategy. The behaviour that Haystack documents is kept: a question is one user message, an exception of the generator fails only
its row, and only an unreadable reply is asked for again. Lost calls are retried by the generator, as it is set up. The engine
slows down and retries only if the generator gives up because the server refuses too many calls at once, because the engine made
these calls. The last reply to each row is stored, for ``meta`` and for errors. A scripted generator replies in the order in which
it is called, so calls on threads begin in the order of the rows (``BeginInOrder``); on an event loop they do so anyway.

A reply that is the requested JSON object is accepted unchanged, with any additional keys, as in Haystack. Everything else (fences,
prose, near-JSON) is parsed by the reply formats of the core. Each row has its own reply format with the row's number, so equal rows
stay separate questions, and it is known which row a reply belongs to.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

from haystack.dataclasses import ChatMessage

from haystack import Document
from ragmetrics_core import (
    Ask,
    BadReply,
    Example,
    Message,
    Metric,
    ModelError,
    Prompt,
    Reply,
    Sample,
    Score,
    Steps,
    aevaluate,
    evaluate,
)
from ragmetrics_core.adapters import (
    HomeLoop,
    Kept,
    blocking,
    in_order,
    in_own_thread,
    is_of_other_loop,
    json_walk,
    model_error,
    name_of,
)
from ragmetrics_core.replies import ObjectReply, ReplyFormat

from ._models import call, call_async, chat_messages, read_answer, reply_of

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class NamedValues(ObjectReply):
    """One JSON object that has at least these keys, with any values, NaN included. Without keys, any object is accepted."""

    def __post_init__(self) -> None:
        if self.keys:
            super().__post_init__()

    def instructions(self) -> str:
        """Return the shape of the object."""
        return super().instructions() if self.keys else "Reply with one JSON object and nothing else."

    def parse(self, text: str) -> dict[str, Any]:
        """Return the object.

        Raises:
            BadReply: the reply contains no object with these keys.
        """
        found = clean_object(text)
        if found is not None and found.keys() >= set(self.keys):
            return found
        if not self.keys:
            raise BadReply("the reply is not one JSON object", text)
        return super().parse(text)


@dataclass(frozen=True)
class OfRow(Generic[T]):
    """The reply format of one row.

    Attributes:
        form: reads the reply.
        number: number of the row, from 0.
        lists: keys whose values must be lists. In clean JSON, a single text such as "none" is refused for these keys.
        words: the whole question, if the user's own template makes it.
    """

    form: ReplyFormat[T]
    number: int
    lists: tuple[str, ...] = ()
    words: str | None = None

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of ``form``."""
        return self.form.schema

    def instructions(self) -> str:
        """Return the instructions of ``form``."""
        return self.form.instructions()

    def parse(self, text: str) -> T:
        """Return what ``form`` reads.

        Raises:
            BadReply: ``form`` cannot read the reply, or the reply is JSON but not an object with the required lists.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return self.form.parse(text)
        if not isinstance(data, dict):
            raise BadReply(f"the reply must be a JSON object, got {type(data).__name__}", text)
        for key in self.lists:
            if not isinstance(data.get(key, []), list):
                raise BadReply(f"{key} must be a list, got {data[key]!r}", text)
        return self.form.parse(text)


def clean_object(text: str) -> dict[str, Any] | None:
    """Return the text as a JSON object, as Haystack reads it (NaN is a number); None for any other text."""
    try:
        found = json.loads(text.strip())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def raise_as_haystack(error: BadReply, outputs: Sequence[str]) -> NoReturn:
    """Raise the exception that Haystack raises for an unreadable reply.

    Raises:
        ValueError: always; a ``JSONDecodeError`` if the reply is not JSON.
    """
    if error.raw:
        try:
            data = json.loads(error.raw[-1].strip())
        except RecursionError:
            raise ValueError("The reply of the chat generator is nested too deeply to be read") from error
        if not isinstance(data, dict):
            raise ValueError(f"Expected a JSON object containing a dictionary but got {type(data).__name__}") from error
        missing = [name for name in outputs if name not in data]
        if missing:
            raise ValueError(f"Missing expected keys in JSON: {missing}. Got keys: {list(data)}") from error
    raise ValueError(f"The reply of the chat generator cannot be used: {error.reason}") from error


def as_examples(
    examples: Sequence[Mapping[str, Any]],
    inputs: Iterable[str],
    outputs: Iterable[str],
    names: Mapping[str, str] | None = None,
) -> tuple[Example, ...]:
    """Turn examples of Haystack into examples of a prompt.

    Args:
        examples: from the user or from a file, which may have sorted their keys.
        inputs: names of the inputs in the order in which they are shown; other inputs follow in alphabetical order.
        outputs: names of the outputs, with the same order.
        names: the prompt's name of an input, if it differs from Haystack's name.
    """
    names = names or {}
    return tuple(
        Example(
            {str(names.get(name, name)): value for name, value in _ordered(item["inputs"], inputs).items()},
            _ordered(item["outputs"], outputs),
        )
        for item in examples
    )


def _ordered(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    known = [name for name in names if name in values]
    return {name: readable(values[name]) for name in [*known, *sorted(values.keys() - set(known))]}


def saved_examples(examples: list[dict[str, Any]]) -> list[Any]:
    """Return the examples as Haystack saves them. An example with mappings among its values is saved so that no file can reorder
    it.
    """
    return [
        in_order(readable(item)) if any(_holds_mapping(list(part.values())) for part in item.values()) else item
        for item in examples
    ]


def _holds_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_holds_mapping, value)))


def _as_text(value: Any) -> Any:
    if isinstance(value, Document) and value.content is not None:
        return value.content
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    as_list = getattr(value, "tolist", None)
    return str(value) if as_list is None or isinstance(value, float) else readable(as_list())


readable = json_walk(_as_text)
"""Turns a value into JSON. Values that JSON cannot express become text, as in Haystack."""


PATIENCE = 600.0
"""Seconds that one call may take. The timeouts of the generator are shorter."""

FIRST_ATTEMPT = 2
"""The number of messages of a question that is asked for the first time: instructions and data."""

MOST_REFUSALS = 3
"""How often a row is retried because the server refuses too many simultaneous calls."""

SPARE = 0.1
"""Seconds that all calls of a generator together may exceed the time of a script, for example on a busy machine."""


@dataclass(frozen=True)
class Row:
    """The values of one row.

    Attributes:
        number: its number, from 0.
        values: its inputs by name.
        words: the whole question, if the user's own template makes it; None: the prompt makes it.
    """

    number: int
    values: Mapping[str, Any]
    words: str | None = None


@dataclass(frozen=True)
class RowMetric(Metric):
    """The question that an evaluator asks about each of its rows.

    Attributes:
        prompt: the question.
        lists: keys of the reply whose values must be lists.
        ask: asks the question about a row, and turns the reply into a score.
    """

    calls: ClassVar[str] = "1"

    prompt: Prompt[Any]
    lists: tuple[str, ...]
    ask: Callable[[Prompt[Any], Row], Steps[Score]] = field(repr=False, compare=False)

    def measure(self, row: Any) -> Steps[Score]:
        """Ask once."""
        reply = OfRow(self.prompt.reply, row.number, self.lists, row.words)
        return (yield from self.ask(self.prompt.replace(reply=reply), row))


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
        """Make the failure for this exception. This is not ``__init__``, because errors are copied with only their message."""
        error = cls(f"{type(cause).__name__}: {cause}")
        error.cause, error.question = cause, question
        return error


QUICK = 0.01
"""The most seconds per call of a model that counts as playing a script."""


class BeginInOrder:
    """Makes calls begin in the order of the rows, until they have taken longer than calls of a script would.

    Args:
        spare: seconds by which all calls together may exceed the time of a script.
    """

    def __init__(self, spare: float) -> None:
        self._changed = threading.Condition()
        self._next = 0
        self._most = self._spare = spare

    @contextmanager
    def call(self, number: int) -> Iterator[None]:
        """A context manager for the call with this number, from 0."""
        with self._changed:
            while self._next < number and self._spare > 0:
                if not self._changed.wait(QUICK + self._spare):
                    self._spare = 0.0
        begun = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._next = max(self._next, number + 1)
                if self._spare > 0:
                    self._spare = min(self._most, self._spare + QUICK - (time.monotonic() - begun))
                self._changed.notify_all()


class RowJudge:
    """Judges the rows of one run. If a reply is unreadable, the row is asked again at once, and the generator is shown the
    reply.

    Args:
        generator: the chat generator.
        loop: the event loop that the generator's connections belong to.
        settings: of ``evaluate``. A generator without ``run_async`` takes one call at a time, whatever the settings say.

    Attributes:
        model: the name of the generator in messages.
        replies: the last reply to each row, by its number.
        failures: the exceptions that the generator raised, by number of the row.
    """

    def __init__(self, generator: Any, loop: HomeLoop, **settings: Any) -> None:
        self.model = name_of(generator)
        self.replies: dict[int, ChatMessage] = {}
        self.failures: dict[int, GeneratorFailed] = {}
        self._generator = generator
        self._has_async = hasattr(generator, "run_async")
        self._loop = loop
        self._refusals: dict[int, int] = {}
        self._in_order = BeginInOrder(SPARE)
        alone = {} if self._has_async else {"max_concurrency": 1}
        self._settings: dict[str, Any] = {**settings, **alone, "timeout": PATIENCE, "max_retries": 0}

    def judge(self, rows: Sequence[Row], metric: Metric) -> Sequence[Score]:
        """Score the rows synchronously. Calls overlap only if the generator has ``run_async``, which shows that it supports
        concurrency.

        Raises:
            ModelError: a row failed, and failures are to be raised.
        """
        if not rows:
            return []
        llm = blocking(self._generator, generate=self.generate)
        return evaluate(_samples(rows), metric, llm=llm, **self._settings).scores[metric.name]

    async def ajudge(self, rows: Sequence[Row], metric: Metric) -> Sequence[Score]:
        """Score the rows without blocking the running loop. Arguments and errors are the same as for ``judge``."""
        if not rows:
            return []
        in_loop = self._has_async and self._loop.is_here()
        llm = self if in_loop else blocking(self._generator, generate=self.generate)
        return (await aevaluate(_samples(rows), metric, llm=llm, **self._settings)).scores[metric.name]

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer the question of one row."""
        messages = _one_message(ask)
        attempt = Kept()
        with self._in_order.call(_row(ask).number) if _is_first(ask) else nullcontext(), attempt:
            return self._read(ask, call(self._generator, messages))
        raise self._failed(ask, messages, attempt.error)

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer the question of one row with the generator's ``run_async``."""
        messages = _one_message(ask)
        attempt = Kept()
        with attempt:
            return self._read(ask, await call_async(self._generator, messages))
        if is_of_other_loop(attempt.error):
            return await in_own_thread(partial(self.generate, ask))
        raise self._failed(ask, messages, attempt.error)

    def _read(self, ask: Ask, result: Any) -> Reply[str]:
        reply = reply_of(result)
        if reply is not None and hasattr(reply, "meta"):
            self.replies[_row(ask).number] = reply
        return read_answer(reply)

    def _failed(self, ask: Ask, messages: Sequence[ChatMessage], cause: Exception) -> ModelError:
        if not _is_first(ask):  # the unreadable reply remains the failure
            return BadReply(f"asked again, {type(cause).__name__}: {cause}", ask.messages[-2].content)
        if isinstance(cause, ModelError):
            return cause
        row = _row(ask).number
        error = self.failures[row] = GeneratorFailed.by(cause, messages[-1].text or "")
        marks = model_error(cause, self.model)
        self._refusals[row] = self._refusals.get(row, 0) + 1
        if marks.rate_limited and self._refusals[row] <= MOST_REFUSALS:
            error.transient = error.rate_limited = True
            error.retry_after = marks.retry_after
        return error


def _samples(rows: Sequence[Row]) -> list[Sample]:
    return [Sample(metadata={"row": row}) for row in rows]


def _row(ask: Ask) -> OfRow[Any]:
    assert isinstance(ask.reply, OfRow)
    return ask.reply


def _is_first(ask: Ask) -> bool:
    """Whether the question is asked for the first time."""
    return len(ask.messages) == FIRST_ATTEMPT


def _one_message(ask: Ask) -> list[ChatMessage]:
    """Join the instructions and the data of a question in one user message, because Haystack sends no system message.

    If the user's own template made the question, it replaces both.
    """
    system, user, *rest = ask.messages
    words = _row(ask).words
    return chat_messages(
        [Message("user", f"{system.content}\n\nData: {user.content}" if words is None else words), *rest]
    )
