"""Models as options of a command, ``--llm``, ``--embeddings``, ``--base-url``, and what they may spend: ``--budget calls=1000``."""

from __future__ import annotations

from typing import Any

from ragmetrics_core import InvalidInput

from .._names._models import embeddings_named, is_server, llm_named
from .._names._priced import embeddings_to_price, llm_to_price

BUDGETS = ("calls", "tokens", "dollars")


def parse_models(
    llm: str | None, embeddings: str | None, base_url: str | None, jury: str | None = None, *, called: bool = True
) -> dict[str, Any]:
    """The models that the options name, as ``evaluate`` takes them; models of OpenAI's protocol are looked for at ``base_url``.

    Where they are not to be called, but only to have a price, their packages may be missing. The models of a ``jury`` are made
    elsewhere, and may use the base URL too.

    Raises:
        InvalidInput: there is no such provider, or no model uses the base URL.
        MissingExtra: the package that a provider needs is not installed.
    """
    provider = (embeddings or "").partition(":")[0]
    remote_embeddings = provider == "openai" or is_server(provider)
    if base_url is not None and jury is not None and not remote_embeddings:
        if all(map(has_address, filter(str.strip, jury.split(",")))):
            raise InvalidInput(
                "--base-url is for jurors named server: or openai:, and there is none: leave it out, or give a server by name its "
                "address in its own variable"
            )
    elif base_url is not None and llm in (None, "lexical") and not remote_embeddings:
        raise InvalidInput("--base-url needs --llm openai:MODEL, --llm server:MODEL or --embeddings openai:MODEL")
    models: dict[str, Any] = {}
    if llm is not None:
        models["llm"] = (llm_named if called else llm_to_price)(llm, base_url)
    if embeddings is not None:
        models["embeddings"] = (embeddings_named if called else embeddings_to_price)(embeddings, base_url)
    return models


def has_address(name: str) -> bool:
    """Whether a juror needs no ``--base-url``: its provider has an address, or it works offline."""
    return name.strip() == "lexical" or is_server(name.partition(":")[0].strip())


def parse_budget(texts: list[str]) -> dict[str, float] | None:
    """The budget that texts such as ``calls=1000`` name, as ``evaluate`` takes it.

    Raises:
        InvalidInput: a text is of another form.
    """
    budget: dict[str, float] = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        digits = number.replace("_", "")
        fraction = name == "dollars" and digits.count(".") == 1
        whole = digits.replace(".", "", 1) if fraction else digits
        if name not in BUDGETS or not whole.isdecimal() or not int(whole):
            raise InvalidInput(f"--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got {text!r}")
        if name in budget:
            raise InvalidInput(f"--budget: {name} is given twice: give it once")
        budget[name] = float(digits) if fraction else int(digits)
    return budget or None
