"""What may be credited: judges, prompts, parameters and metrics that differ, and what cannot be known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import AsyncModel, Length, PlainReply, Rated, RatedTwice, questions
from core.report.comparing import JUDGE, judged_by, metric_column, model_identity, run_of
from ragmetrics_core import Comparison, Evaluation, Metric, Prompt, Score, Usage, evaluate
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import NDCG, ExactMatch, Faithfulness, SemanticSimilarity
from ragmetrics_core.testing import ScriptedLLM

ROWS = 20
DATA = [
    {"id": n, "question": "Who built it?", "answer": "Eiffel built it.", "contexts": ["Eiffel built it."]}
    for n in range(3)
]
ROWS_OF_M = [({"id": n, "question": f"{n}?"}, {"m": n % 3 / 2}) for n in range(9)]
OTHER = model_identity("gpt-4o-mini", {"model": "2", "temperature": "0"})


def run(name: str, offset: float = 0.0, prompts: dict[str, str] | None = None, **more: Any) -> Evaluation:
    """A run of one metric that has asked a judge."""
    details = {"prompts": {"verify": "1"} if prompts is None else prompts}

    def score(n: int) -> Score:
        usage = Usage(calls=1) if details["prompts"] else Usage()
        return Score(0.5 + offset + n % 3 / 10, details=details, usage=usage, scale=(0, 1))

    rows = [({"id": n, "question": f"{n}?"}, {"m": score(n)}) for n in range(ROWS)]
    made = run_of(rows, name=name, **more)
    return replace(made, records=_Kept(list(made.records), [score(n) for n in range(ROWS)]))


class _Kept(list):  # type: ignore[type-arg]
    """Records whose scores keep their usage, which ``made_by`` sets anew."""

    path = None

    def __init__(self, records: list[Any], scores: list[Score]) -> None:
        super().__init__(replace(record, scores={"m": score}) for record, score in zip(records, scores, strict=True))


def compared(before: Evaluation, after: Evaluation, **options: Any) -> Comparison:
    return before.compare(after, **options)


class TestDifferences:
    def test_the_same_judge(self) -> None:
        comparison = run("a", settings=judged_by("m")).compare(run("b", 0.2, settings=judged_by("m")))
        assert (comparison.warnings, comparison.unknown) == ((), ())
        assert comparison["m"].verdict == "better"

    def test_another_judge(self) -> None:
        comparison = run("a", settings=judged_by("m")).compare(run("b", 0.2, settings=judged_by("m", llm=OTHER)))
        assert comparison.warnings == ("m: the LLM is gpt-4o in a, gpt-4o-mini in b",)
        item = comparison["m"]
        assert (item.verdict, item.credited) == ("cannot say", False)
        assert item.why == "the LLM is gpt-4o in a, gpt-4o-mini in b: a difference may come from that"
        assert (item.before, item.after) == (pytest.approx(0.595), pytest.approx(0.795)), (
            "what was measured stays known"
        )
        assert (item.difference, item.interval, item.p_value, item.p_adjusted, item.rows_needed) == (None,) * 5
        assert (item.method, item.changed, item.changes, item.values) == ("none", 0, (), None)

    def test_it_may_be_allowed(self) -> None:
        after = run("b", 0.2, settings=judged_by("m", llm=OTHER))
        comparison = run("a", settings=judged_by("m")).compare(after, allow_different_judges=True)
        item = comparison["m"]
        assert (item.verdict, item.credited, item.pairs) == ("better", True, ROWS)
        warning = "the LLM is gpt-4o in a, gpt-4o-mini in b"
        assert item.warnings == (warning,)
        assert comparison.warnings == (f"m: {warning}",)
        said = "WARNING: who scored differs between the runs, so a difference may come from that, not from the system:"
        assert f"{said}\n  m: {warning}" in comparison.text(200)
        assert f"> **{said}**\n>\n> * m: {warning}" in comparison.to_markdown()
        data = comparison.to_dict()
        assert (data["warnings"], data["allow_different_judges"]) == ([f"m: {warning}"], True)
        assert data["metrics"]["m"]["warnings"] == [warning]

    @pytest.mark.parametrize(
        ("other", "text"),
        [
            (
                {"llm": replace(JUDGE, parts={"model": "1", "temperature": "1"})},
                "the LLM, gpt-4o, has another temperature",
            ),
            ({"settings": {"k": "4"}}, "the setting 'k' differs"),
            ({"llm": replace(JUDGE, name="gpt-4o at http://b")}, "the LLM is gpt-4o in a, gpt-4o at http://b in b"),
        ],
    )
    def test_parameters_and_settings(self, other: dict[str, Any], text: str) -> None:
        comparison = run("a", settings=judged_by("m")).compare(run("b", settings=judged_by("m", **other)))
        assert comparison.warnings == (f"m: {text}",)

    def test_a_setting_that_only_one_version_has_is_not_known(self) -> None:
        newer = judged_by("m", settings={"k": "3", "window": "1"})
        comparison = run("a", settings=judged_by("m")).compare(run("b", settings=newer))
        assert comparison.warnings == ()
        assert comparison.unknown == ("only one of the runs has the setting 'window', which may be newer (m)",)

    def test_another_version_of_a_prompt(self) -> None:
        comparison = run("a").compare(run("b", prompts={"verify": "2"}))
        assert comparison.warnings == ("m: the version of the prompt 'verify' is 1 in a, 2 in b",)

    def test_other_prompts(self) -> None:
        comparison = run("a").compare(run("b", prompts={"check": "1"}))
        assert comparison.warnings == ("m: the prompts are verify in a, check in b",)

    def test_a_prompt_that_only_some_rows_need_is_no_difference(self) -> None:
        comparison = run("a").compare(run("b", prompts={"verify": "1", "again": "1"}))
        assert comparison.warnings == ()

    def test_prompts_of_repeated_judgements(self) -> None:
        before, after = (
            run_of(
                [({"id": 1}, {"m": Score(0.5, details={"repeats": [{"details": {"prompts": {"verify": version}}}]})})]
            )
            for version in "12"
        )
        (warning,) = before.compare(after).warnings
        assert warning == "m: the version of the prompt 'verify' is 1 in the first run, 2 in the second run"

    def test_another_class_under_the_same_name(self) -> None:
        other = [metric_column("m", (0.0, 1.0), "Other(name='m')")]
        comparison = run("a").compare(run("b", columns=other))
        assert "m: the metric is M in a, Other in b" in comparison.warnings

    def test_settings_that_are_known_in_words_alone(self) -> None:
        comparison = run("a", columns=[metric_column("m", (0.0, 1.0), "M(k=3)")]).compare(run("b"))
        assert "m: it is M(k=3) in a, M() in b" in comparison.warnings

    def test_another_scale_is_never_compared(self) -> None:
        before = run_of([({"id": n}, {"m": 0.5}) for n in range(9)], name="a")
        five = [metric_column("m", (1.0, 5.0), "M()")]
        after = run_of([({"id": n}, {"m": 4.0}) for n in range(9)], five, name="b")
        for allowed in (False, True):
            comparison = before.compare(after, allow_different_judges=allowed)
            assert comparison.warnings == ("m: the scale is 0 to 1 in a, 1 to 5 in b",)
            item = comparison["m"]
            assert item.why == "the scale is 0 to 1 in a, 1 to 5 in b: such values have no difference"
            assert (item.credited, item.difference) == (False, None)

    @pytest.mark.parametrize(
        ("one", "two", "words"),
        [(True, False, ("high values", "low values")), (None, True, ("neither end", "high values"))],
    )
    def test_another_end_of_the_scale_is_the_better_one(
        self, one: bool | None, two: bool | None, words: tuple[str, str]
    ) -> None:
        runs = [
            run_of(ROWS_OF_M, [metric_column("m", (0, 1), "m", end)], name) for end, name in ((one, "a"), (two, "b"))
        ]
        item = compared(*runs)["m"]
        warning = f"what is better is {words[0]} in a, {words[1]} in b"
        assert (item.verdict, item.credited, item.warnings) == ("cannot say", False, (warning,))
        assert item.why == f"{warning}: a difference may come from that"
        assert compared(*runs, allow_different_judges=True)["m"].higher_is_better is one

    def test_one_metric_may_be_refused_and_another_not(self) -> None:
        names = ["exact_match", "ndcg"]
        rows = [{"id": n, "answer": "a", "reference": "a", "retrieved_documents": [{"id": "x"}, {"id": f"{n}"}],
                 "reference_documents": [{"id": f"{n}"}]} for n in range(4)]  # fmt: skip
        before, after = (evaluate(rows, [ExactMatch(), NDCG(k=k, name="ndcg")], progress=False) for k in (2, 3))
        comparison = before.compare(after)
        assert [comparison[name].credited for name in names] == [True, False]
        assert comparison.warnings == ("ndcg: the setting 'k' differs",)


class TestModelsThatAreNotAsked:
    def test_a_judge_that_a_metric_does_not_ask_is_no_difference(self) -> None:
        before = run("a", prompts={}, settings=judged_by("m"))
        assert before.compare(run("b", prompts={}, settings=judged_by("m", llm=OTHER))).warnings == ()

    def test_an_embedding_model_beside_a_metric_that_only_asks_a_judge(self) -> None:
        columns = [metric_column("m", (0.0, 1.0), "Faithfulness(name='m')")]
        vectors = [model_identity(name, {"model": name}) for name in ("small", "large")]
        before, after = (
            run(name, columns=columns, settings=judged_by("m", embeddings=model))
            for name, model in zip("ab", vectors, strict=True)
        )
        assert before.compare(after).warnings == ()

    def test_an_embedding_model_that_a_metric_of_ones_own_may_ask(self) -> None:
        vectors = [model_identity(name, {"model": name}) for name in ("small", "large")]
        before, after = (
            run(name, settings=judged_by("m", embeddings=model)) for name, model in zip("ab", vectors, strict=True)
        )
        assert before.compare(after).warnings == ("m: the embedding model is small in a, large in b",)


class TestRuns:
    """The same from runs that were made."""

    def judged(self, llm: Any, metric: Metric | None = None, **options: Any) -> Evaluation:
        return evaluate(DATA, metric or Faithfulness(), llm=llm, progress=False, **options)

    def test_a_lexical_judge_and_another_one_are_different_judges(self, tmp_path: Path) -> None:
        llm = ScriptedLLM(['{"claims": ["A"]}', '{"verdicts": [{"number": 1, "reason": "r", "supported": true}]}'] * 3)
        before, after = self.judged(LexicalJudge(), run_dir=tmp_path / "a"), self.judged(llm, run_dir=tmp_path / "b")
        for one, two in ((before, after), (Evaluation.load(tmp_path / "a"), Evaluation.load(tmp_path / "b"))):
            comparison = one.compare(two)
            assert comparison.warnings == (
                f"faithfulness: the LLM is LexicalJudge in {tmp_path / 'a'}, ScriptedLLM in {tmp_path / 'b'}",
            )
            assert comparison["faithfulness"].verdict == "cannot say"

    def test_other_words_of_a_prompt(self) -> None:
        verify = Faithfulness().verify
        reworded = Faithfulness(verify=verify.replace(instructions=f"{verify.instructions}\n- Be strict."))
        comparison = self.judged(LexicalJudge()).compare(self.judged(LexicalJudge(), reworded))
        assert comparison.warnings[0] == "faithfulness: the words of the prompt 'verify' differ"

    def test_another_embedding_model(self) -> None:
        rows = [{"id": n, "answer": "a b", "reference": "a c"} for n in range(3)]
        runs = [
            evaluate(rows, SemanticSimilarity(), embeddings=HashingEmbeddings(size), progress=False)
            for size in (64, 128)
        ]
        (warning,) = runs[0].compare(runs[1]).warnings
        assert warning.startswith("semantic_similarity: the embedding model, HashingEmbeddings, has another ")

    def test_a_model_without_identity(self) -> None:
        runs = [evaluate(questions(3), Rated(), llm=AsyncModel(), progress=False) for _ in range(2)]
        comparison = runs[0].compare(runs[1])
        assert comparison.warnings == ()
        assert comparison.unknown == (
            "the LLM, AsyncModel, has no attribute `identity`: whether it is the same is not known (rated)",
        )

    def test_files_of_scores_tell_prompts_alone(self, tmp_path: Path) -> None:
        self.judged(LexicalJudge(), run_dir=tmp_path / "run")
        self.judged(LexicalJudge()).to_jsonl(tmp_path / "b.jsonl")
        comparison = Evaluation.load(tmp_path / "run").compare(tmp_path / "b.jsonl")
        assert (comparison.before, comparison.after) == (str(tmp_path / "run"), str(tmp_path / "b.jsonl"))
        assert comparison.warnings == ()
        assert comparison.unknown == (
            (
                f"only scores are known of {tmp_path / 'b.jsonl'}: whether the judge, its parameters, the words of prompts and the "
                "settings are the same is not known (faithfulness)"
            ),
        )

    def test_of_metrics_without_models_only_the_settings(self, tmp_path: Path) -> None:
        evaluate(questions(3), Length(), progress=False).to_jsonl(tmp_path / "a.jsonl")
        evaluate(questions(3), Length(), progress=False).to_jsonl(tmp_path / "b.jsonl")
        comparison = Evaluation.load(tmp_path / "a.jsonl").compare(tmp_path / "b.jsonl")
        assert comparison.unknown == (
            (
                f"only scores are known of {tmp_path / 'a.jsonl'} and {tmp_path / 'b.jsonl'}: whether the settings are the same "
                "is not known (length)"
            ),
        )

    def test_damaged_runs(self, tmp_path: Path) -> None:
        for name in ("whole", "damaged"):
            self.judged(LexicalJudge(), run_dir=tmp_path / name)
        (tmp_path / "damaged" / "run.json").write_text("{")
        comparison = Evaluation.load(tmp_path / "whole").compare(tmp_path / "damaged")
        what = "whether the judge, its parameters, the words of prompts and the settings are the same is not known (faithfulness)"
        assert comparison.unknown == (f"a damaged run.json hides who scored {tmp_path / 'damaged'}: {what}",)
        assert comparison.notes == (f"{tmp_path / 'damaged'} is not complete: the run has not come to its end",)

    def test_a_prompt_of_ones_own_with_other_words(self) -> None:
        @dataclass(frozen=True)
        class Rating(Rated):
            """Another metric under the name of the first."""

            name: str = "rated"

        runs = [evaluate(questions(3), metric, llm=AsyncModel(), progress=False) for metric in (Rated(), Rating())]
        assert runs[0].compare(runs[1]).warnings == (
            "rated: the metric is Rated in the first run, Rating in the second run",
        )
        other = Rated(prompt=Prompt("Grade the text.", PlainReply(), name="rate"))
        runs[1] = evaluate(questions(3), other, llm=AsyncModel(), progress=False)
        assert runs[0].compare(runs[1]).warnings == ("rated: the setting 'prompt' differs",)

    def test_a_prompt_that_a_metric_takes_from_its_module(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is no setting, and with the same name and version only its words tell that it is another one."""
        runs = []
        for words in ("Rate the text.", "Rate the text.", "Rate it strictly."):
            monkeypatch.setattr("core.evaluate.doubles.RATE", Prompt(words, PlainReply(), name="rate"))
            runs.append(evaluate(questions(3), RatedTwice(), llm=AsyncModel(), progress=False))
        assert runs[0].compare(runs[1]).warnings == ()
        assert runs[0].compare(runs[2]).warnings == ("rated_twice: the setting 'RATE' differs",)

    def test_silent_rows_that_count_in_one_run_alone(self) -> None:
        before, after = self.judged(LexicalJudge()), self.judged(LexicalJudge(), empty="zero")
        assert before.compare(after).notes == (
            (
                "rows without retrieved contexts or with a blank answer are left out in the first run, and count as the worst "
                "value in the second run"
            ),
        )

    def test_braces_in_the_name_of_a_run(self, tmp_path: Path) -> None:
        path = tmp_path / "{metrics}{0}.jsonl"
        self.judged(LexicalJudge()).to_jsonl(path)
        comparison = self.judged(LexicalJudge()).compare(path)
        assert comparison.unknown[0].startswith(f"only scores are known of {path}: ")
