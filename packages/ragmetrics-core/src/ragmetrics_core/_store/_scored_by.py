"""Who gives the scores of a run: its metrics and their models, as ``run.json`` holds them.

Of settings and models only digests are written, by name of the setting: they tell which one differs and give none away. Names and
addresses of models can be read there.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._engine import identity_digest
from .._kernel._drive import Models
from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric, prompts_of
from .._kernel._model_traits import ModelTraits
from .._kernel._requests import Usage
from .._kernel._saved_settings import built_in_metric, metric_paths
from ._prices import ModelUsage
from ._setting_digests import digest_of, setting_digests

KINDS = {"llm": "the LLM", "embeddings": "the embedding model"}
CLASS_NAME = re.compile(r"\w+(?=\()")
UNKNOWN = "unknown"
"""The one part of a model that does not say what it is: its digest is a new one every time."""


def class_named(settings: str) -> str | None:
    """The class of a metric whose settings are these words, such as ``NDCG(k=3)``; None where they name none."""
    match = CLASS_NAME.match(settings)
    return match[0] if match else None


@dataclass(frozen=True)
class MetricColumn:
    """A metric as a run knows it.

    Attributes:
        name: its name.
        scale: lowest and highest possible value, or None.
        settings: the metric in words, such as ``NDCG(k=3)``; of a file of scores, its name alone.
        higher_is_better: whether high values are good; False: low ones are; None: neither, or it is not known.
        knows_better: whether that is known: it is not of another's metric in a file of scores, or in the run of an older version.
        saved: what a built-in metric can be built from again; None where that cannot be written, or nobody wrote it.
        inputs: the fields and columns that it reads; None where that is not known.
    """

    name: str
    scale: tuple[float, float] | None
    settings: str
    higher_is_better: bool | None = True
    knows_better: bool = True
    saved: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    inputs: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, metric: Metric) -> MetricColumn:
        """The column of a metric."""
        inputs = tuple(map(str, metric.inputs))
        return cls(
            metric.name, metric.scale, repr(metric), metric.higher_is_better, saved=_saved(metric), inputs=inputs
        )

    @classmethod
    def named(cls, name: str, scale: tuple[float, float] | None, settings: str) -> MetricColumn:
        """A column of which only so much is known: if it is a built-in metric, that knows which end of its scale is better."""
        metric = built_in_metric(class_named(settings) or name, Metric)
        # the direction of a metric made of others is that of its parts, which nobody tells
        known = metric if metric is not None and metric.parts is Metric.parts else None
        better = known.higher_is_better if known else None
        return cls(name, scale, settings, better, known is not None, inputs=_inputs(metric))

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        known = {"higher_is_better": self.higher_is_better} if self.knows_better else {}
        return {
            "name": self.name,
            "scale": list(self.scale) if self.scale else None,
            "settings": self.settings,
            **known,
            **({"saved": self.saved} if self.saved else {}),
            **({"inputs": list(self.inputs)} if self.inputs is not None else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricColumn:
        """What ``to_dict`` wrote.

        Raises:
            LookupError, TypeError, ValueError: it has another shape.
        """
        scale = data["scale"]
        if scale is not None:
            low, high = map(float, scale)
            scale = (low, high)
        name, settings = _checked_text(data["name"]), _checked_text(data["settings"])
        if "higher_is_better" not in data:  # an older version wrote it
            return cls.named(name, scale, settings)
        better = data["higher_is_better"]
        if not isinstance(better, bool | None):
            raise TypeError("higher_is_better is neither true nor false nor null")
        inputs = data.get("inputs")  # an older version wrote none
        known = _inputs(built_in_metric(class_named(settings) or name, Metric)) if inputs is None else tuple(inputs)
        return cls(name, scale, settings, better, saved=data.get("saved"), inputs=known)


@dataclass(frozen=True)
class ModelIdentity:
    """A model by its name, for messages, and by digests of all that can change its answers.

    Attributes:
        name: its name.
        parts: a digest of each setting, by name.
        whole: a digest of all of them, by which replies can be looked up; None where it does not say what it is, or an earlier
            version wrote the file.
        members: of several models that answer the parts of one metric, the ``whole`` of each by its place.
    """

    name: str
    parts: Mapping[str, str]
    whole: str | None = field(default=None, compare=False)
    members: tuple[str | None, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, model: Any) -> ModelIdentity | None:
        """The identity of a model; None where there is no model."""
        if model is None:
            return None
        traits = ModelTraits.of(model)
        if not traits.identity:  # such a model is never the same as another
            return cls(traits.kind, {UNKNOWN: str(uuid.uuid4())})
        if not isinstance(traits.identity, Mapping):
            return cls(traits.kind, {"identity": digest_of(str(traits.identity))}, _whole(traits.identity))
        known = ModelUsage.of(model, Usage(), 0)
        name = f"{known.name} at {known.base_url}" if known.base_url else known.name
        return cls(name, dict(_parts(traits.identity)), _whole(traits.identity))

    @classmethod
    def of_all(cls, models: Sequence[Any]) -> ModelIdentity | None:
        """The identity of those that answer the parts of a metric, as one: their names, and the digests of each by its place."""
        if len(models) == 1:
            return cls.of(models[0])
        each = [cls.of(model) for model in models]
        found = [(place, identity) for place, identity in enumerate(each, 1) if identity is not None]
        if not found:
            return None
        name = ", ".join(identity.name for _, identity in found)
        unknown = next((identity for _, identity in found if identity.is_unknown), None)
        if unknown is not None:
            return cls(name, unknown.parts)
        parts = {f"{place}.{part}": digest for place, one in found for part, digest in one.parts.items()}
        members = tuple(None if one is None else one.whole for one in each)
        told = [one.whole for _, one in found if one.whole is not None]
        return cls(name, parts, digest_of(" ".join(told)) if len(told) == len(found) else None, members)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> ModelIdentity | None:
        """What ``run.json`` holds of it."""
        if data is None:
            return None
        whole = data.get("whole")
        return cls(
            _checked_text(data["name"]),
            _checked_texts(data["parts"]),
            None if whole is None else _checked_text(whole),
            tuple(None if item is None else _checked_text(item) for item in data.get("members", ())),
        )

    @property
    def is_unknown(self) -> bool:
        """Whether it does not say what it is."""
        return UNKNOWN in self.parts

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        return {
            "name": self.name,
            "parts": dict(self.parts),
            **({} if self.whole is None else {"whole": self.whole}),
            **({"members": list(self.members)} if self.members else {}),
        }

    def difference(self, here: ModelIdentity, words: str) -> str:
        """How the model of this run, ``here``, differs from this one, in words; empty if it is the same."""
        if self.parts == here.parts:
            return ""
        if self.name != here.name:
            return f"{words} is {self.name} there, {here.name} here"
        if here.parts.keys() == {"unknown"}:
            return f"{words}, {here.name}, has no attribute `identity`, so nobody knows whether it is the same"
        return f"{words}, {here.name}, has another {', '.join(unequal(self.parts, here.parts))}"


@dataclass(frozen=True)
class ScoredBy:
    """Who gives the scores of one metric: digests of its settings, by name, its models, and which settings are prompts.

    Names of prompts are not stored: a run that was read from a file has none.
    """

    settings: Mapping[str, str]
    llm: ModelIdentity | None
    embeddings: ModelIdentity | None
    prompts: frozenset[str] = field(default=frozenset(), compare=False)

    def model(self, kind: str) -> ModelIdentity | None:
        """The model of this kind: ``llm`` or ``embeddings``."""
        found: ModelIdentity | None = getattr(self, kind)
        return found

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        models = {kind: self.model(kind) for kind in KINDS}
        written = {kind: model and model.to_dict() for kind, model in models.items()}
        return {"settings": dict(self.settings), **written}

    @classmethod
    def of(cls, metric: Metric, models: Models) -> ScoredBy:
        """A metric with the models that answer it."""
        asked = list(models.leaves())
        llm, embeddings = (ModelIdentity.of_all([getattr(one, kind) for one in asked]) for kind in KINDS)
        return cls(setting_digests(metric), llm, embeddings, frozenset(prompts_of(metric)))

    def carried_on(self, earlier: ScoredBy | None) -> ScoredBy:
        """The same, with the models of an earlier part of the run where this one has none."""
        if earlier is None:
            return self
        return replace(self, llm=self.llm or earlier.llm, embeddings=self.embeddings or earlier.embeddings)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoredBy:
        """What ``to_dict`` wrote."""
        llm, embeddings = (ModelIdentity.from_dict(data[kind]) for kind in KINDS)
        return cls(_checked_texts(data["settings"]), llm, embeddings)


def _inputs(metric: type[Metric] | None) -> tuple[str, ...] | None:
    """What every metric of this class reads; None where its settings decide about that."""
    try:
        return None if metric is None else tuple(map(str, metric.declared_inputs()))
    except TypeError:  # its signature names no inputs
        return None


def _saved(metric: Metric) -> dict[str, Any] | None:
    """What the metric can be built from again, where it is a built-in one; no file shall name a module to be loaded."""
    try:
        found = metric.to_dict()
        return None if any(":" in path for path in metric_paths(found)) else json.loads(json.dumps(found))
    except (InvalidInput, TypeError, ValueError):
        return None


def _parts(identity: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in identity.items():
        if isinstance(value, Mapping) and value:
            yield from _parts(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", digest_of(json.dumps(value, sort_keys=True, default=str))


def _whole(identity: Mapping[str, Any] | str) -> str | None:
    """A digest of an identity; None where it is none that a key can be made of, so that no journal has its replies."""
    try:
        return identity_digest(identity)
    except InvalidInput:
        return None


def _checked_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _checked_texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _checked_text(value) for name, value in values.items()}


def unequal(there: Mapping[str, str], here: Mapping[str, str]) -> Sequence[str]:
    """Names whose digests differ, or that only one of the two has."""
    return sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))
