"""Live evaluation of plain Python: a block, or a function, is a call of the application."""

from __future__ import annotations

import inspect
import logging
import sys
from collections import ChainMap
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from .._kernel._drive import Models, arun
from .._kernel._metric import Metric, prompts_of
from .._support._secrets import conceal
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._requests import AnyEmbeddings, AnyLLM
from .._values._sample import KNOWN_NAMES, Sample
from .._values._score import Score
from ._background import settled
from ._judging import is_judging, judging
from ._live_evaluation import LiveEvaluation, LiveSettings, shows_settings
from ._selection import NotAsked, row_digest
from ._spooling import stored_sample

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import FrameType

    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
Metrics: TypeAlias = "Metric | str | Iterable[Metric | str]"
T = TypeVar("T")


@dataclass(eq=False)
class Block:
    """A ``with`` block: its observer, the frame that entered it, and its record; None after its end."""

    observer: Observer
    frame: FrameType
    record: dict[str, Any] | None = field(default_factory=dict)


_entered: ContextVar[tuple[Block, ...]] = ContextVar("ragmetrics_observed", default=())
"""The blocks that were entered in this context, the innermost last."""


@dataclass(frozen=True)
class Observation:
    """One call of the application, with its scores.

    Attributes:
        sample: what was observed; None if the record cannot be read.
        scores: by name of the metric; a metric that failed has a failed score.
        error: what ``only`` or ``on_result`` raised, or why the record cannot be read; None if nothing went wrong.
        timestamp: when the call had ended, with its time zone (UTC).
    """

    sample: Sample | None
    scores: Mapping[str, Score] = field(default_factory=dict)
    error: str | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, timezone.utc), compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values. They can be written as JSON if the metadata can."""
        return {
            "timestamp": self.timestamp.isoformat(),
            "sample": None if self.sample is None else self.sample.to_dict(),
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "error": self.error,
        }


class Call:
    """A call that has ended: what was recorded of it, and the metrics that judge it."""

    def __init__(self, given: Mapping[str, Any], metrics: Mapping[str, tuple[Metric, Models]]) -> None:
        self._given, self._metrics = given, metrics
        self._observation = Observation(None)

    @property
    def is_complete(self) -> bool:
        """Whether the record was read."""
        return self._observation.sample is not None

    def complete(self) -> None:
        """Read the record."""
        try:
            self._observation = replace(self._observation, sample=Sample.from_mapping(self._given))
        except RagmetricsError as error:
            self._observation = replace(self._observation, error=str(error))
            raise

    def record(self) -> Observation:
        """Return the observation without scores."""
        return self._observation

    def judgements(self) -> dict[str, Callable[[], Coroutine[Any, Any, Score]]]:
        """Return the coroutine function that computes the score of each metric."""
        return {name: partial(self._score, *found) for name, found in self._metrics.items()}

    def identity(self, name: str) -> str | None:
        """Return a digest of everything that a metric reads of this call."""
        return (
            None
            if self._observation.sample is None
            else row_digest(self._observation.sample, self._metrics[name][0].inputs)
        )

    def to_data(self) -> dict[str, Any]:
        """Return the observation as plain values, for the spool."""
        return self._observation.to_dict()

    @classmethod
    def restored(cls, data: Mapping[str, Any], metrics: Mapping[str, tuple[Metric, Models]]) -> Call:
        """Return the call that ``to_data`` wrote."""
        call = cls({}, metrics)
        call._observation = Observation(
            stored_sample(data["sample"]), timestamp=datetime.fromisoformat(data["timestamp"])
        )
        return call

    async def _score(self, metric: Metric, models: Models) -> Score:
        assert self._observation.sample is not None
        with judging():
            return await arun(metric.program(self._observation.sample), models)

    def judged(self, outcomes: Mapping[str, Future[Score]]) -> Observation:
        """Return the observation with its scores."""
        scores = {name: score_of_outcome(self._metrics[name][0], each) for name, each in outcomes.items()}
        return replace(self._observation, scores=scores)


class Observer(LiveEvaluation[Observation, Score]):
    """What ``observe`` returns: ``with`` it, or decorate functions with it. One observer serves all threads and tasks.

    A ``with`` block is one call, and yields its record, a dictionary. Fill it with fields under their common names
    (``question``, ``answer``, ``contexts``, ``reference``); other keys become metadata. If the block raises, the call is not
    judged. A block inside another one is a call too.

    Attributes:
        results: the observations so far, oldest first. The list may be cleared.
    """

    def __init__(
        self,
        metrics: Metrics,
        llm: AnyLLM | str | None,
        embeddings: AnyEmbeddings | str | None,
        settings: LiveSettings,
    ) -> None:
        self._metrics = with_models(metrics, llm, embeddings)
        judges = {name: models for name, (_, models) in self._metrics.items()}
        log = logging.getLogger("ragmetrics")
        super().__init__(log, lambda score: score.error, "an Observation", judges=judges, **settings)
        self._open: dict[FrameType, list[Block]] = {}

    @property
    def results(self) -> list[Observation]:
        """The observations so far, oldest first. The list may be cleared."""
        return self._kept

    def __enter__(self) -> dict[str, Any]:  # type: ignore[override]  # a block is one call, not the life of the observer
        return self._begun(sys._getframe(1))

    def __exit__(self, *raised: object) -> None:
        self._ended(sys._getframe(1), raised)

    def __aenter__(self) -> Awaitable[dict[str, Any]]:  # type: ignore[override]
        return _ready(self._begun(sys._getframe(1)))

    def __aexit__(self, *raised: object) -> Awaitable[None]:  # type: ignore[override]
        self._ended(sys._getframe(1), raised)
        return _ready(None)

    def _begun(self, frame: FrameType) -> dict[str, Any]:
        """Begin a block. Its frame is kept, because blocks of generators do not end in reverse order, nor in one context."""
        block = Block(self, frame)
        self._open.setdefault(frame, []).append(block)
        _entered.set((*(each for each in _entered.get() if each.record is not None), block))
        assert block.record is not None
        return block.record

    def _ended(self, frame: FrameType, raised: tuple[object, ...]) -> None:
        """End the innermost block of this frame; if it has none, as in an ``ExitStack``, the innermost block of this context."""
        here = [each for each in _entered.get() if each.observer is self and each.record is not None]
        block = next(reversed(self._open.get(frame) or here), None)
        if block is None or block.record is None:
            self._live.log.failed("a with block", LookupError("it ends in a context in which it did not begin"))
            return
        record, block.record = block.record, None
        self._open[block.frame].remove(block)
        if not self._open[block.frame]:
            del self._open[block.frame]
        if raised[:1] in {(), (None,)}:
            self.hear(record)

    def hear(self, record: Mapping[str, Any]) -> None:
        """Judge a call that has ended, without waiting; the record has its fields. Calls of judges are left out. What goes wrong
        is logged, and nothing is raised.
        """
        error = self._live.log.note("the record of a call", settled(partial(self._take, record)))
        if error is not None and not isinstance(error, Exception):  # Ctrl-C
            raise error

    def _take(self, record: Mapping[str, Any]) -> None:
        draw = None if is_judging() else self._sampling.draw(record)
        if draw is not None:
            self._judge(Call(_copied(record), self._metrics), draw)

    def __call__(self, function: F) -> F:
        """Return the function, every call of which is judged. Its arguments that are named as fields are recorded, and its first
        argument, if this is a text, as the question. It returns the answer as a text, or a mapping with fields.
        """
        signature = inspect.signature(function)

        def asked(arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
            given = signature.bind(*arguments, **named).arguments
            first = next(iter(given.values()), None)
            found = _copied({name: value for name, value in given.items() if name in KNOWN_NAMES})
            is_question = isinstance(first, str) and not found.keys() - {"history", "chat_history"}
            return found | ({"question": first} if is_question else {})

        def answered(question: dict[str, Any], result: Any) -> None:
            given: Any = (
                result if isinstance(result, Mapping) else {"answer": result} if isinstance(result, str) else {}
            )
            self.hear(ChainMap(given, question))

        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            question = asked(arguments, named)
            result = function(*arguments, **named)
            answered(question, result)
            return result

        @wraps(function)
        async def acall(*arguments: Any, **named: Any) -> Any:
            question = asked(arguments, named)
            result = await function(*arguments, **named)
            answered(question, result)
            return result

        return cast("F", acall if inspect.iscoroutinefunction(function) else call)

    def _restored(self, data: dict[str, Any]) -> Call:
        return Call.restored(data, self._metrics)

    def _with_problem(self, record: Observation, function: str, problem: BaseException) -> Observation:
        return replace(record, error=conceal(f"{function} raised {type(problem).__name__}: {problem}"))


async def _ready(value: T) -> T:
    return value


def _copied(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with new lists, because applications add to lists such as the history of a chat."""
    return {name: list(value) if isinstance(value, list) else value for name, value in record.items()}


@shows_settings()
def observe(
    metrics: Metrics,
    *,
    llm: AnyLLM | str | None = None,
    embeddings: AnyEmbeddings | str | None = None,
    **settings: Unpack[LiveSettings],
) -> Observer:
    """Judge calls of plain Python code in the background. ::

        observer = observe([Faithfulness()], llm=judge)

        with observer as record:
            record.update(question=question, contexts=contexts, answer=answer)

        @observer
        def answer(question: str) -> dict[str, object]:
            ...
            return {"answer": text, "contexts": contexts}

    Args:
        metrics: what to judge, as metrics or their names (``"faithfulness"``); each needs its own name.
        llm: a judge for metrics without one, or its name, such as ``"openai:gpt-4o-mini"``.
        embeddings: an embedding model for metrics without one, or its name.
        settings: the settings of ``LiveEvaluation``.

    Raises:
        InvalidInput: a setting is impossible, an item is not a metric, a name is wrong, two metrics have the same name, or a metric
            asks an LLM and there is none.
        MissingExtra: a model that is named needs a package that is not installed.
    """
    return Observer(metrics, llm, embeddings, settings)


def with_models(metrics: Metrics, llm: Any, embeddings: Any) -> dict[str, tuple[Metric, Models]]:
    """Return metrics by name, each with its models: its own, else the given ones. Metrics and models may be names, as in
    ``evaluate``.

    Raises:
        InvalidInput: an item is not a metric, a name is wrong, two have the same name, or a metric asks an LLM and there is none.
        MissingExtra: a model that is named needs a package that is not installed.
    """
    from .._names._named import embeddings_named, llm_named, metrics_named  # noqa: PLC0415  loads every metric

    given = {"llm": llm_named(llm), "embeddings": embeddings_named(embeddings)}
    items: Iterable[Any] = [metrics] if isinstance(metrics, Metric | str) else metrics
    found: dict[str, tuple[Metric, Models]] = {}
    for metric in (each for item in items for each in (metrics_named([item]) if isinstance(item, str) else [item])):
        if not isinstance(metric, Metric):
            raise InvalidInput(
                f"metrics must be Metric instances such as Faithfulness(), or their names, got {metric!r}"
            )
        if metric.name in found:
            raise InvalidInput(f"two metrics are named {metric.name!r}: give one of them another name")
        lacking: dict[str, Any] = {kind: model for kind, model in given.items() if getattr(metric.models, kind) is None}
        models = replace(metric.models, **lacking)
        if models.llm is None and asks_an_llm(metric):
            raise InvalidInput(f"{metric.name} asks an LLM, but none is set: give ", Setting("llm", ...))
        found[metric.name] = metric, models
    return found


def failed_score(metric: Metric, error: RagmetricsError | str) -> Score:
    """Return the failed score of a metric, with the usage of the attempt."""
    score = Score.failed(error)
    return score.made_by(metric.name, metric.scale, score.usage, {})


def score_of_outcome(metric: Metric, outcome: Future[Score]) -> Score:
    """Return the score that a judgement gave; a failed one if it raised anything, because no caller could catch it."""
    error = outcome.exception()
    if error is None:
        return outcome.result()
    if isinstance(error, NotAsked):
        return Score.unscored(str(error)).made_by(metric.name, metric.scale)
    return failed_score(metric, error if isinstance(error, RagmetricsError) else f"{type(error).__name__}: {error}")


def asks_an_llm(metric: Metric) -> bool:
    """Whether a metric, or a part of it without an LLM, has prompts. A metric that makes its prompts later fails only when it
    asks.
    """
    own = type(metric).calls != "none" and bool(prompts_of(metric))
    return own or any(part.llm is None and asks_an_llm(part) for part in metric.parts)
