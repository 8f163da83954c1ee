"""What a difference between two runs may be credited to.

A score depends on a system and on its judge. Where the judge, its prompts, its parameters or the metric differ between two runs, a
difference may come from that, and the scores do not show it. So they are compared first: by the digests that a run keeps of its
settings and models, and by the versions of the prompts that every score names. What a run does not tell is said to be unknown, and
never taken to be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from .._kernel._metric import Metric
from .._kernel._prompt import Prompt
from .._run._columns import Column, Run
from .._store._run_settings import KINDS, ModelIdentity, ScoredBy, built_in_class, class_named, unequal_names
from .._values._layout import printable

BETTER = {True: "high values", False: "low values", None: "neither end"}
"""Which end of its scale a metric calls the better one."""

NEWER = "only one of the runs has the setting"
"""Begins what is said of a setting that a later version has added; with its default, scores are what they were."""

UNKNOWN_MODEL = frozenset({"unknown"})
"""What is kept of a model that does not say what it is."""


@dataclass(frozen=True)
class Credit:
    """What differs between two runs apart from the system.

    Attributes:
        differences: by metric, in words, what differs in who scored it; metrics without are left out.
        unknown: in words, what cannot be known to be the same.
        unsure: by metric, in words, why it is not known that the same judge scored it; metrics without are left out.
    """

    differences: Mapping[str, Sequence[str]]
    unknown: Sequence[str]
    unsure: Mapping[str, Sequence[str]]


def credit(before: Run, after: Run, metrics: Iterable[str]) -> Credit:
    """Compare who scored these metrics in two runs."""
    differences: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    unsure: dict[str, list[str]] = {}
    for name in metrics:
        sides = _Sides(name, before, after)
        found = list(dict.fromkeys(sides.differences()))
        if found:
            differences[name] = found
        for text in sides.unknown:
            unknown.setdefault(text, []).append(name)
            if not text.startswith(NEWER):
                unsure.setdefault(name, []).append(text.format(metrics=printable(name)))
    words = [text.format(metrics=printable(", ".join(names))) for text, names in unknown.items()]
    return Credit(differences, words, unsure)


class _Sides:
    """Who scored one metric in either run.

    Attributes:
        unknown: what cannot be compared, in words, with ``{metrics}`` for the names of the metrics; after ``differences``.
    """

    def __init__(self, metric: str, before: Run, after: Run) -> None:
        self._runs = before, after
        self._columns = before.columns[metric], after.columns[metric]
        self._known = _scored_by(before, metric), _scored_by(after, metric)
        self.unknown: list[str] = []

    def differences(self) -> Iterator[str]:
        """What differs, in words."""
        classes = [class_named(column.metric.settings) for column in self._columns]
        if all(classes) and classes[0] != classes[1]:
            yield self._both("the metric is", *map(str, classes))
        yield from self._directions()
        one, two = self._known
        if one is None or two is None:
            yield from self._as_written()
            self._note_unknown()
        else:
            yield from self._settings(one, two)
            for kind, words in KINDS.items():
                if self._asks(kind):
                    yield from self._model(one.model(kind), two.model(kind), words)
        yield from self._prompts()

    def _both(self, words: str, one: str, two: str) -> str:
        return f"{words} {one} in {self._runs[0].name}, {two} in {self._runs[1].name}"

    def _directions(self) -> Iterator[str]:
        """Ends of the scale of which each run calls another one the better."""
        one, two = (column.metric for column in self._columns)
        if one.knows_better and two.knows_better and one.higher_is_better is not two.higher_is_better:
            yield self._both("what is better is", BETTER[one.higher_is_better], BETTER[two.higher_is_better])

    def _settings(self, one: ScoredBy, two: ScoredBy) -> Iterator[str]:
        """Settings whose digests differ."""
        metric = _built_in(self._columns[0])
        prompts = {item.name for item in fields(metric) if isinstance(item.default, Prompt)} if metric else set()
        for name in unequal_names(one.settings, two.settings):
            if not (name in one.settings and name in two.settings):
                self.unknown.append(f"{NEWER} {name!r}, which may be newer ({{metrics}})")
                continue
            what = "the words of the prompt" if name in prompts else "the setting"
            yield f"{what} {name!r} {'differ' if name in prompts else 'differs'}"

    def _as_written(self) -> Iterator[str]:
        """Settings as far as both runs tell them in words."""
        one, two = (column.metric.settings for column in self._columns)
        if class_named(one) == class_named(two) is not None and one != two:
            yield self._both("it is", one, two)

    def _note_unknown(self) -> None:
        asked = any(column.asked for column in self._columns)
        what = "the judge, its parameters, the words of prompts and the settings" if asked else "the settings"
        reasons: dict[tuple[str, str], list[str]] = {}
        for run, known in zip(self._runs, self._known, strict=True):
            if known is None:
                reasons.setdefault(_why_unknown(run), []).append(_escaped(run.name))
        for (one, several), names in reasons.items():
            why = f"{names[0]} {one}" if len(names) == 1 else f"{' and '.join(names)} {several}"
            self.unknown.append(f"{why}: whether {what} are the same is not known ({{metrics}})")

    def _model(self, one: ModelIdentity | None, two: ModelIdentity | None, words: str) -> Iterator[str]:
        if one is None or two is None:
            if one is not two:
                run = self._runs[0 if one is None else 1]
                self.unknown.append(f"{_escaped(run.name)} does not tell {words} ({{metrics}})")
        elif UNKNOWN_MODEL in (one.parts.keys(), two.parts.keys()) and one.name == two.name:
            self.unknown.append(
                f"{words}, {_escaped(one.name)}, has no attribute `identity`: whether it is the same is not known ({{metrics}})"
            )
        elif one.name != two.name:
            yield self._both(f"{words} is", one.name, two.name)
        elif one.parts != two.parts:
            yield f"{words}, {one.name}, has another {', '.join(unequal_names(one.parts, two.parts))}"

    def _asks(self, kind: str) -> bool:
        """Whether models of this kind were asked: every LLM is asked by a prompt, which the scores name."""
        if kind == "llm":
            return any(column.prompts for column in self._columns)
        if not any(column.asked for column in self._columns):
            return False
        metric = _built_in(self._columns[0])
        return metric is None or "embedding" in metric.calls

    def _prompts(self) -> Iterator[str]:
        """Prompts that both runs have asked, in other versions. One that only one of them has asked may hang on the rows."""
        one, two = (column.prompts for column in self._columns)
        shared = one.keys() & two.keys()
        for name in sorted(shared):
            if one[name] != two[name]:
                versions = (" and ".join(sorted(column[name])) for column in (one, two))
                yield self._both(f"the version of the prompt {name!r} is", *versions)
        if one and two and not shared:
            yield self._both("the prompts are", *(", ".join(sorted(column)) for column in (one, two)))


def _scored_by(run: Run, metric: str) -> ScoredBy | None:
    settings = run.evaluation.settings
    return None if settings is None else settings.scored_by.get(metric)


def _why_unknown(run: Run) -> tuple[str, str]:
    """Why it is not known who scored a run, for one run and for two of them."""
    if run.evaluation.run_dir is not None:
        return "has a damaged run.json", "have damaged run.json"
    return "holds scores alone", "hold scores alone"


def _built_in(column: Column) -> type[Metric] | None:
    return built_in_class(column.metric.name, column.metric.settings)


def _escaped(text: str) -> str:
    """The text, where braces have a meaning."""
    return text.replace("{", "{{").replace("}", "}}")
