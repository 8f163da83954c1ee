"""The two drivers, and the one place where a request meets a model.

Strategy. ``run`` and ``arun`` are the same five lines; all that differs is who answers. ``Models`` turns each request into a
``Call`` (which function, which argument, how the answer is checked) once, for both worlds; a call is then performed
synchronously or asynchronously. A model that has only one kind of method is bridged by a thread, never by a nested loop.
Only ``ModelError`` is turned into a value; anything else that a model raises is a bug and propagates.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import starmap
from typing import Any, TypeVar

from .._support._threads import in_loop, in_own_thread, in_threads, start
from .._values._errors import InvalidInput, ModelError, Setting
from .._values._requests import AnyEmbeddings, AnyLLM, Ask, Compare, Embed, Reply, Request
from ._model_traits import (
    KINDS,
    ModelTraits,
    check_model,
    check_numbers,
    check_text,
    check_vectors,
    compares_pairs,
    cosines,
    distinct_texts,
    is_instant,
    is_of_langchain,
    same_model,
    wrappers,
)
from ._steps import Outcome, Steps, next_round

T = TypeVar("T")

MAX_THREADS = 64
"""Most threads that one round of one sample may use when it is run synchronously."""


@dataclass(slots=True)
class Call:
    """One request, resolved: the model's function(s), the argument, and what makes a checked reply of the answer."""

    sync: Callable[[Any], Any] | None
    asynchronous: Callable[[Any], Awaitable[Any]] | None
    argument: Any
    check: Callable[[Any], Reply[Any]]
    instant: bool

    @property
    def in_place(self) -> bool:
        """Whether the answer is computed right here, without any waiting."""
        return self.instant and self.sync is not None

    def perform(self) -> Outcome:
        """Answer synchronously; an async-only model gets a new event loop."""
        try:
            if self.sync is not None:
                return self.check(self.sync(self.argument))
            assert self.asynchronous is not None
            return self.check(in_new_loop(self.asynchronous, self.argument))
        except ModelError as error:
            return error
        except StopIteration as stop:
            # it would end the generator it passes through, and a Future cannot carry it at all
            raise RuntimeError("the model raised StopIteration") from stop

    async def aperform(self) -> Outcome:
        """Answer asynchronously; a model that blocks gets a thread, with the caller's context variables."""
        if self.asynchronous is not None:
            try:
                return self.check(await self.asynchronous(self.argument))
            except ModelError as error:
                return error
        if self.instant:
            return self.perform()
        return await in_own_thread(self.perform)


@dataclass(frozen=True)
class Models:
    """The models that answer the requests of a program.

    Attributes:
        llm: answers ``Ask``.
        embeddings: answers ``Embed`` and ``Compare``; a pair scorer answers ``Compare`` only.
        metric: name of the metric they work for, for messages.
        members: of a metric that runs others, their models; those that a member lacks are these.
        voice: of a member, what it asks; members whose voices are equal must have different models. None: that does not matter.

    Raises:
        InvalidInput: a model is a text, a class, or an object without any method of a model; or two members are the same.
    """

    llm: AnyLLM | None = None
    embeddings: AnyEmbeddings | None = None
    metric: str = ""
    members: tuple[Models, ...] = ()
    voice: object = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for kind in KINDS:
            check_model(kind, getattr(self, kind), self.metric)
        if self.members:
            object.__setattr__(self, "members", tuple(map(self._filled, self.members)))
            self._check_voices()

    def _filled(self, member: Models) -> Models:
        """A member with these models where it has none."""
        llm = self.llm if member.llm is None else member.llm
        embeddings = self.embeddings if member.embeddings is None else member.embeddings
        same = llm is member.llm and embeddings is member.embeddings
        return member if same else replace(member, llm=llm, embeddings=embeddings)

    def _check_voices(self) -> None:
        voices = list(self._voices())
        for place, one in enumerate(voices):
            for other in voices[:place]:
                if one.voice is not None and one.voice == other.voice and one.are_the_same(other):
                    raise InvalidInput(
                        f"{self.metric}: two members ask the same of the same model ({', '.join(one.names)}), which would be one "
                        "voice counted twice: give one of them another model, or judge several times with ",
                        Setting("repeats", ...),
                    )

    def _voices(self) -> Iterator[Models]:
        """The members, and theirs: a juror of a jury within this one speaks here too."""
        for member in self.members:
            yield member
            yield from member._voices()

    def are_the_same(self, other: Models) -> bool:
        """Whether the answers come from the same models, as far as these say what they are; False where there are none."""
        pairs = [(getattr(self, kind), getattr(other, kind)) for kind in KINDS]
        return any(one is not None for one, _ in pairs) and all(starmap(same_model, pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """What the models are called, such as ``gpt-4o-mini``: the LLM, then the embedding model, as far as there are."""
        return tuple(ModelTraits.of(model).called for model in (self.llm, self.embeddings) if model is not None)

    @property
    def called(self) -> dict[str, str]:
        """What those that are asked are called, by their kind, ``llm`` and ``embeddings``, as far as there are; each name once."""
        found = {}
        for kind in KINDS:
            models = (getattr(item, kind) for item in self.leaves())
            names = dict.fromkeys(ModelTraits.of(model).called for model in models if model is not None)
            if names:
                found[kind] = ", ".join(names)
        return found

    def leaves(self) -> Iterator[Models]:
        """Those that are asked: these, or instead of them those of the members."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves()

    def each(self, change: Callable[[Models], Models]) -> Models:
        """These models and those of all members, changed in the same way."""
        return change(replace(self, members=tuple(member.each(change) for member in self.members)))

    def asked_by(self, request: Request) -> Models:
        """Those that the request is put to: these, or those of the member that it names."""
        models = self
        for member in request.to:
            models = models.members[member]
        return models

    def answer(self, requests: Sequence[Request]) -> list[Outcome]:
        """The outcome of every request of one round, in order; requests that wait for IO are answered concurrently."""
        calls = [self.asked_by(request).call(request) for request in requests]
        if len(calls) == 1 or all(call.instant for call in calls):
            return [call.perform() for call in calls]
        return in_threads([call.perform for call in calls], min(len(calls), MAX_THREADS))

    async def aanswer(self, requests: Sequence[Request]) -> list[Outcome]:
        """The same, without blocking the running loop."""
        calls = [self.asked_by(request).call(request) for request in requests]
        if len(calls) == 1:
            return [await calls[0].aperform()]
        from .._support._blocking import all_of  # noqa: PLC0415  loads asyncio

        return await all_of(call.aperform() for call in calls)

    def call(self, request: Request) -> Call:
        """The request, resolved to the one of these models that answers it.

        Raises:
            ModelError: no model is set that could answer.
            TypeError: the model that is set lacks the methods.
        """
        if isinstance(request, Ask):
            return Call(*self._generating, request, check_text, self._instant["llm"])
        self._need("embeddings", "an embedding model")
        instant = self._instant["embeddings"]
        if isinstance(request, Embed):
            texts = request.texts
            return Call(*self._embedding, texts, lambda answer: check_vectors(answer, len(texts)), instant)
        assert isinstance(request, Compare)
        pairs = request.pairs
        if self._compares:
            return Call(*self._comparing, pairs, lambda answer: check_numbers(answer, len(pairs)), instant)
        texts = distinct_texts(pairs)
        return Call(
            *self._embedding, texts, lambda answer: cosines(check_vectors(answer, len(texts)), texts, pairs), instant
        )

    # read once: a run makes many calls of each kind

    @cached_property
    def _instant(self) -> dict[str, bool]:
        return {kind: is_instant(getattr(self, kind)) for kind in KINDS}

    @cached_property
    def _compares(self) -> bool:
        return compares_pairs(self.embeddings)

    @cached_property
    def _generating(self) -> Functions:
        return _functions(self._need("llm", "an LLM"), "generate", "agenerate")

    @cached_property
    def _embedding(self) -> Functions:
        return _functions(self.embeddings, "embed", "aembed")

    @cached_property
    def _comparing(self) -> Functions:
        return _functions(self.embeddings, "compare", "acompare")

    def _need(self, attribute: str, what: str) -> Any:
        model = getattr(self, attribute)
        if model is None:
            raise ModelError(
                f"{self.metric or 'this metric'} asks {what}, but none is set in the metric or the run: give ",
                Setting(attribute, ...),
                fatal=True,
            )
        if is_of_langchain(model):
            wrapper = wrappers(KINDS[attribute][1], model)
            raise ModelError(
                f"{self.metric or 'this metric'} asks {what}, and {type(model).__name__} is one of LangChain, which has another "
                f"protocol: give {attribute}={wrapper} with the model in it, from ragmetrics_langchain",
                fatal=True,
            )
        return model


Functions = tuple[Callable[[Any], Any] | None, Callable[[Any], Awaitable[Any]] | None]


def _functions(model: Any, sync: str, asynchronous: str) -> Functions:
    functions = getattr(model, sync, None), getattr(model, asynchronous, None)
    if functions == (None, None):
        raise TypeError(f"{type(model).__name__} has neither a method {sync}() nor {asynchronous}()")
    return functions


def run(steps: Steps[T], models: Models | AnyLLM) -> T:
    """Drive a program to its result, synchronously.

    Args:
        steps: the program, such as ``PROMPT.ask(...)`` or ``metric.program(sample)``.
        models: who answers; an LLM alone will do where only an LLM is asked.

    Raises:
        ModelError: a model could not answer and the program did not catch it.
    """
    answering = models if isinstance(models, Models) else Models(models)
    outcomes = None
    with closing(steps):
        while True:
            try:
                requests = next_round(steps, outcomes)
            except StopIteration as done:
                return done.value
            outcomes = answering.answer(requests)


async def arun(steps: Steps[T], models: Models | AnyLLM) -> T:
    """Drive a program to its result without blocking the running loop; otherwise the same as ``run``."""
    answering = models if isinstance(models, Models) else Models(models)
    outcomes = None
    with closing(steps):
        while True:
            try:
                requests = next_round(steps, outcomes)
            except StopIteration as done:
                return done.value
            outcomes = await answering.aanswer(requests)


def in_new_loop(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run an async function to its end from synchronous code, also where a loop is already running in this thread."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    async def main() -> T:
        return await function(*arguments)

    if not in_loop():
        return asyncio.run(main())
    return start(lambda: asyncio.run(main())).result()
