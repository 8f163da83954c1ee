"""The cost of the calls of a run, from the price table of the package ``genai-prices``.

A price is known or unknown; an unknown price is never 0. It is unknown if the model may run on the user's server, if the table
does not list the model, or if the table is not installed. The table is loaded when a cost is read, not during a run.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from .._engine._budget import Budget
from .._kernel._drive import Models
from .._kernel._model_traits import ModelTraits, is_instant
from .._support._providers import provider_of
from .._values._errors import InvalidInput, MissingExtra, Setting
from .._values._requests import Usage

HALF = 0.5
"""The price of a question in a batch, as a share of the price online."""

INSTALL = 'pip install "ragmetrics-core[prices]"'


@dataclass(frozen=True)
class Cost:
    """The price of the calls to one model.

    Attributes:
        dollars: in US dollars; None: unknown.
        source: the price table with its version; or why the price is unknown.
    """

    dollars: float | None
    source: str

    def __str__(self) -> str:
        return f"{'unknown' if self.dollars is None else f'${self.dollars:.4f}'} ({self.source})"


@dataclass(frozen=True)
class ModelUsage:
    """The calls to one model in a run. Replies from the journal cost nothing and are not counted.

    Attributes:
        name: name of the model.
        base_url: its address; None if the model does not say.
        usage: calls and tokens.
        repeated: calls that were refused or lost and made again; they are not among the calls of ``usage``.
        seconds: the time of all calls together; 0 if it was not measured.
        batched: the part of ``usage`` that was asked in batches, at half the price.
        price_as: the name of the model in the price table, ``MODEL`` or ``PROVIDER:MODEL``, if its own name is another one, as of
            a deployment; None: its own name. It is the attribute ``price_as`` of the model.
    """

    name: str
    base_url: str | None
    usage: Usage
    repeated: int = 0
    seconds: float = field(default=0.0, compare=False)
    batched: Usage = field(default_factory=Usage)
    price_as: str | None = None

    @classmethod
    def of(cls, model: Any, usage: Usage, repeated: int, seconds: float = 0.0) -> ModelUsage:
        """Return the usage of a model. Its ``identity`` gives its name and address."""
        traits = ModelTraits.of(model)
        base_url = traits.settings.get("base_url")
        given = getattr(model, "price_as", None)
        price_as = given if isinstance(given, str) else None
        return cls(traits.called, base_url and str(base_url), usage, repeated, seconds, price_as=price_as)

    def __add__(self, other: ModelUsage) -> ModelUsage:
        usage, seconds = self.usage + other.usage, self.seconds + other.seconds
        repeated, batched = self.repeated + other.repeated, self.batched + other.batched
        price_as = other.price_as or self.price_as  # it is known since the latest part of a run
        return replace(self, usage=usage, repeated=repeated, seconds=seconds, batched=batched, price_as=price_as)

    def cost(self) -> Cost | None:
        """Return the price; None if there are no tokens to pay for."""
        if not (self.usage.prompt_tokens or self.usage.completion_tokens):
            return None
        if self.base_url is None and self.price_as is None:
            return Cost(None, "the model does not say where it is called")
        if importlib.util.find_spec("genai_prices") is None:
            return Cost(None, INSTALL)
        whole = self._priced(self.usage)
        if whole.dollars is None or not self.batched.calls:
            return whole
        full = self._priced(self.batched).dollars or 0.0
        return replace(whole, dollars=whole.dollars - (1 - HALF) * full)

    def _priced(self, usage: Usage) -> Cost:
        listed = provider_of("", self.base_url)
        place = {"provider_id": listed.prices} if listed else {"provider_api_url": self.base_url}
        if self.price_as is None:
            return _priced(self.name, usage, self.base_url, **place)
        provider, colon, name = self.price_as.partition(":")
        if colon:
            listed = provider_of(self.price_as, None)
            return _priced(name, usage, provider_id=(listed and listed.prices) or provider)
        here = _priced(self.price_as, usage, **place) if self.base_url else Cost(None, "")
        return here if here.dollars is not None else _priced(self.price_as, usage)  # a gateway is in no table

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the seconds, as plain JSON values; only ``run.json`` stores the seconds."""
        return {name: value for name, value in self.stored().items() if name != "seconds"}

    def stored(self) -> dict[str, Any]:
        """Return everything as ``run.json`` stores it; ``batched`` only if there were batches, ``price_as`` only if it is given."""
        is_given = {"batched": self.batched.calls, "price_as": self.price_as}
        stored = {name: value for name, value in vars(self).items() if is_given.get(name, True)}
        return {name: value.to_dict() if isinstance(value, Usage) else value for name, value in stored.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelUsage:
        """Return the usage that ``to_dict`` wrote, with its seconds if they were stored."""
        usage, batched = Usage(**data["usage"]), Usage(**data.get("batched", {}))
        sum((usage + batched).to_dict().values())  # raises a TypeError unless all are numbers
        price_as = str(data["price_as"]) if "price_as" in data else None
        seconds = float(data.get("seconds", 0.0))
        return cls(data["name"], data["base_url"], usage, data["repeated"], seconds, batched, price_as)


class Prices:
    """The prices of calls in dollars, for a budget that counts during a run. An instance is called with a model and its usage.

    Raises:
        InvalidInput: (at a call) the price of the model is not known.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, ModelUsage]] = {}  # cached, because computing an identity takes long

    def __call__(self, model: Any, usage: Usage) -> float:
        if is_instant(model):
            return 0.0  # it is computed in this process, whatever it counts
        if id(model) not in self._known:  # the entry holds the model, so that its id is not reused
            self._known[id(model)] = (model, ModelUsage.of(model, Usage(), 0))
        usage_of_model = replace(self._known[id(model)][1], usage=usage)
        cost = usage_of_model.cost()
        if cost is None:
            return 0.0
        if cost.dollars is None:
            raise InvalidInput(
                f"budget: the price of {usage_of_model.name} is not known ({cost.source}): limit its tokens, as in ",
                Setting("budget", {"tokens": 1_000_000}),
            )
        return cost.dollars

    def check(self, model: Any, *, local: bool) -> None:
        """Check that the price of the model is known, or that it costs nothing.

        Args:
            model: a model, or None.
            local: whether a model without an address is taken to run in this process and to cost nothing.

        Raises:
            InvalidInput: its price is not known.
            MissingExtra: the table of prices is not installed.
        """
        traits = ModelTraits.of(model)
        if model is None or traits.instant or (local and not traits.settings.get("base_url")):
            return
        if importlib.util.find_spec("genai_prices") is None:
            raise MissingExtra(f"a budget of dollars needs the table of prices: {INSTALL}")
        self(model, Usage(1, 1, 1))


def budget_of(limits: Mapping[str, float] | None, models: Iterable[Models]) -> Budget:
    """Return a budget for calls to these models and their members.

    Raises:
        InvalidInput: a limit is impossible, or it is in dollars and the price of a model is not known.
        MissingExtra: a limit is in dollars, and the table of prices is not installed.
    """
    prices = Prices()
    budget = Budget(limits, prices)
    if "dollars" in budget.limits:
        for one in (leaf for item in models for leaf in item.leaves()):
            prices.check(one.llm, local=False)
            prices.check(one.embeddings, local=True)
    return budget


def add_up(*parts: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    """Add up the usage of every model over all parts of a run."""
    found: dict[tuple[str, str | None], ModelUsage] = {}
    for item in chain(*parts):
        key = (item.name, item.base_url)
        found[key] = found[key] + item if key in found else item
    return tuple(found.values())


def priced_as(model: Any, name: str) -> None:
    """Set the name of a model in the price table.

    Raises:
        InvalidInput: the table has no such model, or the model costs nothing.
        MissingExtra: the table of prices is not installed.
    """
    if is_instant(model):
        raise InvalidInput(Setting("price_as", name), " only applies to a model that is paid for: leave it out")
    if importlib.util.find_spec("genai_prices") is None:
        raise MissingExtra(f"price_as needs the table of prices: {INSTALL}")
    model.price_as = name
    cost = ModelUsage.of(model, Usage(1, 1, 1), 0).cost()
    if cost is None or cost.dollars is None:
        why = (
            f" is in no price table: give MODEL or PROVIDER:MODEL, such as openai:gpt-4o-mini ({cost and cost.source})"
        )
        raise InvalidInput(Setting("price_as", name), why)


def _priced(name: str, usage: Usage, at: str | None = None, **where: Any) -> Cost:
    import genai_prices  # noqa: PLC0415  heavy, and rarely needed

    table = f"genai-prices {importlib.metadata.version('genai-prices')}"
    tokens = genai_prices.Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
    try:
        price = genai_prices.calc_price(tokens, name, **where)
    except LookupError:
        place = at or next(iter(where.values()), None)
        return Cost(None, f"{table} has no price for it{f' at {place}' if place else ''}")
    return Cost(float(price.total_price), table)
