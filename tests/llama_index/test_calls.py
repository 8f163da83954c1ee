"""How an LLM is asked: for the form of the reply, by a method of its author's, or in nothing but its methods."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest
from llama_index.core import evaluation as theirs
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.prompts import BasePromptTemplate

import ragmetrics_llama_index as ours
from llama_index.doubles import Completions, HashingEmbedding, openai_like
from loopback import OpenAIServer, error
from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import Faithfulness, RefineFaithfulness
from ragmetrics_llama_index import LlamaIndexEmbeddings, LlamaIndexLLM, MetricEvaluator

KEY = "sk-secret-4711-abcdefghijklmnop"
CASE: dict[str, Any] = {"query": "q", "response": "{r}", "contexts": ["c"], "reference": "x"}
ANSWER = '{"reason": "it says so", "answer": "yes"}'


class Predicts(Completions):
    """A test double that answers by ``apredict``, as LlamaIndex's evaluators ask."""

    async def apredict(self, prompt: BasePromptTemplate, **variables: Any) -> str:  # type: ignore[override]
        return str(self.complete(prompt.format(llm=self, **variables)))


class PredictsInTurn(Completions):
    def predict(self, prompt: BasePromptTemplate, **variables: Any) -> str:  # type: ignore[override]
        return str(self.complete(f"by predict: {prompt.format(llm=self, **variables)}"))


@pytest.mark.usefixtures("closed_loop")
@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_an_apredict_of_its_author_is_asked(library: Any) -> None:
    llm = Predicts("YES")
    assert library.FaithfulnessEvaluator(llm=llm).evaluate(**CASE).score == 1.0
    assert "{r}" in llm.prompts[0]
    assert asyncio.run(library.CorrectnessEvaluator(llm=Predicts("4\nok")).aevaluate(**CASE)).score == 4.0


async def test_a_predict_of_its_author_is_asked() -> None:
    llm = PredictsInTurn("yes")
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=llm)
    assert (evaluator.evaluate(**CASE).score, (await evaluator.aevaluate(**CASE)).score) == (1.0, 1.0)
    assert [prompt[:12] for prompt in llm.prompts] == ["by predict: "] * 2
    assert LlamaIndexLLM(llm).identity is None


async def test_a_patched_class_is_asked_as_it_was_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LLM, "apredict", AsyncMock(return_value="5\nok"))
    for library in (theirs, ours):
        result = await library.CorrectnessEvaluator(llm=Completions("1\nno")).aevaluate(**CASE)
        assert result.score == 5.0


@pytest.mark.parametrize("spec", [None, LLM, CustomLLM])
async def test_a_mock_is_an_llm(spec: Any) -> None:
    for library in (theirs, ours):
        llm = MagicMock(spec=spec)
        llm.apredict = AsyncMock(return_value="4.5\nok")
        evaluator: Any = library.CorrectnessEvaluator(llm=llm)
        assert (await evaluator.aevaluate(**CASE)).score == 4.5
        assert evaluator.evaluate(**CASE).score == 4.5
        assert llm.apredict.await_count == 2


async def test_a_mock_judges_contexts_in_windows() -> None:
    llm = AsyncMock()
    llm.apredict.return_value = "yes"
    assert (await ours.FaithfulnessEvaluator(llm=llm).aevaluate(**CASE)).score == 1.0
    assert repr(LlamaIndexLLM(llm)) == "LlamaIndexLLM(<AsyncMock 'AsyncMock'>)"


async def test_what_predicts_no_text() -> None:
    llm = AsyncMock()
    with pytest.raises(InvalidInput, match="the apredict of an LLM must return a text, got AsyncMock"):
        await ours.FaithfulnessEvaluator(llm=llm).aevaluate(**CASE)
    with pytest.raises(InvalidInput, match="takes an embedding model of LlamaIndex, got MagicMock"):
        ours.SemanticSimilarityEvaluator(MagicMock())


def formats(server: OpenAIServer) -> list[Any]:
    return [(body.get("response_format") or {}).get("type") for body in server.chats]


async def test_the_server_is_asked_for_the_form_of_the_reply(server: OpenAIServer, llm: Any) -> None:
    server.responder = lambda body: ANSWER
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=llm)
    assert evaluator.evaluate(**CASE).score == 1.0
    assert (await evaluator.aevaluate(**CASE)).score == 1.0
    assert formats(server) == ["json_schema", "json_schema"]
    schema = server.chats[0]["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("supported_by_context", True)
    assert list(schema["schema"]["properties"]) == ["reason", "answer"]


def test_a_server_that_refuses_forms_is_asked_without(server: OpenAIServer, llm: Any) -> None:
    def respond(body: dict[str, Any]) -> Any:
        if "response_format" in body:
            return error(400, "'response_format' of type 'json_schema' is not supported", param="response_format")
        return ANSWER

    server.responder = respond
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=llm)
    assert [evaluator.evaluate(**CASE).score for _ in range(2)] == [1.0, 1.0]
    assert formats(server) == ["json_schema", "json_object", None, None]


def test_who_is_asked_for_no_form(server: OpenAIServer, llm: Any) -> None:
    """Who wants none, whose own template asks for another one, whose LLM has one already, and a completion model."""
    server.responder = lambda body: "YES"
    MetricEvaluator(RefineFaithfulness(), llm=LlamaIndexLLM(llm, structured=False)).evaluate(**CASE)
    template = "Supported? YES or NO. {query_str} {context_str}"
    ours.FaithfulnessEvaluator(llm, eval_template=template).evaluate(**CASE)
    plain = openai_like(server, KEY, is_chat_model=False)
    assert formats(server) == [None, None]
    assert not LlamaIndexLLM(plain)._asks_for_form(plain)
    own = openai_like(server, KEY, additional_kwargs={"response_format": {"type": "text"}})
    MetricEvaluator(RefineFaithfulness(), llm=own).evaluate(**CASE)
    assert formats(server)[2:] == ["text"]
    by_default: Any = LlamaIndexLLM(llm).identity
    without: Any = LlamaIndexLLM(llm, structured=False).identity
    assert (by_default["structured"], without["structured"]) == (True, False)


def test_an_evaluator_can_be_pickled() -> None:
    evaluator = ours.FaithfulnessEvaluator(Plain(), on_error="record")
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.evaluate(**CASE).score == 1.0
    soft = pickle.loads(pickle.dumps(LlamaIndexLLM(Plain(), overlap=True).failing_softly()))
    assert (soft._overlap, soft._is_bug(RuntimeError())) == (True, False)
    metric = MetricEvaluator(Faithfulness(), Plain(), HashingEmbedding())
    assert pickle.loads(pickle.dumps(metric)).metric == metric.metric
    embeddings = pickle.loads(pickle.dumps(LlamaIndexEmbeddings(HashingEmbedding())))
    assert json.dumps(embeddings.embed(["x"]).value)


class Plain(CustomLLM):
    """An LLM that can be pickled."""

    @property
    def metadata(self) -> Any:
        return Completions().metadata

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        return Completions("yes").complete(prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError
