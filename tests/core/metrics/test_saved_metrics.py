"""A metric that was saved and loaded asks what it asked before, byte for byte, whatever the file did to the order of its keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from exchanges import EXCHANGES, WITH_EMBEDDINGS, prompts_of, with_own_words
from ragmetrics_core import Example, InvalidInput, Metric, Prompt, Score, Steps
from ragmetrics_core.metrics import NDCG, CustomJudge, Faithfulness, RubricScore, SinglePassFaithfulness, catalogue
from ragmetrics_core.replies import YesNoReply

JUDGE = CustomJudge(
    "Is it short?",
    ["user_input", "response"],
    ["why", "score"],
    [{"inputs": {"user_input": "q", "response": "a"}, "outputs": {"why": {"z": 1, "a": 2}, "score": 1}}],
)
RUBRIC = RubricScore({2: "poor", 10: "good"})
BY_HAND = [*(item.metric for item in [*EXCHANGES, WITH_EMBEDDINGS]), JUDGE, RUBRIC]
REST = [entry.cls() for entry in catalogue() if entry.cls not in {type(metric) for metric in BY_HAND}]


def jsonb(value: Any) -> Any:
    """The value as a database keeps it that sorts keys by their length first."""
    if isinstance(value, Mapping):
        return {key: jsonb(value[key]) for key in sorted(value, key=lambda key: (len(key), key))}
    return [jsonb(item) for item in value] if isinstance(value, list) else value


STORES: dict[str, Callable[[Any], Any]] = {
    "json": lambda data: json.loads(json.dumps(data)),
    "sorted": lambda data: json.loads(json.dumps(data, sort_keys=True)),
    "backwards": lambda data: json.loads(
        json.dumps(data), object_pairs_hook=lambda pairs: dict(sorted(pairs, reverse=True))
    ),
    "jsonb": jsonb,
}


@pytest.mark.parametrize("own", [False, True], ids=["built_in_words", "own_words"])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("metric", [*BY_HAND, *REST], ids=lambda metric: metric.name)
def test_what_is_sent_survives_every_store(metric: Metric, store: str, own: bool) -> None:
    metric = with_own_words(metric) if own else metric
    for defaults in (False, True):
        again = Metric.from_dict(STORES[store](metric.to_dict(defaults=defaults)))
        assert again == metric
        assert repr(again) == repr(metric)
        assert [prompt.system for prompt in prompts_of(again)] == [prompt.system for prompt in prompts_of(metric)]


def test_the_whole_catalogue_is_covered() -> None:
    assert {type(metric) for metric in [*BY_HAND, *REST]} == {entry.cls for entry in catalogue()}


@pytest.mark.parametrize("cls", [type(metric) for metric in REST] + [Faithfulness, SinglePassFaithfulness])
def test_what_is_as_by_default_is_not_written(cls: type[Metric]) -> None:
    assert cls().to_dict() == {"metric": cls.__name__, "settings": {}}
    every = {item.name for item in fields(cls) if item.compare}
    assert cls().to_dict(defaults=True)["settings"].keys() == every


def test_what_differs_is_written() -> None:
    assert NDCG(k=3, name="top").to_dict() == {"metric": "NDCG", "settings": {"name": "top", "k": 3}}
    assert RubricScore({2: "poor", 10: "good"}).to_dict()["settings"] == {
        "rubric": {"json_text": '{"2": "poor", "10": "good"}'}
    }


def test_a_change_of_nothing_but_order_is_written() -> None:
    judge = SinglePassFaithfulness().judge
    turned = [Example(dict(reversed(item.inputs.items())), item.output) for item in judge.examples]
    metric = SinglePassFaithfulness(judge=judge.replace(examples=turned))
    assert metric != SinglePassFaithfulness()
    again = SinglePassFaithfulness.from_dict(json.loads(json.dumps(metric.to_dict(), sort_keys=True)))
    assert again.judge.system == metric.judge.system != judge.system


def test_examples_are_equal_by_what_is_shown() -> None:
    one = Example({"a": 1, "b": 2}, {"c": 1})
    assert one == Example({"a": 1, "b": 2}, '{"c": 1}')
    assert hash(one) == hash(Example({"a": 1, "b": 2}, '{"c": 1}'))
    assert one != Example({"b": 2, "a": 1}, {"c": 1})
    assert one != "a"


def test_an_example_that_is_no_readable_text() -> None:
    prompt = SinglePassFaithfulness().judge.replace(examples=[Example({"z": "\ud800 é", "a": 1}, "yes")])
    (written,) = prompt.to_dict()["examples"]
    assert written == {"json_text": '{"inputs": {"z": "\\ud800 \\u00e9", "a": 1}, "output": "yes"}'}
    assert prompt.reworded(prompt.to_dict()) == prompt
    with pytest.raises(InvalidInput, match="every example must be a mapping with inputs and output"):
        prompt.reworded({"examples": [{"json_text": "{"}]})


def test_forms_of_earlier_versions_are_read() -> None:
    judge = SinglePassFaithfulness().judge
    examples = [{"inputs": item.inputs, "output": item.output} for item in judge.examples]
    wording = {
        "name": judge.name,
        "version": "1",
        "instructions": "Own words.",
        "examples": examples,
        "notice": judge.notice,
    }
    metric = Metric.from_dict(
        {"metric": "SinglePassFaithfulness", "settings": {"name": "single_pass_faithfulness", "judge": wording}}
    )
    assert metric == SinglePassFaithfulness(
        judge=judge.replace(instructions="Own words.", version=metric.judge.version)
    )  # type: ignore[attr-defined]
    assert Metric.from_dict({"metric": "RubricScore", "settings": {"rubric": {"10": "good", "2": "poor"}}}) == RUBRIC
    old = {
        "instructions": JUDGE.instructions,
        "inputs": [item.to_dict() for item in JUDGE.inputs],
        "outputs": ["why", "score"],
        "examples": [dict(item) for item in JUDGE.examples],
        "score_range": [0.0, 1.0],
    }
    assert Metric.from_dict({"metric": "CustomJudge", "settings": old}) == JUDGE


ASK = Prompt("?", YesNoReply())


@dataclass(frozen=True)
class Weighed(Metric):
    """Has settings of kinds that no built-in metric has."""

    weights: Mapping[str, float] = field(default_factory=lambda: {"b": 1.0, "a": 2.0})
    exact: Any = 1
    prompt: Prompt[bool] = ASK

    def measure(self, response: str) -> Steps[Score]:
        answer = yield from self.prompt.ask(weights=self.weights, exact=self.exact, response=response)
        return Score(float(answer))


@pytest.mark.parametrize(
    "metric",
    [
        Weighed(),
        Weighed({"a": 2.0, "b": 1.0}),
        Weighed({}),
        Weighed(exact=True),
        Weighed(exact=[{"z": 1, "a": [{"y": 0, "b": 1}]}]),
    ],
    ids=repr,
)
def test_settings_of_any_metric_keep_their_order(metric: Weighed) -> None:
    again = Weighed.from_dict(json.loads(json.dumps(metric.to_dict(), sort_keys=True)))
    assert repr((again.weights, again.exact)) == repr((metric.weights, metric.exact))
    assert set(metric.to_dict()["settings"]) == {
        name for name in ("weights", "exact") if repr(getattr(metric, name)) != repr(getattr(Weighed(), name))
    }


def test_a_text_that_is_no_json_is_named() -> None:
    with pytest.raises(InvalidInput, match="^Weighed: the setting 'weights' contains a text that is not JSON: "):
        Metric.from_dict({"metric": f"{__name__}:Weighed", "settings": {"weights": {"json_text": "{"}}})
