"""What every metric that asks an LLM is held to, by the exchanges recorded beside its own tests."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from ragmetrics_core import Ask
from recording import VECTORS, Exchange, prompts_of, versions_of

__all__ = ["MetricContract"]

Words = Mapping[str, Mapping[str, str]]


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
    """The recorded vectors."""

    instant = True

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [VECTORS[text] for text in texts]


class MetricContract:
    """Tests for a subclass with the attributes below.

    Attributes:
        exchanges: what the metric asks on the shared sample, what it is answered, and the score worked out by hand.
        words: for every prompt by name, each version that there has been, with a digest of its words. A line that is there never
            changes: the name and the version of a prompt identify its words for ever.
        judges_as_a_whole: False where verdicts are about single claims, each of which holds its reason.
    """

    exchanges: Sequence[Exchange]
    words: Words
    judges_as_a_whole = True

    def test_the_score_is_the_recorded_one(self) -> None:
        for exchange in self.exchanges:
            llm = Recorded(exchange)
            metric = type(exchange.metric).from_dict(exchange.metric.to_dict())
            assert metric == exchange.metric
            for name, model in [("llm", llm), ("embeddings", Vectors())]:
                object.__setattr__(metric, name, model)
            score = metric.score(exchange.sample)
            assert score.value == pytest.approx(exchange.value, abs=1e-12)
            assert (score.passing, score.metric) == (exchange.passing, exchange.name)
            assert llm.calls == len(exchange.calls)
            assert score.usage.calls == len(exchange.calls) + exchange.embedding_requests
            assert score.details["prompts"] == versions_of(exchange)
            assert len(score.details) > 1, "the evidence is kept"
            assert asyncio.run(metric.ascore(exchange.sample)) == score

    def test_reasons_that_are_asked_for_are_kept(self) -> None:
        for exchange in self.exchanges:
            models = {"llm": Recorded(exchange), "embeddings": Vectors()}
            score = replace(exchange.metric, **models).score(exchange.sample)  # type: ignore[arg-type]
            shapes = [prompt.reply.instructions() for prompt in prompts_of(exchange.metric)]
            asked = any(word in shape for shape in shapes for word in ('"reason"', '"reasons"', '"feedback"'))
            reasons = score.details.get("reasons")
            assert isinstance(reasons, list) == (asked and self.judges_as_a_whole)
            assert all(isinstance(reason, str) for reason in reasons or ())

    def test_a_version_stands_for_the_same_words_for_ever(self) -> None:
        assert all(len(set(versions.values())) == len(versions) for versions in self.words.values())
        prompts = {prompt.name: prompt for exchange in self.exchanges for prompt in prompts_of(exchange.metric)}
        assert prompts.keys() == self.words.keys()
        for name, prompt in prompts.items():
            digest = hashlib.sha256(prompt.system.encode()).hexdigest()[:16]
            known = self.words[name].get(prompt.version)
            line = f"{{{prompt.version!r}: {digest!r}}}"
            assert known == digest, (
                f"{name}: `words` lacks {line} (if the words have changed, raise the version first); it sends:\n{prompt.system}"
            )
