"""A jury: the value and its evidence by hand, jurors that fail or have nothing to score, ties, and what it is made of."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.contract import MetricContract
from core.metrics.test_faithfulness import EXCHANGES as FAITHFULNESS
from core.metrics.test_faithfulness import WORDS as FAITHFULNESS_WORDS
from core.metrics.test_single_pass_faithfulness import EXCHANGES as SINGLE_PASS
from core.metrics.test_single_pass_faithfulness import WORDS as SINGLE_PASS_WORDS
from ragmetrics_core import (
    Ask,
    BadReply,
    Input,
    InvalidInput,
    Metric,
    MissingInput,
    ModelError,
    Reply,
    Score,
    Steps,
    Usage,
    embed,
)
from ragmetrics_core.metrics import (
    AnswerRelevancy,
    ContextPrecision,
    Correctness,
    CustomJudge,
    ExactMatch,
    Faithfulness,
    Guideline,
    HitRate,
    Jury,
    RubricScore,
    SinglePassFaithfulness,
    TokenF1,
)
from ragmetrics_core.testing import ScriptedEmbeddings, ScriptedLLM
from recording import Exchange

VERDICT = {
    "number": 1,
    "reason": "r",
    "supported": True,
    "supported_by": [1],
    "contradicted": False,
    "contradicted_by": [],
}
ROW = {"user_input": "When?", "response": "In 1889.", "reference": "In 1889."}

EXCHANGES = [
    Exchange(
        Jury([FAITHFULNESS[0].metric, SINGLE_PASS[0].metric]),
        [*FAITHFULNESS[0].calls, *SINGLE_PASS[0].calls],
        (FAITHFULNESS[0].value + SINGLE_PASS[0].value) / 2,
    )
]


class TestJury(MetricContract):
    exchanges = EXCHANGES
    words = FAITHFULNESS_WORDS | SINGLE_PASS_WORDS
    judges_as_a_whole = False


def passing(verdict: bool, tokens: tuple[int, int] = (0, 0)) -> ScriptedLLM:
    text = json.dumps({"feedback": "so", "passing": verdict})
    return ScriptedLLM(lambda _: Reply(text, Usage(1, *tokens)))


def grading(grade: float) -> ScriptedLLM:
    return ScriptedLLM(lambda _: json.dumps({"score": grade, "reason": "so"}))


def broken(error: ModelError | None = None) -> ScriptedLLM:
    return ScriptedLLM(lambda _: error or ModelError("the server is gone", transient=True))


def guidelines(*llms: ScriptedLLM, **settings: Any) -> Jury:
    return Jury([Guideline("Be short.", llm=llm, name=f"j{place}") for place, llm in enumerate(llms, 1)], **settings)


def grades(*llms: ScriptedLLM, **settings: Any) -> Jury:
    return Jury([Correctness(llm=llm, name=f"j{place}") for place, llm in enumerate(llms, 1)], **settings)


@dataclass(frozen=True)
class Given(Metric):
    """What the row says for a juror of this name: a number, None for nothing to score, or an error to fail with."""

    scale: ClassVar[tuple[float, float] | None] = (0.0, 1.0)

    def measure(self, values: Mapping[str, Any]) -> Score:
        value = values[self.name]
        if value is None:
            return Score.unscored("no claims", label="none")
        if isinstance(value, str):
            return Score.failed(value)
        return Score(value, passing=value >= 0.5)


class TestMedian:
    def test_the_value_in_the_middle_with_the_evidence_of_each_juror(self) -> None:
        score = grades(grading(2), grading(5), grading(4)).score(ROW)
        assert (score.value, score.scale, score.passing, score.label) == (4.0, (1.0, 5.0), True, None)
        assert score.reason == "median of 3 jurors: 2, 5, 4"
        assert score.details["tied"] is False
        assert score.details["rule"] == "median"
        assert [
            (item["juror"], item["model"], item["value"], item["passing"], item["state"], item["error"])
            for item in score.details["jurors"]
        ] == [
            ("j1", "ScriptedLLM", 2.0, False, "scored", None),
            ("j2", "ScriptedLLM", 5.0, True, "scored", None),
            ("j3", "ScriptedLLM", 4.0, True, "scored", None),
        ]
        assert [item["reason"] for item in score.details["jurors"]] == ["so", "so", "so"]
        assert all(item["details"]["prompts"] for item in score.details["jurors"])

    def test_of_an_even_number_it_is_the_mean_of_the_two_in_the_middle_and_a_tie_is_said(self) -> None:
        score = grades(grading(2), grading(5), grading(4), grading(1)).score(ROW)
        assert (score.value, score.passing) == (3.0, None)
        assert score.reason == (
            "median of 4 jurors: 2, 5, 4, 1; tie: the middle lies between 2 and 4; tie: as many of the jurors let it pass as do not"
        )
        assert score.details["tied"] is True

    def test_two_equal_values_in_the_middle_are_no_tie(self) -> None:
        score = grades(grading(4), grading(5), grading(4), grading(1)).score(ROW)
        assert (score.value, score.passing, score.details["tied"]) == (4.0, True, False)

    @given(st.lists(st.integers(0, 1000), min_size=2, max_size=7), st.randoms())
    def test_it_is_the_median_whatever_the_order(self, parts: list[int], random: Any) -> None:
        values = {f"j{place}": part / 1000 for place, part in enumerate(parts)}
        names = list(values)
        ordered = sorted(Fraction(part, 1000) for part in parts)
        middle = (ordered[(len(parts) - 1) // 2] + ordered[len(parts) // 2]) / 2
        score = Jury([Given(name=name) for name in names]).score(values=values)
        assert score.value == pytest.approx(float(middle), abs=1e-15)
        random.shuffle(names)
        again = Jury([Given(name=name) for name in names]).score(values=values)
        assert (again.value, again.passing, again.label, again.details["tied"]) == (
            score.value,
            score.passing,
            score.label,
            score.details["tied"],
        )


class TestMajority:
    @pytest.mark.parametrize(
        ("verdicts", "value"),
        [("yyn", 1.0), ("nny", 0.0), ("yyyy", 1.0), ("nnny", 0.0), ("yn", None), ("yynn", None)],
    )
    def test_yes_or_no_goes_by_most_votes_and_a_tie_is_no_verdict(self, verdicts: str, value: float | None) -> None:
        for order in set(itertools.permutations(verdicts)):
            score = guidelines(*(passing(vote == "y") for vote in order)).score(ROW)
            assert score.value == value
            assert score.details["rule"] == "majority"
            assert score.details["tied"] is (value is None)
            if value is None:
                assert (score.state, score.label, score.passing) == ("unscored", "tie", None)
                votes = ", ".join("1" if vote == "y" else "0" for vote in order)
                assert score.reason == f"tie: none of the values of {len(order)} jurors has a majority: {votes}"
                assert len(score.details["jurors"]) == len(order)
            else:
                assert score.passing is bool(value)

    def test_the_rule_can_be_chosen(self) -> None:
        assert guidelines(passing(True), passing(False), rule="median").score(ROW).value == 0.5
        assert grades(grading(2), grading(2), grading(5), rule="majority").score(ROW).value == 2.0
        score = grades(grading(2), grading(3), grading(5), rule="majority").score(ROW)
        assert (score.label, score.reason) == ("tie", "tie: none of the values of 3 jurors has a majority: 2, 3, 5")

    @given(st.lists(st.booleans(), min_size=2, max_size=9))
    def test_of_an_odd_number_it_is_the_median(self, votes: list[bool]) -> None:
        values = {f"j{place}": float(vote) for place, vote in enumerate(votes)}
        score = Jury([Given(name=name) for name in values], rule="majority").score(values=values)
        yes = sum(votes)
        expected = None if 2 * yes == len(votes) else float(2 * yes > len(votes))
        assert score.value == expected

    def test_which_metrics_are_yes_or_no(self) -> None:
        assert Jury([ExactMatch(), HitRate()]).two_valued
        assert not Jury([ExactMatch(), TokenF1()]).two_valued
        assert not Jury([ExactMatch(), HitRate()], rule="median").two_valued

    def test_labels_go_by_most_votes_too(self) -> None:
        @dataclass(frozen=True)
        class Labelled(Metric):
            label: str = "a"

            def measure(self, response: str) -> Score:
                return Score(float(len(response) > 3), label=self.label)

        def label(*labels: str) -> str | None:
            return Jury([Labelled(item, name=f"{place}") for place, item in enumerate(labels)]).score(ROW).label

        assert label("a", "b", "a") == "a"
        assert label("a", "b") is None
        assert label("a", "b", "c") is None


class TestJurorsThatDoNotCount:
    def test_one_that_fails_lowers_the_count_and_is_named(self) -> None:
        score = grades(grading(2), broken(), grading(4)).score(ROW)
        assert score.value == 3.0
        assert score.reason == (
            "median of 2 of 3 jurors: 2, 4; tie: the middle lies between 2 and 4; "
            "tie: as many of the jurors let it pass as do not; j2 failed: ModelError: the server is gone"
        )
        assert [item["state"] for item in score.details["jurors"]] == ["scored", "failed", "scored"]
        assert score.details["jurors"][1]["error"] == "ModelError: the server is gone"

    def test_one_that_finds_nothing_to_score_is_counted_apart(self) -> None:
        score = Jury([Given(name=name) for name in "abc"]).score(values={"a": 0.2, "b": None, "c": 0.4})
        assert score.value == pytest.approx(0.3)
        assert score.reason is not None
        assert score.reason.startswith("median of 2 of 3 jurors: 0.2, 0.4; ")
        assert score.reason.endswith("; b found nothing to score: no claims")
        assert [item["state"] for item in score.details["jurors"]] == ["scored", "unscored", "scored"]

    def test_fewer_than_the_quorum_fail_with_the_evidence_kept(self) -> None:
        jury = grades(grading(2), broken(), broken())
        with pytest.raises(ModelError) as caught:
            jury.score(ROW)
        assert str(caught.value) == (
            "1 of 3 jurors gave a value, 2 are needed; j2 failed: ModelError: the server is gone; "
            "j3 failed: ModelError: the server is gone"
        )
        score = Score.failed(caught.value)
        assert [item["value"] for item in score.details["jurors"]] == [2.0, None, None]
        assert caught.value.usage.calls == 1
        assert grades(grading(2), broken(), broken(), quorum=1).score(ROW).value == 2.0
        with pytest.raises(ModelError, match="2 of 3 jurors gave a value, 3 are needed"):
            grades(grading(2), grading(3), broken(), quorum=3).score(ROW)

    def test_replies_that_cannot_be_read_are_kept_word_for_word(self) -> None:
        jury = grades(ScriptedLLM(["what?", "hm"]), ScriptedLLM(["never", "no"]))
        with pytest.raises(BadReply) as caught:
            jury.score(ROW)
        assert caught.value.raw == ("what?", "hm", "never", "no")
        assert caught.value.usage.calls == 4
        score = grades(grading(2), grading(4), ScriptedLLM(["what?", "hm"])).score(ROW)
        assert (score.value, score.details["jurors"][2]["details"]["raw"]) == (3.0, ["what?", "hm"])
        assert score.usage.calls == 4, "what the third one cost is not forgotten"
        assert score.details["jurors"][2]["usage"]["calls"] == 2

    def test_nothing_to_score_where_as_many_say_so_as_are_needed_for_a_value(self) -> None:
        jury = Jury([Given(name=name) for name in "abc"])
        score = jury.score(values={"a": None, "b": None, "c": 0.4})
        assert (score.state, score.label) == ("unscored", "none")
        assert score.reason == (
            "1 of 3 jurors gave a value, 2 are needed; a found nothing to score: no claims; b found nothing to score: no claims"
        )
        assert jury.score(values={"a": None, "b": None, "c": "gone"}).state == "unscored"
        with pytest.raises(
            ModelError, match="1 of 3 jurors gave a value, 2 are needed; a found nothing .*; b failed: gone"
        ):
            jury.score(values={"a": None, "b": "gone", "c": 0.4})
        pair = Jury([Given(name=name) for name in "ab"])
        assert pair.score(values={"a": None, "b": 0.4}).state == "unscored", "no juror failed"

    @given(
        st.lists(st.one_of(st.none(), st.just("gone"), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=2, max_size=6)
    )
    def test_no_juror_is_ever_forgotten(self, values: list[Any]) -> None:
        by_name = {f"j{place}": value for place, value in enumerate(values)}
        jury = Jury([Given(name=name) for name in by_name])
        try:
            score = jury.score(values=by_name)
        except ModelError as error:
            score = Score.failed(error)
        numbers = [value for value in values if isinstance(value, float)]
        quorum = len(values) // 2 + 1
        assert [item["juror"] for item in score.details["jurors"]] == list(by_name)
        assert [item["value"] for item in score.details["jurors"]] == [
            value if isinstance(value, float) else None for value in values
        ]
        assert (score.value is not None) == (len(numbers) >= quorum)
        text = score.error or score.reason or ""
        for name, value in by_name.items():
            assert (f"; {name} failed: gone" in text) == (value == "gone")
            assert (f"; {name} found nothing to score: no claims" in text) == (value is None)

    @pytest.mark.parametrize("place", range(6))
    def test_a_fault_at_each_call_costs_one_juror_and_no_more(self, place: int) -> None:
        """Three jurors of two calls each: the extraction of the claims, and their verification."""
        count = itertools.count()

        def answering(ask: Ask) -> str | ModelError:
            if next(count) == place:
                return ModelError("the line went dead", transient=True)
            if ask.prompt.name == "extract_claims":
                return json.dumps({"claims": ["A."]})
            return json.dumps({"verdicts": [VERDICT]})

        jury = Jury([Faithfulness(llm=ScriptedLLM(answering), name=name) for name in "abc"])
        row = {"user_input": "q", "response": "A.", "retrieved_contexts": ["A."]}
        score = jury.score(row)
        states = [item["state"] for item in score.details["jurors"]]
        assert (score.value, sorted(states)) == (1.0, ["failed", "scored", "scored"])
        (failed,) = (item for item in score.details["jurors"] if item["state"] == "failed")
        assert score.reason == (
            f"median of 2 of 3 jurors: 1, 1; {failed['juror']} failed: ModelError: the line went dead"
        )
        # of the six calls the one that failed is not billed, nor the one that would have followed it
        assert score.usage.calls == (4 if place < 3 else 5)
        assert sum(item["usage"]["calls"] for item in score.details["jurors"]) == score.usage.calls

    def test_a_refused_key_is_reported_and_not_outvoted(self) -> None:
        with pytest.raises(ModelError, match="key refused"):
            grades(grading(2), grading(3), broken(ModelError("key refused", fatal=True))).score(ROW)

    def test_a_bug_is_no_vote(self) -> None:
        def bug(_: Ask) -> str:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            grades(grading(2), grading(3), ScriptedLLM(bug)).score(ROW)

    def test_data_that_a_juror_cannot_take_are_an_error_of_the_row(self) -> None:
        jury = Jury([RubricScore(llm=grading(1), name="a"), RubricScore(llm=grading(1), name="b")])
        with pytest.raises(MissingInput, match="a needs 'rubric'"):
            jury.score(ROW)


class TestWhatItIs:
    def test_it_takes_scale_and_direction_from_its_jurors(self) -> None:
        jury = grades(grading(2), grading(5))
        assert (jury.scale, jury.higher_is_better, jury.name) == ((1.0, 5.0), True, "correctness_jury")
        assert Jury([Faithfulness(), SinglePassFaithfulness()]).name == "jury"
        assert Jury([Faithfulness(), Faithfulness()], name="mine").name == "mine"

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (
                lambda: Jury([Faithfulness(), Correctness()]),
                "Jury: all jurors need the same scale: faithfulness has (0.0, 1.0), correctness (1.0, 5.0)",
            ),
            (
                lambda: Jury([Faithfulness(), Hallucinated()]),
                "Jury: all jurors need the same higher_is_better: faithfulness has True, hallucinated False",
            ),
            (lambda: Jury([Faithfulness()]), "Jury needs at least two jurors, got 1"),
            (lambda: Jury([]), "Jury needs at least two jurors, got 0"),
            (
                lambda: Jury(Faithfulness()),  # type: ignore[arg-type]
                "Jury takes a list of metrics, such as Jury([Faithfulness(llm=a), ...]), got Faithfulness()",
            ),
            (
                lambda: Jury([Faithfulness(), "faithfulness"]),
                "Jury: jurors[1] must be a metric such as Faithfulness(), got 'faithfulness'",
            ),
            (
                lambda: Jury([Faithfulness(), Faithfulness()], quorum=3),
                "faithfulness_jury: quorum must be a whole number from 1 to 2, got 3",
            ),
            (
                lambda: Jury([Faithfulness(), Faithfulness()], quorum=True),
                "faithfulness_jury: quorum must be a whole number from 1 to 2, got True",
            ),
            (
                lambda: Jury([Faithfulness(), Faithfulness()], rule="mean"),  # type: ignore[arg-type]
                "faithfulness_jury: rule must be 'median' or 'majority' or None, got 'mean'",
            ),
        ],
    )
    def test_what_cannot_be_a_jury(self, make: Callable[[], Jury], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            make()
        assert str(caught.value) == message

    def test_one_voice_is_not_counted_twice(self) -> None:
        llm = grading(2)
        message = (
            "correctness_jury: two members ask the same model (ScriptedLLM) the same question, so one opinion would count twice: "
            "give one member another model, or judge several times with repeats=..."
        )
        with pytest.raises(InvalidInput) as caught:
            Jury([Correctness(llm=llm, name="a"), Correctness(llm=llm, name="b")])
        assert str(caught.value) == message
        with pytest.raises(InvalidInput) as caught:
            Jury([Correctness(), Correctness(llm=llm)], llm=llm)
        assert str(caught.value) == message
        assert Jury([Correctness(llm=llm), Correctness(threshold=3.0, llm=llm)]).score(ROW).value == 2.0

    def test_nor_if_it_speaks_in_a_jury_within_this_one_too(self) -> None:
        llm = grading(2)
        inner = Jury([Correctness(llm=llm), Correctness(llm=grading(3))])
        with pytest.raises(InvalidInput, match="^outer: two members ask the same model"):
            Jury([inner, Correctness(llm=llm)], name="outer")
        with pytest.raises(InvalidInput, match="^outer: two members ask the same model"):
            Jury([inner, Jury([Correctness(llm=llm), Correctness(llm=grading(4))])], name="outer")

    def test_namesakes_are_distinguished(self) -> None:
        def called(*jurors: Metric) -> list[str]:
            return [item["juror"] for item in Jury(jurors).score(ROW).details["jurors"]]

        class Named(ScriptedLLM):
            @property
            def identity(self) -> Any:
                return {"model": self.model, "seed": id(self)}

        def named(model: str) -> Named:
            llm = Named(lambda _: json.dumps({"score": 2, "reason": "so"}))
            llm.model = model  # type: ignore[attr-defined]
            return llm

        assert called(Correctness(llm=named("a")), Correctness(llm=named("b"))) == [
            "correctness (a)",
            "correctness (b)",
        ]
        assert called(Correctness(llm=named("a")), Correctness(llm=named("a"))) == [
            "correctness (a) 1",
            "correctness (a) 2",
        ]
        assert called(Correctness(llm=named("a"), name="x"), Correctness(llm=named("a"))) == ["x", "correctness"]
        assert called(
            Correctness(llm=named("b"), name="c (a) 1"), *(Correctness(llm=named("a"), name="c") for _ in "12")
        ) == [
            "c (a) 1",
            "c (a) 2",
            "c (a) 3",
        ]

    def test_its_inputs_are_those_of_its_jurors(self) -> None:
        judge = CustomJudge("Is it?", ["user_input", ("topic", str)], ["score"])
        jury = Jury([RubricScore({0: "bad", 1: "good"}), judge])
        assert jury.inputs == (
            "user_input",
            "response",
            "retrieved_contexts",
            "reference",
            "reference_contexts",
            "rubric",
            "topic",
        )
        assert [item.name for item in jury.inputs if item.required] == ["user_input", "topic"]
        with pytest.raises(MissingInput, match="faithfulness_jury needs 'retrieved_contexts'"):
            Jury([Faithfulness(), Faithfulness()]).score(user_input="q", response="r")
        score = Jury([Faithfulness(), Faithfulness()]).score(user_input="q", response="r", retrieved_contexts=[])
        assert (score.state, score.label) == ("unscored", "no_retrieval")
        assert isinstance(jury.inputs[0], Input)

    def test_scales_of_the_row_must_be_the_same(self) -> None:
        jury = Jury([RubricScore({0: "a", 1: "b"}, llm=grading(1)), RubricScore({0: "a", 2: "b"}, llm=grading(2))])
        with pytest.raises(
            InvalidInput, match=r"the jurors score on different scales: .* \(0.0, 1.0\); .* \(0.0, 2.0\)"
        ):
            jury.score(ROW)

    def test_jurors_without_a_model_are_answered_by_that_of_the_jury(self) -> None:
        of_jury, own = grading(2), grading(4)
        score = Jury(
            [Correctness(name="a"), Correctness(llm=own, name="b"), Correctness(1.5, name="c")], llm=of_jury
        ).score(ROW)
        assert ([item["value"] for item in score.details["jurors"]], of_jury.calls, own.calls) == (
            [2.0, 4.0, 2.0],
            2,
            1,
        )

    def test_without_any_model_it_says_so(self) -> None:
        with pytest.raises(ModelError, match="b asks an LLM, but none is set"):
            Jury([Correctness(llm=grading(2), name="a"), Correctness(name="b")]).score(ROW)

    def test_a_jury_of_juries(self) -> None:
        inner = grades(grading(1), grading(2), grading(3))
        outer = Jury([inner, Correctness(llm=grading(5)), Correctness(llm=grading(4))])
        score = outer.score(ROW)
        assert score.value == 4.0
        assert score.details["jurors"][0]["value"] == 2.0
        assert [item["value"] for item in score.details["jurors"][0]["details"]["jurors"]] == [1.0, 2.0, 3.0]
        assert score.usage.calls == 5

    def test_embeddings_go_to_the_models_of_the_juror(self) -> None:
        @dataclass(frozen=True)
        class First(Metric):
            def measure(self, response: str) -> Steps[Score]:
                ((number, *_),) = yield from embed([response])
                return Score(number)

        jury = Jury(
            [
                First(embeddings=ScriptedEmbeddings(lambda _: [0.25, 1.0])),
                First(embeddings=ScriptedEmbeddings(lambda _: [0.75, 1.0])),
            ]
        )
        assert [item["value"] for item in jury.score(ROW).details["jurors"]] == [0.25, 0.75]

    def test_async_is_the_same(self) -> None:
        def jury() -> Jury:
            return grades(grading(2), broken(), grading(4), grading(4))

        assert asyncio.run(jury().ascore(ROW)) == jury().score(ROW)

    def test_it_is_saved_without_its_models(self) -> None:
        jury = grades(grading(2), grading(3), quorum=2, rule="median")
        data = json.loads(json.dumps(jury.to_dict()))
        assert data == {
            "metric": "Jury",
            "settings": {
                "jurors": [
                    {"metric": "Correctness", "settings": {"name": "j1"}},
                    {"metric": "Correctness", "settings": {"name": "j2"}},
                ],
                "quorum": 2,
                "rule": "median",
            },
        }
        again = Metric.from_dict(data)
        assert again == jury
        assert [item.llm for item in again.parts] == [None, None]
        with pytest.raises(InvalidInput, match="two members ask the same model"):
            replace(again, llm=grading(1))  # both of them by one model are one voice
        pinned = jury.to_dict(defaults=True)["settings"]["jurors"][0]["settings"]
        assert {"threshold", "grade", "name"} <= pinned.keys()
        assert Metric.from_dict(jury.to_dict(defaults=True)) == jury
        with pytest.raises(InvalidInput, match="Jury has no setting 'juror'"):
            Metric.from_dict({"metric": "Jury", "settings": {"juror": []}})
        with pytest.raises(InvalidInput, match="there is no metric 'Nothing'"):
            Metric.from_dict(
                {"metric": "Jury", "settings": {"jurors": [{"metric": "Nothing"}, {"metric": "Correctness"}]}}
            )


@dataclass(frozen=True)
class Hallucinated(Metric):
    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str) -> Score:
        return Score(float(bool(response)))


@pytest.mark.parametrize(
    "metrics", [[ContextPrecision(), ContextPrecision(per_passage=False)], [AnswerRelevancy(), AnswerRelevancy(5)]]
)
def test_metrics_with_many_questions_can_be_jurors(metrics: Sequence[Metric]) -> None:
    assert Jury(list(metrics)).scale == metrics[0].scale
