"""A ``Scorer``: the same scores as ``evaluate``, and what it keeps from call to call."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.engine.simulated import Places, constant
from core.engine.test_limits import Client
from core.engine.virtual_time import run
from core.evaluate.doubles import AsyncModel, Embedded, InstantModel, Length, Rated, RatedTwice, questions
from ragmetrics_core import (
    BadReply,
    Evaluation,
    InvalidInput,
    ModelError,
    Prompt,
    RagmetricsError,
    Reply,
    Request,
    Score,
    Scorer,
    Usage,
    aevaluate,
    evaluate,
)

T = TypeVar("T")


class Kept(AsyncModel):
    """A model whose replies can be kept."""

    identity = "kept"


class Memory:
    """A reply store in memory."""

    def __init__(self) -> None:
        self.replies: dict[bytes, Reply[Any]] = {}
        self.closed = False

    def find(self, key: bytes) -> Reply[Any] | None:
        return self.replies.get(key)

    def keep(self, key: bytes, reply: Reply[Any], request: Request) -> Reply[Any]:
        return self.replies.setdefault(key, reply)

    def strike(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            self.replies.pop(key, None)

    def close(self) -> None:
        self.closed = True


def values(scores: Iterable[Mapping[str, Score]], name: str = "rated") -> list[float | None]:
    return [row[name].value for row in scores]


async def scored(rows: Iterable[Any], *metrics: Any, **options: Any) -> list[Mapping[str, Score]]:
    async with Scorer(metrics, **options) as scorer:
        return await scorer.score(rows)


@pytest.mark.parametrize(
    "options", [{}, {"repeats": 2}, {"empty": "zero"}, {"on_error": "raise", "max_concurrency": 1}]
)
def test_the_scores_are_those_of_evaluate(options: dict[str, Any]) -> None:
    rows = [{"user_input": str(number / 10), "response": "?" if number == 3 else ""} for number in range(9)]
    metrics = {Rated(): lambda sample: sample.user_input != "0.2", Length(): None}
    there = evaluate(rows, metrics, llm=AsyncModel(lambda text: text), progress=False, **options)

    async def blocks() -> list[Mapping[str, Score]]:
        async with Scorer(metrics, llm=AsyncModel(lambda text: text), **options) as scorer:
            return [*await scorer.score(rows[:4]), *await scorer.score(iter(rows[4:]))]

    assert run(blocks()) == [record.scores for record in there.records]


def test_a_limit_is_learnt_once() -> None:
    """Blocks of 60 rows at a server that takes 8 calls at once: a scorer is refused about as often as one call of ``evaluate``."""
    blocks = [[{"user_input": f"{block}.{row}"} for row in range(60)] for block in range(10)]

    async def one_scorer(client: Client) -> None:
        async with Scorer(Rated(), llm=client, max_concurrency=64) as scorer:
            for block in blocks:
                await scorer.score(block)

    async def one_evaluate(client: Client) -> None:
        await aevaluate(chain(*blocks), Rated(), llm=client, max_concurrency=64, progress=False)

    async def many_evaluates(client: Client) -> None:
        for block in blocks:
            await aevaluate(block, Rated(), llm=client, max_concurrency=64, progress=False)

    refused = []
    for work in (one_scorer, one_evaluate, many_evaluates):
        server = Places(8, constant(0.1), refusal_time=0.01)
        run(work(Client(server)))
        refused.append(server.refusals)
    assert refused[0] <= 1.5 * refused[1]
    assert refused[0] <= 0.5 * refused[2]


def test_overlapping_calls_share_equal_questions() -> None:
    model = AsyncModel("0.5", delay=1.0)

    async def both() -> tuple[Any, Any]:
        async with Scorer(Rated(), llm=model) as scorer:
            one, two = await asyncio.gather(scorer.score(questions(3)), scorer.score(questions(3)))
            assert scorer.usage == Usage(3, 30, 6)
            return one, two

    one, two = run(both())
    assert values(one) == values(two) == [0.5] * 3
    assert [row["rated"].usage for row in one] == [Usage(1, 10, 2)] * 3
    assert [row["rated"].usage for row in two] == [Usage(1, cached_calls=1)] * 3
    assert len(model.asked) == 3


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_cancelled_call_takes_nothing_from_another(which: str) -> None:
    model = AsyncModel("0.5", delay=1.0)

    async def main() -> list[Mapping[str, Score]]:
        async with Scorer(Rated(), llm=model) as scorer:
            first = asyncio.create_task(scorer.score(questions(3)))
            await asyncio.sleep(0.5)
            second = asyncio.create_task(scorer.score(questions(4)))
            await asyncio.sleep(0.2)
            cancelled, other = (first, second) if which == "first" else (second, first)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            return await other

    assert values(run(main())) == [0.5] * (4 if which == "first" else 3)
    assert len(model.asked) == (4 if which == "first" else 3)


def test_a_question_of_a_cancelled_call_can_be_asked_again_at_once() -> None:
    model = AsyncModel("0.5", delay=1.0)

    async def main() -> list[Mapping[str, Score]]:
        async with Scorer(Rated(), llm=model) as scorer:
            first = asyncio.create_task(scorer.score(questions(2)))
            await asyncio.sleep(0.5)
            first.cancel()
            return await scorer.score(questions(2))

    assert values(run(main())) == [0.5] * 2
    assert model.now == 0


class Vectors:
    """Embeds after a second; says how many texts each call had, and how many calls were cancelled."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.cancelled = 0

    async def aembed(self, texts: list[str]) -> list[list[float]]:
        self.sizes.append(len(texts))
        try:
            await asyncio.sleep(1.0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [[float(text) / 100, 1.0] for text in texts]


@pytest.mark.parametrize("both", [False, True])
def test_a_batch_ends_when_all_its_requests_are_cancelled(both: bool) -> None:
    model = Vectors()
    rows = [[{"response": f"{block}{number}"} for number in range(4)] for block in (1, 2)]

    async def main() -> list[Mapping[str, Score]]:
        async with Scorer(Embedded(), embeddings=model) as scorer:
            calls = [asyncio.create_task(scorer.score(block)) for block in rows]
            await asyncio.sleep(0.5)
            for call in calls[: 1 + both]:
                call.cancel()
            if not both:
                return await calls[1]
            await asyncio.wait(calls)
            return await scorer.score(rows[1])

    assert values(run(main()), "embedded") == [0.2, 0.21, 0.22, 0.23]
    assert model.sizes == ([8, 4] if both else [8])
    assert model.cancelled == both


def test_requests_that_wait_for_a_batch_are_dropped_with_their_call() -> None:
    model = Vectors()

    async def main() -> list[Mapping[str, Score]]:
        async with Scorer(Embedded(), embeddings=model) as scorer:
            first = asyncio.create_task(scorer.score([{"response": "1"}]))
            await asyncio.sleep(0.5)
            second = asyncio.create_task(scorer.score([{"response": "2"}, {"response": "3"}]))
            third = asyncio.create_task(scorer.score([{"response": "3"}]))
            await asyncio.sleep(0.2)
            second.cancel()
            await first
            return await third

    assert values(run(main()), "embedded") == [0.03]
    assert model.sizes == [1, 1]


def test_an_error_that_stops_one_call_leaves_the_others() -> None:
    def answer(text: str) -> object:
        return ModelError("the key is refused", fatal=True) if text == "2" else "0.5"

    model = AsyncModel(answer, delay=1.0)

    async def main() -> tuple[Any, Any, Any]:
        async with Scorer(Rated(), llm=model, max_concurrency=1) as scorer:
            one, two = await asyncio.gather(
                scorer.score(questions(4)), scorer.score([{"user_input": "9"}]), return_exceptions=True
            )
            return one, two, await scorer.score(questions(2))

    one, two, three = run(main())
    assert isinstance(one, ModelError)
    assert [row and row["rated"].value for row in vars(one)["partial"]] == [0.5, 0.5, None]
    assert values(two) == [0.5]
    assert values(three) == [0.5, 0.5]


def test_calls_that_get_the_same_error_have_their_own_partial() -> None:
    model = AsyncModel(lambda text: ModelError("the key is refused", fatal=True) if text == "1" else "0.5", delay=1.0)

    async def main() -> list[Any]:
        async with Scorer(Rated(), llm=model) as scorer:
            calls = [scorer.score([{"user_input": "1"}]), scorer.score([{"user_input": "1"}, {"user_input": "2"}])]
            return await asyncio.gather(*calls, return_exceptions=True)

    errors = run(main())
    assert [str(error) for error in errors] == ["the key is refused"] * 2
    assert [len(vars(error)["partial"]) for error in errors] == [1, 2]


@pytest.mark.parametrize("raised", [ModelError("the key is refused", fatal=True), asyncio.CancelledError("inside")])
def test_an_embedding_model_that_failed_once_is_asked_again(raised: BaseException) -> None:
    """Requests that wait for the next batch meet a fatal error too, as every further call would; a cancellation they do not."""

    class Failing(Vectors):
        async def aembed(self, texts: list[str]) -> list[list[float]]:
            vectors = await super().aembed(texts)
            if "1" in texts:
                raise raised
            return vectors

    model = Failing()

    async def main() -> tuple[Any, Any, Any]:
        async with Scorer(Embedded(), embeddings=model) as scorer:
            first = asyncio.create_task(scorer.score([{"response": "1"}]))
            await asyncio.sleep(0.5)
            second = asyncio.create_task(scorer.score([{"response": "2"}]))
            await asyncio.wait([first, second])
            outcome = second.exception() or second.result()
            return None if first.cancelled() else first.exception(), outcome, await scorer.score([{"response": "3"}])

    first, second, third = run(main())
    if isinstance(raised, ModelError):
        assert str(first) == str(second) == "the key is refused"
        assert model.sizes == [1, 1]
    else:
        assert first is None
        assert values(second, "embedded") == [0.02]
        assert model.sizes == [1, 1, 1]
    assert values(third, "embedded") == [0.03]


def test_a_budget_that_is_used_up_stops_no_run_that_needs_no_call() -> None:
    scorer = Scorer(
        {Rated(): lambda sample: sample.response != "free", Length(): None}, llm=AsyncModel(), budget={"calls": 2}
    )
    assert scorer.evaluate(questions(4), progress=False).stopped == "the budget of 2 calls is used up"
    evaluation = scorer.evaluate([{"user_input": "1", "response": "free"}] * 3, progress=False)
    assert len(evaluation) == 3
    assert evaluation.stopped is None


def test_replies_are_kept_in_the_store_of_the_user() -> None:
    model, store = Kept("0.5"), Memory()
    assert values(run(scored(questions(5), Rated(), llm=model, replies=store))) == [0.5] * 5
    assert values(run(scored(questions(7), Rated(), llm=model, replies=store))) == [0.5] * 7
    assert len(model.asked) == len(store.replies) == 7
    assert not store.closed


def test_a_reply_that_cannot_be_read_is_struck() -> None:
    class Numbers:
        schema = None

        def instructions(self) -> str:
            return "Reply with a number."

        def parse(self, text: str) -> str:
            raise BadReply("this is not a number", raw=text)

    model, store = Kept("none"), Memory()
    for asked in (2, 4):
        prompt: Prompt[str] = Prompt("Rate the text.", Numbers(), name="rate")
        (row,) = run(scored(questions(1), Rated(prompt=prompt), llm=model, replies=store))
        assert str(row["rated"].error).startswith("BadReply: ")
        assert len(model.asked) == asked
    assert store.replies == {}


def test_caveats_are_those_of_the_models_and_the_budget() -> None:
    async def main() -> list[str]:
        async with Scorer(Rated(), llm=AsyncModel(), replies=Memory(), budget={"calls": 100}) as scorer:
            await scorer.score(questions(1))
            return scorer.caveats

    (caveat,) = run(main())
    assert caveat.startswith("the answers of AsyncModel are not in the journal, because it has no identity")


def test_the_budget_is_that_of_all_calls_together() -> None:
    model = AsyncModel("0.5")

    async def main() -> RagmetricsError:
        async with Scorer(Rated(), llm=model, budget={"calls": 5}, max_concurrency=1) as scorer:
            await scorer.score(questions(3))
            with pytest.raises(RagmetricsError) as raised:
                await scorer.score(questions(4))
            return raised.value

    error = run(main())
    assert str(error) == "the budget of 5 calls is used up after 2 rows"
    assert [row and row["rated"].value for row in vars(error)["partial"]] == [0.5, 0.5, None]
    assert len(model.asked) == 5


def test_it_must_be_open() -> None:
    scorer = Scorer(Rated(), llm=AsyncModel())

    async def closed() -> None:
        async with scorer:
            pass
        await scorer.score(questions(1))

    for work in (scorer.score(questions(1)), closed()):
        with pytest.raises(InvalidInput, match=r"^this Scorer is not open: write async with Scorer\(...\) as scorer$"):
            run(work)


def test_arguments_are_checked_at_once() -> None:
    for options, message in {
        "max_concurrency": 0,
        "repeats": 0,
        "max_retries": -1,
        "timeout": 0,
        "empty": "one",
        "on_error": "stop",
        "budget": {},
        "sinks": print,
    }.items():
        with pytest.raises(InvalidInput, match=options):
            Scorer(Rated(), llm=AsyncModel(), **{options: message})
    with pytest.raises(InvalidInput, match=r"^replies must be a store, such as SQLiteReplies\(path\), got str$"):
        Scorer(Rated(), replies="replies")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="two metrics are named 'rated'"):
        Scorer([Rated(), Rated()])


def test_no_rows_have_no_scores() -> None:
    assert run(scored([], Rated(), llm=AsyncModel())) == []


def test_a_row_that_cannot_be_read_has_failed_scores() -> None:
    (good, bad) = run(scored([{"user_input": "1"}, {"user_input": 5}], Rated(), llm=AsyncModel()))
    assert good["rated"].value == 0.5
    assert bad["rated"].error is not None
    assert bad["rated"].error.startswith("InvalidInput: row 2")


def test_it_is_open_in_one_event_loop() -> None:
    """``evaluate`` works beside it, in another loop."""

    async def main() -> None:
        async with Scorer(Rated(), llm=AsyncModel(delay=0.2)) as scorer:
            with pytest.raises(InvalidInput, match="this Scorer is open already: use one async with for all its calls"):
                async with scorer:
                    pass
            working = asyncio.create_task(scorer.score(questions(1)))
            await asyncio.sleep(0.01)
            with pytest.raises(
                InvalidInput, match="this Scorer was opened in another event loop: use one Scorer for each"
            ):
                await asyncio.to_thread(lambda: asyncio.run(scorer.score(questions(1))))
            evaluation = await asyncio.to_thread(scorer.evaluate, questions(1), progress=False)
            assert evaluation.records[0].scores["rated"].value == 0.5
            assert values(await working) == [0.5]

    asyncio.run(main())


def test_it_can_be_opened_again_in_another_loop_beside_an_evaluation() -> None:
    model = AsyncModel(delay=0.2)
    scorer = Scorer(Rated(), llm=model)

    async def main() -> None:
        evaluating = asyncio.create_task(asyncio.to_thread(scorer.evaluate, questions(2), progress=False))
        while not model.now:  # noqa: ASYNC110  it is in another thread
            await asyncio.sleep(0.001)
        async with scorer:
            assert values(await scorer.score([{"user_input": "9"}])) == [0.5]
        assert len(await evaluating) == 2

    for calls in (1, 2):
        asyncio.run(main())
        assert scorer.usage.calls == calls


def test_threads_may_evaluate_at_the_same_time() -> None:
    scorer = Scorer(Rated(), llm=AsyncModel(delay=0.001))
    with ThreadPoolExecutor(8) as threads:
        runs = threads.map(lambda number: scorer.evaluate(questions(number), progress=False), range(1, 41))
        assert [len(run) for run in runs] == [*range(1, 41)]


def test_evaluations_of_one_scorer_share_what_was_learnt(tmp_path: Path) -> None:
    """Each has its own run directory and its own account."""
    server = Places(8, constant(0.1), refusal_time=0.01)
    scorer = Scorer(Rated(), llm=Client(server), max_concurrency=64)

    def refusals(number: int) -> int:
        before = server.refusals
        rows = [{"user_input": f"{number}.{row}"} for row in range(50)]
        evaluation = run(scorer.aevaluate(rows, run_dir=tmp_path / str(number), progress=False))
        (usage,) = evaluation.models
        assert usage.usage.calls == 50
        assert len(Evaluation.load(tmp_path / str(number))) == 50
        return server.refusals - before

    first, *others = [refusals(number) for number in range(3)]
    assert first >= 30
    assert max(others) <= 15


def test_aevaluate_takes_the_arguments_of_evaluate(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"q": str(number)}) + "\n" for number in range(5)))

    async def main() -> Evaluation:
        scorer = Scorer(Rated(), llm=AsyncModel(lambda text: text))
        return await scorer.aevaluate(path, limit=2, columns={"question": "q"}, progress=False)

    evaluation = asyncio.run(main())
    assert [record.scores["rated"].value for record in evaluation.records] == [0.0, 1.0]


def test_a_model_in_place_needs_no_task() -> None:
    model = InstantModel("0.25")
    assert values(run(scored(questions(50), Rated(), RatedTwice(), llm=model, max_concurrency=2))) == [0.25] * 50


def test_nothing_of_a_finished_call_stays_in_memory() -> None:
    # a scorer that lives for days must not grow with every call

    class Text(str):  # noqa: SLOT000
        """A text that can be counted."""

    async def main() -> int:
        async with Scorer([Rated(), RatedTwice()], llm=AsyncModel("0.5")) as scorer:
            for block in range(5):
                await scorer.score(
                    [{"user_input": "x", "metadata": {"note": Text(f"{block}.{row}")}} for row in range(20)]
                )
            await asyncio.sleep(0.1)
            gc.collect()
            return sum(isinstance(item, Text) for item in gc.get_objects())

    assert run(main()) == 0
