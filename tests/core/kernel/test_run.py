"""The drivers: sync is sync, async is async, and models of one kind are bridged."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Sequence

import pytest

from core.engine.virtual_time import run as in_virtual_time
from ragmetrics_core import (
    Ask,
    InvalidInput,
    Message,
    ModelError,
    Models,
    Prompt,
    Reply,
    Steps,
    Usage,
    arun,
    compare,
    embed,
    run,
    together,
)

from .test_prompt import COLOUR

TRACE: contextvars.ContextVar[str] = contextvars.ContextVar("trace", default="none")


class SyncOnly:
    def __init__(self) -> None:
        self.threads: list[int] = []
        self.traces: list[str] = []

    def generate(self, ask: Ask) -> str:
        self.threads.append(threading.get_ident())
        self.traces.append(TRACE.get())
        time.sleep(0.02)
        return "red"


class AsyncOnly:
    def __init__(self) -> None:
        self.traces: list[str] = []

    async def agenerate(self, ask: Ask) -> Reply[str]:
        await asyncio.sleep(0.001)
        self.traces.append(TRACE.get())
        return Reply("red", Usage(1, 10, 2))


class Both(AsyncOnly, SyncOnly):
    def __init__(self) -> None:
        self.threads = []
        self.traces = []


def three(prompt: Prompt[str] = COLOUR) -> Steps[list[str]]:
    return (yield from together(*(prompt.ask(thing=str(number)) for number in range(3))))


@pytest.mark.parametrize("llm", [SyncOnly(), AsyncOnly(), Both()], ids=lambda llm: type(llm).__name__)
def test_every_kind_of_model_in_both_worlds(llm: object) -> None:
    models = Models(llm=llm)  # type: ignore[arg-type]
    assert run(three(), models) == ["red"] * 3
    assert asyncio.run(arun(three(), models)) == ["red"] * 3

    async def sync_inside_a_loop() -> list[str]:
        return run(three(), models)

    assert asyncio.run(sync_inside_a_loop()) == ["red"] * 3


def test_sync_only_models_run_on_threads_with_the_callers_context() -> None:
    together = threading.Barrier(
        3, timeout=60
    )  # no call returns before all three are made, because numbers of threads are reused

    class Gathering(SyncOnly):
        def generate(self, ask: Ask) -> str:
            together.wait()
            return super().generate(ask)

    llm = Gathering()
    TRACE.set("mine")
    run(three(), Models(llm=llm))
    assert len(set(llm.threads)) == 3
    asyncio.run(arun(three(), Models(llm=llm)))
    assert threading.get_ident() not in llm.threads
    assert llm.traces == ["mine"] * 6


def test_async_only_models_see_the_callers_context() -> None:
    llm = AsyncOnly()
    TRACE.set("mine")
    run(COLOUR.ask(thing="x"), Models(llm=llm))
    assert llm.traces == ["mine"]


def test_a_sync_model_never_meets_a_loop_in_run() -> None:
    class Watching(SyncOnly):
        def generate(self, ask: Ask) -> str:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return "red"

    assert run(COLOUR.ask(thing="x"), Models(llm=Watching())) == "red"


def test_model_errors_become_values_and_bugs_propagate() -> None:
    class Down:
        def generate(self, ask: Ask) -> str:
            raise ModelError("down")

    class Broken:
        instant = True

        def generate(self, ask: Ask) -> str:
            raise TypeError("a bug in the adapter")

    with pytest.raises(ModelError, match="down"):
        run(COLOUR.ask(thing="x"), Models(llm=Down()))
    with pytest.raises(TypeError, match="a bug in the adapter"):
        run(three(), Models(llm=Broken()))
    with pytest.raises(TypeError, match="a bug in the adapter"):
        asyncio.run(arun(three(), Models(llm=Broken())))


def test_a_missing_model_is_named_with_its_cure() -> None:
    with pytest.raises(ModelError) as caught:
        run(COLOUR.ask(thing="x"), Models(metric="faithfulness"))
    assert str(caught.value) == ("faithfulness asks an LLM, but none is set in the metric or the run: give llm=...")
    assert caught.value.fatal
    with pytest.raises(
        ModelError, match="asks an embedding model, but none is set in the metric or the run: give embeddings="
    ):
        run(embed(["a"]), Models())


def test_an_object_that_is_no_model_is_named() -> None:
    with pytest.raises(
        InvalidInput, match=r"^llm must be a model, got the text 'gpt-4': write llm=llm_named\('gpt-4'\), or give "
    ):
        Models(llm="gpt-4")  # type: ignore[arg-type]
    with pytest.raises(
        InvalidInput, match=r"^m: embeddings must be a model such as OpenAIEmbeddings\(...\): int has none of"
    ):
        Models(embeddings=5, metric="m")  # type: ignore[arg-type]


def test_an_answer_of_the_wrong_type_is_a_bug() -> None:
    class Wrong:
        instant = True

        def generate(self, ask: Ask) -> dict[str, str]:
            return {}

    with pytest.raises(TypeError, match="an LLM must return a Reply or a str, got dict"):
        run(COLOUR.ask(thing="x"), Models(llm=Wrong()))  # type: ignore[arg-type]


class Vectors:
    instant = True

    def __init__(self, vectors: object) -> None:
        self.vectors = vectors
        self.texts: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str]) -> object:
        self.texts.append(texts)
        return self.vectors


def models(vectors: object) -> Models:
    return Models(embeddings=Vectors(vectors))  # type: ignore[arg-type]


def test_vectors_are_checked_at_the_border() -> None:
    assert run(embed(["a", "b"]), models([[1, 0], [0, 1]])) == [[1.0, 0.0], [0.0, 1.0]]
    for vectors, message in [
        ([[1.0]], "the embedding model returned 1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "the embedding model returned vectors of different lengths"),
        ([[1.0], [float("nan")]], "the embedding model returned nan, which is not a finite number"),
    ]:
        with pytest.raises(ModelError, match=message):
            run(embed(["a", "b"]), models(vectors))


def test_compare_by_an_embedding_model_is_the_cosine_of_distinct_texts() -> None:
    model = Vectors([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    result = run(compare([("a", "a"), ("a", "b"), ("a", "c")]), Models(embeddings=model))  # type: ignore[arg-type]
    assert result == [1.0, pytest.approx(0.5**0.5), -1.0]
    assert model.texts == [("a", "b", "c")]


def test_the_cosine_of_equal_vectors_is_exactly_one() -> None:
    vector = [0.1, 0.7, 1e-9, 3e200]
    assert run(compare([("a", "b")]), models([vector, vector])) == [1.0]


def test_a_zero_vector_has_no_cosine() -> None:
    with pytest.raises(ModelError, match="a zero vector, which has no direction to compare"):
        run(compare([("a", "b")]), models([[0.0, 0.0], [1.0, 0.0]]))


class Pairs:
    instant = True

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = numbers

    def compare(self, pairs: object) -> list[float]:
        return self.numbers


def test_compare_by_a_pair_scorer() -> None:
    assert run(compare([("a", "b")]), Models(embeddings=Pairs([0.25]))) == [0.25]
    with pytest.raises(ModelError, match="the pair scorer returned 2 numbers for 1 pairs"):
        run(compare([("a", "b")]), Models(embeddings=Pairs([0.25, 1])))
    with pytest.raises(TypeError, match=r"Pairs has neither a method embed\(\) nor aembed\(\)"):
        run(embed(["a"]), Models(embeddings=Pairs([])))


def test_one_score_asks_no_model_who_it_is() -> None:
    """An ``identity`` may be long to tell, and only a run needs it."""

    class Judge(SyncOnly):
        @property
        def identity(self) -> str:
            raise AssertionError("this is not needed")

    class Scorer(Pairs):
        @property
        def identity(self) -> str:
            raise AssertionError("this is not needed")

    models = Models(Judge(), Scorer([0.25]))
    assert run(COLOUR.ask(thing="a"), models) == "red"
    assert run(compare([("a", "b")]), models) == [0.25]


def test_messages_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Message("user", "x").content = "y"  # type: ignore[misc]
    with pytest.raises(InvalidInput):
        run(embed("ab"), Models())


def test_an_llm_alone_drives_a_program() -> None:
    assert run(COLOUR.ask(thing="x"), AsyncOnly()) == "red"
    assert asyncio.run(arun(COLOUR.ask(thing="x"), SyncOnly())) == "red"


def test_a_bug_ends_its_siblings_and_the_program() -> None:
    finished: list[str] = []

    class Uneven:
        async def agenerate(self, ask: Ask) -> str:
            if ask.inputs["thing"] == "0":
                raise TypeError("a bug")
            await asyncio.sleep(0.01)
            finished.append("late")
            return "red"

    def program() -> Steps[list[str]]:
        try:
            return (yield from three())
        finally:
            finished.append("closed")

    async def main() -> None:
        with pytest.raises(TypeError, match="a bug"):
            await arun(program(), Uneven())
        assert finished == ["closed"]
        await asyncio.sleep(0.03)

    in_virtual_time(main())
    assert finished == ["closed"]


def test_many_blocking_calls_of_one_round_run_at_once() -> None:
    class Meeting:
        """Answers only when thirty calls are there at once."""

        def __init__(self) -> None:
            self.barrier = threading.Barrier(30, timeout=60)

        def generate(self, ask: Ask) -> str:
            self.barrier.wait()
            return "red"

    def thirty() -> Steps[list[str]]:
        return (yield from together(*(COLOUR.ask(thing=str(number)) for number in range(30))))

    assert asyncio.run(arun(thirty(), Meeting())) == ["red"] * 30
    assert run(thirty(), Meeting()) == ["red"] * 30


@pytest.mark.parametrize("round_", [Message("user", "x"), ("x",), ["x"], 5])
def test_what_a_program_yields_is_checked(round_: object) -> None:
    def program() -> Steps[None]:
        yield round_  # type: ignore[misc]

    with pytest.raises(TypeError, match="a program must yield tuples of requests, got"):
        run(program(), Models())


@pytest.mark.parametrize("pairs", [["ab"], [("a", 1)], [("a", "b", "c")]])
def test_pairs_are_checked_before_anything_is_asked(pairs: object) -> None:
    with pytest.raises(InvalidInput, match=r"compare: item \[0\] must be a pair of texts, got"):
        run(compare(pairs), Models())  # type: ignore[arg-type]


def test_answers_of_no_known_form_are_bugs() -> None:
    with pytest.raises(TypeError, match="an embedding model must return one vector per text, got NoneType"):
        run(embed(["a"]), models(None))
    with pytest.raises(TypeError, match="a pair scorer must return one number per pair, got str"):
        run(compare([("a", "b")]), Models(embeddings=Pairs("5")))  # type: ignore[arg-type]


@pytest.mark.parametrize("instant", [True, False])
def test_a_model_that_raises_stop_iteration_ends_nothing_silently(instant: bool) -> None:
    class Exhausted:
        def generate(self, ask: Ask) -> str:
            return next(iter(()))

    llm = Exhausted()
    llm.instant = instant  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="the model raised StopIteration"):
        run(COLOUR.ask(thing="x"), llm)
    with pytest.raises(RuntimeError, match="the model raised StopIteration"):
        asyncio.run(asyncio.wait_for(arun(COLOUR.ask(thing="x"), llm), 60))
