"""The settings of a run that decide about its scores, so that a later run knows whether it can continue it.

Two runs are the same if nothing differs that decides about scores: the metrics with their settings and the words of their
prompts, the models, the number of repeats, the choice of rows. ``run.json`` has a digest of each setting by name, which shows
which setting differs and reveals no value. Names and addresses of models are written in plain text.

A row digest covers the fields of a row that a metric reads, so that a label shows which texts it is about. It changes with every
text that is judged and with nothing else: not with the order of columns and keys, the Unicode form, spaces, or fields that the
metric does not read. So the fields are normalised first.
"""

from __future__ import annotations

import inspect
import json
import re
import unicodedata
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

from .._engine._schedule import Assignment
from .._kernel._drive import Models
from .._kernel._metric import Metric, prompts_of
from .._kernel._model_traits import ModelTraits
from .._kernel._prompt import Prompt
from .._kernel._saved_settings import built_in_metric
from .._values._counts import grouped
from .._values._errors import InvalidInput
from .._values._plain import plain
from .._values._requests import Usage
from .._values._sample import ALIASES, Sample
from .._values._score import checked_scale
from ._prices import ModelUsage
from ._records import json_value

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""The memory address in the repr of an object, which differs between processes."""


def digest_of(text: str) -> str:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def setting_digests(metric: Metric) -> dict[str, str]:
    """Return a digest of each setting, by name. The digest of a prompt covers all the words that are sent."""
    own = {item.name: _setting(metric, getattr(metric, item.name)) for item in fields(metric) if item.compare}
    beside = {name: prompt.system for name, prompt in _prompts_beside(metric)}
    return {name: digest_of(text) for name, text in {**beside, **own}.items()}


def _setting(metric: Metric, value: Any) -> str:
    if value and value == metric.parts:  # metrics as settings: their digests include the words of their prompts
        return json.dumps([[type(part).__name__, setting_digests(part)] for part in metric.parts])
    if isinstance(value, Prompt):
        return value.system
    try:
        return json.dumps(plain(value), sort_keys=True)
    except (TypeError, ValueError):  # such as a function, which JSON cannot express
        return ADDRESS.sub("", repr(value))


def _prompts_beside(metric: Metric) -> Iterable[tuple[str, Prompt[Any]]]:
    """Return the prompts that a user's metric reads from its module, by their names there. Prompts of built-in metrics are
    settings.
    """
    measure = getattr(type(metric), "measure", None)
    if inspect.isfunction(measure):
        for name in measure.__code__.co_names:
            prompt = measure.__globals__.get(name)
            if isinstance(prompt, Prompt):
                yield name, prompt


KINDS = {"llm": "the LLM", "embeddings": "the embedding model"}
CLASS_NAME = re.compile(r"\w+(?=\()")
UNKNOWN = "unknown"
"""The only part of a model without an identity. Its digest is new every time."""


def class_named(settings: str) -> str | None:
    """Return the metric class in a text such as ``NDCG(k=3)``; None if the text names no metric."""
    match = CLASS_NAME.match(settings)
    return match[0] if match else None


def built_in_class(name: str, settings: str) -> type[Metric] | None:
    """Return the class of a built-in metric with this name and these settings in words; None for other metrics."""
    return built_in_metric(class_named(settings) or name, Metric)


@dataclass(frozen=True)
class MetricColumn:
    """A metric of a run: one column of its table.

    Attributes:
        name: its name.
        scale: lowest and highest possible value, or None.
        settings: the metric in words, such as ``NDCG(k=3)``; in a file of scores, its name only.
        higher_is_better: True: high values are good. False: low values are. None: neither, or unknown.
        knows_better: whether ``higher_is_better`` is known. It is not for a user's metric in a file of scores, and in runs of
            older versions.
        inputs: the fields and columns that it reads; None if unknown.
    """

    name: str
    scale: tuple[float, float] | None
    settings: str
    higher_is_better: bool | None = True
    knows_better: bool = True
    inputs: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def checks_response(self) -> bool:
        """Whether it checks the response against the contexts alone; with a reference, its verdicts may be about that."""
        read = {*(self.inputs or ())}
        return read >= {"response", "retrieved_contexts"} and "reference" not in read

    @classmethod
    def of(cls, metric: Metric) -> MetricColumn:
        """Return the column of a metric."""
        inputs = tuple(map(str, metric.inputs))
        return cls(metric.name, metric.scale, repr(metric), metric.higher_is_better, inputs=inputs)

    @classmethod
    def named(cls, name: str, scale: tuple[float, float] | None, settings: str) -> MetricColumn:
        """Return the column of a metric of which only name, scale and settings in words are known. For a built-in metric, its
        class says which values are good.
        """
        metric = built_in_class(name, settings)
        # the direction of a metric with parts is the direction of its parts, which are unknown here
        known = metric if metric is not None and metric.parts is Metric.parts else None
        better = known.higher_is_better if known else None
        return cls(name, scale, settings, better, known is not None, inputs=_inputs(metric))

    def to_dict(self) -> dict[str, Any]:
        """Return the form that ``run.json`` stores."""
        known = {"higher_is_better": self.higher_is_better} if self.knows_better else {}
        inputs = {} if self.inputs is None else {"inputs": self.inputs}
        return {"name": self.name, "scale": self.scale, "settings": self.settings, **known, **inputs}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricColumn:
        """Return the column that ``to_dict`` wrote.

        Raises:
            LookupError, TypeError, ValueError: the data have a different form.
        """
        scale = None if data["scale"] is None else checked_scale(data["scale"])
        column = cls.named(checked_text(data["name"]), scale, checked_text(data["settings"]))
        if "inputs" in data:  # older versions did not write them
            column = replace(column, inputs=tuple(data["inputs"]))
        if "higher_is_better" not in data:
            return column
        if not isinstance(data["higher_is_better"], bool | None):
            raise TypeError("higher_is_better is neither true nor false nor null")
        return replace(column, higher_is_better=data["higher_is_better"], knows_better=True)


@dataclass(frozen=True)
class ModelIdentity:
    """The name of a model, for messages, and digests of everything that can change its answers.

    Attributes:
        name: its name.
        parts: a digest of each setting, by name.
    """

    name: str
    parts: Mapping[str, str]

    @classmethod
    def of(cls, model: Any) -> ModelIdentity:
        """Return the identity of a model."""
        traits = ModelTraits.of(model)
        if not traits.identity:  # a model without an identity is never the same as another
            return cls(traits.kind, {UNKNOWN: str(uuid.uuid4())})
        if not isinstance(traits.identity, Mapping):
            return cls(traits.kind, {"identity": digest_of(str(traits.identity))})
        known = ModelUsage.of(model, Usage(), 0)
        name = f"{known.name} at {known.base_url}" if known.base_url else known.name
        return cls(name, dict(_parts(traits.identity)))

    @classmethod
    def of_all(cls, models: Sequence[Any]) -> ModelIdentity | None:
        """Return one identity for the models of all parts of a metric: their names, and their digests by position. None if there
        is no model.
        """
        found = [(place, cls.of(model)) for place, model in enumerate(models, 1) if model is not None]
        if not found or len(models) == 1:
            return found[0][1] if found else None
        name = ", ".join(identity.name for _, identity in found)
        unknown = next((identity for _, identity in found if identity.is_unknown), None)
        parts = {f"{place}.{part}": digest for place, one in found for part, digest in one.parts.items()}
        return cls(name, unknown.parts if unknown else parts)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> ModelIdentity | None:
        """Return the identity that ``run.json`` stores."""
        return None if data is None else cls(checked_text(data["name"]), _checked_texts(data["parts"]))

    @property
    def is_unknown(self) -> bool:
        """Whether the model has no identity."""
        return UNKNOWN in self.parts

    def difference(self, here: ModelIdentity, words: str) -> str:
        """Describe how the model of this run, ``here``, differs from this one; empty if they are the same."""
        if self.parts == here.parts:
            return ""
        if self.name != here.name:
            return f"{words} is {self.name} there, {here.name} here"
        if here.is_unknown:
            return f"{words}, {here.name}, has no attribute `identity`, so it is not known whether it is the same"
        return f"{words}, {here.name}, has another {', '.join(unequal_names(self.parts, here.parts))}"


@dataclass(frozen=True)
class ScoredBy:
    """The models and settings behind the scores of one metric: digests of its settings by name, its models, and which settings
    are prompts. The names of prompts are not stored, so they are empty if the run was read from a file.
    """

    settings: Mapping[str, str]
    llm: ModelIdentity | None
    embeddings: ModelIdentity | None
    prompts: frozenset[str] = field(default=frozenset(), compare=False)

    def model(self, kind: str) -> ModelIdentity | None:
        """Return the model of this kind: ``llm`` or ``embeddings``."""
        found: ModelIdentity | None = getattr(self, kind)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the form that ``run.json`` stores."""
        return {name: value for name, value in asdict(self).items() if name != "prompts"}

    @classmethod
    def of(cls, metric: Metric, models: Models) -> ScoredBy:
        """Return the settings of a metric with the models that answer it."""
        asked = list(models.leaves())
        llm, embeddings = (ModelIdentity.of_all([getattr(one, kind) for one in asked]) for kind in KINDS)
        return cls(setting_digests(metric), llm, embeddings, frozenset(prompts_of(metric)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScoredBy:
        """Return what ``to_dict`` wrote."""
        llm, embeddings = (ModelIdentity.from_dict(data[kind]) for kind in KINDS)
        return cls(_checked_texts(data["settings"]), llm, embeddings)


def _inputs(metric: type[Metric] | None) -> tuple[str, ...] | None:
    """Return the inputs of every metric of this class; None if they depend on its settings."""
    try:
        return None if metric is None else tuple(map(str, metric.declared_inputs()))
    except TypeError:  # the signature names no inputs
        return None


def _parts(identity: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in identity.items():
        if isinstance(value, Mapping) and value:
            yield from _parts(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", digest_of(json.dumps(value, sort_keys=True, default=str))


def checked_text(value: object) -> str:
    """Return the value if it is a text.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _checked_texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: checked_text(value) for name, value in values.items()}


def unequal_names(there: Mapping[str, Any], here: Mapping[str, Any]) -> Sequence[str]:
    """Return the names whose digests differ, and those that only one of the two has."""
    return sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))


@dataclass(frozen=True)
class RunSettings:
    """Everything that determines the scores of a row, except the row.

    Attributes:
        metrics: the metrics, in the given order.
        sampled: how rows are chosen at random; None: all are taken.
        run: settings of the run that change scores, by the names of the arguments of ``evaluate``.
        scored_by: for each metric, the models and settings behind its scores.
    """

    metrics: tuple[MetricColumn, ...]
    sampled: Mapping[str, Any] | None
    run: Mapping[str, Any]
    scored_by: Mapping[str, ScoredBy]

    @classmethod
    def of(
        cls, assignments: Iterable[Assignment], run: Mapping[str, Any], sampled: Mapping[str, Any] | None
    ) -> RunSettings:
        """Return the settings of a run that begins."""
        first = [item for item in assignments if item.repeat == 0]
        scored_by = {item.metric.name: ScoredBy.of(item.metric, item.models) for item in first}
        columns = tuple(MetricColumn.of(item.metric) for item in first)
        return cls(columns, sampled, dict(run), scored_by)

    @property
    def drawn(self) -> Mapping[str, Any] | None:
        """How the order of the rows was drawn, if the run may stop when its gates are decided; None if it may not."""
        return self.sampled if self.sampled and self.sampled.get("stop") else None

    def to_dict(self) -> dict[str, Any]:
        """Return the form that ``run.json`` stores."""
        return {
            "metrics": [item.to_dict() for item in self.metrics],
            "chosen": self.sampled,
            "run": self.run,
            "judged": {name: item.to_dict() for name, item in self.scored_by.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunSettings:
        """Return the settings that ``to_dict`` wrote.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: the data have a different form.
        """
        metrics = tuple(map(MetricColumn.from_dict, data["metrics"]))
        sampled = data.get("chosen")
        if not isinstance(sampled, dict | None):
            raise TypeError("the choice of rows is not an object")
        scored_by = {name: ScoredBy.from_dict(item) for name, item in data["judged"].items()}
        if scored_by.keys() != {item.name for item in metrics} or not isinstance(data["run"], dict):
            raise ValueError("the models that score are not given for each metric")
        return cls(metrics, sampled, data["run"], scored_by)


def with_earlier_models(here: RunSettings, there: RunSettings) -> RunSettings:
    """Return the settings; metrics without a model in this part of the run get their models from an earlier part."""
    scored_by = {}
    for name, item in here.scored_by.items():
        earlier = there.scored_by.get(name, item)
        models = {kind: item.model(kind) or earlier.model(kind) for kind in KINDS}
        scored_by[name] = replace(item, **models)  # type: ignore[arg-type]
    return replace(here, scored_by=scored_by)


def difference(there: RunSettings, here: RunSettings) -> str | None:
    """Describe how two runs differ, as the end of the sentence "the scores are those of ..."; None if they are the same run.

    A model that only one of the runs names is no difference, because the other run did not ask it.
    """
    names = [[item.name for item in settings.metrics] for settings in (there, here)]
    if sorted(names[0]) != sorted(names[1]):
        return f"other metrics (there: {', '.join(names[0])}; here: {', '.join(names[1])})"
    found = [*_other_run(there, here), *_other_scorers(there.scored_by, here.scored_by)]
    return f"other settings: {'; '.join(found)}" if found else None


def join_settings(parts: Iterable[RunSettings]) -> RunSettings:
    """Return the settings of a run that is joined from several runs, each with some of the metrics.

    Raises:
        InvalidInput: two runs differ in more than their metrics, or in a metric that both have.
    """
    first, *others = parts
    joined = first
    for part in others:
        shared = {item.name for item in part.metrics} & {item.name for item in joined.metrics}
        if problem := difference(_only(joined, shared), _only(part, shared)):
            raise InvalidInput(f"these runs cannot be joined: one has {problem}")
        metrics = (*joined.metrics, *(item for item in part.metrics if item.name not in shared))
        scored_by = {**part.scored_by, **with_earlier_models(joined, part).scored_by}
        joined = RunSettings(metrics, joined.sampled, joined.run, scored_by)
    return joined


def _only(settings: RunSettings, names: set[str]) -> RunSettings:
    scored_by = {name: item for name, item in settings.scored_by.items() if name in names}
    metrics = tuple(item for item in settings.metrics if item.name in names)
    return replace(settings, metrics=metrics, scored_by=scored_by)


def _other_run(there: RunSettings, here: RunSettings) -> Iterable[str]:
    for name, value in here.run.items():
        if there.run.get(name) != value:
            yield f"{name}={there.run.get(name)} there, {name}={value} here"
    if there.sampled and here.sampled:
        for name in unequal_names(there.sampled, here.sampled):
            yield f"{name}={there.sampled.get(name)} there, {name}={here.sampled.get(name)} here"
    elif there.sampled != here.sampled:
        yield f"{_choice(there.sampled)} there, {_choice(here.sampled)} here"


def _other_scorers(there: Mapping[str, ScoredBy], here: Mapping[str, ScoredBy]) -> Iterable[str]:
    """Return each difference once, with the metrics that it concerns; without their names if it concerns all."""
    found = grouped((text, name) for name, item in here.items() for text in _differences(there[name], item))
    for text, names in found.items():
        yield text if len(names) == len(here) else f"{', '.join(names)}: {text}"


def _differences(there: ScoredBy, here: ScoredBy) -> Iterator[str]:
    """Return the differences between two scorers of one metric."""
    for kind, words in KINDS.items():
        before, now = there.model(kind), here.model(kind)
        if before and now and (text := before.difference(now, words)):
            yield text
    for setting in unequal_names(there.settings, here.settings):
        yield f"other words of the prompt {setting!r}" if setting in here.prompts else f"different {setting}"


def _choice(sampled: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (sampled or {}).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "all rows"


def row_digest(sample: Sample, inputs: Iterable[str]) -> str:
    """Return the digest of these fields or columns of a row. Empty fields count as missing."""
    read = {ALIASES.get(name, name): _plain(json_value(sample.get(name))) for name in inputs}
    given = {name: value for name, value in read.items() if value not in (None, "", [], {})}
    return digest_of(json.dumps(given, sort_keys=True))


def _plain(value: Any) -> Any:
    """Return the value in the form in which it is compared."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", " ".join(value.split()))
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
