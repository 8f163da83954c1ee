"""From raw text to the part of it that is the answer.

Three things surround an answer without being one: thinking (tags, channels), the machinery of chat templates
(headers, end-of-turn tokens), and turns of a conversation that the model invents after its own. Tags may also be
content, as in a claim about ``<think>``, so a marker inside a complete JSON value is left alone.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right

from ._problem import Problem
from ._scan import OPENER, Found, scan

__all__ = ["answer_part", "plain", "tidy", "without_tokens"]

_THINK = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think|"
    "begin_of_thought|chain_of_thought|cot|deliberation"
)
_TAG = re.compile(rf"<\|?\s{{0,3}}(/?)\s{{0,3}}(?:{_THINK})\s{{0,3}}\|?>|\[(/?)THINK\]|◁(/?)think▷", re.IGNORECASE)
# Only these are certainly thinking when they are never closed; an open <analysis> may just be a heading.
_SURE = re.compile(r"think|thought", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}final[^<]{0,40}<\|message\|>")
_ANALYSIS_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}analysis[^<]{0,40}<\|message\|>")

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
_TOKEN = re.compile(
    r"<\|[\w▁ /-]{1,40}\|>|<｜[\w▁ ]{1,40}｜>|</?s>|<(?:start|end)_of_turn>|<(?:eos|bos|pad|unk)>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u200d\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\ufeff\u20e3]"
)
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "−": "-"}
)
_MAX_LOOKS = 4


def answer_part(text: str) -> str:
    """What is left of a reply without thinking, chat template and invented turns.

    Raises:
        Problem: the reply is empty, or nothing but thinking.
    """
    if not text.strip("\ufeff\u200b\u2060 \t\r\n\f\v\u00a0"):
        raise Problem("the reply is empty")
    if "<" in text or "[/" in text or "◁" in text:
        text = _without_thinking(_last_channel(text))
        text = _own_turn(text)
    text = _before_new_turn(text)
    if not text.strip():
        raise Problem("the reply holds no answer outside its thinking")
    return text


def _last_channel(text: str) -> str:
    """The final channel of a harmony reply; its analysis is thinking."""
    finals = list(_FINAL_CHANNEL.finditer(text))
    if finals:
        return text[finals[-1].end() :]
    match = _ANALYSIS_CHANNEL.search(text)
    if match is None:
        return text
    end = text.find("<|end|>", match.end())
    if end < 0:
        raise Problem("the reply ends before its thinking does")
    return text[: match.start()] + text[end + len("<|end|>") :]


class _Spans:
    """The complete JSON values of a text, asked which positions they cover."""

    def __init__(self, found: list[Found], shift: int = 0) -> None:
        whole = [item for item in found if item.state == "whole"]
        self.starts = [item.start + shift for item in whole]
        self.ends = [item.end + shift for item in whole]

    def cover(self, position: int) -> bool:
        index = bisect_right(self.starts, position) - 1
        return index >= 0 and position < self.ends[index]


def _without_thinking(text: str) -> str:
    """Cut out closed think blocks, and everything before a lone closing tag."""
    tags = list(_TAG.finditer(text))
    kept: list[str] = []
    start = 0
    looks = 0
    spans = _Spans([])
    index = 0
    closing = [number for number, tag in enumerate(tags) if any(tag.groups())]
    while index < len(tags):
        if looks < _MAX_LOOKS and OPENER.search(text, start, tags[index].start()):
            # Thinking may hold half a JSON value that swallows what follows, so each rest is looked at afresh.
            looks += 1
            spans = _Spans(scan(text[start:]), start)
        while index < len(tags) and spans.cover(tags[index].start()):
            index += 1
        if index == len(tags):
            break
        tag = tags[index]
        if any(tag.groups()):
            kept.clear()
            start = tag.end()
            index += 1
            continue
        kept.append(text[start : tag.start()])
        close = bisect_right(closing, index)
        if close < len(closing):
            index = closing[close]
            start = tags[index].end()
        elif _SURE.search(tag.group()):
            if not "".join(kept).strip():
                raise Problem("the reply ends before its thinking does")
            return "".join(kept)
        else:
            start = tag.end()
        index += 1
    return "".join(kept) + text[start:]


def _own_turn(text: str) -> str:
    """The assistant's turn: what follows the first assistant header, up to the end of that turn."""
    if (header := _ASSISTANT.search(text)) and (
        _TURN_END.search(text, 0, header.start()) or header.group() == "[/INST]" or not text[: header.start()].strip()
    ):
        text = text[header.end() :]
    first = _TURN_END.search(text)
    if first is None:
        return text
    spans = _Spans(scan(text))
    before = 0
    for match in _TURN_END.finditer(text):
        if not spans.cover(match.start()) and without_tokens(text[before : match.start()]).strip():
            return text[: match.start()]
        before = match.end()
    return text


def _before_new_turn(text: str) -> str:
    """Drop the conversation that a model invents after its answer."""
    if _NEW_TURN.search(text) is None:
        return text
    spans = _Spans(scan(text))
    content = len(text) - len(text.lstrip())
    for match in _NEW_TURN.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()].rstrip()
        # After a colon the turn is quoted, as an example of a better answer.
        if match.start() > content and not before.endswith((":", "：")) and not spans.cover(match.start()):
            return text[: match.start()]
    return text


def without_tokens(text: str) -> str:
    """The text with the tokens of chat templates blanked out."""
    return _TOKEN.sub(" ", text) if "<" in text or "[" in text else text


def tidy(text: str) -> str:
    """Prose for the readers of words and numbers: plain, without chat tokens, one blank at a time, no empty lines.

    Their patterns may then allow for a blank or two instead of any number, which keeps them linear.
    """
    lines = (" ".join(line.split()) for line in plain(without_tokens(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def plain(text: str) -> str:
    """Prose in one normal form: full-width and compatibility forms, quotes, entities and invisible characters undone."""
    if text.isascii():
        return html.unescape(text) if "&" in text else text
    text = html.unescape(text) if "&" in text else text
    visible = _INVISIBLE.sub("", text)
    normal = unicodedata.normalize("NFKC", visible)
    # A few ligatures stand for whole sentences; a text made of them is not worth its normal form.
    return (normal if len(normal) <= 2 * len(visible) else visible).translate(_QUOTES)
