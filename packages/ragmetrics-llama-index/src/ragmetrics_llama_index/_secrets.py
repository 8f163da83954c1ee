"""Which settings of a model are secret, and texts without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["concealed", "is_secret", "secrets_of", "settings_of"]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET = (
    "key",
    "keys",
    "token",
    "secret",
    "secrets",
    "password",
    "authorization",
    "credential",
    "credentials",
    "headers",
)
LOOKS_SECRET = re.compile(r"(?:\b(?:sk|gsk|pk|key)-[\w*.-]{6,})|(?<=Bearer )\S+|[\w-]*\*{3,}[\w-]*")
SHORTEST = 8
"""Characters from which on a secret is looked for in texts: a shorter one is found in ordinary words too."""


def is_secret(name: object) -> bool:
    """Whether a setting of this name holds a secret, such as ``api_key``; counts such as ``max_tokens`` do not."""
    return any(word.lower().endswith(SECRET) for word in WORD.findall(str(name)))


def settings_of(model: Any) -> dict[str, Any]:
    """The fields of a model of LlamaIndex, which are its settings, without those that it excludes from its own record."""
    known = getattr(type(model), "model_fields", {})
    return {name: getattr(model, name, None) for name, field in known.items() if not field.exclude}


def secrets_of(model: Any) -> tuple[str, ...]:
    """Every text among the settings that must not be shown."""
    return tuple(text for text in _secret_texts(settings_of(model), named=False) if len(text) >= SHORTEST)


def concealed(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets and without anything shaped like a key."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return LOOKS_SECRET.sub("***", text)


def _secret_texts(value: Any, *, named: bool) -> Iterable[str]:
    if isinstance(value, str):
        if named:
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _secret_texts(item, named=named or is_secret(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secret_texts(item, named=named)
