"""Find out whether a difference between two runs may be credited to the system.

A score depends on a system and on its judge. If the judge, its prompts, its parameters or the metric differ between two runs, a
difference may come from them, and the scores do not show it. So the judges are compared first, by the digests that a run keeps of
its settings and models, and by the versions of the prompts that every score names. What a run does not record is reported as
unknown and never assumed to be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from .._kernel._prompt import Prompt
from .._run._columns import Run
from .._store._run_settings import KINDS, ModelIdentity, ScoredBy, built_in_class, class_named, unequal_names
from .._values._counts import grouped
from .._values._layout import printable

BETTER = {True: "high values", False: "low values", None: "neither end"}
"""The words for the better end of a metric's scale, by ``higher_is_better``."""

UNKNOWN_MODEL = frozenset({"unknown"})
"""The recorded settings of a model that does not describe itself."""

DIFFERS, UNKNOWN, NEWER = "differs", "unknown", "newer"
"""Kinds of findings: a difference; something not known to be equal; a setting that only one run has, perhaps a newer version."""

Found = tuple[str, str]
"""The kind of a finding, and its words."""


@dataclass(frozen=True)
class Credit:
    """The differences between two runs that do not come from the system.

    Attributes:
        differences: for each metric, in words, the differences in judge, prompts or settings; empty for a metric without any.
        unsure: for each metric, in words, why it is not known that the same judge scored it.
        unknown: in words, everything that cannot be known to be equal.
    """

    differences: Mapping[str, Sequence[str]]
    unsure: Mapping[str, Sequence[str]]
    unknown: Sequence[str]


def credit(before: Run, after: Run, metrics: Sequence[str]) -> Credit:
    """Compare the judges of these metrics in two runs."""
    found = {name: list(dict.fromkeys(_Scorers(name, before, after).compared())) for name in metrics}
    unknown = grouped((text, name) for name, items in found.items() for kind, text in items if kind != DIFFERS)
    return Credit(
        {name: [text for kind, text in items if kind == DIFFERS] for name, items in found.items()},
        {
            name: [f"{text} ({printable(name)})" for kind, text in items if kind == UNKNOWN]
            for name, items in found.items()
        },
        [f"{text} ({printable(', '.join(names))})" for text, names in unknown.items()],
    )


class _Scorers:
    """The judges of one metric in both runs."""

    def __init__(self, metric: str, before: Run, after: Run) -> None:
        self._runs = before, after
        self._columns = one, two = before.columns[metric], after.columns[metric]
        self._metrics = one.metric, two.metric
        settings = (run.evaluation.settings for run in self._runs)
        self._known = [None if item is None else item.scored_by.get(metric) for item in settings]
        self._built_in = built_in_class(one.metric.name, one.metric.settings)

    def compared(self) -> Iterator[Found]:
        """Return the differences, and everything that is not known to be equal."""
        one, two = self._metrics
        classes = class_named(one.settings), class_named(two.settings)
        if all(classes) and classes[0] != classes[1]:
            yield self._both("the metric is", *map(str, classes))
        if one.knows_better and two.knows_better and one.higher_is_better is not two.higher_is_better:
            yield self._both("what is better is", BETTER[one.higher_is_better], BETTER[two.higher_is_better])
        before, after = self._known
        if before is None or after is None:
            if classes[0] == classes[1] is not None and one.settings != two.settings:
                yield self._both("it is", one.settings, two.settings)
            yield from self._unknown_settings()
        else:
            yield from self._settings(before, after)
            for kind, words in KINDS.items():
                if self._asks(kind):
                    yield from self._model(before.model(kind), after.model(kind), words)
        yield from self._prompts()

    def _both(self, words: str, one: str, two: str) -> Found:
        return DIFFERS, f"{words} {one} in {self._runs[0].name}, {two} in {self._runs[1].name}"

    def _settings(self, one: ScoredBy, two: ScoredBy) -> Iterator[Found]:
        """Return the settings whose digests differ."""
        own = fields(self._built_in) if self._built_in else ()
        prompts = {item.name for item in own if isinstance(item.default, Prompt)}
        for name in unequal_names(one.settings, two.settings):
            if not (name in one.settings and name in two.settings):
                yield NEWER, f"only one of the runs has the setting {name!r}, which may be newer"
            elif name in prompts:
                yield DIFFERS, f"the words of the prompt {name!r} differ"
            else:
                yield DIFFERS, f"the setting {name!r} differs"

    def _unknown_settings(self) -> Iterator[Found]:
        """Return why the settings of a run are not known."""
        asked = any(column.asked for column in self._columns)
        what = "the judge, its parameters, the words of prompts and the settings" if asked else "the settings"
        damaged, scores = "a damaged run.json hides who scored", "only scores are known of"
        reasons = grouped(
            (scores if run.evaluation.run_dir is None else damaged, run.name)
            for run, known in zip(self._runs, self._known, strict=True)
            if known is None
        )
        for why, names in reasons.items():
            yield UNKNOWN, f"{why} {' and '.join(names)}: whether {what} are the same is not known"

    def _model(self, one: ModelIdentity | None, two: ModelIdentity | None, words: str) -> Iterator[Found]:
        if one is None or two is None:
            if one is not two:
                yield UNKNOWN, f"{self._runs[0 if one is None else 1].name} does not tell {words}"
        elif one.name != two.name:
            yield self._both(f"{words} is", one.name, two.name)
        elif UNKNOWN_MODEL in (one.parts.keys(), two.parts.keys()):
            yield UNKNOWN, f"{words}, {one.name}, has no attribute `identity`: whether it is the same is not known"
        elif one.parts != two.parts:
            yield DIFFERS, f"{words}, {one.name}, has another {', '.join(unequal_names(one.parts, two.parts))}"

    def _asks(self, kind: str) -> bool:
        """Whether models of this kind were asked. Every question to an LLM has a prompt, which the scores name."""
        if kind == "llm":
            return any(column.prompts for column in self._columns)
        embeds = self._built_in is None or "embedding" in self._built_in.calls
        return embeds and any(column.asked for column in self._columns)

    def _prompts(self) -> Iterator[Found]:
        """Return the prompts that both runs used in different versions. A prompt that only one run used is ignored, because this
        may depend on the rows.
        """
        one, two = (column.prompts for column in self._columns)
        shared = one.keys() & two.keys()
        for name in sorted(shared):
            if one[name] != two[name]:
                versions = (" and ".join(sorted(column[name])) for column in (one, two))
                yield self._both(f"the version of the prompt {name!r} is", *versions)
        if one and two and not shared:
            yield self._both("the prompts are", *(", ".join(sorted(column)) for column in (one, two)))
