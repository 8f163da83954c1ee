"""Models and metrics by name, and names that stand elsewhere."""

from __future__ import annotations

import importlib

import pytest

import ragmetrics_core
from core.evaluate.doubles import Length
from ragmetrics_core import InvalidInput, aevaluate, evaluate, generate_testset
from ragmetrics_core._kernel._model_traits import SERVERS as advised
from ragmetrics_core.llms._openai._named_servers import SERVERS
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


@pytest.mark.parametrize(
    ("metric", "advice"),
    [
        (
            lambda: Faithfulness(llm="lexical"),
            "write llm=LexicalJudge(), or give the text to evaluate(..., llm='lexical')",
        ),
        (
            lambda: Faithfulness(llm="openai:gpt-4o-mini"),
            "write llm=OpenAILLM('gpt-4o-mini'), or give the text to evaluate(..., llm='openai:gpt-4o-mini')",
        ),
        (
            lambda: Faithfulness(llm="ollama:llama3.1:8b"),
            "write llm=llm_factory('llama3.1:8b', 'ollama'), or give the text to evaluate(..., llm='ollama:llama3.1:8b')",
        ),
        (
            lambda: SemanticSimilarity(embeddings="azure:dep"),
            "write embeddings=embedding_factory('azure', 'dep'), or give the text to evaluate(..., embeddings='azure:dep')",
        ),
        (
            lambda: SemanticSimilarity(embeddings="sentence-transformers:all-MiniLM-L6-v2"),
            (
                "write embeddings=SentenceTransformerEmbeddings('all-MiniLM-L6-v2'), or give the text to evaluate(..., "
                "embeddings='sentence-transformers:all-MiniLM-L6-v2')"
            ),
        ),
        (
            lambda: SemanticSimilarity(embeddings="text-embedding-3-small"),
            (
                "write embeddings=OpenAIEmbeddings('text-embedding-3-small'), or give the text to evaluate(..., "
                "embeddings='text-embedding-3-small')"
            ),
        ),
    ],
)
def test_the_advice_for_a_metric_runs(metric: object, advice: str) -> None:
    assert callable(metric)
    with pytest.raises(InvalidInput) as caught:
        metric()
    assert str(caught.value).endswith(f": {advice}")


def test_advice_knows_every_server() -> None:
    assert advised == tuple(SERVERS)


class TestOtherNames:
    @pytest.mark.parametrize(
        ("statement", "told"),
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
    def test_an_import_names_what_to_import(self, statement: str, told: str) -> None:
        with pytest.raises(ImportError) as caught:
            exec(statement, {})
        assert str(caught.value) == told

    @pytest.mark.parametrize("module", ["", ".metrics", ".llms", ".embeddings"])
    def test_other_names_are_missing_as_usual(self, module: str) -> None:
        loaded = importlib.import_module(f"ragmetrics_core{module}")
        assert not hasattr(loaded, "Faithfullness")
        assert not hasattr(loaded, "ContextEntityRecall")  # of RAGAS, without a replacement
        assert not hasattr(loaded, "__wrapped__")
