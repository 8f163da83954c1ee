"""What decides about the scores of a run, so that a later run knows whether it goes on with it.

Strategy. Two runs are the same run if nothing differs that decides about scores: the metrics with their settings and the words of
their prompts, the models, the number of repeats, the choice of rows. Of metrics and models only digests are written, by name of the
setting: they tell which one differs and give none away. Names and addresses of models can be read there.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._engine import Assignment
from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._kernel._model_traits import ModelTraits
from ._scored_by import KINDS, MetricColumn, ScoredBy, unequal
from ._setting_digests import digest_of

OLDER = (
    "other settings (which ones, its run.json does not tell: it is of an older version, whose built-in prompts had "
    "other words too)"
)


@dataclass(frozen=True)
class RunSettings:
    """All that decides about the scores of a row, besides the row.

    Attributes:
        metrics: the metrics, in the order given.
        sampled: how rows are chosen at random; None: all are taken.
        run: settings of the run that decide about scores, by the names of the arguments of ``evaluate``.
        scored_by: by metric, who gives its scores; None where an older version wrote the file, which knew only ``digest``.
        digest: one digest of everything.
    """

    metrics: tuple[MetricColumn, ...]
    sampled: Mapping[str, Any] | None
    run: Mapping[str, Any]
    scored_by: Mapping[str, ScoredBy] | None
    digest: str

    @classmethod
    def of(
        cls, assignments: Iterable[Assignment], run: Mapping[str, Any], sampled: Mapping[str, Any] | None
    ) -> RunSettings:
        """The settings of a run that begins."""
        first = [item for item in assignments if item.repeat == 0]
        scored_by = {item.metric.name: ScoredBy.of(item.metric, item.models) for item in first}
        columns = tuple(MetricColumn.of(item.metric) for item in first)
        return cls(columns, sampled, dict(run), scored_by, _in_one(first, run, sampled))

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds them."""
        scored_by = {name: item.to_dict() for name, item in (self.scored_by or {}).items()}
        return {
            "metrics": [item.to_dict() for item in self.metrics],
            "chosen": self.sampled,
            "run": dict(self.run),
            "judged": scored_by,
            "settings": self.digest,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunSettings:
        """What ``to_dict`` wrote, or an older version.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: it has another shape.
        """
        metrics = tuple(map(MetricColumn.from_dict, data["metrics"]))
        sampled = data.get("chosen")
        if not isinstance(sampled, dict | None):
            raise TypeError("the choice of rows is no object")
        if "judged" not in data:
            return cls(metrics, sampled, {}, None, data["settings"])
        scored_by = {name: ScoredBy.from_dict(item) for name, item in data["judged"].items()}
        if scored_by.keys() != {item.name for item in metrics} or not isinstance(data["run"], dict):
            raise ValueError("it does not tell who gives the scores of each metric")
        return cls(metrics, sampled, data["run"], scored_by, data["settings"])


def carried_on(here: RunSettings, there: RunSettings | None) -> RunSettings:
    """The settings with the models that an earlier part of the run had, where this one names none."""
    earlier = (there.scored_by if there else None) or {}
    return replace(here, scored_by=_carried_on(here.scored_by or {}, earlier))


def difference(there: RunSettings, here: RunSettings) -> str | None:
    """What two runs differ in; completes the sentence "the scores are those of ...". None: they are the same run.

    A model that only one of them names makes no difference: the other did not ask it.
    """
    names = [[item.name for item in settings.metrics] for settings in (there, here)]
    if sorted(names[0]) != sorted(names[1]):
        return f"other metrics (there: {', '.join(names[0])}; here: {', '.join(names[1])})"
    if there.scored_by is None or here.scored_by is None:
        return None if there.digest == here.digest else OLDER
    found = [*_other_run(there, here), *_other_scorers(there.scored_by, here.scored_by)]
    return f"other settings: {'; '.join(found)}" if found else None


def joined(parts: Iterable[RunSettings]) -> RunSettings:
    """The settings of a run that is put together from others, each with some of the metrics.

    Raises:
        InvalidInput: two of them differ in more than their metrics, or in a metric that both have.
    """
    first, *others = parts
    whole = first
    for part in others:
        shared = {item.name for item in part.metrics} & {item.name for item in whole.metrics}
        found = difference(_only(whole, shared), _only(part, shared))
        if found or whole.scored_by is None or part.scored_by is None:
            raise InvalidInput(f"these runs cannot be joined: one has {found or OLDER}")
        metrics = (*whole.metrics, *(item for item in part.metrics if item.name not in shared))
        scored_by = {**part.scored_by, **_carried_on(whole.scored_by, part.scored_by)}
        digest = digest_of(f"{whole.digest} {part.digest}")
        whole = RunSettings(metrics, whole.sampled, whole.run, scored_by, digest)
    return whole


def _only(settings: RunSettings, names: set[str]) -> RunSettings:
    scored_by = {name: item for name, item in (settings.scored_by or {}).items() if name in names}
    metrics = tuple(item for item in settings.metrics if item.name in names)
    return replace(settings, metrics=metrics, scored_by=scored_by)


def _carried_on(here: Mapping[str, ScoredBy], there: Mapping[str, ScoredBy]) -> dict[str, ScoredBy]:
    return {name: item.carried_on(there.get(name)) for name, item in here.items()}


def _other_run(there: RunSettings, here: RunSettings) -> Iterable[str]:
    for name, value in here.run.items():
        if there.run.get(name) != value:
            yield f"{name}={there.run.get(name)} there, {name}={value} here"
    if there.sampled != here.sampled:
        yield f"{_choice(there.sampled)} there, {_choice(here.sampled)} here"


def _other_scorers(there: Mapping[str, ScoredBy], here: Mapping[str, ScoredBy]) -> Iterable[str]:
    """Each difference once, with the metrics that it concerns; where it concerns all, without them."""
    found: dict[str, list[str]] = {}
    for name, item in here.items():
        known = there[name]
        for kind, words in KINDS.items():
            before, now = known.model(kind), item.model(kind)
            if before and now and (text := before.difference(now, words)):
                found.setdefault(text, []).append(name)
        for setting in unequal(known.settings, item.settings):
            other = f"other words of the prompt {setting!r}" if setting in item.prompts else f"different {setting}"
            found.setdefault(other, []).append(name)
    for text, names in found.items():
        yield text if len(names) == len(here) else f"{', '.join(names)}: {text}"


def _choice(sampled: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (sampled or {}).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "all rows"


def _in_one(assignments: Sequence[Assignment], run: Mapping[str, Any], sampled: Mapping[str, Any] | None) -> str:
    """One digest of everything: all that the first builds know of ``run.json``, so it stays as long as version 1 of that file."""
    settings = {
        "repeats": run["repeats"],
        **({"empty": "zero"} if run["empty"] == "zero" else {}),
        "chosen": sampled,
        "metrics": [_as_written(item.metric) for item in assignments],
        "models": [
            [
                model and (ModelTraits.of(model).identity or str(uuid.uuid4()))
                for one in item.models.leaves()
                for model in (one.llm, one.embeddings)
            ]
            for item in assignments
        ],
    }
    return digest_of(json.dumps(settings, sort_keys=True, default=str))


def _as_written(metric: Metric) -> object:
    try:
        return metric.to_dict(defaults=True)
    except (InvalidInput, TypeError, ValueError):  # it cannot be saved, so only its repr shows what it is
        return repr(metric)
