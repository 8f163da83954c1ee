"""What an answer cost and why it ends, in the words of all providers. Frameworks pass on what a server sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .._values._requests import Usage, counted

INPUT_COUNTS = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
OUTPUT_COUNTS = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
CUT_OFF = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})


def usage_of(*places: Any) -> Usage:
    """Return the usage of an answer: one call, and the first token counts that are found; 0 if there are none.

    Args:
        places: what a server sent beside the text, as mappings or objects, the likeliest place first. Counts are also searched
            below ``usage``, and finish reasons in the first of several ``choices``.
    """
    return Usage(1, _first_count(places, INPUT_COUNTS), _first_count(places, OUTPUT_COUNTS))


def finish_reason_of(*places: Any) -> str | None:
    """Return the provider's word for why an answer ends, in lower case; None if the server does not say. ``places`` as for
    ``usage_of``.
    """
    reasons = (_field(place, name) for place in _within(places) for name in REASONS)
    reason = next(filter(None, reasons), None)
    return None if reason is None else str(getattr(reason, "name", reason)).lower().rpartition(".")[2]


def cost_of(model: Any, usage: Usage) -> float | None:
    """Return the price of calls to a model in US dollars, by the price table; None if it is not known, or there are no tokens."""
    from .._store._prices import ModelUsage  # noqa: PLC0415  loads asyncio

    cost = ModelUsage.of(model, usage, 0).cost()
    return None if cost is None else cost.dollars


def is_cut_off(reason: str | None) -> bool:
    """Whether this reason says that the answer was cut at the token limit."""
    return reason in CUT_OFF


def _first_count(places: Iterable[Any], names: tuple[str, ...]) -> int:
    return next(filter(None, (counted(_field(place, name)) for place in _within(places) for name in names)), 0)


def _within(places: Iterable[Any]) -> Iterator[Any]:
    for place in places:
        yield place
        yield from (_field(place, name) for name in ("usage", "usage_metadata"))
        for several in (_field(place, name) for name in ("choices", "candidates")):
            if isinstance(several, list) and several:
                yield several[0]


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
