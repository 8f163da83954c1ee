"""The base class of all metrics: a frozen dataclass whose fields are settings and whose ``measure`` method does the work.

How it works. The parameters of ``measure`` are the sample fields the metric needs; they are read and checked before anything
is asked. ``measure`` returns a ``Score``, or is a generator that yields requests and returns one. ``begin`` and ``program``
wrap it so that the score carries its origin: metric, scale, usage, versions of the prompts. Models are fields too, but not
settings: they take no part in equality, repr or the serialised form, so no key can leak through them.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cached_property
from types import GeneratorType
from typing import Any, ClassVar, TypeVar

from .._values._errors import InvalidInput, ModelError
from .._values._requests import NO_USAGE, AnyEmbeddings, AnyLLM, Ask
from .._values._sample import ALIASES, FIELD_NAMES, Sample
from .._values._score import Score, checked_scale
from ._drive import Models, arun, run
from ._inputs import Input, Reading, inputs_of
from ._prompt import Prompt
from ._saved_settings import load_metric, settings_of
from ._steps import Outcome, Steps, next_round

M = TypeVar("M", bound="Metric")


@dataclass(frozen=True)
class Metric(abc.ABC):
    """Subclass it as a frozen dataclass, write ``measure``, and the metric works everywhere.

    Attributes:
        llm: answers the metric's questions; may be given here or to ``evaluate``.
        embeddings: embeds or compares texts; may be given here or to ``evaluate``.
        name: column name of the metric's scores; by default the class name in snake_case.

    Class attributes to set:
        scale: lowest and highest value; 0 to 1 unless the metric says otherwise, None where each score states its own.
        higher_is_better: False where low values are good; None where neither end is better.
        calls: model calls per sample, in words, for the catalogue (n = retrieved contexts).
        two_valued: True where every value is one end of the scale or the other, as of a yes or no.
        takes_empty: inputs for which the metric has a value where they are empty: nothing retrieved, or nothing answered.
    """

    scale: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    higher_is_better: ClassVar[bool | None] = True
    calls: ClassVar[str] = "none"
    two_valued: ClassVar[bool] = False
    takes_empty: ClassVar[tuple[str, ...]] = ()

    llm: AnyLLM | None = field(default=None, kw_only=True, repr=False, compare=False)
    embeddings: AnyEmbeddings | None = field(default=None, kw_only=True, repr=False, compare=False)
    name: str = field(default="", kw_only=True)

    _built_in: ClassVar[Any]
    """The module of all built-in metrics, which stands above this one: the package sets it."""

    # Any parameters are allowed here: they name the inputs. Subclasses are checked by `inputs`, not by their type.
    measure: ClassVar[Callable[..., Score | Steps[Score]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # dataclass() keeps these methods only where it finds them in the class itself
        for name in ("__repr__", "__hash__"):
            if name not in cls.__dict__:
                setattr(cls, name, getattr(cls, name))

    def __post_init__(self) -> None:
        own = vars(type(self)).get("__annotations__", {})
        if "__dataclass_params__" not in vars(type(self)) and any("ClassVar" not in str(hint) for hint in own.values()):
            raise TypeError(
                f"write @dataclass(frozen=True) above class {type(self).__name__}, so that its fields become settings"
            )
        if not callable(getattr(self, "measure", None)):
            raise TypeError(f"{type(self).__name__} has no measure() method")
        if not self.name:
            object.__setattr__(self, "name", self.usual_name)
        self.models  # noqa: B018  checks them
        self._check_scale()
        self._check_prompts()

    def _check_scale(self) -> None:
        try:
            _ = self.scale is None or checked_scale(self.scale)
        except ValueError as error:
            raise InvalidInput(f"{self.name}: {error}") from None

    def _check_prompts(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(setting.default, Prompt) and not isinstance(value, Prompt):
                raise InvalidInput(
                    f"{self.name}: {setting.name} must be a Prompt, got {type(value).__name__}: change the words of the own one "
                    f"with {type(self).__name__}().{setting.name}.replace(instructions=...)"
                )

    @classmethod
    def default_name(cls) -> str:
        """The class name in snake_case: ``ContextRecall`` is ``context_recall``, ``NDCG`` is ``ndcg``."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    @property
    def usual_name(self) -> str:
        """The name of a metric that was given none: ``default_name()``, and more where a setting makes it another column."""
        return self.default_name()

    @classmethod
    def declared_inputs(cls) -> tuple[Input, ...]:
        """The inputs that the signature of ``measure`` names, in order."""
        return inputs_of(cls.measure, cls.takes_empty)

    # cached, so that a subclass can have a field of this name
    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The sample fields that this metric takes, in order."""
        return self.declared_inputs()

    @property
    def models(self) -> Models:
        """The metric's own models, as a driver takes them, with those of its parts as members."""
        return Models(self.llm, self.embeddings, self.name, tuple(part.models for part in self.parts))

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics whose programs this one runs, by ``asked_of``; most run none."""
        return ()

    def told_of(self: M, models: Models) -> M:
        """The metric with these models for the metrics that it runs, where those have none."""
        if not self.parts:
            return self
        given: Any = {kind: getattr(models, kind) for kind in ("llm", "embeddings") if getattr(self, kind) is None}
        return replace(self, **given)

    def score(self, sample: Sample | Mapping[str, Any] | None = None, /, **inputs: Any) -> Score:
        """Score one sample, synchronously; works inside and outside a running event loop.

        Args:
            sample: a ``Sample`` or a mapping with its fields.
            inputs: the fields by name, instead of a sample or on top of it.

        Raises:
            MissingInput: a needed field is absent, None, blank or an empty list; raised before any model is asked. (No retrieved
                contexts, or a blank response: *unscored*, labelled ``no_retrieval`` or ``no_answer``.)
            InvalidInput: a field has the wrong type, or a name is unknown.
            ModelError: a model could not answer; ``BadReply`` if its answer is unreadable.
        """
        started = self.begin(Reading(self._sample(sample, inputs)))
        return started if isinstance(started, Score) else run(started, self.models)

    async def ascore(self, sample: Sample | Mapping[str, Any] | None = None, /, **inputs: Any) -> Score:
        """Score one sample without blocking the running loop; arguments and errors as in ``score``."""
        started = self.begin(Reading(self._sample(sample, inputs)))
        return started if isinstance(started, Score) else await arun(started, self.models)

    def program(self, sample: Sample) -> Steps[Score]:
        """The program that scores the sample. The inputs are checked now, the questions are asked when it is driven.

        Raises:
            MissingInput: see ``score``.
            InvalidInput: see ``score``.
        """
        return self._driven(Reading(sample).bound(self._named(), self.inputs))

    def begin(self, row: Reading) -> Score | Steps[Score]:
        """The score, where ``measure`` is a plain function; else the program that asks for it.

        For drivers of many metrics: they make one ``Reading`` of each sample, in which the metrics share what they read, and a
        metric that asks nothing costs no generator.

        Raises:
            MissingInput: see ``score``.
            InvalidInput: see ``score``.
        """
        return self._measured(row.bound(self.name or self._named(), self.inputs))

    def _named(self) -> str:
        if not self.name:
            raise TypeError(f"{type(self).__name__}.__post_init__ must call super().__post_init__()")
        return self.name

    def _driven(self, bound: Mapping[str, Any] | Score) -> Steps[Score]:
        result = self._measured(bound)
        return result if isinstance(result, Score) else (yield from result)

    def _measured(self, bound: Mapping[str, Any] | Score) -> Score | Steps[Score]:
        result = bound if isinstance(bound, Score) else self.measure(**bound)
        if isinstance(result, Score):
            return result.made_by(self.name, self.scale)
        return self._accounted(result)

    def _accounted(self, program: Any) -> Steps[Score]:
        """Note what the program of ``measure`` costs and which prompts it asks."""
        if not isinstance(program, GeneratorType):
            raise TypeError(f"{type(self).__name__}.measure must return a Score, got {type(program).__name__}")
        return self._account(program)

    def _account(self, program: Steps[Score]) -> Steps[Score]:
        usage = NO_USAGE
        prompts: dict[str, str] = {}
        outcomes: Sequence[Outcome] | None = None
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                result = done.value
                break
            except ModelError as error:
                error.usage, error.prompts = usage, prompts
                raise
            for item in requests:
                if isinstance(item, Ask):
                    prompts[item.prompt.name] = item.prompt.version
            outcomes = yield requests
            if type(outcomes) is not list:  # a custom driver may send an iterator, which can be read only once
                outcomes = list(outcomes)
            for outcome in outcomes:
                # a refused or filtered answer is billed as well, so an error may carry what its call cost
                if outcome.usage is not None:
                    usage = outcome.usage if usage is NO_USAGE else usage + outcome.usage
        if not isinstance(result, Score):
            raise TypeError(f"{type(self).__name__}.measure must return a Score, got {type(result).__name__}")
        return result.made_by(self.name, self.scale, usage, prompts)

    def _sample(self, sample: Sample | Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> Sample:
        wanted = set(self.inputs)
        for name in inputs:
            if name not in wanted and name not in FIELD_NAMES and name not in ALIASES:
                raise InvalidInput(f"{self.name} knows no input {name!r}; it takes {', '.join(sorted(wanted))}")
        if sample is None:
            return Sample.from_mapping(inputs)
        if isinstance(sample, Mapping):
            sample = Sample.from_mapping(sample)
        if not isinstance(sample, Sample):
            raise InvalidInput(
                f"{self.name}.score takes a Sample, a mapping, or the fields by name ({', '.join(sorted(wanted))}), "
                f"got {type(sample).__name__}"
            )
        return sample.updated(inputs) if inputs else sample

    def to_dict(self, *, defaults: bool = False) -> dict[str, Any]:
        """Class and settings as JSON values; models are not part of it, so neither is any key.

        Settings with their default values are left out, so that a saved metric asks with the prompts of the version that loads
        it; ``defaults`` writes them too, which pins them. Mappings are written as JSON texts: no file changes their order.

        Raises:
            InvalidInput: more than the wording of a prompt is changed, which no file can hold.
        """
        return {"metric": _type_name(type(self)), "settings": settings_of(self, defaults=defaults)}

    @classmethod
    def from_dict(cls: type[M], data: Mapping[str, Any]) -> M:
        """The metric that ``to_dict`` wrote, without models.

        Raises:
            InvalidInput: the class is not a metric (of this class), or a setting is unknown or has the wrong type.
        """
        return load_metric(cls, data)

    def __repr__(self) -> str:
        shown = [item for item in fields(self) if item.repr and not self._is_default(item)]
        return f"{type(self).__name__}({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in shown)})"

    def __hash__(self) -> int:
        # settings may hold mappings, which have no hash; equal metrics have equal names
        return hash((type(self), self.name))

    def _is_default(self, item: Field[Any]) -> bool:
        value = getattr(self, item.name)
        if item.name == "name":
            return bool(value == self.usual_name)
        if item.default is not MISSING:
            return bool(value == item.default)
        return item.default_factory is not MISSING and bool(value == item.default_factory())


def _type_name(cls: type[Metric]) -> str:
    return (
        cls.__name__ if cls.__module__.startswith("ragmetrics_core.metrics") else f"{cls.__module__}:{cls.__qualname__}"
    )


def prompts_of(metric: Metric) -> dict[str, Prompt[Any]]:
    """The prompts among the settings of a metric, by the name of the field."""
    settings = {item.name: getattr(metric, item.name) for item in fields(metric)}
    return {name: value for name, value in settings.items() if isinstance(value, Prompt)}
