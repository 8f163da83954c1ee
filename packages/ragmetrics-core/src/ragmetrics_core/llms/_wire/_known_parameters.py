"""The parameters of the chat protocol by name, so that a misspelt one is found when the model is made, and not after an hour.

Strategy. The well-known names stand here, because looking them up means loading the openai package, which takes most of a second.
Only a name that is not among them is looked up, so a newer package may know more.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..._kernel._errors import InvalidInput

KNOWN = frozenset(
    [
        "audio",
        "extra_body",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "temperature",
        "tool_choice",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)
SETTINGS = frozenset({"api_key", "base_url", "structured", "timeout"})
ALMOST_SURELY = 0.9
"""Similarity from which on a name is taken for a misspelt one; ``min_tokens``, which vLLM knows, is 0.8 like ``max_tokens``."""


def check_against_package(names: Iterable[str]) -> None:
    """Refuse what the openai package does not take.

    Raises:
        InvalidInput: a name is none of its parameters.
    """
    for name in names:
        if name not in KNOWN and name not in _of_package():
            near = _nearest(name, 0.6)
            hint = f": did you mean {near!r}?" if near else "."
            raise InvalidInput(
                f"{name} is no parameter of the chat protocol{hint} What only some servers know goes into "
                f"extra_body={{{name!r}: ...}}"
            )


def check_near_misses(names: Iterable[str]) -> None:
    """Refuse what is nearly a well-known name; other names are a matter between the user and the server.

    Raises:
        InvalidInput: a name is nearly a well-known one.
    """
    for name in names:
        near = None if name in KNOWN else _nearest(name, ALMOST_SURELY)
        if near:
            raise InvalidInput(
                f"{name} is no well-known parameter of the chat protocol: did you mean {near!r}? If the server does know it, give "
                f"extra_body={{{name!r}: ...}}"
            )


def _nearest(name: str, similarity: float) -> str | None:
    found = difflib.get_close_matches(name, sorted(KNOWN | SETTINGS), 1, similarity)
    return found[0] if found else None


def _of_package() -> frozenset[str]:
    import inspect  # noqa: PLC0415  rarely needed

    from openai.resources.chat.completions import Completions  # noqa: PLC0415  heavy

    return frozenset(inspect.signature(Completions.create).parameters)
