"""What a run costs: exact where the price is known, "unknown" with the reason where it is not, never 0."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from core.evaluate.doubles import OPENAI, AsyncModel, InstantModel, Length, Priced, Rated, questions
from core.report.comparing import text_at
from loopback import OpenAIServer
from ragmetrics_core import Evaluation, Usage, evaluate

needs_table = pytest.mark.skipif(
    importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed"
)

BEDROCK = "https://bedrock-mantle.eu-west-1.api.aws/v1"

TOKENS = Usage(1, 1_000_000, 100_000)


def table() -> str:
    return f"genai-prices {importlib.metadata.version('genai-prices')}"


def used(model: str, base_url: str | None = OPENAI, usage: Usage = TOKENS) -> Any:
    """What a run says of the only model that it asked, once."""
    (found,) = evaluate(questions(1), Rated(), llm=Priced(model, base_url, usage)).models
    return found


@needs_table
class TestKnown:
    @pytest.mark.parametrize(
        ("model", "dollars"),
        [
            # dollars per million tokens in and out: 0.15 and 0.60; 2.50 and 10.00
            ("gpt-4o-mini", 1.0 * 0.15 + 0.1 * 0.60),
            ("gpt-4o", 1.0 * 2.50 + 0.1 * 10.00),
        ],
    )
    def test_by_hand(self, model: str, dollars: float) -> None:
        cost = used(model).cost()
        assert cost is not None
        assert cost.dollars == pytest.approx(dollars, abs=1e-12)
        assert str(cost) == f"${dollars:.4f} ({table()})"

    def test_in_a_summary(self) -> None:
        result = evaluate(questions(50), Rated(), llm=Priced())
        # 500,000 tokens in, 50,000 out
        line = f"cost gpt-4o-mini: $0.1050 ({table()})"
        assert line in str(result.summary()).splitlines()
        (entry,) = result.summary().to_dict()["models"]
        assert entry == {
            "name": "gpt-4o-mini",
            "base_url": OPENAI,
            "usage": Usage(50, 500_000, 50_000).to_dict(),
            "repeated": 0,
            "dollars": pytest.approx(0.105),
            "prices": table(),
        }

    def test_what_the_journal_answers_costs_nothing(self, tmp_path: Any) -> None:
        evaluate(questions(4), Rated(), llm=Priced(), run_dir=tmp_path)
        result = evaluate(questions(4), Rated(), llm=Priced(), run_dir=tmp_path)
        assert [item.usage for item in result.models] == [Usage()]
        lines = str(result.summary()).splitlines()
        cost = f"cost gpt-4o-mini: $0.0084 ({table()})"
        assert [line for line in lines if "cost" in line] == [f"earlier parts of this run, {cost}"]
        assert Evaluation.load(tmp_path).earlier == result.earlier
        assert "dollars" not in result.summary().to_dict()["models"][0]

    @pytest.mark.parametrize(
        ("model", "base_url"),
        [
            ("no-such-model", OPENAI),
            ("gpt-4o-mini", "http://localhost:11434/v1"),
            ("gpt-4o-mini", "http://127.0.0.1:8000/v1"),
            ("", OPENAI),
        ],
    )
    def test_unknown(self, model: str, base_url: str) -> None:
        cost = used(model, base_url).cost()
        assert (cost.dollars, cost.source) == (None, f"{table()} has no price for it at {base_url}")

    def test_several_models(self) -> None:
        models = Priced(), Priced("llama", "http://localhost:1/v1")
        result = evaluate(questions(1), [Rated(llm=models[0]), Rated(name="b", llm=models[1])])
        unknown = f"{table()} has no price for it at http://localhost:1/v1"
        lines = [line for line in text_at(400, result.summary()).splitlines() if line.startswith("cost ")]
        assert lines == [f"cost gpt-4o-mini: $0.0021 ({table()})", f"cost llama: unknown ({unknown})"]


class TestUnknown:
    def test_without_the_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *more: None if name == "genai_prices" else find(name)
        )
        cost = used("gpt-4o-mini").cost()
        assert str(cost) == 'unknown (pip install "ragmetrics-core[prices]")'

    def test_a_model_that_does_not_say_where_it_is(self) -> None:
        assert str(used("m", None).cost()) == "unknown (the model does not say where it is called)"
        result = evaluate(questions(1), Rated(), llm=AsyncModel("1"))
        assert "cost AsyncModel: unknown (the model does not say where it is called)" in str(result.summary())

    @needs_table
    @pytest.mark.parametrize("url", ["http://[", "http://<svg>[x]"])
    def test_an_address_that_is_none(self, url: str) -> None:
        assert str(used("gpt-4o-mini", url).cost()) == f"unknown ({table()} has no price for it at {url})"

    def test_no_tokens_no_line(self) -> None:
        assert used("m", usage=Usage(1)).cost() is None
        assert "cost" not in str(evaluate(questions(1), Length()).summary())
        assert evaluate(questions(1), Rated(), llm=InstantModel("1")).models == (), "what computes in place is no bill"

    def test_as_plain_values_and_back(self, tmp_path: Any) -> None:
        models = {AsyncModel("0.5"): ("AsyncModel", None), Priced(usage=TOKENS): ("gpt-4o-mini", OPENAI)}
        for number, (model, expected) in enumerate(models.items()):
            run_dir = tmp_path / str(number)
            (usage,) = evaluate(questions(1), Rated(), llm=model, run_dir=run_dir).models
            assert (usage.name, usage.base_url) == expected
            assert Evaluation.load(run_dir).models == (usage,)
        assert (usage.usage, usage.repeated) == (TOKENS, 0)


@needs_table
class TestOtherNames:
    @pytest.mark.parametrize(
        ("price_as", "base_url", "dollars"),
        [
            ("gpt-4o-mini", "https://acme.openai.azure.com/openai/v1", 0.15 + 0.1 * 0.60),
            ("gpt-4o-mini", "http://localhost:4000/v1", 0.15 + 0.1 * 0.60),
            ("gpt-4o-mini", None, 0.15 + 0.1 * 0.60),
            ("openai:gpt-4o", "http://localhost:4000/v1", 2.50 + 0.1 * 10.00),
            ("mistral.ministral-3-8b-instruct", BEDROCK, 0.15 + 0.1 * 0.15),
            ("bedrock:mistral.ministral-3-8b-instruct", "http://localhost:4000/v1", 0.15 + 0.1 * 0.15),
        ],
    )
    def test_the_price_of_a_deployment(
        self, price_as: str, base_url: str | None, dollars: float, tmp_path: Path
    ) -> None:
        llm: Any = Priced("prod-judge", base_url, TOKENS)
        llm.price_as = price_as
        result = evaluate(questions(1), Rated(), llm=llm, run_dir=tmp_path)
        line = f"cost prod-judge: ${dollars:.4f} ({table()})"
        assert line in str(result.summary()).splitlines()
        assert line in str(Evaluation.load(tmp_path).summary()).splitlines()
        assert result.summary().to_dict()["models"][0]["price_as"] == price_as

    def test_a_name_that_is_in_no_table_is_unknown(self) -> None:
        llm: Any = Priced("prod-judge", OPENAI, TOKENS)
        llm.price_as = "openai:no-such-model"
        (found,) = evaluate(questions(1), Rated(), llm=llm).models
        assert str(found.cost()) == f"unknown ({table()} has no price for it at openai)"

    def test_a_budget_of_dollars_counts_it(self) -> None:
        llm: Any = Priced("prod-judge", "http://localhost:4000/v1", TOKENS)
        llm.price_as = "gpt-4o-mini"  # 0.21 dollars a call
        result = evaluate(questions(5), Rated(), llm=llm, budget={"dollars": 0.4}, max_concurrency=1)
        assert len(result) == 2


@needs_table
class TestTheOption:
    def test_price_as(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-4711")
        Path("q.jsonl").write_text('{"question": "Where?", "answer": "Paris."}\n')
        metric = ("evaluate", "q.jsonl", "-m", "answer_relevance_rating")
        with OpenAIServer(lambda body: '{"reason": "It answers.", "score": 5}') as server:
            monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.origin)
            common = (*metric, "--llm", "server:prod", "--base-url", server.base_url)
            unknown, known = call(*common), call(*common, "--price-as", "openai:gpt-4o-mini")
        assert "cost prod: unknown" in unknown.stdout
        assert "cost prod: $0.000" in known.stdout
        assert f"({table()})" in known.stdout
        price = call(*metric, "--llm", "azure:prod", "--dry-run", "--price-as", "gpt-4o")
        assert f"({table()})" in " ".join(price.stdout.split())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ("--llm", "openai:x", "--price-as", "nonsense"),
                "--price-as nonsense is in no price table: give MODEL or PROVIDER:MODEL, such as openai:gpt-4o-mini (",
            ),
            (("--price-as", "gpt-4o"), "--price-as names the model of --llm: add --llm, or leave it out"),
            (
                ("--llm", "lexical", "--price-as", "gpt-4o"),
                "--price-as gpt-4o only applies to a model that is paid for: leave it out",
            ),
        ],
    )
    def test_mistakes_are_found_before_the_first_call(
        self, options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("q.jsonl").write_text('{"question": "Where?", "answer": "Paris."}\n')
        result = call("evaluate", "q.jsonl", "-m", "answer_relevance_rating", *options)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"ragmetrics: {message}")
