"""How both suites look at a failing model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._kernel._errors import ModelError


def assert_fails_well(call: Callable[[], Any], secrets: Iterable[str]) -> None:
    """The call raises a ``ModelError`` with a message; neither the error nor anything attached to it shows a secret."""
    import pytest  # noqa: PLC0415  the suites are imported without it, and run with it

    with pytest.raises(ModelError) as caught:
        call()
    error = caught.value
    assert str(error).strip(), "a ModelError says what happened"
    assert_holds_none(f"{error!r} {error} {error.__cause__!r} {error.__context__!r}", secrets, "the error")


def assert_holds_none(text: str, secrets: Iterable[str], where: str) -> None:
    """No secret is shown, not even in the message of this failure."""
    for number, secret in enumerate(secrets, 1):
        assert secret not in text, f"{where} shows secret number {number}"
