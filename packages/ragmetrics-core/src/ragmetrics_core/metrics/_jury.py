"""Several judges instead of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Literal

from ragmetrics_core import (
    Ask,
    Input,
    InvalidInput,
    Metric,
    ModelError,
    Models,
    Sample,
    Score,
    Steps,
    asked_of,
    together,
)
from ragmetrics_core.metrics.juries import Vote, verdict_of
from ragmetrics_core.metrics.settings import check_choice


@dataclass(frozen=True)
class Jury(Metric):
    """The common score of several jurors: different metrics, or one metric asked of several models.

    The value is the median of the jurors' values. If the values are yes or no (``two_valued``), it is the value of the majority.
    The details keep the evidence of each juror with its model and its usage. A juror that fails or finds nothing to score does
    not count, and the reason names it.

    Attributes:
        jurors: at least two metrics on one scale. A juror without models uses the models of the jury or of the run.
        quorum: how many jurors must have a value; by default more than half of them. With fewer values there is no score.
        rule: "median" or "majority". The majority is the value that more than half gave; if there is none, the score is unscored
            with the label ``tie``. The default is "majority" if all jurors are ``two_valued``, else "median".

    Source: Verga et al. 2024, Replacing Judges with Juries, arXiv:2404.18796 (a panel of models, pooled by vote or average).
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "the calls of its jurors (LLM or embedding)"

    jurors: Sequence[Any]  # metrics after the check; mappings written by to_dict() are accepted
    quorum: int | None = None
    rule: Literal["median", "majority"] | None = None

    def __post_init__(self) -> None:
        jurors = _checked(self.jurors)
        object.__setattr__(self, "jurors", jurors)
        for name in ("scale", "higher_is_better"):
            object.__setattr__(self, name, _common(name, jurors))
        object.__setattr__(self, "two_valued", self.rule != "median" and all(item.two_valued for item in jurors))
        super().__post_init__()
        most = len(jurors)
        if self.quorum is not None and (type(self.quorum) is not int or not 1 <= self.quorum <= most):
            raise InvalidInput(f"{self.name}: quorum must be a whole number from 1 to {most}, got {self.quorum!r}")
        check_choice(self.name, "rule", self.rule, ("median", "majority", None))

    @property
    def usual_name(self) -> str:
        """``faithfulness_jury`` if all jurors are the same metric, here ``faithfulness``."""
        names = {type(item).default_name() for item in self.jurors}
        return f"{names.pop()}_jury" if len(names) == 1 else "jury"

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The jurors."""
        return tuple(self.jurors)

    @property
    def models(self) -> Models:
        """The models of the jurors. Two jurors must not ask the same model the same question, because their votes would be one
        opinion.
        """
        own = [replace(item.models, voice=asked) for item, asked in zip(self.jurors, self._questions, strict=True)]
        return Models(self.llm, self.embeddings, self.name, tuple(own))

    @cached_property
    def _questions(self) -> list[Metric]:
        """Each juror without its name and models: two equal ones ask the same questions."""
        return [replace(item, name="", llm=None, embeddings=None) for item in self.jurors]

    @cached_property
    def _known_as(self) -> list[tuple[str, Mapping[str, str]]]:
        """The name of each juror, and the names of its models. Cached, because reading the identity of a model may be slow."""
        models = [item.called for item in self.models.members]
        return list(zip(_names(self.jurors, models), models, strict=True))

    @classmethod
    def declared_inputs(cls) -> tuple[Input, ...]:
        """No inputs: only an instance knows the inputs of its jurors."""
        return ()

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of all jurors. An input is required if any juror requires it."""
        return _joined([item for juror in self.jurors for item in juror.inputs])

    def measure(self, **inputs: Any) -> Steps[Score]:
        """Ask all jurors in common rounds."""
        sample = Sample.from_mapping(inputs)
        asked = (_vote(place, *self._known_as[place], juror.program(sample)) for place, juror in enumerate(self.jurors))
        votes = yield from together(*asked)
        quorum = self.quorum or len(self.jurors) // 2 + 1
        return verdict_of(self.name, votes, quorum, majority=self.two_valued or self.rule == "majority")


def _vote(place: int, juror: str, models: Mapping[str, str], program: Steps[Score]) -> Steps[Vote]:
    """Run the program of a juror; return its vote, or the error that explains why it has none.

    An error that every call would meet is raised, as for any metric. The vote lists only models that this juror asked, not models
    that the run has for other metrics.
    """
    kinds: set[str] = set()
    error: ModelError | None = None
    try:
        score = yield from asked_of(
            place, program, lambda item: kinds.add("llm" if isinstance(item, Ask) else "embeddings")
        )
    except ModelError as failure:
        if failure.fatal:
            raise
        score, error = Score.failed(failure), failure
    return Vote(juror, ", ".join(name for kind, name in models.items() if kind in kinds) or None, score, error)


def _checked(jurors: Any) -> tuple[Metric, ...]:
    if not isinstance(jurors, list | tuple):
        raise InvalidInput(f"Jury takes a list of metrics, such as Jury([Faithfulness(llm=a), ...]), got {jurors!r}")
    found = tuple(Metric.from_dict(item) if isinstance(item, Mapping) else item for item in jurors)
    for place, item in enumerate(found):
        if not isinstance(item, Metric):
            raise InvalidInput(f"Jury: jurors[{place}] must be a metric such as Faithfulness(), got {item!r}")
    if len(found) < 2:
        raise InvalidInput(f"Jury needs at least two jurors, got {len(found)}")
    return found


def _common(name: str, jurors: Sequence[Metric]) -> Any:
    """Return the value that all jurors have in the attribute of this name."""
    values = [getattr(item, name) for item in jurors]
    for item, value in zip(jurors, values, strict=True):
        if value != values[0]:
            raise InvalidInput(
                f"Jury: all jurors need the same {name}: {jurors[0].name} has {values[0]}, {item.name} {value}"
            )
    return values[0]


def _joined(inputs: Sequence[Input]) -> tuple[Input, ...]:
    """Return the inputs of all jurors, each once."""
    joined = []
    for name in dict.fromkeys(inputs):
        same = [item for item in inputs if item == name]
        required, takes_empty = any(item.required for item in same), any(item.takes_empty for item in same)
        joined.append(Input(name.name, name.kind, required=required, takes_empty=takes_empty))
    return tuple(joined)


def _names(jurors: Sequence[Metric], models: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a unique name for each juror: its own name, followed, where names are equal, by its model or a number."""
    names = [item.name for item in jurors]
    labels = []
    for name, called in zip(names, models, strict=True):
        namesakes = [item for item, other in zip(models, names, strict=True) if other == name]
        model = _distinguishing(called, namesakes) if len(namesakes) > 1 else ""
        labels.append(f"{name} ({model})" if model else name)
    used = {name for name in labels if labels.count(name) == 1}
    unique_names = []
    for name in labels:
        label = name if name in used else next(text for number in count(1) if (text := f"{name} {number}") not in used)
        used.add(label)
        unique_names.append(label)
    return unique_names


def _distinguishing(called: Mapping[str, str], namesakes: Sequence[Mapping[str, str]]) -> str:
    """Return the models that jurors of the same name do not all share; the first model if they share all of them. An embedding
    model of the run is never named.
    """
    own = [name for kind, name in called.items() if any(name != item.get(kind) for item in namesakes)]
    return ", ".join(own or list(called.values())[:1])
