"""What users put in place of Haystack's words: templates, instructions, examples. It is sent, or an error says that it is not."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
from haystack.components.builders import PromptBuilder
from haystack.components.evaluators import LLMEvaluator as HaystackLLMEvaluator
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import SerializationError

from haystack import Document, component
from ragmetrics_haystack import ContextRelevanceEvaluator, FaithfulnessEvaluator, LLMEvaluator

ROW = {"questions": ["q"], "contexts": [["c"]], "predicted_answers": ["a"]}
GOOD = '{"statements": ["s"], "statement_scores": [1]}'
GIVEN: dict[Any, Any] = {
    FaithfulnessEvaluator: {"statements": ["A."], "reasons": ["So."], "statement_scores": [1]},
    ContextRelevanceEvaluator: {"relevant_statements": ["C"]},
}
OWN = {
    "inputs": {"questions": "Q", "contexts": ["C"], "predicted_answers": "A"},
    "outputs": {"statements": ["A."], "statement_scores": [1]},
}


def own(instructions: str, generator: Any, cls: Any = LLMEvaluator) -> Any:
    return cls(instructions, [("questions", list[str])], ["score"], [], False, chat_generator=generator)


@pytest.mark.parametrize(
    ("instructions", "template"),
    [
        ("Given {{ questions }}, is it so?", "{{ questions }}"),
        ("Given {{-questions | upper}}, is it so?", "{{-questions | upper}}"),
        ("{% if questions %}Is it so?{% endif %}", "{% if questions %}"),
    ],
)
def test_a_template_in_the_instructions_is_warned_of(
    judge: Any, caplog: pytest.LogCaptureFixture, instructions: str, template: str
) -> None:
    generator = judge('{"score": 1}')
    evaluator = own(instructions, generator)
    assert (
        f"LLMEvaluator: the instructions are sent as they stand, and {template} in them is no template." in caplog.text
    )
    evaluator.run(questions=["q"])
    assert instructions in generator.conversations[0][0].text


@pytest.mark.parametrize("instructions", ["Is it so?", "Is {{ this }} so?", 'Reply {"questions": {}}', "{questions}"])
def test_other_braces_are_no_template(judge: Any, caplog: pytest.LogCaptureFixture, instructions: str) -> None:
    own(instructions, judge("{}"))
    assert [item for item in caplog.records if item.levelno >= logging.WARNING] == []


TEMPLATE = "Say of {{ questions }} whether it is so. {% if questions %}Reply with JSON.{% endif %}"


def test_an_overridden_template_is_what_is_sent(judge: Any) -> None:
    sent = []
    for base in (HaystackLLMEvaluator, LLMEvaluator):

        @component
        class Templated(base):  # type: ignore[misc,valid-type]
            def prepare_template(self) -> str:
                return TEMPLATE

        generator = judge('{"score": 1}')
        evaluator = own("ignored {{ questions }}", generator, Templated)
        assert evaluator.run(questions=["x", "{{ y }}"])["results"] == [{"score": 1}] * 2
        assert isinstance(evaluator.builder, PromptBuilder)
        sent.append([messages[0].text for messages in generator.conversations])
    assert sent[0] == sent[1] == [f"Say of {value} whether it is so. Reply with JSON." for value in ("x", "{{ y }}")]


def test_an_overridden_template_of_a_scored_evaluator(judge: Any) -> None:
    @component
    class Templated(FaithfulnessEvaluator):
        def prepare_template(self) -> str:
            return "{{ questions }}|{{ contexts[0] }}|{{ predicted_answers }}"

    replies = iter(["what?", GOOD])
    generator = judge(lambda text: next(replies))
    outputs = Templated(chat_generator=generator, progress_bar=False).run(**ROW)
    assert outputs["individual_scores"] == [1.0]
    first, again = generator.conversations
    assert [message.text for message in first] == ["q|c|a"]
    assert [message.text for message in again][:2] == ["q|c|a", "what?"]
    assert Templated(chat_generator=MockChatGenerator(GOOD)).to_dict()["type"] == f"{__name__}.Templated"


def test_a_builder_that_is_set_is_used(judge: Any) -> None:
    generator = judge('{"score": 1}')
    evaluator = own("Is it so?", generator)
    assert evaluator.builder is None
    evaluator.builder = PromptBuilder(template="Is {{ questions }} so?")
    evaluator.run(questions=["it"])
    assert [message.text for message in generator.conversations[0]] == ["Is it so?"]
    with pytest.raises(SerializationError, match="^this LLMEvaluator has its own builder, which cannot be saved"):
        evaluator.to_dict()


@pytest.mark.parametrize("cls", [FaithfulnessEvaluator, ContextRelevanceEvaluator])
def test_instructions_that_are_set_are_sent(judge: Any, cls: Any) -> None:
    generator = judge(json.dumps({**json.loads(GOOD), "relevant_statements": ["c"]}))
    evaluator = cls(chat_generator=generator, progress_bar=False)
    before = evaluator._row_metric().prompt
    evaluator.instructions = "Mind the gap."
    evaluator.run(**{name: ROW[name] for name in dict(evaluator.inputs)})
    (message,) = generator.conversations[0]
    assert message.text.startswith("Mind the gap.\n\n")
    assert before.instructions not in message.text
    with pytest.raises(
        SerializationError, match=f"^the instructions of this {cls.__name__} were changed, which cannot"
    ):
        evaluator.to_dict()


def sent_by(judge: Any, examples: list[dict[str, Any]] | None) -> str:
    generator = judge(GOOD)
    evaluator = FaithfulnessEvaluator(examples, chat_generator=generator, progress_bar=False)
    assert evaluator.run(**ROW)["score"] == 1.0
    return generator.conversations[0][0].text


def test_examples_without_reasons_get_a_form_without_reasons(judge: Any) -> None:
    with_reasons = {**OWN, "outputs": {"statement_scores": [1], "statements": ["A."], "reasons": ["C says so."]}}
    assert '"reasons"' in sent_by(judge, None)
    assert "reasons" not in sent_by(judge, [OWN])
    assert "give a score: 1 if" in sent_by(judge, [OWN])
    text = sent_by(judge, [with_reasons])
    assert 'Reply: {"statements": ["A."], "reasons": ["C says so."], "statement_scores": [1]}' in text
    assert text.count('"reasons"') == 2


def test_documents_are_shown_by_their_content(judge: Any) -> None:
    generator = judge(GOOD)
    evaluator = FaithfulnessEvaluator(chat_generator=generator, progress_bar=False)
    evaluator.run(**{**ROW, "contexts": [[Document(content="c", meta={"secret": 1})]]})
    assert generator.conversations[0][0].text.endswith('Data: {"question": "q", "contexts": ["c"], "answer": "a"}')


@pytest.mark.parametrize("cls", [FaithfulnessEvaluator, ContextRelevanceEvaluator])
def test_the_words_for_one_message_have_a_version_of_their_own(judge: Any, cls: Any) -> None:
    inputs = {
        name: value
        for name, value in OWN["inputs"].items()
        if cls is FaithfulnessEvaluator or name != "predicted_answers"
    }
    examples = [{"inputs": inputs, "outputs": GIVEN[cls]}]
    assert cls(chat_generator=judge(GOOD))._row_metric().prompt.version == "haystack-5"
    assert re.fullmatch(
        r"haystack-5\+[0-9a-f]{6}", cls(examples=examples, chat_generator=judge(GOOD))._row_metric().prompt.version
    )


def test_instructions_of_the_user_differ_in_their_version(judge: Any) -> None:
    versions = [own(words, judge("{}"))._row_metric().prompt.version for words in ("Is it so?", "Is it?", "Is it?")]
    assert re.fullmatch(r"1\+[0-9a-f]{6}", versions[0])
    assert versions[0] != versions[1] == versions[2]
