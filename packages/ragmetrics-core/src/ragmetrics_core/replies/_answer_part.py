"""From raw text to the part of it that is the answer.

Three things surround an answer without being one: thinking (tags, channels), the machinery of chat templates
(headers, end-of-turn tokens), and turns of a conversation that the model invents after its own. All of them can be quoted as
well: a text under judgement may hold ``</think>`` and a verdict behind it. So a tag or token counts only where it cannot be a
quotation (not inside a complete JSON value, not in quotes, not where the data that was sent holds it too). What is left out
although it might be the answer is kept as ``doubted``: an answer in there that says something else makes the reply unreadable.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from .._kernel._wording import Asked, asked_of
from ._json_text import OPENER, Found, decode, scan
from ._text import TOKEN, Unreadable, without_tokens
from ._whose import declines, is_quoted, speaks_of_another

SHORT = 80
"""Characters of a line that can be an answer."""
_JSON = re.compile(r"\{|\[\s*[\"'“]")


def is_genuine(match: re.Match[str], asked: Asked) -> bool:
    """Whether a tag or token counts, for it can be no quotation."""
    return not is_quoted(match.string, *match.span()) and not asked.holds_mark(match.group())


class JsonSpans:
    """The complete JSON values of a text, asked which positions they cover."""

    def __init__(self, found: list[Found], shift: int = 0) -> None:
        whole = [item for item in found if item.state == "whole"]
        self.starts = [item.start + shift for item in whole]
        self.ends = [item.end + shift for item in whole]

    def cover(self, position: int) -> bool:
        """Whether a position lies inside one of them."""
        index = bisect_right(self.starts, position) - 1
        return index >= 0 and position < self.ends[index]


def unless_clear(kept: str, left_out: str, doubted: list[str]) -> None:
    """Doubt what is left out, unless what was kept before it is an answer and nothing else, or nothing."""
    bare = without_tokens(kept).strip()
    if not bare or decode(bare) is not None or (_ends_with_answer(bare) and not _JSON.search(left_out)):
        return
    doubted.append(left_out)


def _ends_with_answer(bare: str) -> bool:
    """Whether a text in words ends with a line that can be its answer, and nobody else is said to speak."""
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    if _JSON.search(bare) or not lines or len(lines[-1]) > SHORT or lines[-1].startswith(">") or declines(bare):
        return False
    return not speaks_of_another(lines[-1]) and not (len(lines) > 1 and lines[-2].endswith((":", "：")))


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
    r"|\[(?:user question|the start of|user|next)[^\]\n]{0,60}\]|<\|the (?:start|end) of[^\n]{0,80}"
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


_THINK = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think|"
    "begin_of_thought|chain_of_thought|cot|deliberation"
)
_TAG = re.compile(rf"<\|?\s{{0,3}}(/?)\s{{0,3}}(?:{_THINK})\s{{0,3}}\|?>|\[(/?)THINK\]|◁(/?)think▷", re.IGNORECASE)
# Only these are certainly thinking when they are never closed; an open <analysis> may just be a heading.
_SURE = re.compile(r"think|thought", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}final[^<]{0,40}<\|message\|>")
_ANALYSIS_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}analysis[^<]{0,40}<\|message\|>")

_LABELLED_JSON = re.compile(
    r"\W{0,8}(?:\w{1,20}\s){0,4}\w{1,20}\W{0,4}[:：=][\s*_]{0,6}(?:(?:```|~~~)\w{0,10}\s{0,3})?[{\[]"
)
_MAX_LOOKS = 4
_MAX_TAGS = 2000


def last_channel(text: str, doubted: list[str]) -> str:
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


def without_thinking(text: str, asked: Asked, doubted: list[str]) -> str:
    """A text without closed blocks of thinking, and without everything before a lone closing tag.

    Raises:
        Unreadable: the text ends inside its thinking and holds nothing else, or has more tags than any honest reply.
    """
    tags = _tags(text, asked)
    if len(tags) > _MAX_TAGS:
        raise Unreadable("the reply holds very many blocks of thinking; give the answer and nothing else")
    return _Cutter(text, tags, asked, doubted).cut() if tags else text


def _closes(tag: re.Match[str]) -> bool:
    return any(tag.groups())


def _tags(text: str, asked: Asked) -> list[re.Match[str]]:
    """The tags that count. A reply that begins with thinking ends it somewhere, even if its closing tag looks quoted."""
    every = list(_TAG.finditer(text))
    leads = bool(every) and not _closes(every[0]) and not text[: every[0].start()].strip()
    tags = [tag for number, tag in enumerate(every) if is_genuine(tag, asked) or (leads and number == 0)]
    if leads and not any(map(_closes, tags)):
        closing = [tag for tag in every if _closes(tag)]
        tags += [tag for tag in closing if not is_quoted(text, *tag.span())][:1] or closing[-1:]
    return tags


class _Cutter:
    """Goes through a text from tag to tag and cuts the thinking out."""

    def __init__(self, text: str, tags: list[re.Match[str]], asked: Asked, doubted: list[str]) -> None:
        self.text = text
        self.tags = tags
        self.asked = asked
        self.doubted = doubted
        self.last = max((number for number, tag in enumerate(tags) if _closes(tag)), default=-1)
        self.kept = ""
        self.start = 0
        """Where the text begins that is neither kept nor cut out yet."""
        self.looks = 0
        self.spans = JsonSpans([])

    def cut(self) -> str:
        """What is left.

        Raises:
            Unreadable: the text ends inside its thinking, and holds nothing else.
        """
        index = self._next(0)
        while index < len(self.tags):
            tag = self.tags[index]
            before = self.text[self.start : tag.start()]
            self.start = tag.end()
            if _closes(tag):
                self.doubted.extend(_doubt(self.kept + before, tag, self.asked))
                self.kept = ""
            else:
                self.kept += before
                close = self._closing(index)
                if close is not None:
                    unless_clear(self.kept, self.text[self.start : self.tags[close].start()], self.doubted)
                    self.start = self.tags[close].end()
                    index = close
                elif _SURE.search(tag.group()):
                    return self._before_open_end()
            index = self._next(index + 1)
        return self.kept + self.text[self.start :]

    def _before_open_end(self) -> str:
        """What stands before thinking that never ends."""
        if not self.kept.strip():
            raise Unreadable("the reply ends before its thinking does")
        unless_clear(self.kept, self.text[self.start :], self.doubted)
        return self.kept

    def _next(self, index: int) -> int:
        """The number of the next tag from ``index`` on that stands inside no JSON value."""
        if index == len(self.tags):
            return index
        if self.looks < _MAX_LOOKS and OPENER.search(self.text, self.start, self.tags[index].start()):
            # Thinking may hold half a JSON value that swallows what follows, so each rest is looked at afresh.
            self.looks += 1
            self.spans = JsonSpans(scan(self.text[self.start :]), self.start)
        while index < len(self.tags) and self.spans.cover(self.tags[index].start()):
            index += 1
        return index

    def _closing(self, opening: int) -> int | None:
        """The number of the tag that closes a block: the one that matches its opening, else the first."""
        depth = 0
        first = None
        for number in range(opening, self.last + 1):
            if _closes(self.tags[number]):
                depth -= 1
                first = number if first is None else first
                if depth == 0:
                    return number
            else:
                depth += 1
        return first


def _doubt(before: str, tag: re.Match[str], asked: Asked) -> list[str]:
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
    if not asked.known and (declines(stripped) or speaks_of_another(stripped[-SHORT:])):
        return [before]
    first = stripped.partition("\n")[0]
    return [first] if len(first) <= SHORT and "{" not in first else []


class AnswerPart(NamedTuple):
    """The part of a reply that holds the answer, and what was left out in doubt."""

    text: str
    doubted: tuple[str, ...] = ()


def answer_part(text: str) -> AnswerPart:
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
        kept = last_channel(kept, doubted)
        kept = without_thinking(kept, asked, doubted)
        kept = own_turn(kept, asked, doubted)
    kept = before_new_turn(kept, doubted)
    if not kept.strip():
        raise Unreadable("the reply holds no answer outside its thinking")
    return AnswerPart(asked.on(kept), tuple(asked.on(other) for other in doubted if other.strip()))
