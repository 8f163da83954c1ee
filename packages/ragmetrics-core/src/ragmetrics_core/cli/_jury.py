"""``--jury``: each metric that asks an LLM, put to several models instead of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric, prompts_of
from .._names._models import llm_named
from .._names._priced import llm_to_price
from ..metrics import Jury
from ._models import has_address

JuryOf = Annotated[
    str | None,
    typer.Option(
        "--jury",
        metavar="MODELS",
        help="Several models as for --llm, with commas between, instead of one: each metric that asks an LLM is asked of all of "
        "them, and has the median of what they say, or the majority of a yes or no. --base-url is the address of those named "
        "server: or openai:.",
    ),
]


def with_jury(
    metrics: Sequence[Metric], text: str | None, llm: str | None, base_url: str | None = None, *, called: bool = True
) -> list[Metric]:
    """The metrics, of which those that ask an LLM are juries of the models that the text names; they keep their names.

    Models that have no address by their name, such as ``server:MODEL`` and ``openai:MODEL``, are looked for at ``base_url``.
    Where the models are not to be called, but only to have a price, their packages may be missing.

    Raises:
        InvalidInput: fewer than two models are named, one is not known, no metric asks an LLM, or there is ``--llm`` too.
        MissingExtra: the package that a provider needs is not installed.
    """
    if text is None:
        return list(metrics)
    if llm is not None:
        raise InvalidInput("--llm and --jury both say who judges: give one of them")
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(names) < 2:
        example = "openai:gpt-4o-mini,ollama:qwen3"
        raise InvalidInput(f"--jury takes at least two models with commas between, such as {example}, got {text!r}")
    if not any(map(_asks, metrics)):
        raise InvalidInput(f"--jury: none of the metrics asks an LLM: {', '.join(item.name for item in metrics)}")
    make = llm_named if called else llm_to_price
    models: list[Any] = [make(name, None if has_address(name) else base_url) for name in names]
    return [
        Jury([replace(item, llm=model) for model in models], name=item.name) if _asks(item) else item
        for item in metrics
    ]


def _asks(metric: Metric) -> bool:
    """Whether a metric has prompts and nobody of its own to answer them."""
    return metric.llm is None and bool(prompts_of(metric))
