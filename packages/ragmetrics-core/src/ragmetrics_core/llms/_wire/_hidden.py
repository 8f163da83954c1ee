"""Settings as they may be shown and stored: what is secret in them is hidden, by name and by value.

Strategy. Parameters of the protocol may hold keys of other services (such as "on your data" of Azure in ``extra_body``). A text
below a name such as ``api_key`` is hidden, and so is a text that holds a known secret. Numbers are shown whatever
their name is: ``max_tokens`` is no secret. What is stored as ``identity`` keeps a hash, so that another key is another identity.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._support._secrets import MASKED, conceal, is_secret


def shown(parameters: Mapping[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """For ``repr``: every secret text is ``***``."""
    known = tuple(secrets)

    def hide(text: str, named: bool) -> str:
        return MASKED if named else conceal(text, known)

    return {name: _hidden(value, hide, is_secret(name)) for name, value in parameters.items()}


def hashed(parameters: Mapping[str, Any], secrets: Iterable[str]) -> dict[str, Any]:
    """For ``identity``: every secret text is the beginning of its SHA-256."""
    known = tuple(secrets)

    def hide(text: str, named: bool) -> str:
        if not named and conceal(text, known) == text:
            return text
        return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    return {name: _hidden(value, hide, is_secret(name)) for name, value in parameters.items()}


def _hidden(value: Any, hide: Callable[[str, bool], str], named: bool) -> Any:
    if isinstance(value, str):
        return hide(value, named) if value else value
    if isinstance(value, Mapping):
        return {name: _hidden(item, hide, named or is_secret(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item, hide, named) for item in value]
    return value
