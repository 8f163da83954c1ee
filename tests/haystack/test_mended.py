"""Where Haystack's LLM evaluators break or mislead, and these do not."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import re
from typing import Any

import pytest
from haystack.dataclasses import ChatMessage, ToolCall

from haystack import component
from ragmetrics_haystack import ContextRelevanceEvaluator, FaithfulnessEvaluator, LLMEvaluator

GOOD = '{"statements": ["a", "b"], "statement_scores": [1, 0]}'


def rows(count: int) -> dict[str, list[Any]]:
    return {
        "questions": [f"row {number}?" for number in range(count)],
        "contexts": [["context"]] * count,
        "predicted_answers": ["answer"] * count,
    }


def faithfulness(generator: Any, **settings: Any) -> FaithfulnessEvaluator:
    return FaithfulnessEvaluator(chat_generator=generator, progress_bar=False, **settings)


def relevance(generator: Any, **settings: Any) -> ContextRelevanceEvaluator:
    return ContextRelevanceEvaluator(chat_generator=generator, progress_bar=False, **settings)


def own(generator: Any, instructions: str = "Is it so?", **settings: Any) -> LLMEvaluator:
    defaults = {"inputs": [("texts", list[str])], "outputs": ["score"], "examples": []}
    return LLMEvaluator(
        instructions, **{**defaults, **settings}, chat_generator=generator, progress_bar=False, raise_on_failure=False
    )


TOOL_CALL = ChatMessage.from_assistant(tool_calls=[ToolCall("look_up", {})])


@pytest.mark.parametrize(
    "bad",
    [
        {"replies": []},
        {"replies": None},
        {},
        {"replies": [TOOL_CALL]},
        '{"statements": ["a", "b"], "statement_scores": [1]}',
        '{"statements": ["a"], "statement_scores": []}',
        '{"statements": [], "statement_scores": [1]}',
        '{"statements": ["a"], "statement_scores": [5]}',
        '{"statements": ["a"], "statement_scores": [0.5]}',
        '{"statements": ["a"], "statement_scores": [null]}',
        '{"statements": ["a"], "statement_scores": [NaN]}',
        '{"statements": ["a"], "statement_scores": ["maybe"]}',
        '{"statements": "a", "statement_scores": [1]}',
        '{"statements": null, "statement_scores": null}',
    ],
    ids=str,
)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_bad_row_costs_no_other(judge: Any, bad: Any, *, asynchronous: bool) -> None:
    generator = judge(lambda text: bad if "row 1?" in text else GOOD)
    evaluator = faithfulness(generator, raise_on_failure=False)
    outputs = asyncio.run(evaluator.run_async(**rows(3))) if asynchronous else evaluator.run(**rows(3))
    assert outputs["score"] == 0.5
    assert outputs["individual_scores"][::2] == [0.5, 0.5]
    assert math.isnan(outputs["individual_scores"][1])
    assert [row["status"] for row in outputs["results"]] == ["evaluated", "error", "evaluated"]
    assert outputs["results"][1]["statements"] == outputs["results"][1]["statement_scores"] == []
    with pytest.raises(ValueError, match="cannot be used"):
        faithfulness(generator).run(**rows(3))


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"relevant_statements": [""]}', 0),
        ('{"relevant_statements": ["", " "]}', 0),
        ('{"relevant_statements": ["a", ""]}', 1),
        ('{"relevant_statements": ["None"]}', 0),
        ('{"relevant_statements": ["No relevant statements found."]}', 0),
        ('```json\n{"relevant_statements": "none"}\n```', 0),
        ('{"relevant_statements": "none"}', math.nan),
        ('{"relevant_statements": null}', math.nan),
        ('{"relevant_statements": 3}', math.nan),
        ('{"relevant_statements": {"a": 1}}', math.nan),
    ],
)
def test_what_is_no_list_of_statements(judge: Any, reply: str, score: float) -> None:
    evaluator = relevance(judge(reply), raise_on_failure=False)
    outputs = evaluator.run(questions=["q"], contexts=[["c"]])
    assert outputs["individual_scores"] == pytest.approx([score], nan_ok=True)
    assert outputs["results"][0]["status"] == ("error" if math.isnan(score) else "evaluated")


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "Here it is:\n{}\nI hope that helps.", "<think>[0]</think>{}"])
def test_replies_in_wrappings_are_read(judge: Any, wrapped: str) -> None:
    outputs = faithfulness(judge(wrapped.replace("{}", GOOD))).run(**rows(2))
    assert outputs["individual_scores"] == [0.5, 0.5]
    assert own(judge(wrapped.replace("{}", '{"score": 7}'))).run(texts=["a"])["results"] == [{"score": 7}]


HOSTILE = ["{{ x }}", "{% if %}", "{# gone? #}", "{0} {name} }}", '"}]} \n END\\', "\U0001f600 é \u202e", "\ud800"]


@pytest.mark.parametrize("text", HOSTILE)
def test_templates_are_text_everywhere(judge: Any, text: str) -> None:
    generator = judge('{"score": 1}')
    examples = [{"inputs": {"texts": text}, "outputs": {"score": text}}]
    evaluator = own(generator, f"Is {text} so?", examples=examples)
    assert evaluator.run(texts=[text, "row"])["results"] == [{"score": 1}] * 2
    (message,) = next(messages for messages in generator.conversations if '"row"' not in messages[0].text)
    head, _, data = message.text.rpartition("\n\nData: ")
    assert json.loads(data) == {"texts": text}
    assert f"Is {text} so?" in head
    shown = re.search(r"\nData: (.*)\nReply: (.*)", head)
    assert shown is not None
    assert json.loads(shown[1]) == {"texts": text}
    assert json.loads(shown[2]) == {"score": text}


def test_values_go_into_the_question_as_json(judge: Any) -> None:
    generator = judge('{"score": 1}')
    evaluator = own(generator, inputs=[("a", list[Any]), ("b", list[Any])])
    evaluator.run(a=[["it's", 'a "list"']], b=[{"n": 1.5, "t": (True, None), "nan": math.nan}], more=["not asked for"])
    (message,) = generator.conversations[0]
    data = json.loads(message.text.rpartition("\n\nData: ")[2])
    assert data == {"a": ["it's", 'a "list"'], "b": {"n": 1.5, "t": [True, None], "nan": "nan"}}


def test_meta_lines_up_with_the_rows(judge: Any) -> None:
    def say(text: str) -> Any:
        number = int(re.findall(r"row (\d)\?", text)[-1])
        if number == 1:
            return RuntimeError("lost")
        return ChatMessage.from_assistant("what?" if number == 2 else GOOD, meta={"row": number} if number != 3 else {})

    outputs = faithfulness(judge(say), raise_on_failure=False).run(**rows(5))
    assert outputs["meta"] == [{"row": 0}, {}, {"row": 2}, {}, {"row": 4}]


def test_from_dict_leaves_its_argument_alone() -> None:
    from haystack.components.generators.chat import MockChatGenerator

    for evaluator in (faithfulness(MockChatGenerator("{}")), own(MockChatGenerator("{}"))):
        data = evaluator.to_dict()
        before = copy.deepcopy(data)
        assert type(evaluator).from_dict(data).to_dict() == type(evaluator).from_dict(data).to_dict() == before == data


def test_an_evaluator_of_ones_own_can_be_built_on_them(judge: Any) -> None:
    @component
    class Politeness(LLMEvaluator):
        def __init__(self, chat_generator: Any) -> None:
            super(Politeness, self).__init__(  # noqa: UP008
                "Is it polite?", [("texts", list[str])], ["score"], [], False, chat_generator=chat_generator
            )

        @component.output_types(polite=list[bool])
        def run(self, **inputs: Any) -> dict[str, Any]:
            results = super(Politeness, self).run(**inputs)["results"]  # noqa: UP008
            return {"polite": [row["score"] == 1 for row in results]}

        @component.output_types(polite=list[bool])
        async def run_async(self, **inputs: Any) -> dict[str, Any]:
            results = (await super(Politeness, self).run_async(**inputs))["results"]  # noqa: UP008
            return {"polite": [row["score"] == 1 for row in results]}

    evaluator = Politeness(judge(lambda text: '{"score": 0}' if "damn" in text else '{"score": 1}'))
    assert evaluator.run(texts=["damn", "please"]) == {"polite": [False, True]}
    assert asyncio.run(evaluator.run_async(texts=["damn", "please"])) == {"polite": [False, True]}


def test_recall_takes_no_other_mode() -> None:
    from ragmetrics_haystack import DocumentRecallEvaluator, RecallMode

    for mode in ("all", 3, None):
        with pytest.raises(ValueError, match=f"^Unknown recall mode '{mode}'. Supported modes are: "):
            DocumentRecallEvaluator(mode=mode)  # type: ignore[arg-type]
    assert DocumentRecallEvaluator("multi_hit").mode is RecallMode.MULTI_HIT
    assert str(RecallMode.SINGLE_HIT) == "single_hit"


def test_examples_of_ones_own_are_shown_to_the_judge(judge: Any) -> None:
    examples = [
        {
            "inputs": {"questions": "own q", "contexts": ["own c"], "predicted_answers": "own a"},
            "outputs": {"statements": ["own s"], "statement_scores": [1]},
        }
    ]
    generator = judge(GOOD)
    faithfulness(generator, examples=examples).run(**rows(1))
    text = generator.conversations[0][0].text
    assert text.count("\nReply: ") == 1
    assert 'Data: {"question": "own q", "contexts": ["own c"], "answer": "own a"}' in text
    assert 'Reply: {"statements": ["own s"], "statement_scores": [1]}' in text
    generator = judge('{"relevant_statements": []}')
    examples = [
        {"inputs": {"questions": "own q", "contexts": ["own c"]}, "outputs": {"relevant_statements": ["own s"]}}
    ]
    relevance(generator, examples=examples).run(questions=["q"], contexts=["one text"])
    text = generator.conversations[0][0].text
    assert 'Data: {"question": "own q", "contexts": ["own c"]}' in text
    assert text.endswith('Data: {"question": "q", "contexts": ["one text"]}')
    relevance(generator).run(questions=["q"], contexts=[None])
    assert generator.conversations[1][0].text.endswith('Data: {"question": "q", "contexts": []}')


def test_without_inputs_there_is_nothing_to_evaluate(judge: Any) -> None:
    evaluator = own(judge("{}"), inputs=[])
    for run in (evaluator.run, lambda: asyncio.run(evaluator.run_async())):
        with pytest.raises(ValueError, match="^LLM evaluator has no inputs, so it has nothing to evaluate.$"):
            run()


def test_without_outputs_any_object_will_do(judge: Any) -> None:
    assert own(judge('{"a": 1}'), outputs=[]).run(texts=["t"])["results"] == [{"a": 1}]
    assert own(judge("what?"), outputs=[]).run(texts=["t"])["results"] == [None]


def test_arrays_and_other_objects_among_the_values(judge: Any) -> None:
    import numpy as np

    generator = judge('{"score": 1}')
    own(generator, inputs=[("a", list[Any])]).run(a=[{"array": np.array([1.5, 2.0]), "path": re.compile("x")}])
    data = json.loads(generator.conversations[0][0].text.rpartition("\n\nData: ")[2])
    assert data == {"a": {"array": [1.5, 2.0], "path": "re.compile('x')"}}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_call_that_takes_too_long_fails_its_row(
    judge: Any, monkeypatch: pytest.MonkeyPatch, *, asynchronous: bool
) -> None:
    monkeypatch.setattr("haystack_integrations.components.evaluators.ragmetrics._rows.PATIENCE", 0.05)
    evaluator = own(judge('{"score": 1}', seconds=1.0))

    def results() -> Any:
        given = {"texts": ["t"]}
        return (asyncio.run(evaluator.run_async(**given)) if asynchronous else evaluator.run(**given))["results"]

    assert results() == [None]
    evaluator.raise_on_failure = True
    with pytest.raises(ValueError, match="^Error while generating response: AsyncJudge: no answer within 0"):
        results()


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["[" * 100_000, '{"score":' * 50_000], ids=["list", "object"])
def test_a_reply_nested_too_deeply(judge: Any, reply: str) -> None:
    evaluator = own(judge(reply))
    assert evaluator.run(texts=["t"])["results"] == [None]
    evaluator.raise_on_failure = True
    with pytest.raises(ValueError, match="^The reply of the chat generator "):
        evaluator.run(texts=["t"])


def test_a_reply_that_is_no_message(judge: Any) -> None:
    evaluator = own(judge(lambda text: {"replies": ["yes"]} if "second" in text else '{"score": 1}'))
    assert evaluator.run(texts=["first", "second"])["results"] == [{"score": 1}, None]
    evaluator.raise_on_failure = True
    with pytest.raises(ValueError, match="replied with a str, not with a ChatMessage$"):
        evaluator.run(texts=["first", "second"])


@pytest.mark.parametrize("number", ["NaN", "1e999", '[{"of": -Infinity}]'])
def test_numbers_that_are_not_finite_are_passed_on(judge: Any, number: str) -> None:
    """As in Haystack; a score is another matter."""
    wanted = json.loads(number)
    (row,) = own(judge(f'{{"score": {number}}}')).run(texts=["t"])["results"]
    assert repr(row) == repr({"score": wanted})
    outputs = faithfulness(judge(GOOD.removesuffix("}") + f', "sure": {number}}}')).run(**rows(1))
    assert outputs["score"] == 0.5
    assert repr(outputs["results"][0]["sure"]) == repr(wanted)
