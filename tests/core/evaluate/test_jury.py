"""A jury in a run: which juror is asked what, what is paid, what is kept, and what is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import (
    Ask,
    Evaluation,
    InvalidInput,
    Metric,
    ModelError,
    Reply,
    Usage,
    estimate,
    evaluate,
)
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import AnswerRelevancy, Correctness, Faithfulness, Jury, SinglePassFaithfulness
from ragmetrics_core.testing import ScriptedLLM
from report_data import exchanges_shown

FAITHFUL = [
    {
        "id": f"r{number}",
        "user_input": "Where is it?",
        "response": "It is in Paris. It is 500 metres tall.",
        "retrieved_contexts": [f"It is in Paris, number {number}."],
    }
    for number in range(4)
]


class Judge:
    """Grades a response by its own table; counts what it is asked."""

    def __init__(self, model: str, grades: Callable[[str], float | ModelError | str], **settings: Any) -> None:
        self.identity = {"model": model, "base_url": "http://localhost:1/v1", **settings}
        self.grades = grades
        self.calls = 0

    async def agenerate(self, ask: Ask) -> Reply[str]:
        self.calls += 1
        grade = self.grades(str(ask.inputs["query"]))
        if isinstance(grade, ModelError):
            raise grade
        text = grade if isinstance(grade, str) else json.dumps({"score": grade, "reason": "so"})
        return Reply(text, Usage(1, 100, 10))


def rows(count: int) -> list[dict[str, str]]:
    return [{"id": f"r{number}", "user_input": str(number), "response": "a"} for number in range(count)]


def three(*grades: Callable[[str], Any]) -> tuple[Jury, list[Judge]]:
    judges = [Judge(name, grade) for name, grade in zip("abc", grades, strict=True)]
    return Jury([Correctness(llm=judge, name=f"by_{judge.identity['model']}") for judge in judges]), judges


def plain(evaluation: Evaluation, metric: str = "correctness_jury") -> list[float | None]:
    return evaluation[metric]


class TestScores:
    def test_it_is_a_metric_like_any_other(self) -> None:
        jury, judges = three(lambda q: 1.0, lambda q: 2.0 + int(q), lambda q: 5.0)
        found = evaluate(rows(3), jury, progress=False)
        assert plain(found) == [2.0, 3.0, 4.0]
        assert [judge.calls for judge in judges] == [3, 3, 3]
        assert [(item.name, item.usage.calls, item.usage.prompt_tokens) for item in found.models] == [
            ("a", 3, 300),
            ("b", 3, 300),
            ("c", 3, 300),
        ]

    def test_alone_and_beside_others_it_scores_the_same_and_replies_are_shared(self) -> None:
        jury, judges = three(lambda q: 1.0, lambda q: 2.0 + int(q), lambda q: 5.0)
        alone = evaluate(rows(3), jury, progress=False)
        beside = evaluate(rows(3), [Correctness(llm=judges[1]), jury], progress=False)
        assert plain(beside) == plain(alone)
        assert [score.reason for score in beside.scores[jury]] == [score.reason for score in alone.scores[jury]]
        assert beside["correctness"] == [2.0, 3.0, 4.0]
        assert [judge.calls for judge in judges] == [6, 6, 6], "the metric beside it costs no further call"
        assert beside.summary()["correctness_jury"].usage == Usage(9, 600, 60, 3)

    def test_jurors_without_a_model_are_answered_by_that_of_the_run_and_say_so(self) -> None:
        one, other = Judge("one", lambda _: 1.0), Judge("other", lambda _: 4.0)
        jury = Jury([Correctness(llm=other, name="x"), Correctness(name="y")])
        found = evaluate(rows(2), jury, llm=one, progress=False)
        assert plain(found) == [2.5, 2.5]
        assert [(item["juror"], item["model"], item["value"]) for item in found.scores[jury][0].details["jurors"]] == [
            ("x", "other", 4.0),
            ("y", "one", 1.0),
        ]
        with pytest.raises(InvalidInput, match="two members ask the same model"):
            evaluate(rows(2), jury, llm=other, progress=False)

    def test_a_juror_that_computes_in_place_pays_its_own_calls_beside_one_that_waits(self) -> None:
        class Slow(LexicalJudge):
            identity = {"model": "slow"}  # noqa: RUF012
            instant = False

        jury = Jury([Faithfulness(llm=LexicalJudge()), Faithfulness(llm=Slow())])
        found = evaluate(FAITHFUL[:1], jury, progress=False)
        used = [item["usage"] for item in found.scores[jury][0].details["jurors"]]
        assert [(item["calls"], item["cached_calls"]) for item in used] == [(2, 0), (2, 0)]
        assert found.summary()["faithfulness_jury"].usage == Usage(4)

    def test_a_juror_does_not_list_models_of_the_run_that_it_does_not_ask(self) -> None:
        jury = Jury([Correctness(llm=Judge("a", lambda _: 1.0)), Correctness(llm=Judge("b", lambda _: 5.0))])
        alone, beside = (
            evaluate(rows(1), jury, embeddings=model, progress=False) for model in (None, HashingEmbeddings())
        )
        assert beside.scores[jury] == alone.scores[jury]
        assert [(item["juror"], item["model"]) for item in beside.scores[jury][0].details["jurors"]] == [
            ("correctness (a)", "a"),
            ("correctness (b)", "b"),
        ]

    def test_a_juror_names_all_models_that_it_asks_and_its_namesakes_what_they_do_not_share(self) -> None:
        models = HashingEmbeddings(), HashingEmbeddings(dimensions=64)
        jury = Jury([AnswerRelevancy(embeddings=model) for model in models])
        found = evaluate(FAITHFUL[:1], jury, llm=LexicalJudge(), progress=False)
        both = "LexicalJudge, HashingEmbeddings"
        assert [(item["juror"], item["model"]) for item in found.scores[jury][0].details["jurors"]] == [
            ("answer_relevancy (LexicalJudge) 1", both),
            ("answer_relevancy (LexicalJudge) 2", both),
        ]
        nested = Jury(
            [Jury([Correctness(llm=Judge(name, lambda _: 1.0)) for name in "ab"]), Correctness(llm=Judge("c", float))]
        )
        found = evaluate(rows(1), nested, progress=False)
        assert [item["model"] for item in found.scores[nested][0].details["jurors"]] == ["a, b", "c"]

    def test_metrics_of_several_rounds(self) -> None:
        jury = Jury([Faithfulness(), SinglePassFaithfulness()])
        found = evaluate(FAITHFUL, [jury, Faithfulness(), SinglePassFaithfulness()], llm=LexicalJudge(), progress=False)
        for row in range(len(FAITHFUL)):
            values = sorted(found[name][row] or 0.0 for name in ("faithfulness", "single_pass_faithfulness"))
            assert found["jury"][row] == pytest.approx(sum(values) / 2, abs=1e-15)

    def test_repeats(self) -> None:
        turns = {"a": 0}

        def moody(_: str) -> float:
            turns["a"] += 1
            return 1.0 if turns["a"] % 2 else 3.0

        jury, _ = three(moody, lambda _: 2.0, lambda _: 4.0)
        found = evaluate(rows(1), jury, repeats=2, max_concurrency=1, progress=False)
        assert plain(found) == [2.5]  # the medians of 1, 2, 4 and of 3, 2, 4
        summary = found.summary()["correctness_jury"].jury
        assert summary is not None
        assert [(item.name, item.mean, item.scored, item.usage.calls) for item in summary.jurors] == [
            ("by_a", 2.0, 1, 2),
            ("by_b", 2.0, 1, 2),
            ("by_c", 4.0, 1, 2),
        ]


class TestTrouble:
    def gone(self, question: str) -> Any:
        return ModelError("no answer") if question in "13" else 3.0

    def test_a_juror_that_fails_is_counted_where_everybody_looks(self) -> None:
        jury, _ = three(lambda _: 2.0, self.gone, lambda _: 4.0)
        found = evaluate(rows(4), jury, progress=False)
        assert plain(found) == [3.0, 3.0, 3.0, 3.0]
        said = str(found.summary())
        assert "2 of 4 rows tied; 2 of 4" in " ".join(said.split())
        assert (
            "by_b by b: mean 3.000, 2 scored, 0 unscored, 2 failed; 2 calls, 200 tokens in, 20 tokens out; failed most"
            in (" ".join(said.split()))
        )
        summary = found.summary()["correctness_jury"].jury
        assert summary is not None
        assert (summary.rows, summary.tied, summary.incomplete) == (4, 2, 2)
        assert [item.failed for item in summary.jurors] == [0, 2, 0]
        assert summary.jurors[1].errors == (("ModelError: no answer", 2),)

    def test_without_a_quorum_the_row_fails_with_the_evidence_of_all(self) -> None:
        jury, _ = three(lambda _: 2.0, self.gone, self.gone)
        found = evaluate(rows(2), jury, progress=False)
        assert plain(found) == [3.0, None]
        score = found.scores[jury][1]
        assert score.state == "failed"
        assert score.error == (
            "ModelError: 1 of 3 jurors gave a value, 2 are needed; by_b failed: ModelError: no answer; "
            "by_c failed: ModelError: no answer"
        )
        assert [item["state"] for item in score.details["jurors"]] == ["scored", "failed", "failed"]
        assert score.usage == Usage(1, 100, 10)
        with pytest.raises(ModelError, match="1 of 3 jurors gave a value"):
            evaluate(rows(2), jury, on_error="raise", progress=False)

    def test_a_refused_key_stops_the_run_before_it_costs_more(self) -> None:
        jury, judges = three(lambda _: 2.0, lambda _: ModelError("the key is refused", fatal=True), lambda _: 2.0)
        with pytest.raises(ModelError, match="the key is refused"):
            evaluate(rows(50), jury, max_concurrency=3, progress=False)
        assert judges[0].calls < 50

    def test_calls_that_are_lost_are_made_again(self) -> None:
        lost = iter([True, True, *[False] * 9])
        jury, judges = three(
            lambda _: 2.0, lambda _: ModelError("busy", transient=True) if next(lost) else 3.0, lambda _: 4.0
        )
        found = evaluate(rows(1), jury, progress=False)
        assert found.scores[jury][0].reason == "median of 3 jurors: 2, 3, 4"
        assert (judges[1].calls, found.models[1].repeated) == (3, 2)

    def test_a_budget_ends_with_whole_rows(self) -> None:
        jury, judges = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
        found = evaluate(rows(10), jury, budget={"calls": 10}, max_concurrency=1, progress=False)
        assert plain(found) == [3.0, 3.0, 3.0]
        assert sum(judge.calls for judge in judges) <= 10
        assert all(len(score.details["jurors"]) == 3 for score in found.scores[jury])


class TestKept:
    def test_a_stopped_run_goes_on_and_pays_nothing_twice(self, tmp_path: Path) -> None:
        stop = {"at": 5}

        def stopping(question: str) -> float:
            if int(question) == stop["at"]:
                raise KeyboardInterrupt
            return 3.0

        jury, judges = three(lambda _: 2.0, stopping, lambda q: float(int(q) % 5 + 1))
        with pytest.raises(KeyboardInterrupt):
            evaluate(rows(8), jury, run_dir=tmp_path, max_concurrency=1, progress=False)
        before = [judge.calls for judge in judges]
        stop["at"] = -1
        again, others = three(lambda _: 2.0, stopping, lambda q: float(int(q) % 5 + 1))
        found = evaluate(rows(8), again, run_dir=tmp_path, progress=False)
        assert len(found) == 8
        # the call that was under way when it stopped is the only one that is made twice
        assert [one + two.calls for one, two in zip(before, others, strict=True)] in (
            [8, 9, 8],
            [8, 9, 9],
            [9, 9, 9],
            [9, 9, 8],
        )
        third, unasked = three(lambda _: 2.0, stopping, lambda q: float(int(q) % 5 + 1))
        assert evaluate(rows(8), third, run_dir=tmp_path, progress=False)["correctness_jury"] == plain(found)
        assert [judge.calls for judge in unasked] == [0, 0, 0]

    def test_only_a_juror_that_failed_is_asked_again_by_the_next_run(self, tmp_path: Path) -> None:
        gone = {"now": True}

        def moody(question: str) -> Any:
            return ModelError("no answer") if gone["now"] and question == "1" else 5.0

        jury, judges = three(lambda _: 2.0, moody, lambda _: 3.0)
        assert plain(evaluate(rows(3), jury, run_dir=tmp_path, progress=False)) == [3.0, 2.5, 3.0]
        assert plain(evaluate(rows(3), jury, run_dir=tmp_path, progress=False)) == [3.0, 2.5, 3.0]
        assert [judge.calls for judge in judges] == [3, 4, 3]
        gone["now"] = False
        found = evaluate(rows(3), jury, run_dir=tmp_path, progress=False)
        assert [judge.calls for judge in judges] == [3, 5, 3]
        assert found.scores[jury][1].reason == "median of 3 jurors: 2, 5, 3"

    def test_replies_of_a_metric_alone_are_those_of_the_juror(self, tmp_path: Path) -> None:
        jury, judges = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
        evaluate(rows(3), Correctness(llm=judges[0]), run_dir=tmp_path, progress=False)
        evaluate(rows(3), jury, run_dir=tmp_path, replace=True, progress=False)
        assert [judge.calls for judge in judges] == [3, 3, 3]

    def test_a_juror_by_another_model_is_another_run(self, tmp_path: Path) -> None:
        jury, judges = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
        evaluate(rows(1), jury, run_dir=tmp_path, progress=False)
        other = Jury([*jury.jurors[:2], Correctness(llm=Judge("d", lambda _: 5.0), name="by_c")])
        with pytest.raises(InvalidInput, match=r"the LLM is a at .*, b at .*, c at .* there, a at .*, d at .* here"):
            evaluate(rows(1), other, run_dir=tmp_path, progress=False)
        warmer = Jury([*jury.jurors[:2], Correctness(llm=Judge("c", lambda _: 5.0, temperature=1), name="by_c")])
        with pytest.raises(InvalidInput, match=r"has another 3\.temperature"):
            evaluate(rows(1), warmer, run_dir=tmp_path, progress=False)
        with pytest.raises(InvalidInput, match="different quorum"):
            evaluate(rows(1), Jury(jury.jurors, quorum=3), run_dir=tmp_path, progress=False)
        reworded = Correctness().grade.replace(instructions="Be strict.")
        strict = Jury([*jury.jurors[:2], Correctness(llm=judges[2], grade=reworded, name="by_c")])
        with pytest.raises(InvalidInput, match="different jurors"):
            evaluate(rows(1), strict, run_dir=tmp_path, progress=False)

    def test_it_is_loaded_with_all_that_its_summary_tells(self, tmp_path: Path) -> None:
        jury, _ = three(lambda _: 2.0, lambda q: float(int(q) % 5 + 1), lambda _: 4.0)
        found = evaluate(rows(6), jury, run_dir=tmp_path / "run", progress=False)
        loaded = Evaluation.load(tmp_path / "run")
        assert loaded.summary()["correctness_jury"].jury == found.summary()["correctness_jury"].jury
        assert str(loaded.disagreements(jury)) == str(found.disagreements(jury))
        found.to_jsonl(tmp_path / "scores.jsonl")
        from_file = Evaluation.load(tmp_path / "scores.jsonl").summary()["correctness_jury"].jury
        assert from_file == found.summary()["correctness_jury"].jury
        assert json.loads(json.dumps(loaded.to_dict()))["summary"]["metrics"]["correctness_jury"]["jury"]["rows"] == 6

    def test_what_each_juror_was_asked_and_replied_is_found_again(self, tmp_path: Path) -> None:
        jury, _ = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
        evaluate(rows(1), jury, run_dir=tmp_path, progress=False)
        (found,), _ = exchanges_shown(Evaluation.load(tmp_path), tmp_path)
        assert [(item["prompt"], json.loads(item["reply"])["score"]) for item in found["correctness_jury"]] == [
            ("juror 1, grade_correctness", 2.0),
            ("juror 2, grade_correctness", 3.0),
            ("juror 3, grade_correctness", 4.0),
        ]

    def test_a_reply_that_could_not_be_read_is_asked_for_again_and_no_other(self, tmp_path: Path) -> None:
        said = iter(["well", "hm", 3.0])
        jury, judges = three(lambda _: 2.0, lambda _: next(said), lambda _: 4.0)
        found = evaluate(rows(1), jury, run_dir=tmp_path, progress=False)
        assert [item["state"] for item in found.scores[jury][0].details["jurors"]] == ["scored", "failed", "scored"]
        assert [judge.calls for judge in judges] == [1, 2, 1]
        again = Jury(jury.jurors, quorum=3)
        found = evaluate(rows(1), again, run_dir=tmp_path, replace=True, progress=False)
        assert plain(found) == [3.0]
        assert [judge.calls for judge in judges] == [1, 3, 1]

    def test_a_row_that_failed_is_scored_again_where_the_run_goes_on(self, tmp_path: Path) -> None:
        gone = {"now": True}

        def moody(_: str) -> Any:
            return ModelError("no answer") if gone["now"] else 3.0

        jury, judges = three(lambda _: 2.0, moody, moody)
        assert plain(evaluate(rows(2), jury, run_dir=tmp_path, progress=False)) == [None, None]
        gone["now"] = False
        evaluate(rows(2), jury, run_dir=tmp_path, replace=True, progress=False)
        assert [judge.calls for judge in judges] == [2, 4, 4], "the first juror is not paid twice"

    def test_the_exchanges_of_the_others_are_shown_if_one_juror_has_failed(self, tmp_path: Path) -> None:
        class Deaf(LexicalJudge):
            identity = {"model": "deaf"}  # noqa: RUF012

            def generate(self, ask: Ask) -> Reply[str]:
                raise ModelError("no answer")

        class Other(LexicalJudge):
            identity = {"model": "other"}  # noqa: RUF012

        jury = Jury([Faithfulness(llm=LexicalJudge()), Faithfulness(llm=Deaf()), Faithfulness(llm=Other())])
        evaluate(FAITHFUL[:1], jury, run_dir=tmp_path, progress=False)
        (found,), _ = exchanges_shown(Evaluation.load(tmp_path), tmp_path)
        assert [(item["prompt"], item["reply"] is not None) for item in found["faithfulness_jury"]] == [
            ("juror 1, extract_claims", True),
            ("juror 2, extract_claims", False),
            ("juror 3, extract_claims", True),
            ("juror 1, verify_claims", True),
            ("juror 3, verify_claims", True),
        ]

    def test_the_direction_of_a_jury_is_not_guessed_from_a_file_of_scores(self, tmp_path: Path) -> None:
        jury, _ = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
        evaluate(rows(1), Jury(jury.jurors, name="jury"), progress=False).to_jsonl(tmp_path / "scores.jsonl")
        with pytest.raises(InvalidInput, match="a file of scores does not say which values of jury are better"):
            Evaluation.load(tmp_path / "scores.jsonl").worst("jury")


def test_a_dry_run_knows_all_jurors() -> None:
    jury, judges = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
    foreseen = estimate(rows(5), jury)
    assert [(item.name, item.usage.calls) for item in foreseen.models] == [("a", 5), ("b", 5), ("c", 5)]
    assert [item.usage.calls for item in foreseen.metrics] == [15]
    assert [judge.calls for judge in judges] == [0, 0, 0]


def test_the_price_of_every_juror_must_be_known_for_a_budget_of_dollars() -> None:
    pytest.importorskip("genai_prices")
    jury, _ = three(lambda _: 2.0, lambda _: 3.0, lambda _: 4.0)
    with pytest.raises(InvalidInput, match="budget: the price of a is not known"):
        evaluate(rows(1), jury, budget={"dollars": 1}, progress=False)


def test_the_order_of_the_jurors_changes_no_score() -> None:
    jury, _ = three(lambda q: float(int(q) % 5 + 1), lambda q: float(int(q) * 3 % 5 + 1), lambda _: 2.5)
    found = evaluate(rows(7), jury, progress=False)
    for order in ([2, 1, 0], [1, 2, 0]):
        turned: Metric = Jury([jury.jurors[place] for place in order])
        again = evaluate(rows(7), turned, progress=False)
        assert plain(again) == plain(found)
        one, two = (item.summary()["correctness_jury"].jury for item in (found, again))
        assert one is not None
        assert two is not None
        assert one.alpha.value == pytest.approx(two.alpha.value, abs=1e-12)
        assert one.disputed == two.disputed


def test_a_script_is_no_model_that_can_be_mistaken_for_another() -> None:
    grade = json.dumps({"score": 2, "reason": "so"})
    jury = Jury([Correctness(llm=ScriptedLLM([grade])), Correctness(llm=ScriptedLLM([grade]))])
    assert evaluate(rows(1), jury, progress=False)["correctness_jury"] == [2.0]
