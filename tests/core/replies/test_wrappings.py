"""Every format reads its object through every wrapping that models put around it, and gives up when it is cut.

One table of answers times one table of wrappings. DECOY stands for another answer of the same shape, SCHEMA for a schema of
the answer: both must be seen for what they are.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply, LinesReply, RatingReply, ReplyFormat, ScoreReply, YesNoReply

pytestmark = pytest.mark.slow


class Claims(BaseModel):
    statements: list[str]


class Item(BaseModel):
    statement: str = ""
    reason: str | None = None
    verdict: Literal[0, 1]


class Verdicts(BaseModel):
    statements: list[Item]


class Questions(BaseModel):
    questions: list[str]
    noncommittal: bool = False


ANSWERS: dict[str, tuple[ReplyFormat[Any], dict[str, Any]]] = {
    "claims": (
        JsonReply(Claims),
        {"statements": ["Winters are cool and dry.", "It's 5 degrees, i.e. {about} [that].", "一月最冷。"]},
    ),
    "verdicts": (
        JsonReply(Verdicts),
        {
            "statements": [
                {"statement": "Wallis is French.", "reason": "The context says it's so.", "verdict": 1},
                {"statement": "Its capital is Papeete.", "reason": "No: it names Mata-Utu.", "verdict": 0},
            ]
        },
    ),
    "questions": (
        JsonReply(Questions),
        {"questions": ["When are beets peeled?", "How long do they roast?"], "noncommittal": 1},
    ),
    "lines": (LinesReply(), {"questions": ["When are beets peeled?", "How long do they roast?"], "noncommittal": 0}),
    "yes_no": (YesNoReply(), {"verdict": "no", "reason": "Nothing in it mentions a fee. Yes, really."}),
    "yes_no last": (YesNoReply(), {"reason": "It states the weight, not the name.", "verdict": 1}),
    "score": (ScoreReply(1, 5), {"score": 4, "reason": "It names both causes but leaves out the date 3."}),
    "score last": (ScoreReply(1, 5), {"reason": "Two of the 3 figures disagree, 1 of 5.", "score": 2}),
    "rating": (RatingReply([0, 1, 2]), {"rating": 1}),
    "rating last": (RatingReply([0, 2, 4]), {"reason": "no 2 there", "rating": 4}),
}

AROUND = [
    "```json\n%s\n```",
    "```JSON\n%s\n```\n",
    "```\n%s\n```",
    "~~~json\n%s\n~~~",
    "`%s`",
    "```json %s ```",
    "```json\n%s",
    "%s\n```",
    "````json\n%s\n````",
    "```python\n%s\n```",
    "json\n%s",
    "JSON: %s",
    "Sure, here is my assessment (as requested, in JSON):\n\n%s",
    "%s\n\nNote: I used no outside knowledge.",
    "Of course.\n\n```json\n%s\n```\n\nI hope this helps! Tell me if you want it in another format {e.g. YAML}.",
    "\ufeff%s",
    "\u200b%s\u200b",
    "  \n%s\n ",
    "Assistant: %s",
    "**Output:**\n\n> %s",
    "<output>\n%s\n</output>",
    "<answer>%s</answer>",
    "<reasoning>It is short.</reasoning><answer>%s</answer>",
    "<tool_call>\n%s\n</tool_call>",
    " [/INST] %s </s>",
    '[INST] Rate this: {"a": 1} [/INST] %s</s>',
    "<|start_header_id|>assistant<|end_header_id|>\n\n%s<|eot_id|>",
    "<|im_start|>assistant\n%s<|im_end|>",
    "%s<|endoftext|>",
    "<s> %s </s>",
    "<start_of_turn>model\n%s<end_of_turn>",
    "%s}",
    "%s]",
    "%s,",
    "%s;",
    "(%s)",
    "The output is {placeholder}: %s",
    "{ return x; } %s",
    "[INFO] result: %s",
    "Answer: %s",
    "**Final answer:** %s",
    "%s\n\n%s",
    "<think>hm</think>%s",
    "<think>\nLet me try DECOY first. No.\n</think>\n\n%s",
    "<thinking>\n```json\nDECOY\n```\nHmm.\n</thinking>\n```json\n%s\n```",
    "So perhaps DECOY? No.\n</think>\n%s",
    "<|channel|>analysis<|message|>Maybe DECOY?<|end|><|start|>assistant<|channel|>final<|message|>%s<|return|>",
    "[THINK]DECOY[/THINK]%s",
    "◁think▷DECOY◁/think▷%s",
    "<|channel|>analysis<|message|>Maybe DECOY?<|end|>%s",
    "<think>a<think>b</think> DECOY</think>%s",
    "<analysis>%s",
    "%s <think>and DECOY",
    "Draft: DECOY\n\nOn reflection the draft is wrong.\n\nFinal answer: %s",
    "First attempt: DECOY\nCorrected: %s",
    "The schema is\n```json\nSCHEMA\n```\nand the output is\n```json\n%s\n```",
    "SCHEMA\n\n%s",
    "%s\n\n[User Question]\nWhat about the next?\n\nDECOY",
    "%s\n### User:\nnext\n### Assistant:\nDECOY",
    "%s<|eot_id|><|start_header_id|>user<|end_header_id|>\nnext DECOY",
    "return %s;",
    "result = %s",
    "print(%s)",
]


def dump(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def schema_of(data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return {
            "type": "object",
            "properties": {key: schema_of(value) for key, value in data.items()},
            "required": list(data),
        }
    if isinstance(data, list):
        return {"type": "array", "items": schema_of(data[0])}
    return {"type": "integer" if isinstance(data, int) else "string"}


def decoy_of(data: Any) -> Any:
    """Another answer of the same shape."""
    if isinstance(data, dict):
        return {key: decoy_of(value) for key, value in data.items()}
    if isinstance(data, list):
        return [decoy_of(value) for value in data[:1]]
    return {1: 0, 0: 1, 4: 2, 2: 4, "no": "yes"}.get(data, "first idea")


def rekeyed(data: Any, style: Any) -> Any:
    if isinstance(data, dict):
        return {style(key): rekeyed(value, style) for key, value in data.items()}
    return [rekeyed(value, style) for value in data] if isinstance(data, list) else data


def as_texts(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: as_texts(value) for key, value in data.items()}
    return [as_texts(value) for value in data] if isinstance(data, list) else str(data)


def smart(text: str) -> str:
    quotes = iter("“”" * text.count('"'))
    return re.sub('"', lambda _: next(quotes), text)


def written(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """One answer in every form, with the name of the form."""
    line, block = dump(data), json.dumps(data, ensure_ascii=False, indent=2)
    for around in AROUND:
        frame = around.replace("SCHEMA", dump(schema_of(data))).replace("DECOY", dump(decoy_of(data)))
        yield around, frame.replace("%s", line)
        yield f"{around} (indented)", frame.replace("%s", block)
    for key in (
        "properties",
        "output",
        "response",
        "result",
        "answer",
        "data",
        "json",
        "final_answer",
        "arguments",
        "input",
        "content",
        "Final Output",
    ):
        yield f"under {key}", dump({key: data})
        yield f"in a list under {key}", dump({key: [data]})
        yield f"encoded under {key}", dump({key: line})
    yield "list of one", dump([data])
    yield (
        "schema with values",
        dump({"description": "Output", "type": "object", "properties": data, "required": list(data)}),
    )
    yield "tool call", dump({"name": "submit", "arguments": data})
    yield (
        "tool call, encoded",
        dump({"tool_calls": [{"id": "1", "type": "function", "function": {"name": "submit", "arguments": line}}]}),
    )
    message = {"role": "assistant", "content": f"```json\n{line}\n```"}
    yield (
        "api response",
        dump(
            {
                "id": "c",
                "created": 1,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"tokens": 4},
            }
        ),
    )
    yield "encoded", dump(line)
    yield "encoded twice", dump(dump(line))
    yield "backslashes", line.replace("\\", "\\\\").replace('"', '\\"')
    yield "python", repr(data)
    yield "single quotes", line.replace('"', "'")
    yield "crlf", block.replace("\n", "\r\n").replace("  ", "\t")
    yield "no-break spaces", block.replace("  ", "\u00a0\u00a0")
    yield "trailing commas", re.sub(r"(?<=[\"\d\]}])([\]}])(?=[\s,\]}]|$)", r",\1", line)
    yield "typographic quotes", smart(line)
    yield "// comment", block.replace("{\n", "{ // the evaluation\n", 1)
    yield "# comment", block[:-1] + "  # end\n}"
    yield "/* comment */", block.replace("{", "{ /* the evaluation */", 1)
    yield "unquoted keys", re.sub(r'"(\w+)":', r"\1:", line)
    for style in (str.upper, str.title, " {} ".format, "{}_".format, "**{}**".format):
        yield f"keys such as {style('Key')}", dump(rekeyed(data, style))
    yield "numbers as texts", dump(as_texts(data))
    yield "entities", html.escape(line)
    yield "illegal escape", line.replace("'", "\\'")
    yield "missing commas", re.sub(r'(["\d\]}]), (?=["{])', r"\1 ", line)
    yield "missing commas, on lines", re.sub(r'(["\d\]}]),\n', r"\1\n", block)
    yield "two commas", re.sub(r'(["\d\]}]), (?=["{])', r"\1,, ", line)
    yield "closing brace missing", line[:-1]
    yield "closing brace missing in a fence", f"```json\n{line[:-1]}\n```"


CASES = [(name, form, text) for name, (_, data) in ANSWERS.items() for form, text in written(data)]


@pytest.mark.parametrize(("name", "form", "text"), CASES, ids=[f"{name}: {form!a}" for name, form, _ in CASES])
def test_read_through(name: str, form: str, text: str) -> None:
    reply, data = ANSWERS[name]
    assert reply.parse(text) == reply.parse(dump(data)), form


def essence(value: Any) -> Any:
    """A value with its lists marked as lists, without reasons."""
    if isinstance(value, tuple):
        return [], value[0]
    if isinstance(value, BaseModel):
        data = value.model_dump()
        lists = [item for key in list(data) if isinstance(data[key], list) for item in data.pop(key)]
        return lists, data
    return (value, None) if isinstance(value, list) else ([], value)


@pytest.mark.parametrize("form", ["line", "block", "python", "fence"])
@pytest.mark.parametrize("name", ANSWERS)
def test_cut_anywhere_it_is_never_completed(name: str, form: str) -> None:
    """Each beginning of a reply is bad, or the same answer."""
    reply, data = ANSWERS[name]
    text = {
        "line": dump(data),
        "block": json.dumps(data, ensure_ascii=False, indent=2),
        "python": repr(data),
        "fence": f"```json\n{dump(data)}\n```",
    }[form]
    items, rest = essence(reply.parse(text))
    read = 0
    for end in range(len(text)):
        try:
            cut_items, cut_rest = essence(reply.parse(text[:end]))
        except BadReply:
            continue
        read += 1
        assert cut_items == items, text[:end]
        assert cut_rest in (rest, {"noncommittal": False}), text[:end]
        assert text[:end].rstrip()[-1] in "\"'}]`01245", text[:end]
    assert read


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "frame",
    [
        "%s\n%s",
        "%s\nor\n%s",
        "```json\n%s\n```\n```json\n%s\n```",
        "[%s, %s]",
        "%s\n\nquestion: Who?\nanswer: It.\noutput: %s",
        "For example: %s\nThe answer: %s",
        "The response was: %s\nThat is no grade.\n\n%s",
        "%s\n\nFinal answer: %s",
        "%s\n\nCorrected: %s",
    ],
)
def test_two_different_answers_are_none(name: str, frame: str) -> None:
    reply, data = ANSWERS[name]
    with pytest.raises(BadReply):
        reply.parse(frame.replace("%s", dump(data), 1).replace("%s", dump(decoy_of(data)), 1))


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "frame",
    [
        "<think>%s",
        "<think>I think\n%s\nBut wait",
        "<|channel|>analysis<|message|>%s",
        "SCHEMA",
        "Use this format: SCHEMA",
    ],
)
def test_thoughts_and_schemas_are_no_answers(name: str, frame: str) -> None:
    reply, data = ANSWERS[name]
    with pytest.raises(BadReply):
        reply.parse(frame.replace("%s", dump(data)).replace("SCHEMA", dump(schema_of(data))))
