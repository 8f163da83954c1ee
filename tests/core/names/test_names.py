"""Models and metrics by name, and names that stand elsewhere."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import ragmetrics_core
from core.evaluate.doubles import Length
from ragmetrics_core import InvalidInput, aevaluate, evaluate, generate_testset
from ragmetrics_core.metrics import Faithfulness, SemanticSimilarity

ROWS = [{"question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."], "ground_truth": "In Paris."}]


def test_metrics_and_models_as_on_the_command_line() -> None:
    result = evaluate(ROWS, "faithfulness,ndcg(k=3, name='top')", llm="lexical", progress=False)
    assert [item.settings for item in result.metrics] == ["Faithfulness()", "NDCG(name='top', k=3)"]
    assert result.scores["faithfulness"][0].value == 1.0
    mixed = evaluate(ROWS, ["semantic_similarity", Length(), "TokenF1"], embeddings="hashing", progress=False)
    assert list(mixed.scores) == ["semantic_similarity", "length", "token_f1"]
    assert mixed.scores["semantic_similarity"][0].value == pytest.approx(1.0)


async def test_so_does_the_async_one_and_a_test_set() -> None:
    result = await aevaluate(ROWS, ["faithfulness"], llm="lexical", progress=False)
    assert result.summary()["faithfulness"].mean == 1.0
    assert "MyMetric" not in result.metrics[0].settings


def test_a_test_set_by_a_named_model() -> None:
    assert len(generate_testset(["The library opens at nine."], "lexical", 1)) == 1


def test_a_model_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("openai:gpt-4o-mini", "gpt-4o-mini"):
        with pytest.raises(ragmetrics_core.ModelError, match="^no API key for OpenAI: "):
            evaluate(ROWS, "faithfulness", llm=name, progress=False)


def test_a_name_without_a_provider_is_explained_if_its_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    missing = 'the openai package is not installed: pip install "ragmetrics-core[openai]"'
    for name, said in (("gpt4", "llm='gpt4' names no provider, so it is read as openai:gpt4: "), ("gpt-4o", "")):
        with pytest.raises(ragmetrics_core.MissingExtra) as caught:
            ragmetrics_core.llm_named(name)
        assert str(caught.value) == said + missing


@pytest.mark.parametrize(
    ("metric", "kind", "name"),
    [
        (Faithfulness, "llm", "lexical"),
        (Faithfulness, "llm", "openai:gpt-4o-mini"),
        (Faithfulness, "llm", "ollama:llama3.1:8b"),
        (SemanticSimilarity, "embeddings", "azure:dep"),
        (SemanticSimilarity, "embeddings", "sentence-transformers:all-MiniLM-L6-v2"),
        (SemanticSimilarity, "embeddings", "text-embedding-3-small"),
    ],
)
def test_the_advice_for_a_metric_runs(metric: Any, kind: str, name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        metric(**{kind: name})
    advice = f"write {kind}={kind}_named({name!r}), or give the text to evaluate(..., {kind}={name!r})"
    assert str(caught.value).endswith(f": {advice}")
    assert callable(getattr(ragmetrics_core, f"{kind}_named"))


class TestOtherNames:
    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            (
                "from ragmetrics_core.metrics import LLMContextRecall",
                (
                    "cannot import name 'LLMContextRecall' from 'ragmetrics_core.metrics': instead of RAGAS' LLMContextRecall, use "
                    "ContextRecall"
                ),
            ),
            (
                "from ragmetrics_core.metrics import faithfulness",
                (
                    "cannot import name 'faithfulness' from 'ragmetrics_core.metrics': instead of RAGAS' faithfulness, use "
                    "Faithfulness"
                ),
            ),
            (
                "from ragmetrics_core import SingleTurnSample",
                (
                    "cannot import name 'SingleTurnSample' from 'ragmetrics_core': instead of RAGAS' SingleTurnSample, use "
                    "ragmetrics_core.Sample"
                ),
            ),
            (
                "from ragmetrics_core.llms import LangchainLLMWrapper",
                (
                    "cannot import name 'LangchainLLMWrapper' from 'ragmetrics_core.llms': instead of RAGAS' LangchainLLMWrapper, "
                    "use ragmetrics_langchain.LangChainLLM"
                ),
            ),
            (
                "from ragmetrics_core import Faithfulness",
                (
                    "cannot import name 'Faithfulness' from 'ragmetrics_core': it is in ragmetrics_core.metrics: from "
                    "ragmetrics_core.metrics import Faithfulness"
                ),
            ),
        ],
    )
    def test_an_import_names_what_to_import(self, statement: str, message: str) -> None:
        with pytest.raises(ImportError) as caught:
            exec(statement, {})
        assert str(caught.value) == message

    @pytest.mark.parametrize("module", ["", ".metrics", ".llms", ".embeddings"])
    def test_other_names_are_missing_as_usual(self, module: str) -> None:
        loaded = importlib.import_module(f"ragmetrics_core{module}")
        assert not hasattr(loaded, "Faithfullness")
        assert not hasattr(loaded, "ContextEntityRecall")  # of RAGAS, without a replacement
        assert not hasattr(loaded, "__wrapped__")
