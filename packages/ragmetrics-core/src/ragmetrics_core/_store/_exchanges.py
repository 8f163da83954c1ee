"""Finds the messages that were sent for each score and the replies to them, in the journal of a run.

Strategy. A journal holds replies and no messages. The messages follow from the row and the metric: the program of the metric runs
once more, and its questions are looked up in the journal. No model is called. The metric is built again from ``run.json``. If its
settings or the words of its prompts have changed, their digests show it, and no message is shown rather than one that was never
sent. Where nothing can be found, the reason is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._engine import Keys
from .._kernel._drive import Models
from .._kernel._inputs import Reading
from .._kernel._metric import Metric
from .._kernel._saved_settings import metric_paths
from .._kernel._steps import Outcome, next_round
from .._values._errors import InvalidInput, MissingInput, ModelError, RagmetricsError
from .._values._requests import Ask, Reply, Request
from .._values._score import Score
from ._journal import Journal
from ._records import Record
from ._run_dir import JOURNAL
from ._run_settings import MetricColumn, ModelIdentity, RunSettings, ScoredBy

ROUNDS = 200
"""No program goes on for longer."""

WITHOUT_JOURNAL = "messages and replies are kept only by a run with a directory (run_dir, --run-dir)"
NOBODY_ASKED = "no model was asked"
UNKNOWN = "only the directory of a run, with its run.json, tells them"
NAMELESS = "the model does not say what it is (identity), so its replies are not kept"
EARLIER = "the run is of an earlier version, which kept replies without what they answer"
FOREIGN = "the metric cannot be built again from run.json: it is your own, or cannot be written to a file"
CHANGED = "the metric had other settings, or other words in its prompts, when it was scored"


@dataclass(frozen=True)
class _ReplayedMetric:
    """A metric as it was, and for each that it asks (``Ask.to``) the keys of what it asks of either kind of model."""

    metric: Metric
    llm: Mapping[tuple[int, ...], Keys | None]
    embeddings: Mapping[tuple[int, ...], Keys | None]


class Exchanges:
    """The messages and the replies of a run.

    Args:
        run_dir: its directory; None where it has none.
        settings: what decided about its scores; None where it is not known.
        names: the names of its metrics.

    Attributes:
        problems: by metric, why nothing can be found for it.
    """

    def __init__(self, run_dir: Path | None, settings: RunSettings | None, names: Iterable[str]) -> None:
        self.problems = {} if settings else dict.fromkeys(names, UNKNOWN)
        self._metrics: dict[str, _ReplayedMetric] = {}
        self._repeats = int(settings.run.get("repeats", 1)) if settings else 1
        self._journal: Journal | None = None
        columns = settings.metrics if settings else ()
        scored_by = (settings.scored_by if settings else None) or {}
        try:
            if run_dir is not None and (run_dir / JOURNAL).exists():
                self._journal = Journal(run_dir / JOURNAL)
        except RagmetricsError as error:
            self.problems = {item.name: str(error) for item in columns}
            return
        for column in columns:
            found = _rebuild(column, scored_by.get(column.name))
            if isinstance(found, str):
                self.problems[column.name] = found
            elif self._journal is None:
                self.problems[column.name] = WITHOUT_JOURNAL
            else:
                self._metrics[column.name] = found

    def of(self, record: Record) -> dict[str, list[dict[str, Any]]]:
        """By metric what was sent for a row, in order, each with its reply; None where that is not in the journal.

        Only what is said to a language model is among it: numbers of other models say nothing to a reader.
        """
        reading = Reading(record.sample)
        return {name: list(self._exchanges(name, reading)) for name in tuple(self._metrics)}

    def close(self) -> None:
        """Nothing more will be looked up."""
        if self._journal is not None:
            self._journal.close()

    def _exchanges(self, name: str, reading: Reading) -> Iterator[dict[str, Any]]:
        try:
            for repeat in range(self._repeats):
                for exchange in self._replay(self._metrics[name], reading, repeat):
                    yield exchange if self._repeats == 1 else {"judgement": repeat + 1, **exchange}
        except RagmetricsError as error:  # the journal is damaged
            self.problems[name] = str(error)

    def _replay(self, item: _ReplayedMetric, reading: Reading, repeat: int) -> Iterator[dict[str, Any]]:
        try:
            program = item.metric.begin(reading)
        except (MissingInput, InvalidInput):
            return
        if isinstance(program, Score):
            return
        outcomes: list[Outcome] | None = None
        try:
            for _ in range(ROUNDS):
                try:
                    requests = next_round(program, outcomes)
                except (StopIteration, MissingInput, InvalidInput, ModelError):
                    return  # it came to its end; an unreadable reply is such an end too
                replies = [self._reply(request, item, repeat) for request in requests]
                for request, reply in zip(requests, replies, strict=True):
                    if isinstance(request, Ask):
                        yield _exchange(request, reply)
                if not any(replies):
                    return  # later questions depend on replies that are not in the journal
                outcomes = [
                    ModelError("its reply is not in the journal") if reply is None else reply for reply in replies
                ]
        finally:
            program.close()

    def _reply(self, request: Request, item: _ReplayedMetric, repeat: int) -> Reply[Any] | None:
        keys = (item.llm if isinstance(request, Ask) else item.embeddings).get(request.to)
        return None if keys is None or self._journal is None else self._journal.answer_to(keys.key(request, repeat))


def _rebuild(column: MetricColumn, scored_by: ScoredBy | None) -> _ReplayedMetric | str:
    """The metric as it was; else why it cannot be had."""
    if scored_by is None:
        return UNKNOWN
    models = [model for model in (scored_by.llm, scored_by.embeddings) if model is not None]
    if not models:
        return NOBODY_ASKED
    if any(model.is_unknown for model in models):
        return NAMELESS
    if any(model.whole is None for model in models):
        return EARLIER
    metric = _load_metric(column.saved)
    if metric is None:
        return FOREIGN
    if ScoredBy.of(metric, Models()).settings != scored_by.settings:
        return CHANGED
    places = tuple(_places(metric))
    llm, embeddings = (_keys(model, places) for model in (scored_by.llm, scored_by.embeddings))
    return _ReplayedMetric(metric, llm, embeddings)


def _places(metric: Metric) -> Iterator[tuple[int, ...]]:
    """Where the questions of a metric may go: to its own models, or to those of its parts, in the order of ``Models.leaves``."""
    if not metric.parts:
        yield ()
    for place, part in enumerate(metric.parts):
        yield from ((place, *inner) for inner in _places(part))


def _keys(model: ModelIdentity | None, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Keys | None]:
    known = () if model is None else model.members or (model.whole,)
    return {to: Keys(whole) if whole else None for to, whole in zip(places, known, strict=False)}


def _exchange(request: Ask, reply: Reply[Any] | None) -> dict[str, Any]:
    juror = "".join(f"juror {place + 1}, " for place in request.to)
    return {
        "prompt": f"{juror}{request.prompt.name}",
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "reply": None if reply is None else reply.value,
    }


def _load_metric(saved: object) -> Metric | None:
    """The built-in metric that was saved so; None where that is none."""
    if not isinstance(saved, Mapping):
        return None
    try:
        if any(":" in path for path in metric_paths(saved)):  # no file says which modules are loaded
            return None
        metric: Metric = Metric.from_dict(saved)
    except (InvalidInput, TypeError, ValueError):
        return None
    return metric
