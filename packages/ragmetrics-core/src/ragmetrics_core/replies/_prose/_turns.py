"""From raw text to the part of it that is the answer.

Three things surround an answer without being one: thinking (tags, channels), the machinery of chat templates
(headers, end-of-turn tokens), and turns of a conversation that the model invents after its own. All of them can be quoted as
well: a text under judgement may hold ``</think>`` and a verdict behind it. So a mark counts only where it cannot be a quotation
(not inside a complete JSON value, not in quotes, not where the data that was sent holds it too), and what is left out at a mark
that might still be one is kept as ``doubted``: an answer in there that says something else makes the reply unreadable.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from ..._kernel._asked import asked_of
from .._json_text._find import decode
from .._json_text._scan import OPENER, Found, scan
from ._clean import TOKEN, without_tokens
from ._unreadable import Unreadable
from ._whose import declines, is_quoted, speaks_of_another

__all__ = ["Part", "answer_part"]

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
_MAX_LOOKS = 4
_SHORT = 80
_LABELLED_JSON = re.compile(
    r"\W{0,8}(?:\w{1,20}\s){0,4}\w{1,20}\W{0,4}[:：=][\s*_]{0,6}(?:(?:```|~~~)\w{0,10}\s{0,3})?[{\[]"
)
_JSON = re.compile(r"\{|\[\s*[\"'“]")


class Part(NamedTuple):
    """The part of a reply that holds the answer, and what was left out in doubt."""

    text: str
    doubted: tuple[str, ...] = ()


def answer_part(text: str) -> Part:
    """What is left of a reply without thinking, chat template and invented turns.

    Raises:
        Unreadable: the reply is empty, or nothing but thinking.
    """
    asked = asked_of(text)
    if not text.strip("\ufeff\u200b\u2060 \t\r\n\f\v\u00a0"):
        raise Unreadable("the reply is empty")
    doubted: list[str] = []
    kept = str(text)
    if "<" in text or "[/" in text or "◁" in text:
        marks = _Marks(text)
        kept = _own_turn(_without_thinking(_last_channel(kept, doubted), marks, doubted), marks, doubted)
    kept = _before_new_turn(kept, doubted)
    if not kept.strip():
        raise Unreadable("the reply holds no answer outside its thinking")
    return Part(asked.on(kept), tuple(asked.on(other) for other in doubted if other.strip()))


class _Marks:
    """Whether a mark of thinking or of a chat template counts, or may belong to a quotation."""

    def __init__(self, text: str) -> None:
        self.asked = asked_of(text)

    def count(self, text: str, match: re.Match[str]) -> bool:
        return not is_quoted(text, *match.span()) and not self.sent(match)

    def sent(self, match: re.Match[str]) -> bool:
        return self.asked.holds_mark(match.group())


def _last_channel(text: str, doubted: list[str]) -> str:
    """The final channel of a harmony reply; its analysis is thinking."""
    if not text.lstrip().startswith(("<|channel|>", "<|start|>")):
        return text
    finals = list(_FINAL_CHANNEL.finditer(text))
    if finals:
        doubted.extend(text[one.end() : two.start()] for one, two in pairwise(finals))
        return text[finals[-1].end() :]
    match = _ANALYSIS_CHANNEL.search(text)
    if match is None:
        return text
    end = text.find("<|end|>", match.end())
    if end < 0:
        raise Unreadable("the reply ends before its thinking does")
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


def _without_thinking(text: str, marks: _Marks, doubted: list[str]) -> str:
    """Cut out closed think blocks, and everything before a lone closing tag."""
    every = list(_TAG.finditer(text))
    leads = bool(every) and not any(every[0].groups()) and not text[: every[0].start()].strip()
    tags = [tag for number, tag in enumerate(every) if marks.count(text, tag) or (leads and number == 0)]
    if leads and not any(any(tag.groups()) for tag in tags):
        # Its own closing tag stands in the data as well, or looks quoted.
        closing = [tag for tag in every if any(tag.groups())]
        tags += [tag for tag in closing if not is_quoted(text, *tag.span())][:1] or closing[-1:]
    last = max((number for number, tag in enumerate(tags) if any(tag.groups())), default=-1)
    kept: list[str] = []
    start = 0
    looks = 0
    spans = _Spans([])
    index = 0
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
            doubted.extend(_doubt("".join(kept) + text[start : tag.start()], tag, marks))
            kept.clear()
            start = tag.end()
            index += 1
            continue
        kept.append(text[start : tag.start()])
        close = _closing(tags, index, last)
        if close is not None:
            _unless_pure(kept, text[tag.end() : tags[close].start()], doubted)
            index = close
            start = tags[index].end()
        elif _SURE.search(tag.group()):
            if not "".join(kept).strip():
                raise Unreadable("the reply ends before its thinking does")
            _unless_pure(kept, text[tag.end() :], doubted)
            return "".join(kept)
        else:
            start = tag.end()
        index += 1
    return "".join(kept) + text[start:]


def _closing(tags: list[re.Match[str]], opening: int, last: int) -> int | None:
    """The number of the tag that closes a block: the one that matches its opening, else the first."""
    depth = 0
    first = None
    for number in range(opening, last + 1):
        if any(tags[number].groups()):
            depth -= 1
            first = number if first is None else first
            if depth == 0:
                return number
        else:
            depth += 1
    return first


def _doubt(before: str, tag: re.Match[str], marks: _Marks) -> list[str]:
    """What of the text before a lone closing tag may be the judge's own words after all."""
    alone = not tag.string[tag.string.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip()
    stripped = before.strip()
    if (
        not alone
        or stripped.endswith((":", "："))
        or stripped[:1] in set("{[`~<>\"'")
        or _LABELLED_JSON.match(stripped)
    ):
        return [before]
    if not marks.asked.known and (declines(stripped) or speaks_of_another(stripped[-_SHORT:])):
        return [before]
    first = stripped.partition("\n")[0]
    return [first] if len(first) <= _SHORT and "{" not in first else []


def _unless_pure(kept: list[str], left_out: str, doubted: list[str]) -> None:
    """Doubt what is left out, unless all before it is an answer and nothing else, or nothing."""
    bare = without_tokens("".join(kept)).strip()
    if not bare or decode(bare) is not None or (_is_prose(bare) and not _JSON.search(left_out)):
        return
    doubted.append(left_out)


def _is_prose(bare: str) -> bool:
    """Whether a text in words ends with a line that can be its answer, and that nobody else is said to speak."""
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    if _JSON.search(bare) or not lines or len(lines[-1]) > _SHORT or lines[-1].startswith(">") or declines(bare):
        return False
    return not speaks_of_another(lines[-1]) and not (len(lines) > 1 and lines[-2].endswith((":", "：")))


def _own_turn(text: str, marks: _Marks, doubted: list[str]) -> str:
    """The assistant's turn: what follows an assistant header at the beginning, up to the end of that turn."""
    header = _ASSISTANT.search(text)
    if header and (not text[: header.start()].strip() or TOKEN.match(text.lstrip())):
        text = text[header.end() :]
    if _TURN_END.search(text) is None:
        return text
    spans = _Spans(scan(text))
    before = 0
    for match in _TURN_END.finditer(text):
        if spans.cover(match.start()) or not marks.count(text, match):
            continue
        if without_tokens(text[before : match.start()]).strip():
            left_out = text[match.end() :]
            if TOKEN.match(left_out.lstrip()):
                _unless_pure([text[: match.start()]], left_out, doubted)
            else:
                doubted.append(left_out)  # a template begins a new turn with a token
            return text[: match.start()]
        before = match.end()
    return text


def _before_new_turn(text: str, doubted: list[str]) -> str:
    """Drop the conversation that a model invents after its answer."""
    if _NEW_TURN.search(text) is None:
        return text
    spans = _Spans(scan(text))
    content = len(text) - len(text.lstrip())
    for match in _NEW_TURN.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()].rstrip()
        # After a colon the turn is quoted, as an example of a better answer.
        if match.start() > content and not before.endswith((":", "：")) and not spans.cover(match.start()):
            _unless_pure([text[: match.start()]], text[match.start() :], doubted)
            return text[: match.start()]
    return text
