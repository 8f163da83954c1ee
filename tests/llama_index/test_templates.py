"""Metrics in the words of a user: templates in the place of prompts, functions in the place of reply formats."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.prompts import PromptTemplate

from ragmetrics_core import BadReply, InvalidInput, Prompt, Score
from ragmetrics_core.metrics import Correctness, ExactMatch
from ragmetrics_core.replies import YesNoReply
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_llama_index._drop_in import Parser, with_prompts, without_scale
from ragmetrics_llama_index._evaluator import passes
from ragmetrics_llama_index._templates import Slot, with_template

PROMPT = Prompt("Is it so?", YesNoReply(), name="verdict", numbered=("items",))
FORM = YesNoReply().instructions()


def sent(text: str, slot: Slot, **inputs: Any) -> str:
    (message,) = with_template(PROMPT, PromptTemplate(text), slot).messages(inputs)
    assert message.role == "user"
    return message.content


@pytest.mark.parametrize(
    ("text", "slot", "words"),
    [
        ("{data}", Slot("p", adds_form=False), '{"claim": "c", "items": {"1": "i"}, "none": null}'),
        ("{claim}?", Slot("p"), f"c?\n\n{FORM}"),
        ("{claim}? {reply_form}", Slot("p"), f"c? {FORM}"),
        ("{items}", Slot("p", adds_form=False), '{"1": "i"}'),
        ("{q}: {c}", Slot("p", {"q": "Q {claim}"}, {"c": "{claim}!"}, adds_form=False), "Q c: c!"),
        ("{none}", Slot("p", adds_form=False), "null"),
        ("{none}", Slot("p", missing="(none)", adds_form=False), "(none)"),
    ],
    ids=["all data", "form added", "form within", "numbered", "named", "null", "missing"],
)
def test_what_a_template_sends(text: str, slot: Slot, words: str) -> None:
    assert sent(text, slot, claim="c", items=["i"], none=None) == words


def test_a_lone_surrogate_is_written_out() -> None:
    assert sent("{claim}", Slot("p", adds_form=False), claim="\ud800") == "\\ud800"


def test_a_template_that_shows_no_data_is_refused() -> None:
    with pytest.raises(InvalidInput) as raised:
        sent("{other} {reply_form}", Slot("p"), claim="c")
    assert str(raised.value) == (
        "the template for 'verdict' shows the judge no data: use at least one of {data}, {reply_form}, {claim} in it"
    )
    assert sent("{claim}", Slot("p"), claim="c") == f"c\n\n{FORM}"


def test_the_words_of_a_template_are_its_version() -> None:
    first, second = (
        with_template(PROMPT, PromptTemplate("{claim}"), Slot("p")),
        with_template(PROMPT, PromptTemplate("{claim}?"), Slot("p")),
    )
    assert (first.version, second.version) == ("template 296fb763", "template f6309974")
    assert first.system == "{claim}"
    assert first == with_template(PROMPT, PromptTemplate("{claim}"), Slot("p")) != second


def test_replies_are_read_by_the_prompt_that_is_replaced() -> None:
    words = with_template(with_prompts(Correctness(), check=None).grade, PromptTemplate("{data}"), Slot("grade"))
    metric = Correctness(llm=ScriptedLLM(['{"reason": "r", "score": 4}']), grade=words)
    score = metric.score(user_input="q", response="a", reference="r")
    assert (score.value, score.reason) == (4.0, "r")


def test_a_metric_without_its_scale() -> None:
    free = without_scale(ExactMatch())
    assert (free.scale, type(free).__name__, free.name) == (None, "ExactMatch", "exact_match")
    assert type(free) is type(without_scale(ExactMatch()))


def halved(text: str) -> float:
    return float(text) / 2


def test_a_function_reads_replies() -> None:
    parser = Parser(halved, lambda found, text: (found, text))
    assert parser.parse("3") == (1.5, "3")
    assert (parser.instructions(), parser.schema) == ("", None)
    with pytest.raises(BadReply) as raised:
        parser.parse("much")
    assert raised.value.raw == ("much",)
    assert raised.value.reason == (
        "Unable to parse the output string. ValueError: could not convert string to float: 'much'"
    )


def test_a_parser_is_a_function() -> None:
    given: Any = "3"
    with pytest.raises(InvalidInput) as raised:
        Parser(given, lambda found, text: found)
    assert str(raised.value) == "a parser must be a function of the text of a reply, got '3'"


@pytest.mark.parametrize(
    ("score", "threshold", "verdict"),
    [
        (Score(0.5), None, True),
        (Score(0.4), None, False),
        (Score(0.4), 0.3, True),
        (Score(0.4, passing=True), 0.9, True),
        (Score(3.0).made_by("m", (1.0, 5.0), Score(1.0).usage, {}), None, True),
        (Score(0.4).made_by("m", (-1.0, 1.0), Score(1.0).usage, {}), None, False),
        (Score.unscored("nothing"), None, None),
        (Score(0.5, details={"winner": "tie"}), None, None),
    ],
)
def test_whether_a_score_passes(score: Score, threshold: float | None, verdict: bool | None) -> None:
    assert passes(score, threshold) is verdict
