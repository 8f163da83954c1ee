"""The base class of all metrics: a frozen dataclass whose fields are settings and whose ``measure`` method does the work.

The parameters of ``measure`` are the sample fields that the metric needs; they are read and validated before any model is asked.
``measure`` returns a ``Score``, or is a generator that yields requests and returns a ``Score``. ``begin`` and ``program`` wrap it,
and add the origin to the score: metric, scale, usage, versions of the prompts. Models are fields too, but not settings: they are
not part of equality, repr or the serialized form, so no key can leak through them.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
from ._saved_settings import default_of, load_metric, settings_of
from ._steps import Outcome, Steps, next_round

M = TypeVar("M", bound="Metric")


@dataclass(frozen=True)
class Metric(abc.ABC):
    """Subclass it as a frozen dataclass, write ``measure``, and the metric works everywhere.

    Attributes:
        llm: answers the metric's questions; may be given here or to ``evaluate``.
        embeddings: embeds or compares texts; may be given here or to ``evaluate``.
        name: the column name of the metric's scores; default: the class name in snake_case.

    Class attributes to set:
        scale: the lowest and the highest value; default: 0 to 1; None if each score has its own scale.
        higher_is_better: False if low values are good; None if neither end is better.
        calls: the number of model calls per sample, in words, for the catalogue (n = number of retrieved contexts).
        two_valued: True if every value is one of the two ends of the scale, as for yes or no.
        takes_empty: the inputs that may be empty because nothing was retrieved or answered, and for which the metric then has a
            value.
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
    """Returns the module of all built-in metrics; the package sets this, because this module must not import them."""

    # The parameters of a subclass name its inputs, so any signature is allowed here; `inputs` validates it.
    measure: ClassVar[Callable[..., Score | Steps[Score]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # dataclass() keeps these methods only if the class itself defines them
        for name in ("__repr__", "__hash__"):
            if name not in cls.__dict__:
                setattr(cls, name, getattr(cls, name))

    def __post_init__(self) -> None:
        cls = type(self)
        hints = vars(cls).get("__annotations__", {}).values()
        if "__dataclass_params__" not in vars(cls) and any("ClassVar" not in str(hint) for hint in hints):
            raise TypeError(f"write @dataclass(frozen=True) above class {cls.__name__}, so that fields become settings")
        if not callable(getattr(self, "measure", None)):
            raise TypeError(f"{cls.__name__} has no measure() method")
        if not self.name:
            object.__setattr__(self, "name", self.usual_name)
        self.models  # noqa: B018  this validates the models
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
                    f"{self.name}: {setting.name} must be a Prompt, got {type(value).__name__}: change the wording of the default "
                    f"with {type(self).__name__}().{setting.name}.replace(instructions=...)"
                )

    @classmethod
    def default_name(cls) -> str:
        """Return the class name in snake_case: ``context_recall`` for ``ContextRecall``, ``ndcg`` for ``NDCG``."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()

    @property
    def usual_name(self) -> str:
        """The name of a metric that was given no name: ``default_name()``, with a suffix if a setting makes it a different
        column.
        """
        return self.default_name()

    @classmethod
    def declared_inputs(cls) -> tuple[Input, ...]:
        """Return the inputs that the signature of ``measure`` names, in order."""
        return inputs_of(cls.measure, cls.takes_empty)

    # cached, so that a subclass can have a field of this name
    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of this metric, in order."""
        return self.declared_inputs()

    @property
    def models(self) -> Models:
        """The models of this metric as one object; the models of its ``parts`` are the members."""
        return Models(self.llm, self.embeddings, self.name, tuple(part.models for part in self.parts))

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics whose programs this metric runs through ``asked_of``; most metrics run none."""
        return ()

    def told_of(self: M, models: Models) -> M:
        """Return a copy whose parts use these models, except where the metric or a part has its own model. A metric without
        parts is returned unchanged.
        """
        if not self.parts:
            return self
        given: Any = {kind: getattr(models, kind) for kind in ("llm", "embeddings") if getattr(self, kind) is None}
        return replace(self, **given)

    def score(self, sample: Sample | Mapping[str, Any] | None = None, /, **inputs: Any) -> Score:
        """Score one sample, synchronously; works inside and outside a running event loop.

        Args:
            sample: a ``Sample`` or a mapping with its fields.
            inputs: fields by name, instead of a sample, or to replace fields of the sample.

        Raises:
            MissingInput: a required field is absent, None, blank or an empty list; raised before any model is asked. (If there are
                no retrieved contexts, or the response is blank, the score is *unscored*, with the label ``no_retrieval`` or
                ``no_answer``.)
            InvalidInput: a field has the wrong type, or a name is unknown.
            ModelError: a model could not answer; ``BadReply`` if its answer cannot be parsed.
        """
        started = self.begin(Reading(self._sample(sample, inputs)))
        return started if isinstance(started, Score) else run(started, self.models)

    async def ascore(self, sample: Sample | Mapping[str, Any] | None = None, /, **inputs: Any) -> Score:
        """Score one sample without blocking the running loop; arguments and errors as in ``score``."""
        started = self.begin(Reading(self._sample(sample, inputs)))
        return started if isinstance(started, Score) else await arun(started, self.models)

    def program(self, sample: Sample) -> Steps[Score]:
        """Return the program that scores a sample. The inputs are validated now; the questions are asked when the program runs.

        Raises:
            MissingInput: see ``score``.
            InvalidInput: see ``score``.
        """
        return self._driven(Reading(sample).bound(self._named(), self.inputs))

    def begin(self, row: Reading) -> Score | Steps[Score]:
        """Return the score if ``measure`` is a plain function; otherwise the program that returns the score.

        This is for drivers of several metrics: one ``Reading`` of each sample lets the metrics share the inputs they read, and a
        metric that asks nothing needs no generator.

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
        if not isinstance(result, GeneratorType):
            raise TypeError(f"{type(self).__name__}.measure must return a Score, got {type(result).__name__}")
        return self._with_origin(result)

    def _with_origin(self, program: Steps[Score]) -> Steps[Score]:
        """Run the program of ``measure``; add its usage and the versions of its prompts to the score, or to the error."""
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
                # a refused or filtered answer is billed too, so an error may have a usage
                if outcome.usage is not None:
                    usage = outcome.usage if usage is NO_USAGE else usage + outcome.usage
        if not isinstance(result, Score):
            raise TypeError(f"{type(self).__name__}.measure must return a Score, got {type(result).__name__}")
        return result.made_by(self.name, self.scale, usage, prompts)

    def _sample(self, sample: Sample | Mapping[str, Any] | None, inputs: Mapping[str, Any]) -> Sample:
        input_names = set(self.inputs)
        for name in inputs:
            if name not in input_names and name not in FIELD_NAMES and name not in ALIASES:
                raise InvalidInput(f"{self.name} has no input {name!r}; it takes {', '.join(sorted(input_names))}")
        if sample is None:
            return Sample.from_mapping(inputs)
        if isinstance(sample, Mapping):
            sample = Sample.from_mapping(sample)
        if not isinstance(sample, Sample):
            raise InvalidInput(
                f"{self.name}.score takes a Sample, a mapping, or the fields by name ({', '.join(sorted(input_names))}), "
                f"got {type(sample).__name__}"
            )
        return sample.updated(inputs) if inputs else sample

    def to_dict(self, *, defaults: bool = False) -> dict[str, Any]:
        """Return the class and the settings as JSON values. Models are left out, so it contains no API key.

        Settings with their default values are left out, so a saved metric uses the prompts of the version that loads it. With
        ``defaults``, they are written too, which fixes them. Mappings are written as JSON texts, so that files keep their order.

        Raises:
            InvalidInput: more than the wording of a prompt was changed, which cannot be written to a file.
        """
        cls = type(self)
        is_built_in = cls.__module__.startswith("ragmetrics_core.metrics")
        path = cls.__name__ if is_built_in else f"{cls.__module__}:{cls.__qualname__}"
        return {"metric": path, "settings": settings_of(self, defaults=defaults)}

    @classmethod
    def from_dict(cls: type[M], data: Mapping[str, Any]) -> M:
        """Return the metric that ``to_dict`` wrote, without models.

        Raises:
            InvalidInput: the class named in ``data`` is not a metric, or not a subclass of this class; or a setting is unknown,
                missing or has the wrong type.
        """
        return load_metric(cls, data)

    def __repr__(self) -> str:
        shown = [item for item in fields(self) if item.repr and getattr(self, item.name) != default_of(self, item)]
        return f"{type(self).__name__}({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in shown)})"

    def __hash__(self) -> int:
        # settings may be mappings, which have no hash; equal metrics have equal names
        return hash((type(self), self.name))


def prompts_of(metric: Metric) -> dict[str, Prompt[Any]]:
    """Return the prompts among the settings of a metric, by name of the field."""
    settings = {item.name: getattr(metric, item.name) for item in fields(metric)}
    return {name: value for name, value in settings.items() if isinstance(value, Prompt)}
