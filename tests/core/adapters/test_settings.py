"""Secrets among the settings of a model, and what is left for its identity; secrets in texts; texts for embedding models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretBytes, SecretStr

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import conceal, is_secret, json_settings, readable_texts, secret_texts


class EnvironmentSecret:
    """A secret as Haystack wraps it."""

    def __init__(self, value: str | None) -> None:
        self.value = value

    def resolve_value(self) -> str:
        if self.value is None:
            raise ValueError("None of the variables is set")
        return self.value


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True),
        ("apiKey", True),
        ("OPENAI_API_KEY", True),
        ("x-api-key", True),
        ("Authorization", True),
        ("default_headers", True),
        ("azure_ad_token", True),
        ("max_tokens", False),
        ("prompt_cache_key", False),
        ("keyboard", False),
        (7, False),
    ],
)
def test_names_of_secrets(name: object, secret: bool) -> None:
    assert is_secret(name) is secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-abcdefgh1234 is wrong", "key *** is wrong"),
        ("gsk_abcdefgh hf_abcdefgh lsv2_pt_abc xai-abcdef", "*** *** *** ***"),
        (f"AIza{'x' * 30}", "***"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ("got sk***xyz", "got ***"),
        ("http://user:pass@host/v1", "http://***@host/v1"),
        ("http://host/v1?api-version=2&key=abc&x=1", "http://host/v1?api-version=2&key=***&x=1"),
        ("my-own-word is long, word is short", "*** is long, word is short"),
        ("write to me@home, a task-force, 2 * 3", "write to me@home, a task-force, 2 * 3"),
    ],
)
def test_secrets_in_texts(text: str, shown: str) -> None:
    assert conceal(text, ["word", "my-own-word"]) == shown


def test_the_texts_that_must_not_be_shown() -> None:
    settings: dict[str, Any] = {
        "model": "judge",
        "api_key": "first-key",
        "wrapped": SecretStr("second-key"),
        "bytes": SecretBytes(b"other"),
        "environment": EnvironmentSecret("third-key"),
        "unset": EnvironmentSecret(None),
        "extra": {"headers": {"Cookie": "fourth-key", "numbers": [1, "fifth-key"]}, "plain": "text", "token": ""},
        "list": [{"password": "sixth-key"}, ("plain", {"password": "first-key"})],
        "max_tokens": 7,
    }
    assert secret_texts(settings) == (
        "first-key",
        "second-key",
        "third-key",
        "fourth-key",
        "fifth-key",
        "sixth-key",
    )


def test_a_model_that_changes_while_its_secrets_are_sought() -> None:
    """As where another thread calls it, and it keeps something of that in a cached property."""
    settings: dict[str, Any] = {}

    class Noting(EnvironmentSecret):
        def resolve_value(self) -> str | None:
            settings["noted"] = "now"
            return super().resolve_value()

    settings.update(api_key=Noting("first-key"), token="second-key")
    assert secret_texts(settings) == ("first-key", "second-key")


def test_settings_as_json_values() -> None:
    settings = {
        "model": "judge",
        "api_key": "first-key",
        "wrapped": SecretStr("second-key"),
        "stop": ("a", "b"),
        "extra": {"token": "x", "seed": 1, 7: None, "keys": {"deep": "x"}, "token_limit": 5, "secret_switch": True},
        "address": "http://user:pass@host/v1",
        "note": "holds first-key",
    }
    assert json_settings(settings, secret_texts(settings)) == {
        "model": "judge",
        "stop": ["a", "b"],
        "extra": {"seed": 1, "7": None, "token_limit": 5, "secret_switch": True},
        "address": "http://***@host/v1",
        "note": "holds ***",
    }


@pytest.mark.parametrize("value", [object(), len, {"deep": [object()]}, b"bytes", SecretStr])
def test_what_is_no_json_value_leaves_no_settings(value: object) -> None:
    assert json_settings({"model": "judge", "callback": value}) is None


def test_texts_that_an_embedding_model_can_read() -> None:
    assert readable_texts(iter(["a \ud800", "b \U0001f600"])) == ["a \ufffd", "b \U0001f600"]
    with pytest.raises(InvalidInput, match=r"^embed takes a list of texts, got a single str: write \[text\]$"):
        readable_texts("text")
    with pytest.raises(InvalidInput, match=r"^embed: text \[1\] must be a str, got int$"):
        readable_texts(["a", 1])  # type: ignore[list-item]


def test_headers_that_choose_who_answers_are_a_digest() -> None:
    """A gateway may choose the model by a header; a header that authorises chooses nothing."""
    one, same, other = (
        json_settings(
            {"default_headers": {"X-Provider": name, "Authorization": key}, "call": {"extra_headers": {"x-b": "1"}}}
        )
        for name, key in (("a", "Bearer 1"), ("a", "Bearer 2"), ("b", "Bearer 1"))
    )
    assert one == same
    assert one is not None
    assert other is not None
    assert one["default_headers"] != other["default_headers"]
    assert one["default_headers"].startswith("sha256:")
    assert one["call"] == other["call"] != {}
    assert json_settings({"default_headers": {"Authorization": "Bearer 1", "Cookie": "c"}}) == {}
