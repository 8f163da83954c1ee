"""``ragmetrics evaluate`` with the metrics and models that come along, on the example file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.calling import call
from core.cli.own import timeless

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "questions.jsonl"


class TestRealMetrics:
    RANKINGS = "ndcg(k=3, field='id'),average_precision,reciprocal_rank,HitRate(k=1)"

    def test_rankings_need_no_model(self) -> None:
        result = call("evaluate", EXAMPLE, "--metrics", "ndcg(k=3),HitRate(k=1)")
        assert (result.exit_code, result.stderr) == (0, "")
        assert timeless(result.stdout) == (
            "Ndcg is 0.75 (0.52 to 0.89) and hit rate 0.58 (0.32 to 0.81) on 12 rows.\n"
            "\n"
            "questions.jsonl: 12 rows, 2 metrics\n"
            "\n"
            "metric     mean    scored   95 % interval  unscored  failed   scale\n"
            "ndcg      0.750  12 of 12  0.523 to 0.892         0       0  0 to 1\n"
            "hit_rate  0.583  12 of 12  0.320 to 0.807         0       0  0 to 1\n"
            "\n"
            "95 % interval: Wilson with Student's t for ndcg; Wilson for hit_rate\n"
            "\n"
            "lowest:\n"
            "  ndcg: en-parking (0), fr-loans (0.5), es-rooms (0.613)\n"
            "  hit_rate: en-fees (0), en-rooms (0), en-parking (0)\n"
        )

    def test_metrics_that_fit_are_proposed(self) -> None:
        result = call("evaluate", EXAMPLE)
        assert result.exit_code == 2
        assert result.stderr.startswith(
            "ragmetrics: choose metrics with --metrics a,b; these fit the columns of questions.jsonl: "
        )
        assert (
            "answer_accuracy, answer_correctness, answer_or_abstain, answer_relevance_rating, answer_relevancy, "
            "average_precision" in result.stderr
        )
        assert "custom_judge" not in result.stderr

    def test_a_missing_model_is_asked_for_in_words_of_the_command_line(self) -> None:
        result = call("evaluate", EXAMPLE, "-m", "faithfulness")
        assert (result.exit_code, result.stderr) == (
            2,
            (
                "ragmetrics: faithfulness asks an LLM, but none is set in the metric or the run: give --llm MODEL "
                "(or --llm lexical, offline)\n"
            ),
        )
        result = call("evaluate", EXAMPLE, "-m", "semantic_similarity")
        assert (result.exit_code, result.stderr) == (
            2,
            (
                "ragmetrics: semantic_similarity asks an embedding model, but none is set in the metric or the run: "
                "give --embeddings MODEL (or --embeddings hashing, offline)\n"
            ),
        )

    def test_the_lexical_judge_says_that_it_is_a_baseline(self, tmp_path: Path) -> None:
        out = tmp_path / "scores.jsonl"
        metrics = "faithfulness,context_recall,context_precision,correctness,semantic_similarity"
        result = call("evaluate", EXAMPLE, "-m", metrics, "--llm", "lexical", "--embeddings", "hashing", "--out", out)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "lexical baseline" in result.stdout
        rows = {
            row["sample"]["id"]: row["scores"] for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())
        }
        assert len(rows) == 12
        assert rows["en-hours"]["faithfulness"]["value"] == 1.0
        assert rows["en-rooms"]["faithfulness"]["value"] == 0.0
        assert 0 < rows["en-fees"]["faithfulness"]["value"] < 1

    @pytest.mark.parametrize("model", ["openai:some-model", "some-model"])
    def test_an_openai_model_behind_a_dead_address(self, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
        pytest.importorskip("openai")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
        result = call(
            "evaluate",
            EXAMPLE,
            "-m",
            "faithfulness",
            "--limit",
            "1",
            "--llm",
            model,
            "--base-url",
            "http://127.0.0.1:9/v1",
        )
        assert result.exit_code == 2
        assert "127.0.0.1:9" in result.output
        assert "sk-never-shown" not in result.output
