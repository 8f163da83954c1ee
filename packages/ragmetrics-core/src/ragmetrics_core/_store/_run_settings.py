"""What decides about the scores of a run, so that a later run knows whether it goes on with it.

Strategy. Two runs are the same run if nothing differs that decides about scores: the metrics with their settings and the words of
their prompts, the models, the number of repeats, the choice of rows. Of all these only digests are written, by name: they tell
which setting differs and give none away. Names and addresses of models stand there in plain.
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
from ._scored_by import KINDS, MetricColumn, ScoredBy, digest_of, unequal

__all__ = ["RunSettings", "carried_on", "difference"]

OLDER = (
    "other settings (which ones, its run.json does not tell: it is of an older version, whose built-in prompts had "
    "other words too)"
)


@dataclass(frozen=True)
class RunSettings:
    """All that decides about the scores of a row, besides the row.

    Attributes:
        metrics: the metrics, in the order given.
        chosen: the choice of rows; None: all.
        run: settings of the run that decide about scores, by the names of the arguments of ``evaluate``.
        judged: by metric, who gives its scores; None where an older version wrote the file, which knew one digest of everything.
        digest: that digest.
    """

    metrics: tuple[MetricColumn, ...]
    chosen: Mapping[str, Any] | None
    run: Mapping[str, Any]
    judged: Mapping[str, ScoredBy] | None
    digest: str

    @classmethod
    def of(
        cls, assignments: Iterable[Assignment], run: Mapping[str, Any], chosen: Mapping[str, Any] | None
    ) -> RunSettings:
        """The settings of a run that begins."""
        first = [item for item in assignments if item.repeat == 0]
        judged = {item.metric.name: ScoredBy.of(item.metric, item.models.llm, item.models.embeddings) for item in first}
        columns = tuple(MetricColumn.of(item.metric) for item in first)
        return cls(columns, chosen, dict(run), judged, _in_one(first, run, chosen))

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds them."""
        judged = {name: item.to_dict() for name, item in (self.judged or {}).items()}
        return {
            "metrics": [item.to_dict() for item in self.metrics],
            "chosen": self.chosen,
            "run": dict(self.run),
            "judged": judged,
            "settings": self.digest,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunSettings:
        """What ``to_dict`` wrote, or an older version.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: it has another shape.
        """
        metrics = tuple(map(MetricColumn.from_dict, data["metrics"]))
        chosen = data.get("chosen")
        if not isinstance(chosen, dict | None):
            raise TypeError("the choice of rows is no object")
        if "judged" not in data:
            return cls(metrics, chosen, {}, None, data["settings"])
        judged = {name: ScoredBy.from_dict(item) for name, item in data["judged"].items()}
        if judged.keys() != {item.name for item in metrics} or not isinstance(data["run"], dict):
            raise ValueError("it does not tell who judged")
        return cls(metrics, chosen, data["run"], judged, data["settings"])


def carried_on(here: RunSettings, there: RunSettings | None) -> RunSettings:
    """The settings with the models that an earlier part of the run had, where this one names none."""
    earlier = (there.judged if there else None) or {}
    return replace(
        here, judged={name: item.carried_on(earlier.get(name)) for name, item in (here.judged or {}).items()}
    )


def difference(there: RunSettings, here: RunSettings) -> str | None:
    """What two runs differ in; completes the sentence "the scores are those of ...". None: they are the same run.

    A model that one of them does not name is no difference: it was not asked there, so it has decided nothing.
    """
    names = [[item.name for item in settings.metrics] for settings in (there, here)]
    if sorted(names[0]) != sorted(names[1]):
        return f"other metrics (there: {', '.join(names[0])}; here: {', '.join(names[1])})"
    if there.judged is None or here.judged is None:
        return None if there.digest == here.digest else OLDER
    found = [*_other_run(there, here), *_other_judges(there.judged, here.judged)]
    return f"other settings: {'; '.join(found)}" if found else None


def _other_run(there: RunSettings, here: RunSettings) -> Iterable[str]:
    for name, value in here.run.items():
        if there.run.get(name) != value:
            yield f"{name}={there.run.get(name)} there, {name}={value} here"
    if there.chosen != here.chosen:
        yield f"{_choice(there.chosen)} there, {_choice(here.chosen)} here"


def _other_judges(there: Mapping[str, ScoredBy], here: Mapping[str, ScoredBy]) -> Iterable[str]:
    """What differs, each said once with the metrics that it concerns; of a difference in all metrics, without them."""
    found: dict[str, list[str]] = {}
    for name, item in here.items():
        known = there[name]
        for kind, words in KINDS.items():
            before, now = known.model(kind), item.model(kind)
            if before and now and (text := before.difference(now, words)):
                found.setdefault(text, []).append(name)
        for setting in unequal(known.settings, item.settings):
            found.setdefault(f"another {setting}", []).append(name)
    for text, names in found.items():
        yield text if len(names) == len(here) else f"{', '.join(names)}: {text}"


def _choice(chosen: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (chosen or {}).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "all rows"


def _in_one(assignments: Sequence[Assignment], run: Mapping[str, Any], chosen: Mapping[str, Any] | None) -> str:
    """One digest of everything, as the first version wrote it and nothing else."""
    settings = {
        "repeats": run["repeats"],
        **({"empty": "zero"} if run["empty"] == "zero" else {}),
        "chosen": chosen,
        "metrics": [_as_written(item.metric) for item in assignments],
        "models": [
            [
                model and (ModelTraits.of(model).identity or str(uuid.uuid4()))
                for model in (item.models.llm, item.models.embeddings)
            ]
            for item in assignments
        ],
    }
    return digest_of(json.dumps(settings, sort_keys=True, default=str))


def _as_written(metric: Metric) -> object:
    try:
        return metric.to_dict(defaults=True)
    except (InvalidInput, TypeError, ValueError):  # what no file can hold, and only its repr shows
        return repr(metric)
