"""The price before the run, against what a run over the same rows counts."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from core.engine import virtual_time
from core.evaluate.doubles import RATE, AsyncModel, Embedded, Length, Rated, RatedContexts, questions
from core.evaluate.reader import read
from loopback import OpenAIServer
from ragmetrics_core import (
    Ask,
    BadReply,
    Estimate,
    Evaluation,
    InvalidInput,
    Metric,
    Prompt,
    Reply,
    Score,
    SQLiteReplies,
    Steps,
    Usage,
    compare,
    embed,
    estimate,
    evaluate,
)
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge, OpenAIServerLLM
from ragmetrics_core.metrics import Faithfulness, RubricScore, catalogue
from ragmetrics_core.replies import JsonReply, LinesReply, ScoreReply, YesNoReply
from source_tree import ROOT

QUESTIONS = ROOT / "examples" / "questions.jsonl"
needs_table = pytest.mark.skipif(
    importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed"
)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(read) as running:
        yield running


@pytest.fixture
def llm(server: OpenAIServer) -> OpenAIServerLLM:
    return OpenAIServerLLM(server.base_url, "reader")


def spent(result: Evaluation) -> Usage:
    """Calls that were made, and their tokens."""
    total = sum((item.usage for item in result.summary().metrics), Usage())
    assert not any(score.error for column in result.scores.values() for score in column)
    return Usage(total.calls - total.cached_calls, total.prompt_tokens, total.completion_tokens)


ALL = "faithfulness,context_recall,answer_accuracy,context_precision"


class TestAgainstARun:
    @pytest.mark.parametrize(
        "metrics", ["faithfulness", "context_recall", "answer_accuracy", "context_precision", "answer_relevancy", ALL]
    )
    def test_with_nothing_to_go_by(self, llm: OpenAIServerLLM, metrics: str) -> None:
        """The server counts four bytes to a token, and its judge writes what a person wrote down: neither knows the guess."""
        foreseen = estimate(QUESTIONS, metrics, llm=llm, embeddings=HashingEmbeddings())
        counted = spent(evaluate(QUESTIONS, metrics, llm=llm, embeddings=HashingEmbeddings(), progress=False))
        assert foreseen.calls == pytest.approx(counted.calls, rel=0.05)
        assert foreseen.prompt_tokens == pytest.approx(counted.prompt_tokens, rel=0.15)
        assert foreseen.low.completion_tokens < counted.completion_tokens < foreseen.high.completion_tokens
        assert foreseen.completion_tokens == pytest.approx(counted.completion_tokens, rel=0.35)
        assert foreseen.measured == 0

    @pytest.mark.parametrize("metrics", ["faithfulness", "context_recall", "answer_accuracy", "context_precision", ALL])
    def test_by_the_measure_of_twenty_rows(self, llm: OpenAIServerLLM, tmp_path: Path, metrics: str) -> None:
        """Each question of the example data with its own answers, those of the next row, and those of the row after."""
        own = list(rows_from(0))
        rows = [
            {**row, **{name: own[(place + by) % 12][name] for name in ("response", "reference")}}
            for by in range(3)
            for place, row in enumerate(own)
        ]
        evaluate(rows, metrics, llm=llm, run_dir=tmp_path, limit=20, progress=False)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        foreseen = estimate(rows, metrics, llm=llm, run_dir=tmp_path)
        assert foreseen.measured == 20
        assert foreseen.low == foreseen.usage == foreseen.high
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in before} == before
        counted = spent(evaluate(rows, metrics, llm=llm, run_dir=tmp_path, progress=False))
        assert foreseen.calls == pytest.approx(counted.calls, rel=0.05)
        assert foreseen.prompt_tokens == pytest.approx(counted.prompt_tokens, rel=0.15)
        assert foreseen.completion_tokens == pytest.approx(counted.completion_tokens, rel=0.15)
        done = estimate(rows, metrics, llm=llm, run_dir=tmp_path)
        assert (done.calls, done.dollars, done.seconds) == (0, None, 0.0)
        assert str(done).startswith("36 rows: no call is left to be made\n")

    def test_few_rows_are_no_measure(self, llm: OpenAIServerLLM, tmp_path: Path) -> None:
        evaluate(QUESTIONS, "faithfulness", llm=llm, run_dir=tmp_path, limit=4, progress=False)
        foreseen = estimate(QUESTIONS, "faithfulness", llm=llm, run_dir=tmp_path)
        alone = estimate(list(rows_from(4)), "faithfulness", llm=llm)
        assert foreseen.measured == 4
        assert foreseen.usage == alone.usage

    def test_rows_whose_replies_were_kept_are_no_measure(self, llm: OpenAIServerLLM, tmp_path: Path) -> None:
        for _ in range(2):
            evaluate(QUESTIONS, "faithfulness", llm=llm, run_dir=tmp_path, limit=6, progress=False)
        foreseen = estimate(QUESTIONS, "faithfulness", llm=llm, run_dir=tmp_path)
        assert foreseen.measured == 0
        assert foreseen.usage == estimate(list(rows_from(6)), "faithfulness", llm=llm).usage

    def test_nothing_is_asked(self, server: OpenAIServer, llm: OpenAIServerLLM, tmp_path: Path) -> None:
        estimate(QUESTIONS, ALL, llm=llm, run_dir=tmp_path / "new")
        assert server.requests == []
        assert list(tmp_path.iterdir()) == []


def rows_from(start: int) -> Iterator[Any]:
    lines = [line for line in QUESTIONS.read_text(encoding="utf-8").splitlines() if line.strip()]
    return map(json.loads, lines[start:])


class TestCalls:
    def test_one_for_each_question(self) -> None:
        rows = [{"user_input": "x", "response": "y", "retrieved_contexts": ["a"] * (number % 3)} for number in range(9)]
        model = AsyncModel()
        metrics = [Rated(), RatedContexts(), Length()]
        foreseen = estimate(rows, metrics, llm=model, repeats=2)
        assert [item.usage.calls for item in foreseen.metrics] == [18, 12, 0]
        assert [item.shared for item in foreseen.metrics] == [0, 6, 0]
        assert model.asked == []

    def test_rows_that_cannot_be_scored(self) -> None:
        rows: list[Any] = [{"user_input": "x"}, {"response": "y"}, {"user_input": "x", "question": "z"}]
        foreseen = estimate(rows, [Rated(), RubricScore()], repeats=3)
        assert [item.failed for item in foreseen.metrics] == [2, 3]
        assert foreseen.calls == 3
        assert "cannot be scored\nrated             3" in str(foreseen)
        assert str(estimate(rows[1:2], [Rated(), RubricScore()])).startswith("1 row: none can be scored\n")

    def test_rows_share_questions_where_replies_are_kept(self, tmp_path: Path) -> None:
        model = AsyncModel()
        rows = [{"user_input": "the same"}] * 5
        assert estimate(rows, Rated(), llm=model).calls == 5
        model.identity = {"model": "named"}  # type: ignore[attr-defined]
        foreseen = estimate(rows, Rated(), llm=model, run_dir=tmp_path)
        assert (foreseen.calls, foreseen.metrics[0].shared) == (1, 4)

    def test_replies_in_the_journal_are_paid_for(self, tmp_path: Path) -> None:
        prompt: Any = Prompt("Is it good?", YesNoReply(), name="own")
        model, metrics = AsyncModel("yes"), (Rated(prompt=prompt), Embedded())
        model.identity = {"model": "named"}  # type: ignore[attr-defined]
        rows = [{"user_input": f"question {number}", "response": "an answer"} for number in range(3)]
        asked: dict[str, Any] = {"llm": model, "embeddings": HashingEmbeddings(), "run_dir": tmp_path}
        evaluate(rows, metrics, progress=False, **asked)
        for name in ("scores.jsonl", "run.json"):
            (tmp_path / name).unlink()
        assert estimate(rows, metrics, **asked).calls == 0
        with closing(sqlite3.connect(tmp_path / "journal.sqlite")) as database:
            ((key,),) = database.execute("SELECT key FROM replies WHERE width IS NULL LIMIT 1").fetchall()
        with closing(SQLiteReplies(tmp_path / "journal.sqlite")) as replies:
            replies.strike([key])
            replies.keep(key, Reply("I cannot say."))
        assert estimate(rows, metrics, **asked).calls == 1, "a reply that cannot be read is asked for again"

    def test_embeddings(self) -> None:
        @dataclass(frozen=True)
        class Texts(Metric):
            def measure(self, user_input: str) -> Steps[Score]:
                yield from embed([user_input, "some other words"])
                yield from compare([(user_input, "some other words")])
                return Score(0.5)

        class Vectors:
            @property
            def identity(self) -> dict[str, str]:
                return {"model": "text-embedding-3-small", "base_url": "https://api.openai.com/v1"}

            def embed(self, texts: Any) -> Any:
                raise NotImplementedError

        foreseen = estimate([{"user_input": "two words"}] * 30, Texts(), embeddings=Vectors())
        assert foreseen.usage == Usage(30, round(30 * 2 * 0.89 * 5), 0)
        local = estimate([{"user_input": "two words"}] * 30, Texts(), embeddings=HashingEmbeddings())
        assert local.usage == Usage(60, 0, 0)

    def test_every_prompt_of_the_library_has_a_likely_reply(self) -> None:
        metrics: list[Metric] = []
        for item in catalogue():
            with contextlib.suppress(TypeError, InvalidInput):  # it needs a setting
                metrics.append(item.cls())
        assert len(metrics) > 20
        row = {**next(rows_from(0)), "rubric": {1: "bad", 2: "good"}, "second_response": "It opens at nine."}
        foreseen = estimate([row], metrics)
        assert foreseen.unforeseen == ()
        assert {item.name for item in foreseen.metrics if item.usage.calls or item.shared} >= {
            *("faithfulness", "refine_faithfulness", "correctness", "rubric_score", "relevancy", "relevant_statements")
        }

    def test_a_program_without_end(self) -> None:
        @dataclass(frozen=True)
        class Endless(Metric):
            def measure(self, user_input: str) -> Steps[Score]:
                number = 0
                while True:
                    number += 1
                    yield from RATE.ask(text=f"{user_input} {number}")

        assert estimate(questions(2), Endless()).calls == 400

    def test_an_answer_in_a_language_without_spaces(self) -> None:
        row = {"user_input": "?", "response": "彩色打印每页四十分" * 8, "retrieved_contexts": ["扫描免费"]}
        foreseen = estimate([row], "faithfulness,single_pass_faithfulness")
        assert [item.usage.calls for item in foreseen.metrics] == [2, 1]

    def test_a_judge_that_computes_here_counts_no_tokens(self) -> None:
        foreseen = estimate(QUESTIONS, Faithfulness(), llm=LexicalJudge())
        assert foreseen.usage == Usage(23, 0, 0)
        assert foreseen.dollars is None


class Inner(BaseModel):
    """A part of it."""

    feedback: str
    kind: Literal["only", "other"]
    always: Literal[3]


class Strange(BaseModel):
    """A reply with something of every kind."""

    text: str
    maybe: int | None
    pair: list[float]
    inner: Inner
    yes: bool


@dataclass(frozen=True)
class AskedTwice(Metric):
    """Two questions, the second after the reply to the first."""

    prompt: Prompt[Any]

    def measure(self, user_input: str) -> Steps[Score]:
        yield from self.prompt.ask(text=user_input)
        yield from self.prompt.ask(text=f"{user_input} again")
        return Score(0.5)


@dataclass(frozen=True)
class Choosy:
    """A form of reply for one reply only."""

    schema = None

    def instructions(self) -> str:
        return "Say the magic words."

    def parse(self, text: str) -> str:
        if text != "open sesame":
            raise BadReply("these are not the magic words", text)
        return text


CHOOSY: Prompt[str] = Prompt("Say.", Choosy(), name="choosy")


class TestReplies:
    @pytest.mark.parametrize("form", [YesNoReply(), ScoreReply(0, 10), LinesReply(), JsonReply(Strange)])
    def test_each_form_can_be_read(self, form: Any) -> None:
        """The second question is reached, so the made-up reply to the first one was read."""
        foreseen = estimate(questions(7), AskedTwice(Prompt("Say.", form, name="own")))
        assert (foreseen.calls, foreseen.unforeseen) == (14, ())

    def test_a_form_that_takes_no_reply(self) -> None:
        """The first question is counted, and what comes after it is said not to be."""
        foreseen = estimate(questions(7), AskedTwice(CHOOSY))
        assert (foreseen.calls, foreseen.unforeseen) == (7, ("choosy",))
        assert "not counted: what comes after the prompts choosy, whose replies cannot be foreseen" in foreseen.text(
            200
        )

    def test_its_replies_count_once_they_are_there(self, tmp_path: Path) -> None:
        class Model:
            identity = "m"
            asked = 0

            def generate(self, ask: Ask) -> Reply[str]:
                self.asked += 1
                return Reply("no" if self.asked == 1 else "open sesame", Usage(1, 100, 10))

        model = Model()
        evaluate(questions(6), AskedTwice(CHOOSY), llm=model, run_dir=tmp_path, max_concurrency=1)
        assert model.asked == 13
        foreseen = estimate(questions(12), AskedTwice(CHOOSY), llm=model, run_dir=tmp_path)
        assert foreseen.measured == 6
        assert foreseen.usage == Usage(13, 1300, 130), "six more rows like those six"


class TestTable:
    @needs_table
    def test_dollars(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        foreseen = estimate(QUESTIONS, "faithfulness", llm="openai:gpt-4o-mini")
        assert foreseen.dollars == pytest.approx(
            (foreseen.prompt_tokens * 0.15 + foreseen.completion_tokens * 0.6) / 1e6, abs=1e-9
        )
        assert "price gpt-4o-mini: $0.00" in str(foreseen)
        sent, written = foreseen.prompt_tokens * 0.15 / 1e6, foreseen.completion_tokens * 0.6 / 1e6
        assert foreseen.dollar_range == pytest.approx((sent + written / 2, sent + written * 2), abs=1e-6)
        low, high = foreseen.dollar_range
        assert f"seconds, ${low:.4f} to ${high:.4f}\n" in str(foreseen)

    def test_a_price_that_is_not_known(self, llm: OpenAIServerLLM) -> None:
        foreseen = estimate(QUESTIONS, "faithfulness", llm=llm)
        assert (foreseen.dollars, foreseen.dollar_range) == (None, None)
        assert "price reader: unknown (" in str(foreseen)
        assert "$" not in str(foreseen)

    def test_no_model_has_no_price(self) -> None:
        foreseen = estimate(QUESTIONS, ALL)
        assert foreseen.dollars is None
        assert foreseen.text(200).count("  price: unknown, as no model is named\n") == 1
        assert "  price" not in estimate(QUESTIONS, "token_f1").text(200)

    @pytest.mark.parametrize("width", [40, 60, 80, 160])
    def test_fits(self, llm: OpenAIServerLLM, width: int) -> None:
        text = estimate(QUESTIONS, ALL, llm=llm).text(width)
        assert max(map(len, text.splitlines())) <= width

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [(0.2, "1 second"), (45, "45 seconds"), (150, "2 minutes"), (5000, "83 minutes"), (9000, "2.5 hours")],
    )
    def test_time(self, seconds: float, words: str) -> None:
        foreseen = replace(estimate(questions(1), Rated()), seconds=seconds)
        assert str(foreseen).startswith(f"1 row: about 1 call, {words}\n")

    def test_time_that_was_measured(self, tmp_path: Path) -> None:
        model = AsyncModel(delay=0.05)
        model.identity = {"model": "named"}  # type: ignore[attr-defined]
        virtual_time.evaluate(questions(20), Rated(), llm=model, run_dir=tmp_path)
        foreseen = estimate(questions(200), Rated(), llm=model, run_dir=tmp_path, max_concurrency=9)
        assert foreseen.seconds_per_call == pytest.approx(0.05)
        assert foreseen.seconds == pytest.approx(20 * foreseen.seconds_per_call)
        said = f"time: 9 calls in flight; a call has taken {foreseen.seconds_per_call:.2g} seconds so far; a server's"
        assert said in foreseen.text(200)

    def test_more_at_a_time_is_faster(self) -> None:
        slow, fast = (estimate(questions(100), Rated(), max_concurrency=most).seconds for most in (1, 10))
        assert slow == pytest.approx(10 * fast)


def test_what_would_stop_the_run_is_said(tmp_path: Path) -> None:
    model = AsyncModel()
    model.identity = {"model": "one"}  # type: ignore[attr-defined]
    evaluate(questions(3), Rated(), llm=model, run_dir=tmp_path)
    model.identity = {"model": "another"}  # type: ignore[attr-defined]
    with pytest.raises(InvalidInput, match="holds the finished scores of"):
        estimate(questions(3), Rated(), llm=model, run_dir=tmp_path)
    assert isinstance(estimate(questions(3), Rated(), llm=model, run_dir=tmp_path, replace=True), Estimate)
