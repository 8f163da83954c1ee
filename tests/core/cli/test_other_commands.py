"""``ragmetrics metrics``, ``--version``, and how metrics and models are written on a command line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import ragmetrics_core
from core.cli.calling import call
from loopback import OpenAIServer, judge
from ragmetrics_core import InvalidInput, embeddings_named, llm_named, metrics_named
from ragmetrics_core.cli import main
from ragmetrics_core.metrics import NDCG, RubricScore, catalogue

SERVERS = (
    "PROVIDER:MODEL (anthropic, azure, bedrock, deepseek, fireworks, gemini, groq, mistral, ollama, vllm, llamacpp, lmstudio, "
    "openrouter, together, litellm)"
)


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


LETTERS = """
from dataclasses import dataclass
from typing import Any
from ragmetrics_core import Metric

@dataclass(frozen=True)
class a(Metric):
    x: Any = None
    y: Any = None

    def measure(self): ...

class b(a):
    pass

class c(a):
    pass
"""


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A module ``m`` whose metrics are named by letters."""
    folder = tmp_path_factory.mktemp("letters")
    (folder / "m.py").write_text(LETTERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        metrics_named(["m:a"])  # it stays loaded


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("m:a,m:b", [("a", None, None), ("b", None, None)]),
        (" m:a , , m:b ,", [("a", None, None), ("b", None, None)]),
        ("m:a(x=1, y=[1, 2]),m:b", [("a", 1, [1, 2]), ("b", None, None)]),
        ("m:a(x='),b('),m:c", [("a", "),b(", None), ("c", None, None)]),
        (r"m:a(x='it\'s, \\'),m:b", [("a", "it's, \\", None), ("b", None, None)]),
        ('m:a(x="\',("),m:b', [("a", "',(", None), ("b", None, None)]),
        ("m:a(x={1: ','}),m:b", [("a", {1: ","}, None), ("b", None, None)]),
        ("", []),
    ],
)
def test_commas_part_metrics_outside_of_brackets_and_quotes(text: str, parts: list[tuple[str, Any, Any]]) -> None:
    found: list[Any] = metrics_named([text])
    assert [(type(metric).__name__, metric.x, metric.y) for metric in found] == parts


def test_metrics_with_settings() -> None:
    rubric = "rubric_score(rubric={1: 'bad, or odd', 5: 'good'})"
    ndcg, graded, faithfulness = metrics_named(["ndcg(k=3, name='top')", f"{rubric},Faithfulness"])
    assert ndcg == NDCG(k=3, name="top")
    assert isinstance(graded, RubricScore)
    assert graded.rubric == {1: "bad, or odd", 5: "good"}
    assert faithfulness.name == "faithfulness"


@pytest.mark.parametrize(
    ("text", "message"),
    [("ndcg(q=3)", "NDCG has no setting 'q': it has"), ("ndcg(k='many')", "NDCG: the setting 'k' cannot be 'many'")],
)
def test_settings_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        metrics_named([text])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_metrics_that_fit_a_sample() -> None:
    fitting = ["exact_match", "factual_correctness", "semantic_similarity", "token_f1"]
    assert fitting_metrics({"response": "a", "reference": "b"}) == fitting
    assert fitting_metrics({"id": "x"}) == []


def fitting_metrics(row: dict[str, str]) -> Any:
    """Those that ``ragmetrics look`` names for a file with this row."""
    Path("q.jsonl").write_text(json.dumps(row) + "\n")
    return json.loads(call("look", "q.jsonl", "--json").stdout)["metrics"]


@pytest.fixture
def url() -> Any:
    """The address of a server of OpenAI's protocol."""
    pytest.importorskip("openai")
    with OpenAIServer(judge) as server:
        yield server.base_url


def models_of(metric: str, *options: str) -> dict[str, str]:
    """By kind, the name and the address of each model that a run with these options asks, as the run directory has them."""
    Path("q.jsonl").write_text('{"question": "Who?", "answer": "Ada.", "reference": "Ada."}\n')
    done = call("evaluate", "q.jsonl", "-m", metric, *options, "--run-dir", "run")
    assert (done.exit_code, done.stderr) == (0, "")
    (judged,) = json.loads(Path("run/run.json").read_text())["judged"].values()
    return {kind: judged[kind]["name"] for kind in ("llm", "embeddings") if judged[kind]}


@pytest.mark.usefixtures("folder")
class TestModels:
    def test_none(self) -> None:
        assert models_of("token_f1") == {}

    def test_offline_ones(self) -> None:
        models = models_of("answer_correctness", "--llm", "lexical", "--embeddings", "hashing")
        assert models == {"llm": "LexicalJudge", "embeddings": "HashingEmbeddings"}

    def test_openai_ones(self, url: str) -> None:
        models = models_of(
            "answer_correctness", "--llm", "openai:llama3.1:8b", "--embeddings", "openai:embedder:v2", "--base-url", url
        )
        assert models == {"llm": f"llama3.1:8b at {url}", "embeddings": f"embedder:v2 at {url}"}

    def test_a_model_without_a_provider_is_one_of_openai(self, url: str) -> None:
        models = models_of("factual_correctness", "--llm", "llama3.1:8b", "--base-url", url)
        assert models == {"llm": f"llama3.1:8b at {url}"}

    def test_the_address_goes_to_openai_alone(self, url: str) -> None:
        models = models_of(
            "answer_correctness", "--llm", "lexical", "--embeddings", "openai:embedder", "--base-url", url
        )
        assert models == {"llm": "LexicalJudge", "embeddings": f"embedder at {url}"}

    @pytest.mark.parametrize("text", ["cohere:gpt-4o", "lexical:x", "llama3:8b"])
    def test_an_unknown_provider_of_an_llm(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        provider = text.partition(":")[0]
        with pytest.raises(
            InvalidInput,
            match=f"^llm='{text}': there is no provider '{provider}': use openai:MODEL, {re.escape(SERVERS)}, server:MODEL or",
        ):
            llm_named(text)
        done = call("evaluate", "q.jsonl", "-m", "faithfulness", "--llm", text)
        named = f"there is no provider '{provider}': use openai:MODEL, {SERVERS}, server:MODEL or lexical;"
        assert done.exit_code == 2
        assert done.stderr.startswith(f"ragmetrics: --llm {text}: {named}")

    def test_colons_in_the_names_of_models(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("openai")
        tuned = "ft:gpt-4o-mini-2024-07-18:acme::7p4lURel"
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert [llm_named(name).model for name in (tuned, f"openai:{tuned}")] == [tuned, tuned]
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
        assert llm_named("llama3:8b").model == "llama3:8b"

    def test_an_unknown_provider(self) -> None:
        with pytest.raises(
            InvalidInput,
            match=f"there is no provider 'word2vec': use openai:MODEL, {re.escape(SERVERS)}, sentence-transformers:MODEL or",
        ):
            embeddings_named("word2vec:x")
        done = call("evaluate", "q.jsonl", "-m", "semantic_similarity", "--embeddings", "word2vec:x")
        assert done.exit_code == 2
        named = f"use openai:MODEL, {SERVERS}, sentence-transformers:MODEL or hashing"
        assert done.stderr == f"ragmetrics: --embeddings word2vec:x: there is no provider 'word2vec': {named}\n"


OWN_METRIC = """
from ragmetrics_core import Metric, Score

class Mine(Metric):
    def measure(self):
        return Score(1.0)
"""


def test_an_own_metric_in_the_current_directory_is_found_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "mine_for_path.py").write_text(OWN_METRIC)
    (folder / "q.jsonl").write_text('{"response": "a"}\n')
    before = len(sys.path)
    for _ in range(2):
        metrics = ("-m", "mine_for_path:Mine", "-m", "mine_for_path:Mine(name='b')")
        assert call("evaluate", "q.jsonl", *metrics, "--out", "out.jsonl").exit_code == 0
        (line,) = (folder / "out.jsonl").read_text().splitlines()
        values = {name: score["value"] for name, score in json.loads(line)["scores"].items()}
        assert values == {"mine": 1.0, "b": 1.0}
        assert len(sys.path) == before + 1
