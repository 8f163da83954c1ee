"""``observe``: blocks and functions of plain Python, judged in the background."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import Context
from typing import Any

import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import Observer, judging, observe
from ragmetrics_core.metrics import ContextRecall, ExactMatch, Faithfulness
from ragmetrics_core.testing import ScriptedLLM

ROW = {"question": "Who built it?", "answer": "Eiffel", "reference": "Eiffel"}


class Unprintable:
    def __str__(self) -> str:
        raise OSError("gone")

    __repr__ = object.__repr__


def exact(**settings: Any) -> Observer:
    return observe(ExactMatch(), **settings)


def values(observer: Observer) -> list[tuple[Any, Any]]:
    """The answers with their scores."""
    assert observer.flush(60)
    return [(found.sample and found.sample.response, found.scores["exact_match"].value) for found in observer.results]


class TestBlocks:
    def test_a_block_is_a_call(self) -> None:
        observer = exact()
        with observer as record:
            record.update(ROW, lang="de")
        assert values(observer) == [("Eiffel", 1.0)]
        (found,) = observer.results
        assert found.sample is not None
        assert (found.sample.user_input, found.sample.metadata, found.error) == ("Who built it?", {"lang": "de"}, None)
        assert found.to_dict()["scores"]["exact_match"]["value"] == 1.0
        assert found.to_dict()["timestamp"].endswith("+00:00")

    def test_written_at_once(self) -> None:
        with observe([ExactMatch()]) as record:
            record.update(ROW)

    def test_a_block_inside_a_block(self) -> None:
        observer = exact(workers=1, max_concurrency=1)
        with observer as outer:
            outer.update(ROW)
            with observer as inner:
                inner.update(ROW, answer="Sauvestre")
        assert values(observer) == [("Sauvestre", 0.0), ("Eiffel", 1.0)]

    def test_a_block_that_raises_is_not_judged(self) -> None:
        observer = exact()
        with pytest.raises(KeyError), observer as record:
            record.update(ROW, answer=ROW["missing"])
        assert values(observer) == []
        assert observer.counts["scored"] == 0

    def test_what_is_changed_afterwards_does_not_count(self) -> None:
        observer = exact()
        with observer as record:
            record.update(ROW)
        record["answer"] = "nobody"
        assert values(observer) == [("Eiffel", 1.0)]

    def test_a_history_that_grows_afterwards_does_not_count(self) -> None:
        observer, history = exact(), [{"role": "user", "content": "Hi"}]
        with observer as record:
            record.update(ROW, history=history)
        history.append({"role": "assistant", "content": "late"})
        assert observer.flush(60)
        assert [found.sample and found.sample.history for found in observer.results] == [history[:1]]

    @pytest.mark.asyncio
    async def test_tasks_have_records_of_their_own(self) -> None:
        observer, arrived = exact(), asyncio.Barrier(5) if hasattr(asyncio, "Barrier") else None

        async def call(number: int) -> None:
            async with observer as record:
                if arrived is not None:
                    await arrived.wait()
                record.update(ROW, answer=str(number), reference=str(number))

        await asyncio.gather(*map(call, range(5)))
        assert await observer.aclose(60)
        assert sorted(values(observer)) == [(str(number), 1.0) for number in range(5)]

    def test_threads_have_records_of_their_own(self) -> None:
        observer = exact()

        def call(number: int) -> None:
            with observer as record:
                record.update(ROW, answer=str(number), reference=str(number))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(50)))
        assert sorted(int(answer) for answer, value in values(observer) if value == 1.0) == list(range(50))

    def test_generators_that_are_read_in_turn(self) -> None:
        """Their blocks do not end in reverse order."""
        observer = exact()

        def stream(answer: str) -> Iterator[str]:
            with observer as record:
                yield answer
                record.update(ROW, answer=answer, reference=answer)

        first, second = stream("a"), stream("b")
        assert [next(first), next(second), *first, *second] == ["a", "b"]
        assert values(observer) == [("a", 1.0), ("b", 1.0)]

    @pytest.mark.asyncio
    async def test_asynchronous_generators_that_are_read_in_turn(self) -> None:
        observer = exact()

        async def stream(answer: str) -> AsyncIterator[str]:
            async with observer as record:
                yield answer
                record.update(ROW, answer=answer, reference=answer)

        first, second = stream("a"), stream("b")
        assert [await anext(first), await anext(second)] == ["a", "b"]
        for each in (first, second):
            with pytest.raises(StopAsyncIteration):
                await anext(each)
        assert values(observer) == [("a", 1.0), ("b", 1.0)]

    def test_a_block_that_ends_in_another_context(self) -> None:
        """As those of FastAPI's dependencies do."""
        observer = exact()

        def dependency() -> Iterator[None]:
            with observer as record:
                yield
                record.update(ROW)

        steps = dependency()
        Context().run(next, steps)
        with pytest.raises(StopIteration):
            Context().run(next, steps)
        assert values(observer) == [("Eiffel", 1.0)]

    def test_a_stack_of_blocks(self) -> None:
        observer = exact()
        with ExitStack() as outer:
            first = outer.enter_context(observer)
            with ExitStack() as inner:
                inner.enter_context(observer).update(ROW, answer="inner")
            first.update(ROW, answer="outer")
        assert values(observer) == [("inner", 0.0), ("outer", 0.0)]

    def test_an_end_without_a_beginning(self, caplog: pytest.LogCaptureFixture) -> None:
        observer, stack = exact(), ExitStack()
        Context().run(stack.enter_context, observer)
        Context().run(stack.close)
        assert values(observer) == []
        assert caplog.messages == [
            "a with block failed: it ends in a context in which it did not begin; further failures are only counted, see counts"
        ]

    @pytest.mark.parametrize(
        "session", [10**5000, "x\ud800", b"x", Unprintable()], ids=["long", "surrogate", "bytes", "none"]
    )
    def test_any_session(self, session: object) -> None:
        observer = exact(sample_rate=1.0, sinks=[lambda record: None])
        with observer as record:
            record.update(ROW, session_id=session)
        assert values(observer) == [("Eiffel", 1.0)]

    def test_a_record_that_cannot_be_read(self, caplog: pytest.LogCaptureFixture) -> None:
        """The application does not notice it."""

        class Broken(dict[str, Any]):
            def items(self) -> Any:
                raise OSError("gone")

        observer = exact()

        @observer
        def ask(text: str) -> dict[str, Any]:
            return Broken(ROW)

        observer.hear(Broken(ROW))
        assert ask("Who?") == ROW
        assert len(caplog.messages) >= 1
        assert caplog.messages[0].startswith("the record of a call failed: gone; further failures")

    def test_the_calls_of_a_judge_are_no_calls(self) -> None:
        observer = exact()
        with judging(), observer as record:
            record.update(ROW)
        assert values(observer) == []


class TestNames:
    def test_metrics_and_models_by_name(self) -> None:
        observer = observe(["exact_match,token_f1", "faithfulness", ExactMatch(name="own")], llm="lexical")
        with observer as record:
            record.update(ROW, contexts=["Eiffel built it."])
        assert observer.flush(60)
        (found,) = observer.results
        assert {name: score.state for name, score in found.scores.items()} == dict.fromkeys(
            ["exact_match", "token_f1", "faithfulness", "own"], "scored"
        )

    @pytest.mark.parametrize(
        ("metrics", "llm", "message"),
        [
            ("faithfulnes", "lexical", "there is no metric 'faithfulnes'; did you mean 'faithfulness'?"),
            ("faithfulness", "cohere:x", "there is no provider 'cohere'"),
            (["exact_match", ExactMatch()], None, "two metrics are named 'exact_match'"),
            ([3], None, "metrics must be Metric instances such as Faithfulness(), or their names, got 3"),
        ],
    )
    def test_wrong_ones(self, metrics: Any, llm: str | None, message: str) -> None:
        with pytest.raises(InvalidInput, match=re.escape(message)):
            observe(metrics, llm=llm)


class TestFunctions:
    def test_a_function_that_returns_a_text(self) -> None:
        observer = exact()

        @observer
        def ask(text: str, reference: str, client: object = None) -> str:
            """Ask."""
            return reference.upper()

        assert ask("Who?", reference="EIFFEL", client=object()) == "EIFFEL"
        assert ask.__doc__ == "Ask."
        assert values(observer) == [("EIFFEL", 1.0)]
        assert observer.results[0].sample is not None
        assert observer.results[0].sample.metadata == {}

    def test_the_first_text_is_the_question(self) -> None:
        observer = observe(Faithfulness(), llm=ScriptedLLM(lambda ask: '{"claims": []}'))

        @observer
        def ask(text: str) -> dict[str, Any]:
            return {"answer": "It stands in Paris.", "contexts": ["Paris"]}

        ask("Where?")
        assert observer.flush(60)
        (found,) = observer.results
        assert found.sample is not None
        assert (found.sample.user_input, found.sample.retrieved_contexts) == ("Where?", ["Paris"])
        assert found.scores["faithfulness"].state == "unscored"

    def test_the_history_is_the_one_before_the_call(self) -> None:
        observer, turns = exact(), [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]

        @observer
        def respond(message: str, history: list[dict[str, str]]) -> str:
            history.append({"role": "user", "content": message})
            return "Eiffel"

        @observer
        def reply(message: str, chat_history: list[dict[str, str]]) -> str:
            chat_history.append({"role": "user", "content": message})
            return "Eiffel"

        respond("Who built it?", list(turns))
        reply("Who built it?", list(turns))
        assert observer.flush(60)
        samples = [found.sample for found in observer.results if found.sample is not None]
        assert [(sample.user_input, sample.history) for sample in samples] == [("Who built it?", turns)] * 2

    @pytest.mark.asyncio
    async def test_a_coroutine_function(self) -> None:
        observer = exact()

        @observer
        async def ask(question: str, reference: str) -> str:
            await asyncio.sleep(0)
            return reference

        assert await ask("Who?", "Eiffel") == "Eiffel"
        assert await observer.aclose(60)
        assert values(observer) == [("Eiffel", 1.0)]

    def test_what_it_raises_is_raised(self) -> None:
        observer = exact()

        @observer
        def ask(question: str) -> str:
            raise KeyError(question)

        with pytest.raises(KeyError, match="Who"):
            ask("Who?")
        assert values(observer) == []

    def test_another_result_lacks_an_answer(self, caplog: pytest.LogCaptureFixture) -> None:
        observer = exact()

        @observer
        def ask(question: str) -> object:
            return object()

        ask("Who?")
        assert observer.flush(60)
        assert observer.counts["missing"] == 1
        assert observer.results[0].scores["exact_match"].state == "failed"


class TestProblems:
    def test_a_record_that_cannot_be_read(self, caplog: pytest.LogCaptureFixture) -> None:
        observer = exact()
        with observer as record:
            record.update(ROW, response="other")
        assert observer.flush(60)
        (found,) = observer.results
        assert (found.sample, found.scores) == (None, {})
        assert found.error is not None
        assert "response" in found.error
        assert found.to_dict()["sample"] is None
        assert "the preparation of an evaluation failed" in caplog.text

    def test_a_judge_that_fails_or_is_broken(self, caplog: pytest.LogCaptureFixture) -> None:
        def broken(ask: Any) -> str:
            raise KeyError("bug")

        observer = observe([Faithfulness()], llm=ScriptedLLM(broken))
        with observer as record:
            record.update(ROW, contexts=["Paris"])
        assert observer.flush(60)
        score = observer.results[0].scores["faithfulness"]
        assert score.state == "failed"
        assert "KeyError" in (score.error or "")
        assert observer.counts["failed"] == 1

    def test_only_and_on_result(self) -> None:
        received: list[Any] = []

        def tell(found: Any) -> None:
            received.append(found.sample.response)
            raise ValueError("full")

        observer = exact(only=lambda found: found.sample.response != "no", on_result=tell)
        for answer in ("no", "Eiffel"):
            with observer as record:
                record.update(ROW, answer=answer)
        assert values(observer) == [("Eiffel", 1.0)]
        assert received == ["Eiffel"]
        assert observer.results[0].error == "on_result raised ValueError: full"

    @pytest.mark.parametrize(
        ("metrics", "message"),
        [
            (["faithfulness"], "faithfulness asks an LLM, but none is set: give llm=..."),
            ([ExactMatch(), ExactMatch()], "two metrics are named 'exact_match': give one of them another name"),
            ([ContextRecall()], "context_recall asks an LLM, but none is set: give llm=..."),
        ],
    )
    def test_mistakes(self, metrics: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            observe(metrics)
        assert str(caught.value) == message

    def test_a_share_of_the_calls(self) -> None:
        observer = exact(sample_rate=0.5, seed=1)
        for _ in range(100):
            with observer as record:
                record.update(ROW)
        assert 30 < len(values(observer)) < 70
