"""How the user's values and examples are written into a question and into a saved pipeline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haystack import Document
from ragmetrics_core import Example
from ragmetrics_core.adapters import in_order

__all__ = ["as_examples", "readable", "saved_examples"]


def as_examples(
    examples: Sequence[Mapping[str, Any]],
    inputs: Iterable[str],
    outputs: Iterable[str],
    names: Mapping[str, str] | None = None,
) -> tuple[Example, ...]:
    """Examples of Haystack as examples of a prompt.

    Args:
        examples: as the user gave them, or as a file gave them, which may have sorted their keys.
        inputs: names of the inputs in the order in which they are shown; others follow in alphabetical order.
        outputs: the same for the outputs.
        names: what the prompt calls an input, where that is not Haystack's name.
    """
    names = names or {}
    return tuple(
        Example(
            {str(names.get(name, name)): value for name, value in _shown(item["inputs"], inputs).items()},
            _shown(item["outputs"], outputs),
        )
        for item in examples
    )


def _shown(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    known = [name for name in names if name in values]
    return {name: readable(values[name]) for name in [*known, *sorted(values.keys() - set(known))]}


def saved_examples(examples: list[dict[str, Any]]) -> list[Any]:
    """The examples as Haystack saves them; an example with mappings among its values is saved so that no file can reorder it."""
    return [
        in_order(readable(item)) if any(_holds_mapping(list(part.values())) for part in item.values()) else item
        for item in examples
    ]


def _holds_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_holds_mapping, value)))


def readable(value: Any) -> Any:
    """The value as JSON; what JSON cannot hold becomes text, as in Haystack."""
    if isinstance(value, Document) and value.content is not None:
        return value.content
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    as_list = getattr(value, "tolist", None)
    if as_list is not None and not isinstance(value, float):
        return readable(as_list())
    if isinstance(value, Mapping):
        return {str(name): readable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return str(value)
