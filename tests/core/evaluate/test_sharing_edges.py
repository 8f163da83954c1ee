"""What a row shares is shared only where it is the same, whatever it contains and however it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from ragmetrics_core import Ask, Example, Message, Metric, Prompt, Reply, Sample, Score, Steps, evaluate
from ragmetrics_core.metrics import Diagnosis, Faithfulness, Jury
from ragmetrics_core.replies import JsonReply


class WordList(BaseModel):
    words: list[str]


WORDS: Prompt[WordList] = Prompt("Which words?", JsonReply(WordList), name="words")

ROW: dict[str, Any] = {
    "user_input": "Where?",
    "response": "Here.",
    "reference": "Here.",
    "retrieved_contexts": ["one", "two"],
    "number": 3,
    "records": [{"a": 1}, {"b": [2]}],
    "ones": [1],
    "truths": [True],
    "floats": [1.0],
}


@dataclass
class Words:
    """Tells no words; keeps what it is sent. It does not say what it is, so nothing of it is stored."""

    instant: bool = True
    sent: list[tuple[str, ...]] = field(default_factory=list)

    def generate(self, ask: Ask) -> str:
        self.sent.append(tuple(message.content for message in ask.messages))
        return '{"words": []}'


JUDGES = [True, False]


@dataclass(frozen=True)
class Records(Metric):
    def measure(self, records: list[Any]) -> Steps[Score]:
        yield from WORDS.ask(data=records)
        return Score(1.0)


@dataclass(frozen=True)
class Ones(Metric):
    def measure(self, ones: list[Any]) -> Steps[Score]:
        yield from WORDS.ask(data=ones)
        return Score(1.0)


@dataclass(frozen=True)
class Truths(Metric):
    def measure(self, truths: list[Any]) -> Steps[Score]:
        yield from WORDS.ask(data=truths)
        return Score(1.0)


@dataclass(frozen=True)
class Floats(Metric):
    def measure(self, floats: list[Any]) -> Steps[Score]:
        yield from WORDS.ask(data=floats)
        return Score(1.0)


@pytest.mark.parametrize("instant", JUDGES)
def test_columns_of_anything_are_sent_as_they_are(instant: bool) -> None:
    """Records have no hash, and 1, True and 1.0 are equal."""
    llm = Words(instant)
    evaluate([ROW], [Records(), Ones(), Truths(), Floats()], llm=llm, progress=False).raise_for_errors()
    data = ['{"data": [{"a": 1}, {"b": [2]}]}', '{"data": [1]}', '{"data": [true]}', '{"data": [1.0]}']
    assert [messages[1] for messages in llm.sent] == data


@dataclass(frozen=True)
class Relabelled(Metric):
    """Puts something else in the place of the contexts it was given."""

    def measure(self, retrieved_contexts: list[Any]) -> Steps[Score]:
        for place, text in enumerate(retrieved_contexts):
            retrieved_contexts[place] = {"text": text}
        yield from WORDS.ask(data=retrieved_contexts)
        return Score(1.0)


@dataclass(frozen=True)
class Spoiling(Metric):
    """Changes its contexts; beside them it takes what no list is."""

    def measure(self, retrieved_contexts: list[str], number: int) -> Score:
        retrieved_contexts.append(f"spoilt {number}")
        return Score(1.0)


@dataclass(frozen=True)
class Shown(Metric):
    prompt: Prompt[WordList] = WORDS

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        yield from self.prompt.ask(data=retrieved_contexts)
        return Score(1.0)


@pytest.mark.parametrize("instant", JUDGES)
def test_contexts_that_a_metric_changes_are_its_own(instant: bool) -> None:
    llm = Words(instant)
    metrics = [Spoiling(), Spoiling(name="again"), Relabelled(), Shown()]
    evaluate([ROW], metrics, llm=llm, progress=False).raise_for_errors()
    assert [messages[1] for messages in llm.sent] == [
        '{"data": [{"text": "one"}, {"text": "two"}]}',
        '{"data": ["one", "two"]}',
    ]


@dataclass(frozen=True, repr=False)
class Formed(Prompt[WordList]):
    """Has an additional field, and writes its data itself."""

    form: str = "formed"

    def data(self, inputs: Any) -> str:
        return super().data(inputs)


@dataclass(frozen=True, repr=False)
class Fielded(Prompt[WordList]):
    """Has an additional field."""

    form: str = "formed"


@pytest.mark.parametrize("instant", JUDGES)
def test_fields_of_a_prompt_of_ones_own_say_nothing_of_what_it_asks(instant: bool) -> None:
    prompts = [Fielded(words, JsonReply(WordList)) for words in ("First?", "Second?")]
    llm = Words(instant)
    metrics = [Shown(prompt, name=prompt.instructions) for prompt in prompts]
    evaluate([ROW], metrics, llm=llm, progress=False).raise_for_errors()
    assert [messages[0] for messages in llm.sent] == [prompt.system for prompt in prompts]


@dataclass(frozen=True)
class Sending(Metric):
    """Writes the question of ``Shown`` out itself."""

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        inputs = {"data": list(retrieved_contexts)}
        yield (Ask(WORDS.messages(inputs), WORDS.reply, WORDS, inputs),)
        return Score(1.0)


SAME: list[Metric] = [
    Shown(name="usual"),
    Sending(),
    Shown(WORDS.replace(name="renamed"), name="renamed"),
    Shown(Formed("Which words?", JsonReply(WordList)), name="formed"),
]


@pytest.mark.parametrize("instant", JUDGES)
@pytest.mark.parametrize("first", range(len(SAME)))
def test_a_question_is_asked_once_by_whatever_prompt_it_was_written(instant: bool, first: int) -> None:
    llm = Words(instant)
    metrics = SAME[first:] + SAME[:first]
    result = evaluate([ROW], metrics, llm=llm, progress=False)
    result.raise_for_errors()
    assert len(llm.sent) == 1
    assert [result.scores[metric.name][0].usage.cached_calls for metric in metrics] == [0, 1, 1, 1]


@dataclass
class ClaimJudge:
    """Finds two claims, and supports both by the first context; may change what it is asked about."""

    instant: bool = True
    changes: Callable[[Any], object] = len
    asked: list[str] = field(default_factory=list)

    def generate(self, ask: Ask) -> str:
        self.asked.append(ask.messages[1].content)
        self.changes(ask.inputs.get("contexts", []))
        if "answer" in ask.inputs:
            return '{"claims": ["It is here.", "It is."]}'
        if "claims" not in ask.inputs:
            return '{"reason": "r", "contexts_suffice": "yes", "response_declines": "no"}'
        verdicts = [{"number": number, "reason": "r", "for": [1], "against": []} for number in (1, 2)]
        return json.dumps({"verdicts": verdicts})


@pytest.mark.parametrize("instant", JUDGES)
def test_a_juror_shares_what_a_metric_asks(instant: bool) -> None:
    one, two = ClaimJudge(instant), ClaimJudge(instant)
    metrics = [Faithfulness(llm=one), Jury([Faithfulness(llm=one), Faithfulness(llm=two)])]
    for order in (metrics, metrics[::-1]):
        one.asked.clear()
        evaluate([ROW], order, progress=False).raise_for_errors()
        assert len(one.asked) == 2


@pytest.mark.parametrize("instant", JUDGES)
def test_what_a_model_does_to_its_inputs_changes_no_other_question(instant: bool) -> None:
    usual, changing = ClaimJudge(instant), ClaimJudge(instant, changes=lambda texts: texts.append("more"))
    evaluate([ROW], Diagnosis(), llm=usual, progress=False).raise_for_errors()
    evaluate([ROW], Diagnosis(), llm=changing, progress=False).raise_for_errors()
    assert changing.asked == usual.asked


class Unhashable:
    """A form of reply that equals all others."""

    schema = None
    __hash__ = None  # type: ignore[assignment]

    def instructions(self) -> str:
        return "Reply."

    def parse(self, text: str) -> str:
        return text


@dataclass(frozen=True)
class Odd(Metric):
    messages: Any = None
    reply: Any = WORDS.reply

    def measure(self, response: str) -> Steps[Score]:
        yield (Ask(self.messages, self.reply, WORDS, {"data": response}),)
        return Score(1.0)


@dataclass
class Deaf:
    instant: bool = True

    def generate(self, ask: Ask) -> str:
        return "yes"


@pytest.mark.parametrize("instant", JUDGES)
def test_questions_without_a_hash_are_refused_and_others_of_any_form_asked(instant: bool) -> None:
    message = Message("user", "Where?")
    for odd in (Odd([message]), Odd((message,), Unhashable()), Odd(({"role": "user"},))):
        with pytest.raises(TypeError, match="unhashable type"):
            evaluate([ROW], odd, llm=Deaf(instant), progress=False)
    for odd in (Odd(("Where?", "When?")), Odd(()), Odd((message,))):
        evaluate([ROW], odd, llm=Deaf(instant), progress=False).raise_for_errors()


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_a_driver_sends_its_replies_in_any_form(kind: Callable[[Iterable[Any]], Any]) -> None:
    program = Shown().program(Sample(retrieved_contexts=["one"]))
    next(program)
    with pytest.raises(StopIteration) as done:
        program.send(kind([Reply('{"words": []}')]))
    assert done.value.value.usage.calls == 1


@pytest.mark.parametrize("data", [["one"], "one", None])
def test_examples_may_be_anything_that_json_has(data: Any) -> None:
    assert f"Data: {json.dumps(data)}\n" in WORDS.replace(examples=(Example(data, {"words": []}),)).system
