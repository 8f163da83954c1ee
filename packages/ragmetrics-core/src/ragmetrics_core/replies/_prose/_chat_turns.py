"""The model's own turn of a chat: without the tokens of the template around it, and without turns that it invents after it."""

from __future__ import annotations

import re

from ..._kernel._wording import Asked
from .._json_text._scan import scan
from ._clean import TOKEN, without_tokens
from ._doubt import JsonSpans, is_genuine, unless_clear

_ASSISTANT = re.compile(
    r"<\|start_header_id\|>\s{0,9}(?:assistant|model)\s{0,9}<\|end_header_id\|>|<\|im_start\|>\s{0,9}(?:assistant|model)\b|"
    r"<start_of_turn>\s{0,9}model\b|<\|(?:assistant|start_of_role\|>assistant<\|end_of_role)\|>|<｜Assistant｜>|\[/INST\]|"
    r"<\|start\|>assistant(?=<\|)",
    re.IGNORECASE,
)
_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|call|end_of_turn|end_of_role|eos)\|>|</s>|<end_of_turn>|"
    r"<eos>|<\|END_OF_TURN_TOKEN\|>|<｜end▁of▁sentence｜>|<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|"
    r"<\|(?:user|system|human)\|>|<｜User｜>|\[INST\]",
    re.IGNORECASE,
)
_NEW_TURN = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]{0,4}(?:user|human|instruction|question|input|new question|next)\b"
    r"|\[(?:user question|the start of|user|next)[^\]\n]{0,60}\]"
    r"|<\|the (?:start|end) of[^\n]{0,80}"
    r"|\**(?:user|human)\**[ \t]{0,4}[:：])",
    re.IGNORECASE | re.MULTILINE,
)


def own_turn(text: str, asked: Asked, doubted: list[str]) -> str:
    """The assistant's turn: what follows an assistant header at the beginning, up to the end of that turn."""
    header = _ASSISTANT.search(text)
    if header and (not text[: header.start()].strip() or TOKEN.match(text.lstrip())):
        text = text[header.end() :]
    if _TURN_END.search(text) is None:
        return text
    spans = JsonSpans(scan(text))
    before = 0
    for match in _TURN_END.finditer(text):
        if spans.cover(match.start()) or not is_genuine(match, asked):
            continue
        if without_tokens(text[before : match.start()]).strip():
            left_out = text[match.end() :]
            if TOKEN.match(left_out.lstrip()):
                unless_clear(text[: match.start()], left_out, doubted)
            else:
                doubted.append(left_out)  # a template begins a new turn with a token
            return text[: match.start()]
        before = match.end()
    return text


def before_new_turn(text: str, doubted: list[str]) -> str:
    """Drop the conversation that a model invents after its answer."""
    if _NEW_TURN.search(text) is None:
        return text
    spans = JsonSpans(scan(text))
    content = len(text) - len(text.lstrip())
    for match in _NEW_TURN.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()].rstrip()
        # After a colon the turn is quoted, as an example of a better answer.
        if match.start() > content and not before.endswith((":", "：")) and not spans.cover(match.start()):
            unless_clear(text[: match.start()], text[match.start() :], doubted)
            return text[: match.start()]
    return text
