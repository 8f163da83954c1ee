"""``ragmetrics metrics``, ``--version``, and how metrics and models are written on a command line."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import ragmetrics_core
from core.cli.calling import call
from ragmetrics_core import InvalidInput, Metric, Sample, Score
from ragmetrics_core._names._named import split
from ragmetrics_core.cli import main
from ragmetrics_core.cli._parsing import fitting_metrics, parse_metrics, parse_models
from ragmetrics_core.metrics import NDCG, catalogue

SERVERS = "azure:DEPLOYMENT, ollama:MODEL, vllm:MODEL, llamacpp:MODEL, lmstudio:MODEL, openrouter:MODEL, litellm:MODEL"


def test_catalogue() -> None:
    result = call("metrics")
    assert (result.exit_code, result.stderr) == (0, "")
    blocks = {block.splitlines()[0]: block for block in result.stdout.split("\n\n")}
    assert list(blocks) == [entry.name for entry in catalogue()]
    assert blocks["faithfulness"].rstrip() == (
        "faithfulness\n"
        "  Share of the response's claims that the retrieved contexts support.\n"
        "  inputs (? = optional): user_input, response, retrieved_contexts\n"
        "  scale: 0 to 1; calls: 2 (with window: 1 + number of windows; per passage: 1 +\n"
        "      n)\n"
        '  source: Es et al. 2023, RAGAS, arXiv:2309.15217, section 3, "Faithfulness".'
    )
    assert "user_input?" in blocks["factual_correctness"]
    assert "  inputs (? = optional): as declared\n  scale: its own; calls: 1\n" in blocks["custom_judge"]
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "``" not in result.stdout


def test_version() -> None:
    result = call("--version")
    assert (result.exit_code, result.stdout) == (0, f"ragmetrics {ragmetrics_core.__version__}\n")


def test_help_without_arguments() -> None:
    result = call()
    assert "evaluate" in result.output
    assert "metrics" in result.output


def test_entry_point(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["ragmetrics", "--version"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"ragmetrics {ragmetrics_core.__version__}\n"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        (" a , , b ,", ["a", "b"]),
        ("a(x=1, y=[1, 2]),b", ["a(x=1, y=[1, 2])", "b"]),
        ("a(x='),b('),c", ["a(x='),b(')", "c"]),
        (r"a(x='it\'s, \\'),b", [r"a(x='it\'s, \\')", "b"]),
        ('a(x="\',("),b', ['a(x="\',(")', "b"]),
        ("a(x={1: ','}),b", ["a(x={1: ','})", "b"]),
        ("", []),
    ],
)
def test_split(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_metrics_with_settings() -> None:
    rubric = "rubric_score(rubric={1: 'bad, or odd', 5: 'good'})"
    ndcg, graded, faithfulness = parse_metrics(["ndcg(k=3, name='top')", f"{rubric},Faithfulness"])
    assert ndcg == NDCG(k=3, name="top")
    assert graded.rubric == {1: "bad, or odd", 5: "good"}
    assert faithfulness.name == "faithfulness"


@pytest.mark.parametrize(
    ("text", "message"),
    [("ndcg(q=3)", "NDCG has no setting 'q'; it has"), ("ndcg(k='many')", "NDCG: the setting 'k' cannot be 'many'")],
)
def test_settings_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_metrics([text])


def test_metrics_that_fit_a_sample() -> None:
    fitting = ["exact_match", "factual_correctness", "semantic_similarity", "token_f1"]
    assert fitting_metrics(Sample(response="a", reference="b")) == fitting
    assert fitting_metrics(Sample(id="x")) == []


class TestModels:
    def test_none(self) -> None:
        assert parse_models(None, None, None) == {}

    def test_offline_ones(self) -> None:
        models = parse_models("lexical", "hashing", None)
        assert [type(model).__name__ for model in models.values()] == ["LexicalJudge", "HashingEmbeddings"]

    def test_openai_ones(self) -> None:
        pytest.importorskip("openai")
        url = "http://localhost:1/v1"
        models: dict[str, Any] = parse_models("openai:llama3.1:8b", "openai:embedder:v2", url)
        assert (models["llm"].model, models["embeddings"].model) == ("llama3.1:8b", "embedder:v2")
        assert models["llm"].identity["base_url"] == models["embeddings"].identity["base_url"] == url
        assert parse_models("llama3.1:8b", None, url)["llm"].model == "llama3.1:8b"

    def test_the_address_goes_to_openai_alone(self) -> None:
        pytest.importorskip("openai")
        models = parse_models("lexical", "openai:embedder", "http://localhost:1/v1")
        assert type(models["llm"]).__name__ == "LexicalJudge"

    @pytest.mark.parametrize("text", ["bedrock:gpt-4o", "lexical:x", "llama3:8b"])
    def test_an_unknown_provider_of_an_llm(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        provider = text.partition(":")[0]
        with pytest.raises(
            InvalidInput,
            match=f"^llm='{text}': there is no provider '{provider}': use openai:MODEL, {SERVERS}, server:MODEL or lexical;",
        ):
            parse_models(text, None, None)

    def test_colons_in_the_names_of_models(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("openai")
        tuned = "ft:gpt-4o-mini-2024-07-18:acme::7p4lURel"
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert [parse_models(name, None, None)["llm"].model for name in (tuned, f"openai:{tuned}")] == [tuned, tuned]
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
        assert parse_models("llama3:8b", None, None)["llm"].model == "llama3:8b"

    def test_an_unknown_provider(self) -> None:
        with pytest.raises(
            InvalidInput,
            match=f"there is no provider 'word2vec': use openai:MODEL, {SERVERS}, sentence-transformers:MODEL or hashing$",
        ):
            parse_models(None, "word2vec:x", None)


OWN_METRIC = """
from ragmetrics_core import Metric

class Mine(Metric):
    def measure(self): ...
"""


def test_an_own_metric_in_the_current_directory_is_found_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine_for_path.py").write_text(OWN_METRIC)
    before = len(sys.path)
    metrics = parse_metrics(["mine_for_path:Mine", "mine_for_path:Mine(name='b')"])
    assert [metric.name for metric in metrics] == ["mine", "b"]
    assert len(sys.path) == before + 1
    assert all(isinstance(metric, Metric) for metric in metrics)
    assert Score(1.0).value == 1.0
