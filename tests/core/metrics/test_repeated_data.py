"""A judge that repeats the data of its prompt has judged nothing; one that then gives its verdict has."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from exchanges import EXCHANGES, WITH_EMBEDDINGS, Exchange, prompts_of
from ragmetrics_core import Ask, BadReply, Metric, ModelError, Prompt, Reply
from ragmetrics_core.replies import LinesReply, ObjectReply, RatingReply, ScoreReply, YesNoReply
from ragmetrics_core.testing import ScriptedLLM
from recording import VECTORS

pytestmark = pytest.mark.slow

REPEATED = "the reply only repeats the data; judge them, and reply with your own answer"

ALL = [*EXCHANGES, WITH_EMBEDDINGS]

FIELDS = {
    "reason": "r", "answer": "yes", "score": 4, "rating": 2, "verdict": "yes", "useful": True, "supported": True, "better": "A",
    "claims": ["Paris is in France."], "statements": [{"statement": "s", "score": 1}], "noncommittal": False,
    "verdicts": [{"number": 1, "reason": "r", "for": [1], "against": [], "supported": True}],
    "questions": ["When was she born?"], "contexts_suffice": "yes", "response_declines": "no", "feedback": "f", "passing": True,
}  # fmt: skip
TEXTS = {
    "yes": "yes",
    "sentence": "Yes. 4 of 5 say so.",
    "number": "4",
    "fields": json.dumps(FIELDS),
    "odd": 'He said "yes":\n\\t 4/5 — \u00fcber \U0001f600 {"answer": "yes"}, [1]',
}


def reversed_keys(data: str) -> str:
    return json.dumps(dict(reversed(json.loads(data).items())), ensure_ascii=False)


def reindented(data: str) -> str:
    return json.dumps(json.loads(data), indent=4, separators=(" ,", " : "))


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "bare": lambda data: data,
    "fenced": lambda data: f"```json\n{data}\n```",
    "introduced": lambda data: f"Here is the data:\n{data}",
    "introduced and fenced": lambda data: f"Sure! Here is the JSON you asked for:\n\n```json\n{data}\n```\n",
    "in a result": lambda data: json.dumps({"result": json.loads(data)}),
    "deep inside": lambda data: json.dumps({"response": {"data": [json.loads(data)]}}),
    "in a list": lambda data: f"[{data}, {data}]",
    "twice": lambda data: f"{data}\n\n{data}",
    "quoted inline": lambda data: f"The data was `{data}`.",
    "with words behind": lambda data: f"{data} is what I was given to judge.",
    "re-indented": reindented,
    "other order": reversed_keys,
    "escaped": json.dumps,
    "escaped inside": lambda data: json.dumps({"output": data}),
    "escaped twice": lambda data: json.dumps({"output": json.dumps({"data": data})}),
    "escaped for ASCII": lambda data: json.dumps(json.loads(data), ensure_ascii=True),
    "Python": lambda data: repr(json.loads(data)),
    "in tags": lambda data: f"<data>{data}</data>",
}


def rows(exchange: Exchange) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, text in TEXTS.items():
        row = dict(exchange.sample)
        for item in exchange.metric.inputs:
            value = row.get(item.name)
            if item.kind == "text" and value is not None:
                row[item.name] = text
            elif item.kind == "texts" and value is not None:
                row[item.name] = [text] * len(value)
        yield name, row


class Vectors:
    instant = True

    def embed(self, texts: Any) -> list[list[float]]:
        return [VECTORS.get(text, [1.0, 0.0]) for text in texts]


def value_of(metric: Metric, row: dict[str, Any], judge: Callable[[Ask], str]) -> float | None:
    models: Any = {"llm": ScriptedLLM(judge), "embeddings": Vectors()}
    try:
        return replace(metric, **models).score(row).value
    except ModelError:
        return None


@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_a_judge_that_repeats_its_data_gives_no_value(exchange: Exchange) -> None:
    believed = {}
    for name, row in rows(exchange):
        for wrapping, wrap in WRAPPINGS.items():
            value = value_of(exchange.metric, row, lambda ask, wrap=wrap: wrap(ask.messages[1].content))  # type: ignore[misc]
            if value is not None and not says_nothing(exchange, row):
                believed[name, wrapping] = value
    assert believed == {}


def says_nothing(exchange: Exchange, row: dict[str, Any]) -> bool:
    """Whether the metric has a value for the row without a model: citations that are missing need none."""
    asked: list[Ask] = []
    value_of(exchange.metric, row, lambda ask: asked.append(ask) or "")  # type: ignore[func-returns-value]
    return not asked


@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_no_prompt_reads_its_own_data(exchange: Exchange) -> None:
    prompts = {prompt.name: prompt for prompt in prompts_of(exchange.metric)}
    for text in TEXTS.values():
        for call in exchange.calls:
            prompt, inputs = prompts[call.prompt], sent_again(prompts[call.prompt], call.data, text)
            for wrapping, wrap in WRAPPINGS.items():
                with pytest.raises(BadReply) as caught:
                    prompt.read(Reply(wrap(prompt.data(inputs))), inputs)
                assert caught.value.reason == REPEATED, (wrapping, text)


def sent_again(prompt: Prompt[Any], data: Any, text: str) -> dict[str, Any]:
    """The inputs of a recorded call with other texts."""
    inputs = {}
    for name, value in data.items():
        if isinstance(value, dict):
            inputs[name] = [text] * len(value) if name in prompt.numbered else dict.fromkeys(value, text)
        else:
            inputs[name] = [text] * len(value) if isinstance(value, list) else value and text
    return inputs


BEFORE: dict[str, Callable[[str, str], str]] = {
    "directly": lambda data, reply: data + reply,
    "a blank": lambda data, reply: f"{data} {reply}",
    "a line": lambda data, reply: f"{data}\n{reply}",
    "introduced": lambda data, reply: f"Here is the data:\n\n{data}\n\n{reply}",
    "fenced": lambda data, reply: f"Here is the data:\n```json\n{data}\n```\n{reply}",
    "re-indented": lambda data, reply: f"{reindented(data)}\n\n{reply}",
    "escaped": lambda data, reply: f"Input: {json.dumps(data)}\n\n{reply}",
    "in tags": lambda data, reply: f"<data>{data}</data>\n{reply}",
    "thinking": lambda data, reply: f"<think>The data is {data}. Hm.</think>\n{reply}",
    "twice": lambda data, reply: f"{data}\n{data}\n{reply}",
    "behind it": lambda data, reply: f"{reply}\n\nThe data was:\n{data}",
    "one object": lambda data, reply: (
        f'{{"input": {data}, "output": {reply}}}' if reply[0] == "{" else f"{data}, {reply}"
    ),
}


@pytest.mark.parametrize("around", BEFORE)
@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_a_judge_that_repeats_its_data_and_then_judges_is_read(exchange: Exchange, around: str) -> None:
    def judge(ask: Ask) -> str:
        system, user = ask.messages
        return BEFORE[around](user.content, exchange.reply_to(system.content, user.content))

    assert value_of(exchange.metric, dict(exchange.sample), judge) == pytest.approx(exchange.value, abs=1e-12)


def written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_lines(data: str, form: str) -> str:
    return "\n".join(form.format(name=name, value=written(value)) for name, value in json.loads(data).items())


def titled(data: str) -> str:
    return json.dumps({name.replace("_", " ").title(): value for name, value in json.loads(data).items()})


NEARLY: dict[str, Callable[[str], str]] = {
    "without the last brace": lambda data: data[:-1],
    "cut behind the first field": lambda data: json.dumps(dict(list(json.loads(data).items())[:1]))[:-1] + ", ",
    "broken off": lambda data: data[: -len(data) // 10] + '..."}',
    "with a comment": lambda data: "{ // the data\n" + data[1:],
    "with comments": lambda data: json.dumps(json.loads(data), indent=1).replace("{\n", "{ /* sent */\n", 1) + " // that is all",
    "keys in capitals": lambda data: json.dumps({name.upper(): value for name, value in json.loads(data).items()}),
    "lower case": str.lower,
    "YAML": lambda data: f"```yaml\n{as_lines(data, '{name}: {value}')}\n```",
    "XML": lambda data: as_lines(data, "<{name}>{value}</{name}>"),
    "Markdown": lambda data: as_lines(data, "**{name}**: {value}\n"),
    "headings": lambda data: as_lines(data, "## {name}\n{value}\n"),
    "table": lambda data: "| field | value |\n|---|---|\n" + as_lines(data, "| {name} | {value} |"),
    "introduced labels": lambda data: "Sure! Here is the data:\n" + as_lines(data, "{name}: {value}"),
    "numbered labels": lambda data: as_lines(data, "1. {name}: {value}"),
    "labels and a wish": lambda data: as_lines(data, "{name}: {value}") + "\n\nPlease let me know how to go on.",
    "titles": lambda data: as_lines(titled(data), "{name}: {value}"),
    "an object each": lambda data: "\n".join(json.dumps({name: value}) for name, value in json.loads(data).items()),
}  # fmt: skip


@pytest.mark.parametrize("exchange", ALL, ids=lambda exchange: exchange.name)
def test_a_judge_that_repeats_its_data_nearly_gives_no_value(exchange: Exchange) -> None:
    believed = {}
    for name, row in rows(exchange):
        for form, wrap in NEARLY.items():
            value = value_of(exchange.metric, row, lambda ask, wrap=wrap: wrap(ask.messages[1].content))  # type: ignore[misc]
            if value is not None and not says_nothing(exchange, row):
                believed[name, form] = value
    assert believed == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"Answer": "Yes", "CONTEXT": "no"}',
        '{"answer": "yes", // it says\n "context": "no" /* so */}',
        '{"answer": "yes", "context": "no"',
        '{"answer": "yes", "cont',
        '{"answer": "yes", ...}',
        "answer: yes\ncontext: no",
        "<data>\n<answer>yes</answer>\n<context>no</context>\n</data>",
        "| Field | Value |\n|---|---|\n| answer | yes |\n| context | no |",
        '[{"answer": "yes"}, {"context": "no"}]',
    ],
)
def test_nearly_the_data_is_no_verdict(text: str) -> None:
    with pytest.raises(BadReply) as caught:
        Prompt("Is it so?", YesNoReply()).read(Reply(text), {"answer": "yes", "context": "no"})
    assert caught.value.reason == REPEATED


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "yes"', True),
        ("Answer: yes", True),
        ('{"answer": "yes", "verdict": "no", "context": "no"}', False),
        ("The context says so.\nAnswer: yes", True),
        ('{"reason": "answer: yes, context: no", "answer": "no"}', False),
        ('{"reason": "see https://a.b // answer and context", "answer": "no"}', False),
        ("Here is the data:\nanswer: yes\ncontext: no\n\nNo.", False),
        ("answer: yes\n\ncontext: no\n\nVerdict: yes", True),
    ],
)
def test_a_verdict_beside_parts_of_the_data_is_read(text: str, value: bool) -> None:
    assert Prompt("Is it so?", YesNoReply()).read(Reply(text), {"answer": "yes", "context": "no"}) is value


def test_a_judge_that_repeats_its_data_is_asked_once_more() -> None:
    prompt = Prompt("Is it so?", YesNoReply(), name="so")
    steps = prompt.ask(answer="yes")
    (first,) = next(steps)
    (again,) = steps.send([Reply('{"answer": "yes"}')])
    assert again.messages[:2] == first.messages
    assert again.messages[3].content == (
        'Your reply could not be used. The problem: "the reply only repeats the data; judge them, and reply with your own '
        'answer". Reply again, to the same data, in the form asked for.'
    )
    with pytest.raises(BadReply) as caught:
        steps.send([Reply('Here is the data: {"answer": "yes"}')])
    assert str(caught.value) == (
        "the model's reply to the prompt 'so' is unreadable, twice: the reply only repeats the data; judge them, and reply with "
        "your own answer"
    )


@pytest.mark.parametrize(
    ("reply", "text", "value"),
    [
        (YesNoReply(), '{"context": "no", "answer": "yes"}\nNo.', False),
        (YesNoReply(), 'Data: {"answer": "yes", "context": "no"}\n\nVerdict: no', False),
        (YesNoReply(), 'No. The data was {"answer": "yes", "context": "no"}.', False),
        (YesNoReply(), '{"reason": "Given {\\"answer\\": \\"yes\\", \\"context\\": \\"no\\"} it is not.", "answer": "no"}', False),
        (YesNoReply(), '{"data": {"answer": "yes", "context": "no"}, "verdict": {"reason": "r", "answer": "no"}}', False),
        (RatingReply([0, 1, 2]), '## Data\n{"answer": "yes", "context": "no"}\n## Rating\n1', 1),
        (ScoreReply(1, 5), 'The data, in full: {"answer": "yes", "context": "no"}\nScore: 4', (4.0, None)),
        (LinesReply(), '{"answer": "yes", "context": "no"}\n1. What is it?\n2. Where is it?', ["What is it?", "Where is it?"]),
        (ObjectReply(("score",)), '[{"answer": "yes", "context": "no"}, {"score": 3}]', {"score": 3}),
    ],
)  # fmt: skip
def test_what_is_left_is_read(reply: Any, text: str, value: Any) -> None:
    read = Prompt("Judge.", reply).read(Reply(text), {"answer": "yes", "context": "no"})
    assert read[:1] == value[:1] if isinstance(value, tuple) else read == value


def test_a_part_of_the_data_is_no_repetition_of_them() -> None:
    prompt = Prompt("Is it so?", YesNoReply())
    inputs = {"answer": "yes", "context": "no"}
    assert prompt.read(Reply('{"answer": "yes"}'), inputs) is True
    assert prompt.read(Reply('{"reason": "answer and context agree", "answer": "yes"}'), inputs) is True
    assert prompt.read(Reply('{"answer": "yes", "context": "no, it does not say so"}'), inputs) is True


@pytest.mark.usefixtures("untraced")
def test_hostile_data_cost_no_time() -> None:
    prompt = Prompt("Is it so?", YesNoReply())
    text = '{"answer": ' * 60_000
    inputs = {"answer": text}

    def read() -> None:
        blanks = {"answer": f"yes {' ' * 300_000} {text}"}
        with pytest.raises(BadReply):
            prompt.read(Reply(prompt.data(blanks) + "\\" * 300_000 + " " * 300_000 + ",{" * 1000), blanks)
        assert prompt.read(Reply("Verdict: yes"), blanks) is True
        for reply in (prompt.data(inputs), text, text + prompt.data(inputs), '"' + "\\" * 300_000 + text):
            with pytest.raises(BadReply):
                prompt.read(Reply(reply), inputs)

    started = time.process_time()
    read()
    assert time.process_time() - started < 60  # a quadratic rule takes hours
