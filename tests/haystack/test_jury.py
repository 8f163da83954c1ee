"""A jury as a component: each juror by its own generator, nothing lost when it is saved, nothing loaded that is not trusted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.errors import DeserializationError, SerializationError
from haystack.utils import Secret

from haystack import Pipeline
from ragmetrics_core import InvalidInput
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Correctness, Jury
from ragmetrics_haystack import HaystackLLM, MetricEvaluator

ROW = {"user_input": ["When?"], "response": ["In 1889."], "reference": ["In 1889."]}


@pytest.fixture
def grader(sync_judge: Any) -> Callable[[float], Any]:
    """Makes a generator that can only block, and gives this grade."""
    return lambda grade: sync_judge(json.dumps({"score": grade, "reason": "so"}))


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_each_juror_is_asked_by_its_own_generator(grader: Any, *, asynchronous: bool) -> None:
    own, given = grader(2), grader(5)
    jury = Jury([Correctness(llm=HaystackLLM(own), name="own"), Correctness(name="given")])
    component = MetricEvaluator(jury, chat_generator=given, progress_bar=False)
    outputs = asyncio.run(component.run_async(**ROW)) if asynchronous else component.run(**ROW)
    assert outputs["individual_scores"] == [3.5]
    assert [item["value"] for item in outputs["results"][0]["details"]["jurors"]] == [2.0, 5.0]
    assert (len(own.conversations), len(given.conversations)) == (1, 1)
    assert outputs["meta"]["usage"]["calls"] == 2


def test_the_generators_of_jurors_are_warmed_up_too(grader: Any) -> None:
    generators = [grader(2), grader(3), grader(4)]
    jury = Jury([Correctness(llm=HaystackLLM(item), name=f"{place}") for place, item in enumerate(generators)])
    MetricEvaluator(jury, progress_bar=False).warm_up()
    assert [item.warmed_up for item in generators] == [1, 1, 1]


def test_the_generators_of_jurors_are_saved() -> None:
    """In YAML, with those of a jury inside a jury, and without any key."""
    secret = Secret.from_env_var("OPENAI_API_KEY", strict=False)
    small, large = (OpenAIChatGenerator(model=model, api_key=secret) for model in ("small", "large"))
    inner = Jury([Correctness(llm=HaystackLLM(large), name="c"), Correctness(name="d")], name="inner")
    jury = Jury([Correctness(llm=HaystackLLM(small, json_mode=False), name="a"), Correctness(name="b"), inner])
    pipeline = Pipeline()
    pipeline.add_component(
        "jury", MetricEvaluator(jury, chat_generator=OpenAIChatGenerator(model="usual", api_key=secret))
    )
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("jury")
    assert loaded.metric == jury
    assert loaded.to_dict() == pipeline.get_component("jury").to_dict()
    first, second, (third, fourth) = (*loaded.metric.jurors[:2], loaded.metric.jurors[2].jurors)
    assert [item.llm and item.llm.chat_generator.model for item in (first, second, third, fourth)] == [
        "small",
        None,
        "large",
        None,
    ]
    assert first.llm.json_mode is False
    assert loaded.chat_generator.model == "usual"


@pytest.mark.parametrize("saved", [{}, [{}], [{}, None]])
def test_models_of_another_number_of_jurors(saved: Any) -> None:
    data = MetricEvaluator(Jury([Correctness(), Correctness(threshold=3.0)])).to_dict()
    data["init_parameters"]["juror_models"] = saved
    with pytest.raises(InvalidInput) as caught:
        MetricEvaluator.from_dict(data)
    assert str(caught.value) == "MetricEvaluator: juror_models must be a list with a mapping for each of 2 jurors"


def test_models_of_jurors_are_not_lost_in_silence() -> None:
    jury = Jury([Correctness(llm=LexicalJudge(), name="a"), Correctness(name="b")])
    with pytest.raises(SerializationError, match="^correctness_jury has its own llm, which cannot be saved"):
        MetricEvaluator(jury).to_dict()


def test_a_jury_of_different_metrics_is_saved_and_loaded() -> None:
    jury = Jury([Correctness(), Correctness(threshold=3.0, name="mild")])
    pipeline = Pipeline()
    pipeline.add_component("jury", MetricEvaluator(jury))
    assert Pipeline.loads(pipeline.dumps()).get_component("jury").metric == jury


@pytest.mark.parametrize(
    "written", [lambda jurors: jurors, lambda jurors: {"json_text": json.dumps(jurors)}], ids=["plain", "text"]
)
def test_a_juror_of_a_module_that_is_not_trusted_is_not_loaded(written: Any) -> None:
    saved = MetricEvaluator(Jury([Correctness(), Correctness(threshold=3.0)])).to_dict()
    nested = {"metric": "Jury", "settings": {"jurors": written([{"metric": "os:path"}, {"metric": "Correctness"}])}}
    for jurors in ([{"metric": "os:path"}, {"metric": "Correctness"}], [nested, nested]):
        saved["init_parameters"]["metric"]["settings"]["jurors"] = written(jurors)
        with pytest.raises(DeserializationError, match="os"):
            MetricEvaluator.from_dict(saved)
