"""Calls that begin in order, as long as they take no longer than those of a script."""

from __future__ import annotations

import threading
import time

import pytest

from haystack_integrations.components.evaluators.ragmetrics._rows import BeginInOrder


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
