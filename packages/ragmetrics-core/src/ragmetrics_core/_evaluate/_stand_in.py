"""What a model might reply, for a price before the run: replies of the right form and of a likely length, and of no other use.

Strategy. How many questions a program asks follows from the replies, so a dry run needs replies that can be read. They are built
from the schema of the reply; what the offline judge would say fills the places that decide how a program goes on. What it costs is
length, and there a language model differs from that judge. It makes about one claim of 10.5 tokens of an answer (13.3 in 948
answers whose claims people have labelled, 11 by readers who answered the prompts of this library, 7.6 in the example of RAGChecker:
the mean of the three), of about as many tokens each, and gives its reasons in a sentence: a short one, where it is asked for that.
Questions it writes as many as it is asked for, of 13 tokens each (the median of 1,499 questions of people).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .._kernel._errors import BadReply, ModelError
from .._kernel._requests import Ask
from .._lexical._judge import LexicalJudge
from .._support._tokens import tokens_in

TOKENS_PER_CLAIM = 10.5

REASON = "The passage says this in so many words, and nothing else in it is at odds with what is asked, so the verdict is clear."
SHORT_REASON = "The second context says so directly, in its first sentence."
QUESTION = "When does the library of the town open on weekdays in summer?"
SENTENCE = "This is one statement of the usual length, as a model writes it."

JUDGE = LexicalJudge()


def likely_reply(ask: Ask) -> str:
    """A reply that a model might give; where none can be thought of that its form would take, a sentence."""
    said = _said(ask)
    schema = ask.reply.schema
    text = said if schema is None else json.dumps(_filled(schema, schema, _value(said), ""), ensure_ascii=False)
    return next((reply for reply in (text, "1", "yes") if reply is not None and _readable(ask, reply)), SENTENCE)


def _readable(ask: Ask, reply: str) -> bool:
    parse = getattr(ask.reply, "parse", None)
    try:
        return parse is not None and parse(reply) is not None
    except BadReply:
        return False


def _said(ask: Ask) -> str | None:
    """What the offline judge says, with as many claims as a language model would find."""
    try:
        said = JUDGE.generate(ask).value
    except ModelError:  # it does not know the prompt
        return None
    value = _value(said)
    for name in ("claims", "statements"):
        if isinstance(value, dict) and value.get(name) and isinstance(ask.inputs.get("answer"), str):
            value[name] = _claims(ask.inputs["answer"])
            if "statement_scores" in value:
                value |= {"statement_scores": [1 for _ in value[name]], "reasons": [SHORT_REASON for _ in value[name]]}
            return json.dumps(value, ensure_ascii=False)
    number = ask.inputs.get("number_of_questions")
    if isinstance(value, dict) and isinstance(value.get("questions"), list) and isinstance(number, int):
        return json.dumps(value | {"questions": [QUESTION] * number}, ensure_ascii=False)
    return said


def _value(said: str | None) -> Any:
    try:
        return None if said is None else json.loads(said)
    except ValueError:
        return None


def _claims(answer: str) -> list[str]:
    """The answer in equal parts, as many as it has claims."""
    number = max(1, round(tokens_in(answer) / TOKENS_PER_CLAIM))
    words = answer.split()
    pieces: Sequence[str] = words if len(words) >= number else answer
    glue = " " if pieces is words else ""
    ends = [round(part * len(pieces) / number) for part in range(number + 1)]
    return [glue.join(pieces[start:end]) for start, end in pairwise(ends) if start < end]


def _filled(schema: Any, root: Mapping[str, Any], said: Any, name: str) -> Any:
    """A value that the schema allows: what was said, where that says something."""
    schema = _resolved(schema, root)
    if "properties" in schema:
        given = said if isinstance(said, dict) else {}
        return {key: _filled(item, root, given.get(key), key) for key, item in schema["properties"].items()}
    if schema.get("type") == "array":
        items = said if isinstance(said, list) else [None, None]
        return [_filled(schema.get("items") or {}, root, item, name) for item in items]
    if schema.get("type") == "string" and "enum" not in schema and (said is None or name == "reason"):
        short = SHORT_REASON if re.search(r"short|brief", schema.get("description", "")) else REASON
        return short if name in ("reason", "feedback", "explanation") else SENTENCE
    if said is not None:
        return said
    return _plainest(schema)


def _plainest(schema: Mapping[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None, "object": {}}.get(str(schema.get("type")), SENTENCE)


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, where it only points to it or offers a choice."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            schema = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        elif schema.get("anyOf"):
            schema = schema["anyOf"][0]
        else:
            return schema
    return {}
