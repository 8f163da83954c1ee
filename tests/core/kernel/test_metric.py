"""The base class: inputs off the signature, checks before calls, accounting, settings, repr."""

from __future__ import annotations

import asyncio
import math
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from ragmetrics_core import (
    Ask,
    BadReply,
    Document,
    Input,
    InvalidInput,
    Metric,
    MissingInput,
    ModelError,
    Prompt,
    Reply,
    Sample,
    Score,
    Steps,
    Usage,
    evaluate,
    run,
    together,
)

from .test_prompt import COLOUR


class Counting:
    """Answers 'red' and counts."""

    instant = True

    def __init__(self, *replies: str) -> None:
        self.asks: list[Ask] = []
        self.replies = list(replies)

    def generate(self, ask: Ask) -> Reply[str]:
        self.asks.append(ask)
        return Reply(self.replies.pop(0) if self.replies else "red", Usage(1, 10, 2))


@dataclass(frozen=True)
class Colour(Metric):
    """How red it is."""

    calls: ClassVar[str] = "1"

    wanted: str = "red"
    weights: tuple[float, float] = (1.0, 2.0)
    prompt: Prompt[str] = COLOUR

    def measure(self, response: str, retrieved_contexts: Sequence[str] = ()) -> Steps[Score]:
        word = yield from self.prompt.ask(thing=response)
        return Score(float(word == self.wanted), details={"word": word, "contexts": retrieved_contexts})


@dataclass(frozen=True)
class Plain(Metric):
    """Needs no model."""

    def measure(
        self, retrieved_documents: Sequence[Document | str], rubric: Mapping[int, str], topic: Any = None
    ) -> Score:
        return Score(0.5, details={"documents": len(retrieved_documents), "rubric": dict(rubric), "topic": topic})


def test_score_fills_in_origin_usage_and_prompt_versions() -> None:
    score = Colour(llm=Counting()).score(response="blood")
    assert score == Score(
        1.0,
        details={"word": "red", "contexts": [], "prompts": {"colour": "1"}},
        usage=Usage(1, 10, 2),
        metric="colour",
        scale=(0.0, 1.0),
    )


def test_usage_counts_the_second_attempt() -> None:
    assert Colour(llm=Counting("rather red")).score(response="x").usage == Usage(2, 20, 4)


def test_an_error_carries_what_was_spent() -> None:
    with pytest.raises(ModelError) as caught:
        Colour(llm=Counting("a b", "c d")).score(response="x")
    assert caught.value.usage == Usage(2, 20, 4)


def test_inputs_are_read_off_the_signature() -> None:
    def inputs_of(metric: Metric) -> list[str]:
        return [repr(item) for item in metric.inputs]

    assert inputs_of(Colour()) == ["Input('response', 'text')", "Input('retrieved_contexts', 'texts', required=False)"]
    assert inputs_of(Plain()) == [
        "Input('retrieved_documents', 'documents')",
        "Input('rubric', 'rubric')",
        "Input('topic', 'any', required=False)",
    ]


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (str, "text"),
        (str | None, "text"),
        (list[str], "texts"),
        (Sequence[str] | None, "texts"),
        (list[int], "any"),
        (None, "any"),
        (int, "any"),
    ],
)
def test_kinds_of_own_columns(hint: Any, kind: str) -> None:
    assert Input.named("column", hint).to_dict() == {"name": "column", "kind": kind, "required": True}
    assert Input.named("response", hint).kind == "text"


def test_missing_inputs_cost_no_call() -> None:
    llm = Counting()
    with pytest.raises(MissingInput) as caught:
        Colour(llm=llm).score(response=None)
    message = "colour needs 'response', which is missing: give response=... or leave the metric out for this sample"
    assert (str(caught.value), caught.value.field, caught.value.metric) == (message, "response", "colour")
    assert llm.asks == []


@dataclass(frozen=True)
class Contexts(Metric):
    """Needs contexts."""

    def measure(self, retrieved_contexts: Sequence[str]) -> Score:
        return Score(1.0, details={"n": list(retrieved_contexts)})


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (None, MissingInput, "contexts needs 'retrieved_contexts', which is missing"),
        (["a", 5], InvalidInput, r"contexts: retrieved_contexts\[1\] must be a str, got int"),
        ("a", InvalidInput, "contexts: retrieved_contexts must be a list of str, got str: write a list with one item"),
        ({"a": 1}, InvalidInput, "contexts: retrieved_contexts must be a list of str, got dict"),
        (5, InvalidInput, "contexts: retrieved_contexts must be a list of str, got int"),
    ],
)
def test_wrong_lists(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Contexts().score(retrieved_contexts=value)


@pytest.mark.parametrize("value", [["a", "b"], ("a", "b"), np.array(["a", "b"])])
def test_right_lists(value: Any) -> None:
    assert Contexts().score(retrieved_contexts=value).details["n"] == ["a", "b"]


def test_wrong_text() -> None:
    with pytest.raises(InvalidInput, match="colour: response must be a str, got list"):
        Colour().score(response=["x"])


def test_documents_and_rubric() -> None:
    score = Plain().score(
        retrieved_documents=[{"content": "c"}, "t", Document("d")], rubric={"1": "bad", 2: "good"}, topic=7
    )
    assert score.details == {"documents": 3, "rubric": {"1": "bad", "2": "good"}, "topic": 7}
    assert Plain().score(retrieved_documents=[], rubric={1: "x"}).value == 0.5
    with pytest.raises(
        InvalidInput, match=r"plain: retrieved_documents\[1\] must be a Document, a mapping or a str, got int"
    ):
        Plain().score(retrieved_documents=["a", 1], rubric={1: "x"})
    of_ragas = Plain().score(retrieved_documents=[], rubric={"score2_description": "good", "score1_description": "bad"})
    assert of_ragas.details["rubric"] == {"1": "bad", "2": "good"}
    with pytest.raises(InvalidInput, match="^plain: rubric has the score 1 twice$"):
        Plain().score(retrieved_documents=[], rubric={"score1_description": "bad", 1: "bad"})
    for key in ("score_description", "score-1_description", "score1"):
        with pytest.raises(InvalidInput, match=f"^plain: rubric: the score '{key}' must be a whole number$"):
            Plain().score(retrieved_documents=[], rubric={key: "x"})
    with pytest.raises(InvalidInput, match="plain: rubric: the score 'one' must be a whole number"):
        Plain().score(retrieved_documents=[], rubric={"one": "x"})
    with pytest.raises(InvalidInput, match=r"plain: rubric\[1\] must be a str, got int"):
        Plain().score(retrieved_documents=[], rubric={1: 5})
    with pytest.raises(InvalidInput, match="plain: rubric must be a mapping from scores to descriptions, got list"):
        Plain().score(retrieved_documents=[], rubric=["x"])


def test_ways_to_give_a_sample() -> None:
    metric = Colour(llm=Counting())
    sample = Sample(response="x")
    expected = metric.score(response="x")
    assert metric.score(sample) == expected
    assert metric.score({"answer": "x"}) == expected
    assert metric.score({"answer": "y"}, response=None, answer="x") == expected
    assert metric.score(Sample(response="y"), response="x") == expected
    assert asyncio.run(metric.ascore(sample)) == expected
    assert asyncio.run(metric.ascore(response="x", reference="ignored")) == expected
    with pytest.raises(InvalidInput, match="colour has no input 'respnse'; it takes response, retrieved_contexts"):
        metric.score(respnse="x")
    with pytest.raises(InvalidInput, match="colour.score takes a Sample, a mapping, or the fields by name"):
        metric.score("x")  # type: ignore[arg-type]


def test_a_metadata_column_can_be_an_input() -> None:
    assert Plain().score({"retrieved_documents": [], "rubric": {1: "x"}, "topic": "t"}).details["topic"] == "t"
    sample = Sample(retrieved_documents=[], rubric={1: "x"}, metadata={"topic": "t"})
    assert Plain().score(sample).details["topic"] == "t"
    assert Plain().score(sample, rubric={2: "y"}).details["topic"] == "t"


def test_repr_shows_what_differs_and_reads_back() -> None:
    assert repr(Colour()) == "Colour()"
    metric = Colour(wanted="blue", name="mine", llm=Counting())
    assert repr(metric) == "Colour(name='mine', wanted='blue')"
    assert eval(repr(metric)) == metric


def test_models_are_no_settings() -> None:
    assert Colour(llm=Counting()) == Colour()
    assert hash(Colour(llm=Counting())) == hash(Colour())
    assert "llm" not in str(Colour(llm=Counting()).to_dict())


def test_settings_round_trip() -> None:
    metric = Colour("blue", (0.5, 1.0), COLOUR.replace(instructions="Farbe?", version="de-1"), name="mine")
    data = metric.to_dict()
    assert data["metric"] == f"{__name__}:Colour"
    assert data["settings"]["prompt"]["instructions"] == "Farbe?"
    again = Metric.from_dict(data)
    assert again == metric
    assert Colour.from_dict(data) == metric
    with pytest.raises(InvalidInput, match="is not a Plain"):
        Plain.from_dict(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"metric": "Faithfulnes"}, "there is no metric 'Faithfulnes'; did you mean 'Faithfulness'?"),
        ({"metric": "nowhere_at_all:X"}, "names the module 'nowhere_at_all', which is not found"),
        (
            {"metric": "json:dumps"},
            "'json:dumps' is not a Metric but a function: name a subclass of Metric, or an instance of one",
        ),
        (
            {"metric": f"{__name__}:Colour", "settings": {"wnted": 1}},
            "Colour has no setting 'wnted': did you mean 'wanted'",
        ),
        (
            {"metric": f"{__name__}:Colour", "settings": {"weights": ["a", 1]}},
            "Colour: the setting 'weights' cannot be .* valid number",
        ),
    ],
)
def test_wrong_settings(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Metric.from_dict(data)


def test_a_module_that_fails_to_import_something_else_is_not_called_missing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_broken.py").write_text("import nowhere_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        Metric.from_dict({"metric": "half_broken:X"})


def test_mistakes_in_a_metric_are_named() -> None:
    class Undecorated(Metric):
        threshold: float = 0.5

        def measure(self, response: str) -> Score:
            return Score(1.0)

    with pytest.raises(TypeError, match=r"write @dataclass\(frozen=True\) above class Undecorated"):
        Undecorated()

    @dataclass(frozen=True)
    class Idle(Metric):
        pass

    with pytest.raises(TypeError, match=r"Idle has no measure\(\) method"):
        Idle()

    @dataclass(frozen=True)
    class Naked(Metric):
        def measure(self, response: str) -> Any:
            return 0.5

    with pytest.raises(TypeError, match="Naked.measure must return a Score, got float"):
        Naked().score(response="x")

    @dataclass(frozen=True)
    class Wide(Metric):
        def measure(self, response: str) -> Score:
            return Score(7)

    with pytest.raises(ValueError, match=r"wide: 7.0 is outside the scale \(0.0, 1.0\)"):
        Wide().score(response="x")

    @dataclass(frozen=True)
    class Loose(Metric):
        def measure(self, **fields: Any) -> Score:
            return Score(1)

    with pytest.raises(TypeError, match=r"with \*args or \*\*kwargs, the metric must name them"):
        Loose().score(response="x")

    @dataclass(frozen=True)
    class Forgetful(Metric):
        def measure(self, response: str) -> Steps[Score]:
            yield COLOUR.ask(thing=response)  # type: ignore[misc]
            return Score(1)

    with pytest.raises(TypeError, match="write 'yield from'"):
        Forgetful(llm=Counting()).score(response="x")


def test_a_metric_without_settings_needs_no_decorator() -> None:
    class Short(Metric):
        scale: ClassVar[tuple[float, float] | None] = (0.0, 9.0)

        def measure(self, response: str) -> Score:
            return Score(len(response))

    assert Short().score(response="abc").value == 3.0
    assert Short().name == "short"


def test_annotations_for_type_checkers_only_do_not_matter() -> None:
    @dataclass(frozen=True)
    class Lazy(Metric):
        def measure(self, response: str, retrieved_contexts: Unimported[str]) -> Score:  # type: ignore[name-defined]  # noqa: F821
            return Score(1)

    assert [item.kind for item in Lazy().inputs] == ["text", "texts"]


def test_names_in_snake_case() -> None:
    names = ["NDCG", "ContextRecall", "TokenF1", "AnswerAccuracy", "MyBLEUScore"]
    made = [type(name, (Metric,), {"measure": lambda self, response: Score(1)}).default_name() for name in names]
    assert made == ["ndcg", "context_recall", "token_f1", "answer_accuracy", "my_bleu_score"]


def test_metrics_of_metrics() -> None:
    @dataclass(frozen=True)
    class Pair(Metric):
        def measure(self, response: str) -> Steps[Score]:
            left, right = yield from together(COLOUR.ask(thing=response), COLOUR.ask(thing=response[::-1]))
            return Score(float(left == right))

    llm = Counting()
    assert Pair(llm=llm).score(response="abc").usage.calls == 2
    assert [ask.inputs["thing"] for ask in llm.asks] == ["abc", "cba"]


def test_an_absent_optional_input_gets_the_default_of_the_signature() -> None:
    @dataclass(frozen=True)
    class Defaulted(Metric):
        def measure(self, response: str, language: str = "en") -> Score:
            return Score(1, details={"language": language})

    assert Defaulted().score(response="x").details["language"] == "en"
    assert Defaulted().score(response="x", language="fr").details["language"] == "fr"
    assert Defaulted().score(response="x", language=" ").details["language"] == "en"


def test_inputs_may_have_their_other_common_names() -> None:
    @dataclass(frozen=True)
    class Named(Metric):
        def measure(self, question: str, answer: str, contexts: Sequence[str]) -> Score:
            return Score(1, details={"all": [question, answer, *contexts]})

    assert [item.kind for item in Named().inputs] == ["text", "text", "texts"]
    assert Named().score(question="q", answer="a", contexts=["c"]).details["all"] == ["q", "a", "c"]
    assert Named().score(Sample("q", "a", ["c"])).details["all"] == ["q", "a", "c"]


def test_an_input_is_its_name() -> None:
    item = Input("tags", "texts", required=False)
    assert "tags" in (item, "x")
    assert item == Input("tags", "texts") == "tags", "equality is that of names, so it is transitive"
    assert item.to_dict() != Input("tags", "texts").to_dict()
    assert repr(item) == "Input('tags', 'texts', required=False)"
    assert pickle.loads(pickle.dumps(item)).to_dict() == item.to_dict() == Input(**item.to_dict()).to_dict()
    assert {item: 1}["tags"] == 1


def test_post_init_of_the_base_class_is_not_forgotten() -> None:
    @dataclass(frozen=True)
    class Forgetful(Metric):
        def __post_init__(self) -> None:
            pass

        def measure(self, response: str) -> Score:
            return Score(1)

    with pytest.raises(TypeError, match=r"Forgetful.__post_init__ must call super\(\).__post_init__\(\)"):
        Forgetful().score(response="x")


def test_failed_scores_know_their_prompts_too() -> None:
    with pytest.raises(ModelError) as caught:
        Colour(llm=Counting("a b", "c d")).score(response="x")
    assert Score.failed(caught.value).details["prompts"] == {"colour": "1"}


def test_a_subclass_of_a_metric_is_a_metric() -> None:
    @dataclass(frozen=True)
    class Darker(Colour):
        shade: int = 2

    assert repr(Darker(shade=3)) == "Darker(shade=3)"
    assert hash(Darker()) == hash(Darker())
    assert Darker(llm=Counting()).score(response="x").metric == "darker"


def test_a_prompt_of_another_form_cannot_be_written() -> None:
    class Other(type(COLOUR.reply)):  # type: ignore[misc]
        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = object.__hash__

    metric = Colour(prompt=COLOUR.replace(reply=Other()))
    with pytest.raises(
        InvalidInput,
        match="colour: the prompt 'prompt' cannot be saved, because it differs .* in more than its wording",
    ):
        metric.to_dict()


@dataclass(frozen=True)
class Strict(Metric):
    """Has a setting without a default, one that pydantic cannot check, and a whole number."""

    wanted: str
    other: Nowhere | None = None  # type: ignore[name-defined]  # noqa: F821
    k: int = 1

    def measure(self, response: str) -> Score:
        return Score(1)


STRICT = f"{__name__}:Strict"
COLOUR_PATH = f"{__name__}:Colour"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], r"a saved metric must have the form \{'metric': name, 'settings': \{...\}\}, got \[\]"),
        ({"settings": {}}, "a saved metric must have the form"),
        ({"metric": STRICT, "settings": []}, None),
        ({"metric": STRICT, "settings": [1]}, "settings must be a mapping, got list"),
        ({"metric": STRICT}, "Strict needs the setting 'wanted'"),
        ({"metric": ".foo:X"}, "names a module by a relative path: give its full name"),
        (
            {"metric": COLOUR_PATH, "settings": {"prompt": "x"}},
            "Colour: the setting 'prompt' must be a mapping with the wording of a prompt, got str: write",
        ),
        (
            {"metric": COLOUR_PATH, "settings": {"prompt": {"instruction": "x"}}},
            "the wording of the prompt 'colour' has no setting 'instruction': did you mean 'instructions'",
        ),
        (
            {"metric": COLOUR_PATH, "settings": {"prompt": {"version": 5}}},
            "the prompt 'colour': version must be a text, got int",
        ),
        (
            {"metric": COLOUR_PATH, "settings": {"prompt": {"examples": [{"input": 1}]}}},
            "the prompt 'colour': every example must be a mapping with inputs and output",
        ),
    ],
)
def test_wrong_files(data: Any, message: str | None) -> None:
    with pytest.raises(InvalidInput, match=message or "Strict needs"):
        Metric.from_dict(data)


def test_a_setting_whose_type_is_unknown_here_is_left_to_the_metric() -> None:
    assert Metric.from_dict({"metric": STRICT, "settings": {"wanted": "x", "other": [1]}}) == Strict("x", [1])


def test_a_bool_is_no_number() -> None:
    with pytest.raises(InvalidInput, match="NDCG: the setting 'k' cannot be True"):
        Metric.from_dict({"metric": "NDCG", "settings": {"k": True}})


def test_the_repr_of_an_overridden_prompt_reads_back() -> None:
    from ragmetrics_core import Example  # noqa: F401
    from ragmetrics_core.metrics import Faithfulness
    from ragmetrics_core.metrics.claims import VERIFY_CLAIMS, Verdicts, check_verdicts  # noqa: F401
    from ragmetrics_core.replies import JsonReply  # noqa: F401

    metric = Faithfulness(verify=VERIFY_CLAIMS.replace(version="2"))
    assert eval(repr(metric)) == metric


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"llm": "gpt-4o"}, r"colour: llm must be a model, got the text 'gpt-4o': write llm=llm_named\('gpt-4o'\)"),
        ({"llm": Counting}, r"colour: llm must be an instance, got the class Counting: write Counting\(...\)"),
        (
            {"embeddings": "MiniLM"},
            r"colour: embeddings must be a model, got the text 'MiniLM': write embeddings=embeddings_named",
        ),
        (
            {"prompt": "Say it."},
            r"colour: prompt must be a Prompt, got str: .* with Colour\(\).prompt.replace\(instructions=...\)",
        ),
    ],
)
def test_what_is_no_model_or_prompt_is_named_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Colour(**settings)


def test_a_failed_call_that_was_billed_counts() -> None:
    class Filtered:
        instant = True

        def generate(self, ask: Ask) -> str:
            error = BadReply("a content filter stopped the answer")
            error.usage = Usage(1, 50, 5)
            raise error

    with pytest.raises(BadReply) as caught:
        Colour(llm=Filtered()).score(response="x")
    assert caught.value.usage == Usage(1, 50, 5)


def test_a_metric_that_asks_nothing_scores_at_once_and_as_a_program() -> None:
    metric = Plain()
    sample = Sample(retrieved_documents=["a"], rubric={1: "bad"})

    assert metric.score(sample) == run(metric.program(sample), metric.models)


def test_a_program_asks_nothing_before_it_is_driven() -> None:
    llm = Counting()
    sample = Sample(response="a rose")
    started = Colour().program(sample)

    assert not isinstance(started, Score)
    assert llm.asks == []
    assert run(started, llm) == Colour(llm=llm).score(sample)


def test_lists_are_each_metrics_own_within_a_row() -> None:
    @dataclass(frozen=True)
    class Clearing(Metric):
        scale = (0.0, 9.0)

        def measure(self, retrieved_contexts: list[str]) -> Score:
            found = len(retrieved_contexts)
            retrieved_contexts.clear()
            return Score(float(found))

    metrics = [Clearing(), Clearing(name="again")]
    result = evaluate([{"retrieved_contexts": ["a", "b"]}], metrics, progress=False)
    assert [scores[0].value for scores in result.scores.values()] == [2.0, 2.0]


def test_an_input_that_may_be_empty_says_so() -> None:
    item = Input("response", "text", takes_empty=True)
    assert repr(item) == "Input('response', 'text', takes_empty=True)"
    assert item.to_dict() == {"name": "response", "kind": "text", "required": True, "takes_empty": True}
    for copied in (Input(**item.to_dict()), pickle.loads(pickle.dumps(item))):
        assert (copied, copied.kind, copied.required, copied.takes_empty) == ("response", "text", True, True)
    assert "takes_empty" not in Input("response", "text").to_dict()


def test_a_metric_may_have_a_value_where_nothing_was_retrieved_or_answered() -> None:
    @dataclass(frozen=True)
    class Silent(Metric):
        takes_empty: ClassVar[tuple[str, ...]] = ("response", "retrieved_contexts")

        def measure(self, response: str, retrieved_contexts: list[str]) -> Score:
            return Score(1.0 if not response.strip() and not retrieved_contexts else 0.0)

    assert Silent().score(response=" ", retrieved_contexts=[]).value == 1.0
    with pytest.raises(MissingInput, match="silent needs 'response', which is missing"):
        Silent().score(retrieved_contexts=[])


@pytest.mark.parametrize("ends", [(0.0, math.inf), (-math.inf, math.inf), (1.0, 0.0)])
def test_a_scale_without_two_ends_is_refused_before_any_question(ends: tuple[float, float]) -> None:
    class Latency(Metric):
        scale = ends

        def measure(self, response: str) -> Score:
            return Score(float(len(response)))

    with pytest.raises(InvalidInput) as caught:
        Latency()
    assert str(caught.value) == (
        f"latency: a scale must be two finite numbers, the lower first, got {ends!r}: use None if unknown"
    )
