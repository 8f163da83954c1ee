"""The adapter that CONTRIBUTING.md shows: at most 100 lines, and held to what the adapters of real frameworks are held to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import acme
import pytest
import ragmetrics_acme
from acme import Answer, Case, Chat, Embedder
from ragmetrics_acme import AcmeEmbeddings, AcmeLLM, MetricEvaluator

from exchanges import EXCHANGES, VECTORS, WITH_EMBEDDINGS, Exchange, versions_of
from ragmetrics_core import InvalidInput, MissingInput, ModelError, Score
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.metrics import ExactMatch, Faithfulness, SemanticSimilarity
from ragmetrics_core.testing import EmbeddingsContract, LLMContract, ScriptedLLM

KEY = "sk-secret-4711-abcdefghijklmnop"


def test_it_is_short_and_uses_what_any_adapter_could_use() -> None:
    lines = Path(ragmetrics_acme.__file__).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100
    imported = [line.split()[1] for line in lines if line.startswith(("import ", "from "))]
    assert not any(part.startswith("_") for name in imported for part in name.split(".") if name != "__future__")


class Server:
    """What stands behind the chat model: it answers from a recording."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.calls = 0

    def __call__(self, messages: Sequence[dict[str, str]], **_: Any) -> Answer:
        self.calls += 1
        system, user = (message["content"] for message in messages)
        return Answer(self.exchange.reply_to(system, user), 7, 2)


def case_of(exchange: Exchange) -> Case:
    names = {"user_input": "question", "response": "answer", "reference": "expected", "retrieved_contexts": "passages"}
    extras = {name: value for name, value in exchange.sample.items() if name not in names}
    return Case(**{names[name]: value for name, value in exchange.sample.items() if name in names}, extras=extras)


@pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["evaluate", "evaluate_async"])
def test_every_metric_scores_as_the_core_does(exchange: Exchange, *, asynchronous: bool) -> None:
    server = Server(exchange)
    evaluator = MetricEvaluator(exchange.metric, chat=Chat("m", server), embedder=Embedder("e", VECTORS.__getitem__))
    case = case_of(exchange)
    result = asyncio.run(evaluator.evaluate_async(case)) if asynchronous else evaluator.evaluate(case)
    assert (result.name, result.value) == (exchange.name, pytest.approx(exchange.value, abs=1e-12))
    assert server.calls == len(exchange.calls)
    score = Score.from_dict(result.evidence)
    assert (score.value, score.passing, score.metric) == (result.value, exchange.passing, exchange.name)
    assert score.details["prompts"] == versions_of(exchange)
    assert score.usage.prompt_tokens == 7 * server.calls
    assert result.why == score.explain() != ""


def test_a_metric_without_a_model_and_its_bad_cases() -> None:
    evaluator: acme.Evaluator = MetricEvaluator(ExactMatch())
    assert evaluator.evaluate(Case(answer="a", expected="a")).value == 1.0
    with pytest.raises(MissingInput, match="^exact_match needs 'reference', which is missing: give reference="):
        evaluator.evaluate(Case(answer="a"))
    with pytest.raises(InvalidInput, match="response must be a str, got int"):
        evaluator.evaluate(Case(answer=3, expected="a"))  # type: ignore[arg-type]
    assert evaluator.evaluate(Case(answer=" ", expected="a")).value is None


def test_models_of_the_metric_s_own_come_first() -> None:
    llm = ScriptedLLM(['{"claims": []}'])
    chat = Chat("m", lambda *_, **__: pytest.fail("no question is expected"))
    result = MetricEvaluator(Faithfulness(llm=llm), chat=chat).evaluate(Case("q", "a", passages=["c"]))
    assert (result.value, len(llm.asks)) == (None, 1)
    own = MetricEvaluator(SemanticSimilarity(embeddings=HashingEmbeddings()), embedder=Embedder("e", VECTORS.get))  # type: ignore[arg-type]
    assert own.evaluate(Case(answer="a", expected="a")).value == pytest.approx(1.0)


def test_what_fails_is_raised() -> None:
    def respond(*_: Any, **__: Any) -> Answer:
        raise ConnectionError("the server is down")

    with pytest.raises(ModelError, match="the server is down"):
        MetricEvaluator(Faithfulness(), chat=Chat("m", respond)).evaluate(Case("q", "a", passages=["c"]))
    with pytest.raises(InvalidInput, match=r"^MetricEvaluator takes a metric such as Faithfulness\(\), got str$"):
        MetricEvaluator("faithfulness")  # type: ignore[arg-type]


class TestAcmeLLM(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self) -> AcmeLLM:
        return AcmeLLM(Chat("m", lambda *_, **__: Answer("Iceland", 7, 2), KEY))

    @pytest.fixture
    def failing_llm(self) -> AcmeLLM:
        def respond(*_: Any, **__: Any) -> Answer:
            raise PermissionError(f"{KEY} is wrong")

        return AcmeLLM(Chat("m", respond, KEY))


class TestAcmeEmbeddings(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> AcmeEmbeddings:
        return AcmeEmbeddings(Embedder("e", lambda text: HashingEmbeddings().embed([text]).value[0]))
