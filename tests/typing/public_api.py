"""The public names, used as a user does, for type checkers. Nothing here runs: mypy and pyright read it.

``assert_type`` holds what a name is seen as. A ``type: ignore`` holds a mistake that checkers must find: where they find none, the
comment itself is reported as unused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel
from typing_extensions import assert_type

from ragmetrics_core import (
    Ask,
    Calibration,
    Comparison,
    Decision,
    Evaluation,
    Example,
    Gate,
    GateResult,
    Metric,
    Prompt,
    Reply,
    ReplyStore,
    Sample,
    Score,
    SegmentReplies,
    SQLiteReplies,
    Steps,
    UnreadableTrace,
    Usage,
    aevaluate,
    assert_score,
    compare,
    embed,
    evaluate,
    run,
    run_app,
    samples_from_traces,
    together,
)
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LLM, LexicalJudge, OpenAILLM
from ragmetrics_core.metrics import (
    NDCG,
    ContextRecall,
    Faithfulness,
    catalogue,
)
from ragmetrics_core.replies import JsonReply, LinesReply, RatingReply, ScoreReply, WithReason, YesNoReply
from ragmetrics_pytest import ScoredRow, Scorer

STORES: list[ReplyStore] = [
    SQLiteReplies("replies.sqlite"),
    SegmentReplies("s3://bucket/replies", storage_options={"anon": True}),
]


class Tone(BaseModel):
    """What the model is to answer."""

    reason: str
    friendly: bool


TONE = Prompt(name="tone", instructions="Is the answer friendly?", reply=JsonReply(Tone))


@dataclass(frozen=True)
class Friendliness(Metric):
    """A metric of a user's own, with a prompt as setting."""

    scale: ClassVar[tuple[float, float] | None] = (0.0, 1.0)

    prompt: Prompt[Tone] = TONE
    weight: float = 1.0

    def measure(self, response: str, retrieved_contexts: Sequence[str] | None = None) -> Steps[Score]:
        """Ask once."""
        tone = yield from self.prompt.ask(answer=response)
        assert_type(tone, Tone)
        return Score(self.weight * tone.friendly, passing=tone.friendly, details={"tone": tone})


class Echo:
    """An LLM without a base class."""

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer with the data."""
        return Reply(ask.messages[-1].content, Usage(calls=1))


def replies_have_the_types_of_their_forms() -> Steps[None]:
    """What ``ask`` returns follows from the form of the reply."""
    assert_type((yield from Prompt("?", YesNoReply()).ask(text="")), bool)
    assert_type((yield from Prompt("?", RatingReply((0, 1, 2))).ask(text="")), int)
    assert_type((yield from Prompt("?", ScoreReply(1, 5)).ask(text="")), tuple[float, str])
    assert_type((yield from Prompt("?", WithReason(YesNoReply())).ask(text="")), tuple[bool, str])
    assert_type((yield from Prompt("?", LinesReply()).ask(text="")), list[str])
    assert_type((yield from Prompt("?", JsonReply(Tone)).ask(text="")), Tone)
    assert_type((yield from embed(["a"])), list[list[float]])
    assert_type((yield from compare([("a", "b")])), list[float])
    assert_type((yield from together(embed(["a"]), embed(["b"]))), list[Any])


def prompts_keep_their_type() -> None:
    """A reworded prompt fits where the first one did."""
    other = TONE.replace(
        version="2", examples=(Example({"answer": "Hello!"}, Tone(reason="It greets.", friendly=True)),)
    )
    assert_type(other, Prompt[Tone])
    Friendliness(prompt=other)
    Friendliness(prompt=Prompt("?", YesNoReply()))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def scores(sample: Sample) -> None:
    """One sample: by names, as a sample, as a mapping."""
    metric = Friendliness(llm=Echo(), weight=0.5)
    assert_type(metric.score(response="Hello!"), Score)
    assert_type(metric.score(sample), Score)
    assert_type(metric.score({"answer": "Hello!"}), Score)
    assert_type(await metric.ascore(response="Hello!"), Score)
    score = metric.score(sample)
    assert_type(score.value, float | None)
    assert_type(score.passing, bool | None)
    assert_type(float(score), float)
    assert_type(run(metric.program(sample), metric.models), Score)
    assert_type(Friendliness.from_dict(metric.to_dict()), Friendliness)
    Friendliness(weigth=0.5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    metric.weight = 1.0  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


async def runs(rows: list[dict[str, Any]], samples: list[Sample]) -> None:
    """Many samples, from all that ``evaluate`` takes."""
    metrics = [Faithfulness(), ContextRecall(), NDCG(k=10), Friendliness()]
    llm: LLM = LexicalJudge()
    assert_type(evaluate("rows.jsonl", metrics, llm=llm, embeddings=HashingEmbeddings()), Evaluation)
    assert_type(run_app("my_app:answer", "questions.jsonl", out="answers.jsonl", timeout=None), list[Sample])
    assert_type(evaluate(rows, Faithfulness(llm=OpenAILLM("gpt-4o-mini"))), Evaluation)
    result = await aevaluate(samples, metrics, llm=Echo(), max_concurrency=4, on_error="raise")
    assert_type(result, Evaluation)
    assert_type(result.scores["faithfulness"], Sequence[Score])
    assert_type(result.rows, Sequence[Sample])
    print(result.summary(), [entry.name for entry in catalogue()])
    assert_type(result.compare("runs/after", by="lang", margin=0.05), Comparison)
    assert_type(result.compare(result)["faithfulness"].difference, float | None)
    assert_type(result.calibrate("labels.jsonl", "faithfulness", by="lang"), Calibration)
    assert_type(result.rows_to_label(20, labels="labels.jsonl"), list[dict[str, Any]])
    decision = result.gate("faithfulness >= 0.8", Gate("ndcg", ">=", 0.5), by="lang", baseline="runs/before")
    assert_type(decision, Decision)
    assert_type(decision.results, tuple[GateResult, ...])
    assert_type(decision.verdict, Literal["failed", "undecided", "passed"])
    assert_type(result.compare(result).gate("faithfulness drop <= 0.03"), Decision)
    result.gate(0.8)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(evaluate(rows, "faithfulness,ndcg(k=3)", llm="openai:gpt-4o-mini", embeddings="hashing"), Evaluation)
    assert_type(await aevaluate(rows, ["faithfulness", NDCG()], llm="lexical"), Evaluation)
    unreadable: list[UnreadableTrace] = []
    traced = samples_from_traces("traces.json", on_unreadable=unreadable.append)
    assert_type(traced, Iterator[Sample])
    assert_type(evaluate(traced, metrics, llm=llm), Evaluation)
    evaluate(rows, metrics, llm=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def test_rows(ragmetrics_row: ScoredRow, ragmetrics_scorer: Scorer) -> None:
    """What the fixtures of the pytest plugin give."""
    assert_type(ragmetrics_row["faithfulness"], Score)
    assert_type(ragmetrics_row.sample, Sample)
    assert_score(ragmetrics_row["faithfulness"], at_least=0.8)
    assert_type(ragmetrics_scorer.score({"answer": "a"}, "exact_match"), ScoredRow)
    assert_type(await ragmetrics_scorer.ascore_all([{"answer": "a"}], [NDCG(k=3)]), list[ScoredRow])
