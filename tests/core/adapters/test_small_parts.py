"""The small things that adapters share: checks of settings, methods and exceptions of models."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core import InvalidInput, ModelError
from ragmetrics_core.adapters import (
    Kept,
    blocking,
    check_calls,
    check_known,
    check_switch,
    is_of_a_client,
    kind_of,
)
from ragmetrics_core.embeddings import HashingEmbeddings


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


def test_a_model_that_can_only_block() -> None:
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
