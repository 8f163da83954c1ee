"""A metric in the words of its user: prompts that are templates of a framework, and replies that a function of the user's reads.

Strategy. A ``TemplatePrompt``, which ``worded`` makes, is a prompt that renders its messages with a template; asking, reading, the
one re-ask and the record of versions stay with the core. A ``Slot`` says which prompt of a metric a template replaces, and what the
framework calls the inputs of that prompt. What a template is, the adapter says. A ``Parser`` is a reply format, so what a user's
function cannot read is a reply that is asked for again. Below stand the prompts of a metric, and what frameworks want of a score in
addition to its value: a verdict of every evaluator, and a failure as a score.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar

from .._kernel._metric import Metric, prompts_of
from .._kernel._prompt import Prompt
from .._kernel._steps import Steps, embed
from .._values._errors import BadReply, InvalidInput, RagmetricsError
from .._values._requests import Message, Reply
from .._values._score import Score

T = TypeVar("T")

DATA = "data"
"""The variable that holds all inputs of a prompt as one JSON object."""

REPLY_FORM = "reply_form"
"""The variable that holds the instructions on how to reply."""

UNREADABLE = "Unable to parse the output string."


@dataclass(frozen=True)
class Slot:
    """Which prompt a template replaces, and how the template is filled in.

    Attributes:
        prompt: field of the metric that holds the prompt.
        variables: the variables of the template, each with the text that fills it in, where ``{input}`` stands for an input of the
            prompt. Empty: the variables are the inputs themselves.
        aliases: further variables that are filled in, but not shown.
        missing: the text for an input that is missing or empty.
        adds_form: whether a template without instructions on how to reply gets those of the prompt.
        one_text: whether the prompt is shown as one text, as the framework's own is, rather than as messages.
    """

    prompt: str
    variables: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    missing: str | None = None
    adds_form: bool = True
    one_text: bool = False

    def values(self, inputs: Mapping[str, Any]) -> dict[str, str]:
        """The text for each variable."""
        texts = {name: self._text(value) for name, value in inputs.items()}
        wanted = {**self.variables, **self.aliases}
        return {name: words.format_map(texts) for name, words in wanted.items()} if wanted else texts

    def _text(self, value: Any) -> str:
        if self.missing is not None and not value:
            return self.missing
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, repr=False, kw_only=True)
class TemplatePrompt(Prompt[T]):
    """A prompt with the words of a template, whose replies are read by the prompt that it replaces.

    Attributes:
        template: the template of a framework, as the adapter wraps it; two of them are equal if they ask the same. It has
            ``variables()`` (the names of what is filled in), ``words()`` (its text, before it is filled in) and
            ``messages(values)``, which takes texts by variable, also more than there are variables, and returns the messages.
        slot: how it is filled in.
        reader: the prompt that it replaces.
    """

    template: Any = field(hash=False)
    slot: Slot = field(hash=False)
    reader: Prompt[T]

    @cached_property
    def system(self) -> str:
        """The text of the template: what is the same whatever the data."""
        words: str = self.template.words()
        return words

    def messages(self, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages that the template makes; ``InvalidInput`` if it shows the judge none of the data."""
        data, form = self.data(inputs), self.reply.instructions()
        # read from the JSON that the core sends, so that numbered items have their numbers here too
        values = {DATA: data, REPLY_FORM: form, **self.slot.values(json.loads(data))}
        check_shows_data(self.name, self.template, values)
        messages = [
            Message(item.role, item.content.encode("utf-8", "backslashreplace").decode())
            for item in self.template.messages(values)
        ]
        if self.slot.adds_form and form and not any(form in item.content for item in messages):
            messages[-1] = Message(messages[-1].role, f"{messages[-1].content}\n\n{form}")
        return tuple(messages)

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> T:
        """The value in one reply, as the prompt that is replaced reads and checks it."""
        return self.reader.read(reply, inputs)


def worded(prompt: Prompt[T], template: Any, slot: Slot) -> Prompt[T]:
    """The prompt with the words of the template; its version is a hash of these words."""
    digest = hashlib.sha256(template.words().encode("utf-8", "backslashreplace")).hexdigest()
    kept: Any = {name: getattr(prompt, name) for name in ("instructions", "reply", "name", "numbered")}
    return TemplatePrompt(**kept, version=f"template {digest[:8]}", template=template, slot=slot, reader=prompt)


def check_shows_data(name: str, template: Any, known: Iterable[str]) -> None:
    """Refuse a template without any of the known variables: a judge that does not see what it is to judge would only guess.

    Args:
        name: what messages call the template.
        template: the template.
        known: the variables that will be filled in, in addition to ``data``.
    """
    known = dict.fromkeys([DATA, *known])
    if set(template.variables()).isdisjoint(set(known) - {REPLY_FORM}):
        listed = ", ".join(f"{{{variable}}}" for variable in known)
        raise InvalidInput(f"the template for {name!r} shows the judge no data: use any of {listed} in it")


@dataclass(frozen=True)
class Parser:
    """A reply format that is read by a function of the user; the template says how to reply.

    Attributes:
        function: reads the text of a reply; where it raises one of ``errors``, the reply is unreadable.
        value_of: makes the value of a reply from what the function returned and from the text.
    """

    function: Callable[[str], Any]
    value_of: Callable[[Any, str], Any]
    schema: ClassVar[Mapping[str, Any] | None] = None
    errors: ClassVar[tuple[type[Exception], ...]] = (ValueError,)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput(f"a parser must be a function of the text of a reply, got {self.function!r}")

    def instructions(self) -> str:
        """Nothing: the template says how to reply."""
        return ""

    def parse(self, text: str) -> Any:
        """The value; what the function cannot read is a ``BadReply``."""
        try:
            found = self.function(text)
        except self.errors as error:
            raise BadReply(f"{UNREADABLE} {type(error).__name__}: {error}", text) from None
        return self.value_of(found, text)


M = TypeVar("M", bound=Metric)


def asks_an_llm(metric: Metric) -> bool:
    """Whether a metric has prompts, or a part of it that has no LLM. One that makes its prompts later fails only when it asks."""
    own = type(metric).calls != "none" and bool(prompts_of(metric))
    return own or any(part.llm is None and asks_an_llm(part) for part in metric.parts)


def with_prompts(metric: M, **changes: Any) -> M:
    """The metric with the same changes made to each of its prompts."""
    changed: dict[str, Any] = {name: replace(prompt, **changes) for name, prompt in prompts_of(metric).items()}
    return replace(metric, **changed)


def without_scale(metric: M) -> M:
    """The metric with any finite number for a score: only the author of a template or a parser knows its scale."""
    made: M = _class_without_scale(type(metric))(**{item.name: getattr(metric, item.name) for item in fields(metric)})
    return made


@cache
def _class_without_scale(cls: type[Metric]) -> Any:
    return type(cls.__name__, (cls,), {"scale": None, "__module__": cls.__module__})


@dataclass(frozen=True)
class VectorSimilarity(Metric):
    """Similarity of response and reference by any function of their two vectors; it has no bounds.

    Attributes:
        function: makes a number of two vectors.
    """

    scale: ClassVar[tuple[float, float] | None] = None
    calls: ClassVar[str] = "1 embedding request"

    function: Callable[[Sequence[float], Sequence[float]], float] = field(repr=False, compare=False)

    def measure(self, response: str, reference: str) -> Steps[Score]:
        """Embed both texts, compare their vectors."""
        left, right = yield from embed([response, reference])
        value = float(self.function(left, right))
        return Score(value, details={"similarity": value})


def passes(score: Score, threshold: float | None = None) -> bool | None:
    """The metric's own verdict if it has one, else whether the value reaches a threshold; None without a value, and for a tie.

    Args:
        score: the score.
        threshold: the lowest passing value; None: the middle of the scale.
    """
    if score.passing is not None or score.value is None or score.details.get("winner") == "tie":
        return score.passing
    return score.value >= (_middle(score.scale) if threshold is None else threshold)


def _middle(scale: tuple[float, float] | None) -> float:
    """The middle of the scale; half of the highest value if the scale goes below 0, as for a cosine."""
    low, high = scale or (0.0, 1.0)
    return high / 2 if low < 0 else (low + high) / 2


def check_threshold(owner: str, threshold: Any, *, positive: bool = False) -> None:
    """Refuse a threshold that is no finite number, or, where scores are divided by it, is not above 0."""
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold)
    if not number or (positive and threshold <= 0):
        wanted = "number above 0" if positive else "finite number"
        raise InvalidInput(f"{owner}: the threshold must be a {wanted}, got {threshold!r}")


def failed_score(metric: Metric, error: RagmetricsError | str) -> Score:
    """The failed score of a metric, with what it cost."""
    score = Score.failed(error)
    return score.made_by(metric.name, metric.scale, score.usage, {})
