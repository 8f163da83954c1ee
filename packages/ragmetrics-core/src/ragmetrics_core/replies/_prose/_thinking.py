"""A reply without the thinking of its model: in tags, or in channels of their own."""

from __future__ import annotations

import re
from itertools import pairwise

from ..._kernel._wording import Asked
from .._json_text._scan import OPENER, scan
from ._doubt import SHORT, JsonSpans, is_genuine, unless_clear
from ._unreadable import Unreadable
from ._whose import declines, is_quoted, speaks_of_another

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
