"""Programs: the generators in which metrics are written. They yield requests, and the replies are sent back.

A program yields one *round* at a time: a tuple of requests that may be answered concurrently. It is then sent one outcome per
request: a ``Reply``, or the ``ModelError`` that the model raised. Errors are sent as values, so that one failed request does not
lose the other replies of its round; ``unwrap`` raises them inside the program, where a metric can catch them. Nothing in this
module performs IO; ``run`` and ``arun`` do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from types import GeneratorType
from typing import Any, TypeVar, get_args

from .._values._errors import BadReply, InvalidInput, ModelError
from .._values._requests import Ask, Compare, Embed, Reply, Request, texts_of

T = TypeVar("T")

Outcome = Reply[Any] | ModelError

KINDS_OF_REQUEST = get_args(Request)

Steps = Generator[tuple[Request, ...], Sequence[Outcome], T]


def unwrap(outcome: Outcome) -> Reply[Any]:
    """Return the reply, or raise the error of the model."""
    if isinstance(outcome, ModelError):
        raise outcome
    return outcome


def embed(texts: Iterable[str]) -> Steps[list[list[float]]]:
    """Ask the embedding model for one vector per text, in a single request.

    Raises:
        InvalidInput: an item is not a text.
        ModelError: the model could not answer.
    """
    (outcome,) = yield (Embed(texts_of("embed", texts)),)
    return unwrap(outcome).value


def compare(pairs: Iterable[tuple[str, str]]) -> Steps[list[float]]:
    """Ask for one similarity per pair of texts, in a single request.

    A pair scorer answers with its own score (0 to 1), an embedding model with the cosine (-1 to 1).

    Raises:
        InvalidInput: an item is not a pair of texts.
        ModelError: the model could not answer.
    """
    items = tuple(pairs)
    for index, pair in enumerate(items):
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            raise InvalidInput(f"compare: item [{index}] must be a pair of texts, got {pair!r}")
    (outcome,) = yield (Compare(tuple((left, right) for left, right in items)),)
    return unwrap(outcome).value


def together(*programs: Steps[Any], keep_bad_replies: bool = False) -> Steps[list[Any]]:
    """Run several programs concurrently, with their requests joined into common rounds; return their results, in order.

    Args:
        programs: generators, such as ``PROMPT.ask(...)`` or ``embed(...)``.
        keep_bad_replies: return the ``BadReply`` of a program as its result instead of raising it.

    Raises:
        ModelError: the first error that a program raised; the other programs are closed.
    """
    for program in programs:
        if not isinstance(program, GeneratorType):
            raise TypeError(f"together() takes programs such as PROMPT.ask(...), got {type(program).__name__}")
    if len(programs) == 1 and not keep_bad_replies:  # nothing to join
        return [(yield from programs[0])]
    results: list[Any] = [None] * len(programs)
    left: list[tuple[int, Any]] = [(index, None) for index in range(len(programs))]
    try:
        while left:
            joined: list[Request] = []
            shares: list[tuple[int, int, int]] = []
            for index, outcomes in left:
                try:
                    requests = programs[index].send(outcomes)
                except StopIteration as done:
                    results[index] = done.value
                    continue
                except BadReply as error:
                    if not keep_bad_replies:
                        raise
                    results[index] = error
                    continue
                start = len(joined)
                joined += requests if type(requests) is tuple else _as_round(programs[index], requests)
                shares.append((index, start, len(joined)))
            if not shares:
                break
            found = yield tuple(joined)
            left = [(index, found[start:end]) for index, start, end in shares]
    finally:
        for program in programs:
            program.close()
    return results


def asked_of(member: int, program: Steps[T], noted: Callable[[Request], object] | None = None) -> Steps[T]:
    """Run the program of another metric inside this one; its requests are answered by the models of the other metric.

    Args:
        member: the position of the other metric in ``models.members`` of the metric that runs it.
        program: the program, such as ``metric.program(sample)``.
        noted: called with each request before it is yielded.

    Raises:
        ModelError: an error that the program raises.
    """
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                result: T = done.value
                return result
            if noted is not None:
                for request in requests:
                    noted(request)
            outcomes = yield tuple(replace(request, to=(member, *request.to)) for request in requests)


def next_round(program: Steps[Any], outcomes: Any) -> tuple[Request, ...]:
    """Send the outcomes of the last round to a program, and return its next round.

    Raises:
        StopIteration: the program has ended; its result is the value of the exception.
        TypeError: the program yielded something other than a tuple of requests, such as a program (with ``yield`` instead of
            ``yield from``).
    """
    requests = program.send(outcomes)
    requests = requests if type(requests) is tuple else _as_round(program, requests)
    for request in requests:
        if type(request) is not Ask and not isinstance(request, KINDS_OF_REQUEST):
            raise _refused(program, requests)
    return requests


def _as_round(program: Steps[Any], requests: object) -> tuple[Request, ...]:
    """Check that the program yielded a tuple; ``next_round`` checks its items."""
    if not isinstance(requests, tuple):
        raise _refused(program, requests)
    return requests


def _refused(program: Steps[Any], requests: object) -> TypeError:
    program.close()
    if isinstance(requests, GeneratorType):
        return TypeError("a program was yielded instead of run: write 'yield from'")
    return TypeError(f"a program must yield tuples of requests, got {type(requests).__name__}")
