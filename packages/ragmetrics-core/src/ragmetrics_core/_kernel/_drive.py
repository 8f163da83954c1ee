"""The two drivers of programs, ``run`` and ``arun``, and the calls of models.

The two drivers differ only in how requests are answered. For both, ``Models`` turns each request into a ``Call``: the function, its
argument, and the validation of the answer. A call is then performed synchronously or asynchronously. If a model has only the
other kind of method, it runs in a thread, never in a nested event loop. A ``ModelError`` becomes the outcome of the call; any
other exception of a model is a bug and propagates.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, starmap
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
    check_text_from_outside,
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
"""The largest number of threads for one round of a program that is run synchronously."""


@dataclass(slots=True)
class Call:
    """A request resolved to a model.

    Attributes:
        sync, asynchronous: the functions of the model; at least one is not None.
        argument: the argument of the function.
        check: validates an answer and returns it as a ``Reply``.
        instant: whether the model computes in place.
    """

    sync: Callable[[Any], Any] | None
    asynchronous: Callable[[Any], Awaitable[Any]] | None
    argument: Any
    check: Callable[[Any], Reply[Any]]
    instant: bool

    @property
    def in_place(self) -> bool:
        """Whether the call can be performed without waiting."""
        return self.instant and self.sync is not None

    def perform(self) -> Outcome:
        """Perform the call synchronously; an async-only model runs in a new event loop."""
        try:
            if self.sync is not None:
                return self.check(self.sync(self.argument))
            assert self.asynchronous is not None
            return self.check(in_new_loop(self.asynchronous, self.argument))
        except ModelError as error:
            return error
        except StopIteration as stop:
            # StopIteration would end the program, and a Future cannot contain it
            raise RuntimeError("the model raised StopIteration") from stop

    async def aperform(self) -> Outcome:
        """Perform the call asynchronously; a blocking model runs in a thread, with the context variables of the caller."""
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
        metric: the name of the metric that uses the models, for messages.
        members: for a metric that runs other metrics, their models; a member without a model gets the one of this metric.
        voice: any value that says which questions a member asks. Two members with equal values ask the same questions, so they must
            have different models. None: not checked.

    Raises:
        InvalidInput: a model is a text, a class, or an object without any method of a model; or two members that ask the same
            questions have the same models.
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
            self._check_members_differ()

    def _filled(self, member: Models) -> Models:
        """Return a member of this metric. Where the member has no model, it gets the model of the metric."""
        missing: dict[str, Any] = {kind: getattr(self, kind) for kind in KINDS if getattr(member, kind) is None}
        return replace(member, **missing) if any(model is not None for model in missing.values()) else member

    def _check_members_differ(self) -> None:
        for one, other in combinations(self._all_members(), 2):
            if one.voice is not None and one.voice == other.voice and one.are_the_same(other):
                raise InvalidInput(
                    f"{self.metric}: two members ask the same model ({', '.join(one.names)}) the same question, so one opinion "
                    "would count twice: give one member another model, or judge several times with ",
                    Setting("repeats", ...),
                )

    def _all_members(self) -> Iterator[Models]:
        """Yield all members, including members of members, such as the jurors of a jury within a jury."""
        for member in self.members:
            yield member
            yield from member._all_members()

    def are_the_same(self, other: Models) -> bool:
        """Whether both have the same models, as far as their identities show; False if ``self`` has no model."""
        pairs = [(getattr(self, kind), getattr(other, kind)) for kind in KINDS]
        return any(one is not None for one, _ in pairs) and all(starmap(same_model, pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models, such as ``gpt-4o-mini``: the LLM, then the embedding model; None is left out."""
        return tuple(ModelTraits.of(model).called for model in (self.llm, self.embeddings) if model is not None)

    @property
    def called(self) -> dict[str, str]:
        """The names of the models that answer, by kind (``llm``, ``embeddings``); a kind without a model is left out."""
        found = {}
        for kind in KINDS:
            models = (getattr(item, kind) for item in self.leaves())
            names = dict.fromkeys(ModelTraits.of(model).called for model in models if model is not None)
            if names:
                found[kind] = ", ".join(names)
        return found

    def leaves(self) -> Iterator[Models]:
        """Yield the models that answer: the models of the members, or these models if there are no members."""
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves()

    def each(self, change: Callable[[Models], Models]) -> Models:
        """Return a copy in which ``change`` was applied to these models and to all members."""
        return change(replace(self, members=tuple(member.each(change) for member in self.members)))

    def asked_by(self, request: Request) -> Models:
        """Return the models that answer a request: the models of the member that ``request.to`` names, or these models."""
        models = self
        for member in request.to:
            models = models.members[member]
        return models

    def answer(self, requests: Sequence[Request]) -> list[Outcome]:
        """Return the outcomes of the requests of one round, in order; requests that wait for IO run concurrently."""
        calls = [self.asked_by(request).call(request) for request in requests]
        if len(calls) == 1 or all(call.instant for call in calls):
            return [call.perform() for call in calls]
        return in_threads([call.perform for call in calls], min(len(calls), MAX_THREADS))

    async def aanswer(self, requests: Sequence[Request]) -> list[Outcome]:
        """Return the outcomes of the requests of one round, in order, without blocking the running loop."""
        calls = [self.asked_by(request).call(request) for request in requests]
        if len(calls) == 1:
            return [await calls[0].aperform()]
        from .._support._blocking import all_of  # noqa: PLC0415  loads asyncio

        return await all_of(call.aperform() for call in calls)

    def call(self, request: Request) -> Call:
        """Return the call that answers a request.

        Raises:
            ModelError: no model is set that could answer, or it is a model of LangChain without its wrapper.
            TypeError: the model lacks the necessary methods.
        """
        if isinstance(request, Ask):
            instant = self._instant["llm"]
            return Call(*self._generating, request, check_text if instant else check_text_from_outside, instant)
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

    # cached, because a run makes many calls of each kind

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
                f"{self.metric or 'this metric'} asks {what}, but {type(model).__name__} is a model of LangChain, which has other "
                f"methods: wrap the model, and give {attribute}={wrapper} from ragmetrics_langchain",
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
    """Run a program and return its result, synchronously.

    Args:
        steps: the program, such as ``PROMPT.ask(...)`` or ``metric.program(sample)``.
        models: the models that answer the requests; an LLM alone is enough if the program asks only an LLM.

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


Driver = Callable[[Steps[Any], Models], Awaitable[Any] | None]

driver: ContextVar[Driver | None] = ContextVar("ragmetrics_driver", default=None)
"""A replacement for ``arun`` that lets many programs share calls in flight and the learnt limits of the servers.
It returns None in an event loop that it does not serve. If there is no replacement (None), each program makes its own calls.
"""


async def arun(steps: Steps[T], models: Models | AnyLLM) -> T:
    """Run a program and return its result, without blocking the running loop; arguments and errors as in ``run``."""
    answering = models if isinstance(models, Models) else Models(models)
    drive = driver.get()
    running = None if drive is None else drive(steps, answering)
    if running is not None:
        result: T = await running
        return result
    outcomes = None
    with closing(steps):
        while True:
            try:
                requests = next_round(steps, outcomes)
            except StopIteration as done:
                return done.value
            outcomes = await answering.aanswer(requests)


def in_new_loop(function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run an async function from synchronous code, also if an event loop is already running in this thread."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    async def main() -> T:
        return await function(*arguments)

    if not in_loop():
        return asyncio.run(main())
    return start(lambda: asyncio.run(main())).result()
