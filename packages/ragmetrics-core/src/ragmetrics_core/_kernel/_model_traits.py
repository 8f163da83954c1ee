"""What a model may say about itself besides answering, read in one place. All of it is optional: `_protocols` lists it.

Models are other people's objects, and reading an attribute may cost or do anything. So whoever needs the traits reads them once and
keeps the value, and a single score reads no more than the two that tell how a call is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelTraits:
    """What a model says about itself.

    Attributes:
        kind: name of its class.
        name: its name in messages: its attribute ``model``, or its class.
        identity: every setting that can change an answer; None if it does not say.
        instant: it computes in place.
        on_this_machine: its server is on this machine.
        texts_per_call: most texts or pairs in one request; None if it does not say.
        compares: it has a method for pairs, which is asked instead of comparing its vectors.
        caveat: what must be known about its answers.
        testset_caveat: what must be known about test sets that it writes.
    """

    kind: str
    name: str
    identity: Mapping[str, Any] | str | None
    instant: bool
    on_this_machine: bool
    texts_per_call: int | None
    compares: bool
    caveat: str | None
    testset_caveat: str | None

    @classmethod
    def of(cls, model: Any) -> ModelTraits:
        """The traits of a model."""
        kind = type(model).__name__
        return cls(
            kind=kind,
            name=_text(model, "model") or kind,
            identity=getattr(model, "identity", None) or None,
            instant=is_instant(model),
            on_this_machine=getattr(model, "on_this_machine", False) is True,
            texts_per_call=getattr(model, "texts_per_call", None) or None,
            compares=compares_pairs(model),
            caveat=_text(model, "caveat"),
            testset_caveat=_text(model, "testset_caveat"),
        )

    @property
    def called(self) -> str:
        """What an account calls it: the model that its settings name, else its class."""
        return str(self.settings.get("model") or self.kind)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The identity, where it is a mapping of settings."""
        return self.identity if isinstance(self.identity, Mapping) else {}


def same_model(one: Any, other: Any) -> bool:
    """Whether two models are one and the same, or say of themselves that they are."""
    identity = None if one is None else ModelTraits.of(one).identity
    return one is other or (identity is not None and other is not None and identity == ModelTraits.of(other).identity)


def is_instant(model: Any) -> bool:
    """Whether it computes in place; read alone where nothing else is needed, as an ``identity`` may be long to tell."""
    return bool(getattr(model, "instant", False))


def compares_pairs(model: Any) -> bool:
    """Whether it has a method for pairs; read alone as ``is_instant`` is."""
    return any(hasattr(model, method) for method in ("compare", "acompare"))


def _text(model: Any, name: str) -> str | None:
    value = getattr(model, name, None)
    return value if isinstance(value, str) else None


def prepared(model: Any, repeats: int) -> Any:
    """The model as a run asks it.

    It has no retries of its own, since only the run sees all failures and can pace the calls. And if rows are judged several
    times, it has no cache of its own: an answer that a cache gives twice is a single judgement.
    """
    if hasattr(model, "without_retries"):
        model = model.without_retries()
    if repeats > 1 and hasattr(model, "without_cache"):
        model = model.without_cache()
    return model
