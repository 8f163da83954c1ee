"""The small things that adapters share: columns, order, what is heard of an application, what functions of the user's find."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

import pytest

from ragmetrics_core import InvalidInput, ModelError
from ragmetrics_core.adapters import (
    BeginInOrder,
    Kept,
    OpenCalls,
    blocking,
    check_calls,
    check_known,
    check_switch,
    has_methods,
    heard,
    heard_async,
    is_of_a_client,
    kind_of,
    overrides,
    rows_of_columns,
    words_of,
)
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.metrics import ExactMatch


def test_columns_become_rows() -> None:
    columns = {"response": ["a", "b"], "reference": ["a", "c"]}
    assert rows_of_columns(ExactMatch(), columns) == [
        {"response": "a", "reference": "a"},
        {"response": "b", "reference": "c"},
    ]
    assert rows_of_columns(ExactMatch(), {"response": [], "reference": []}) == []
    kinds = rows_of_columns(ExactMatch(), columns, lambda kind, item: f"{kind} {item}")
    assert kinds[1] == {"response": "text b", "reference": "text c"}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"response": ["a"], "reference": None}, "needs the input 'reference': give a list with one item per row."),
        (
            {"response": ["a"], "reference": ["b"], "topic": ["t"]},
            "has no input 'topic'; it has reference, response.",
        ),
    ],
)
def test_columns_that_the_metric_does_not_have(columns: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        rows_of_columns(ExactMatch(), columns)
    assert str(raised.value) == f"exact_match {problem}"


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"response": "a", "reference": ["b"]}, "'response' must be a list with one item per row, got str."),
        (
            {"response": ["a", "b"], "reference": ["b"]},
            "all inputs must be lists of the same length, got {'response': 2, 'reference': 1}.",
        ),
    ],
)
def test_columns_that_make_no_rows(columns: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        rows_of_columns(ExactMatch(), columns)
    assert str(raised.value) == f"exact_match: {problem}"


def begun_by_threads(order: BeginInOrder, *, at_once: bool) -> list[int]:
    """The numbers of five calls, the last one first, in the order in which they began; ``at_once``: each before the next comes."""
    begun: list[int] = []

    def call(number: int) -> None:
        with order.call(number):
            begun.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in reversed(range(5))]
    for thread in threads:
        thread.start()
        if at_once:
            thread.join(60)
        else:
            time.sleep(0.01)  # one that does not wait for those before it has begun by then
    for thread in threads:
        thread.join()
    return begun


def test_calls_of_a_script_begin_in_order() -> None:
    assert begun_by_threads(BeginInOrder(60.0), at_once=False) == [0, 1, 2, 3, 4]


def test_calls_of_a_model_do_not_wait_for_each_other() -> None:
    assert begun_by_threads(BeginInOrder(0.0), at_once=True) == [4, 3, 2, 1, 0]


def waits_of(order: BeginInOrder) -> list[float | None]:
    """How long each of its calls is ready to wait for those before it, as they come to that."""
    waits: list[float | None] = []
    wait = order._changed.wait

    def noted(timeout: float | None = None) -> bool:
        waits.append(timeout)
        return wait(timeout)

    order._changed.wait = noted  # type: ignore[method-assign]
    return waits


def test_who_waits_in_vain_waits_once() -> None:
    order = BeginInOrder(0.01)
    waits = waits_of(order)
    start = time.monotonic()
    with order.call(3):
        pass
    with order.call(9):
        pass
    assert waits == [pytest.approx(0.02)], "10 ms of a script's call, and those to spare"
    assert time.monotonic() - start > 0.01


def test_a_call_that_takes_its_time_uses_it_up() -> None:
    order = BeginInOrder(0.02)
    waits = waits_of(order)
    with order.call(0):
        time.sleep(0.05)
    with order.call(7):  # 1 to 6 have not begun
        pass
    assert waits == []


def test_calls_within_calls_are_nested() -> None:
    calls = OpenCalls()
    calls.begin("a", {"tag": 1})
    calls.begin("a")
    calls.begin("b")
    inner, outer = calls.end("b"), calls.end("a")
    assert inner is not None
    assert outer is not None
    assert (inner.nested, outer.nested, outer.tags, outer.is_open) == (True, False, {"tag": 1}, False)
    assert calls.end("a") is None
    calls.begin("c")
    after = calls.end("c")
    assert after is not None
    assert after.nested is False


@dataclass
class Delta:
    delta: str | None


def test_a_stream_is_heard_to_its_end() -> None:
    told: list[str | None] = []
    assert list(heard(["a", Delta("b"), Delta(None)], told.append)) == ["a", Delta("b"), Delta(None)]
    assert told == ["ab"]
    assert words_of(Delta("b")) == "b"


def test_a_stream_that_is_left_is_closed() -> None:
    told: list[str | None] = []
    left: list[str] = []

    def stream() -> Iterator[str]:
        try:
            yield from "ab"
        finally:
            left.append("closed")

    listening = heard(stream(), told.append)
    assert next(listening) == "a"
    listening.close()
    assert (told, left) == ([None], ["closed"])


@pytest.mark.parametrize("whole", [True, False])
async def test_an_asynchronous_stream(*, whole: bool) -> None:
    told: list[str | None] = []

    async def stream() -> AsyncIterator[str]:
        for piece in "ab":
            yield piece

    listening = heard_async(stream(), told.append)
    if whole:
        assert [piece async for piece in listening] == ["a", "b"]
    else:
        assert await anext(listening) == "a"
        await listening.aclose()
    assert told == ["ab" if whole else None]


class Lines:
    """An asynchronous stream that cannot be closed."""

    def __init__(self) -> None:
        self.left = ["a"]

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop()


async def test_a_stream_without_an_end_of_its_own() -> None:
    told: list[str | None] = []
    assert [piece async for piece in heard_async(Lines(), told.append)] == ["a"]
    assert told == ["a"]


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("max_concurrency", 0, "max_concurrency must be a whole number from 1, got 0"),
        ("max_retries", True, "max_retries must be a whole number from 0, got True"),
        ("timeout", 0, "timeout must be a positive number of seconds, got 0"),
        ("timeout", float("inf"), "timeout must be a positive number of seconds, got inf"),
    ],
)
def test_settings_of_calls(setting: str, value: Any, problem: str) -> None:
    check_calls(1, 0, 0.5)
    with pytest.raises(InvalidInput) as raised:
        check_calls(**{"max_concurrency": 1, setting: value})
    assert str(raised.value) == problem


def test_a_switch() -> None:
    for value in (None, True, False):
        check_switch("on", value)
    with pytest.raises(InvalidInput) as raised:
        check_switch("on", 1)
    assert str(raised.value) == "on must be True, False or None, got 1"


@pytest.mark.parametrize(("name", "cure"), [("lmm", "did you mean 'llm'?"), ("other", "it has llm, name; that is all")])
def test_settings_that_there_are_not(name: str, cure: str) -> None:
    check_known("M", ["llm"], ["llm", "name"])
    with pytest.raises(InvalidInput) as raised:
        check_known("M", ["llm", name], ["llm", "name"], "; that is all")
    assert str(raised.value) == f"M has no setting {name!r}: {cure}"


class Base:
    def answer(self) -> str:
        return "a"


class Heir(Base):
    @wraps(Base.answer)
    def answer(self) -> str:
        return Base.answer(self)


class Other(Base):
    def answer(self) -> str:
        return "b"


class Mock:
    def __getattr__(self, name: str) -> Any:
        return name


def test_methods_of_models() -> None:
    assert [overrides(cls, Base, "answer") for cls in (Base, Heir, Other)] == [False, False, True]
    assert [has_methods(model, "generate", "answer") for model in (Base(), Mock(), 3)] == [True, False, False]
    model = blocking(HashingEmbeddings(), embed=len)
    assert (model.model, model.embed) == ("HashingEmbeddings", len)


def test_exceptions_of_clients() -> None:
    import httpx

    assert is_of_a_client(httpx.ReadError("lost"))
    assert not is_of_a_client(httpx.ReadError("lost"), {"httpx"})
    assert not is_of_a_client(ValueError("x"))


def test_a_block_keeps_what_ended_it() -> None:
    kept, error = Kept(), ModelError("lost")
    with kept:
        raise error
    assert kept.error is error
    with kept:
        pass
    assert kept.error is error
    with pytest.raises(KeyboardInterrupt), kept:
        raise KeyboardInterrupt


def test_what_was_given() -> None:
    assert [kind_of(given) for given in (3, int, None)] == ["int", "int", "NoneType"]
