"""Every LLM metric on its recorded exchange, through both drivers, with its evidence kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exchanges import EXCHANGES, VECTORS, WITH_EMBEDDINGS, Exchange, prompts_of, versions_of
from ragmetrics_core import Ask, Metric
from ragmetrics_core.metrics import SemanticSimilarity, catalogue

PROMPTS = Path(__file__).parent / "prompts"


class Recorded:
    """Answers from the recording, and counts."""

    instant = True

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.calls = 0

    def generate(self, ask: Ask) -> str:
        self.calls += 1
        system, user = ask.messages
        return self.exchange.reply_to(system.content, user.content)


class Vectors:
    instant = True

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [VECTORS[text] for text in texts]


@pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
def test_exchange(exchange: Exchange) -> None:
    llm = Recorded(exchange)
    metric = type(exchange.metric).from_dict(exchange.metric.to_dict())
    assert metric == exchange.metric
    for name, model in [("llm", llm), ("embeddings", Vectors())]:
        object.__setattr__(metric, name, model)
    score = metric.score(exchange.sample)
    assert score.value == pytest.approx(exchange.value, abs=1e-12)
    assert (score.passing, score.metric) == (exchange.passing, exchange.name)
    assert llm.calls == len(exchange.turns)
    assert score.usage.calls == len(exchange.turns) + (exchange is WITH_EMBEDDINGS)
    assert score.details["prompts"] == versions_of(exchange)
    assert len(score.details) > 1, "the evidence is kept"
    assert asyncio.run(metric.ascore(exchange.sample)) == score


WITHOUT_JUDGEMENTS_OF_THEIR_OWN = {"faithfulness", "context_recall", "factual_correctness", "answer_correctness"}
"""Their verdicts are about single claims, and each holds its reason."""


@pytest.mark.parametrize(
    "exchange",
    [item for item in EXCHANGES if item.metric.default_name() not in WITHOUT_JUDGEMENTS_OF_THEIR_OWN],
    ids=lambda exchange: exchange.name,
)
def test_every_judge_that_is_asked_for_reasons_keeps_them(exchange: Exchange) -> None:
    score = replace(exchange.metric, llm=Recorded(exchange)).score(exchange.sample)
    shapes = [prompt.reply.instructions() for prompt in prompts_of(exchange.metric)]
    asked = any(word in shape for shape in shapes for word in ('"reason"', '"reasons"', '"feedback"'))
    reasons = score.details.get("reasons")
    assert isinstance(reasons, list) == asked
    assert all(isinstance(reason, str) for reason in reasons or ())


def test_every_metric_that_asks_an_llm_has_a_recorded_exchange() -> None:
    recorded = {type(exchange.metric) for exchange in [*EXCHANGES, WITH_EMBEDDINGS]}
    asking = {entry.cls for entry in catalogue() if entry.calls != "none"} - {SemanticSimilarity}
    assert asking == recorded


def built_in_prompts() -> dict[str, str]:
    metrics: list[Metric] = [exchange.metric for exchange in [*EXCHANGES, WITH_EMBEDDINGS]]
    return {prompt.name: prompt.system for metric in metrics for prompt in prompts_of(metric)}


@pytest.mark.parametrize("name", sorted(built_in_prompts()))
def test_the_wording_changes_only_on_purpose(name: str) -> None:
    """A changed wording needs a new version: edit the prompt, raise its version, and write the new text to prompts/."""
    file = PROMPTS / f"{name}.txt"
    assert file.exists(), f"write the system message of {name} to {file}"
    assert built_in_prompts()[name] == file.read_text(encoding="utf-8").removesuffix("\n")


def test_there_is_no_leftover_prompt() -> None:
    assert {file.stem for file in PROMPTS.glob("*.txt")} == set(built_in_prompts())
