"""Find the part of a raw reply that is the answer.

Three things can surround an answer: thinking (in tags or channels), tokens of chat templates (headers, end of turn), and turns of
a conversation that the model invents after its own turn. Each of them can also be quoted: a text under judgement may contain
``</think>`` followed by a verdict. Therefore a tag or token counts only if it cannot be a quotation: it is not in quotes, and it
is not in the data that was sent. A part that is left out although it might be the answer is kept as ``doubted``. If a doubted
part gives a different answer, the reply is unreadable.
"""

from __future__ import annotations

import re

from .._kernel._wording import Asked, question_of
from ._json_text import decode
from ._text import TOKEN, Unreadable, on_line, without_tokens
from ._whose import declines, is_quoted, speaks_of_another

_SHORT = 80
"""The most characters that a line may have to be an answer."""
_JSON = re.compile(r"\{|\[\s*[\"'“]")


def _is_genuine(match: re.Match[str], asked: Asked) -> bool:
    """Whether a tag or token counts because it cannot be a quotation."""
    return not is_quoted(match.string, *match.span()) and not asked.holds_mark(match.group())


def _doubt_unless_clear(kept: str, left_out: str, doubted: list[str]) -> None:
    """Add the part that is left out to ``doubted``, unless the text kept before it is empty or clearly the judge's own answer."""
    bare = without_tokens(kept).strip()
    if bare and decode(bare) is None and (_JSON.search(left_out) or speaks_of_another(bare)):
        doubted.append(left_out)


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
    r"^[ \t]{0,8}(?:#{1,6}[ \t]{0,4}(?:user|human|instruction|question|input|new question|next)\b|\[(?:user question|"
    r"the start of|user|next)[^\]\n]{0,60}\]|<\|the (?:start|end) of[^\n]{0,80}|\**(?:user|human)\**[ \t]{0,4}[:：])",
    re.IGNORECASE | re.MULTILINE,
)


def own_turn(text: str, asked: Asked, doubted: list[str]) -> str:
    """Return the assistant's turn: the text from an assistant header at the beginning up to the end of that turn."""
    header = _ASSISTANT.search(text)
    if header and (not text[: header.start()].strip() or TOKEN.match(text.lstrip())):
        text = text[header.end() :]
    before = 0
    for match in _TURN_END.finditer(text):
        if not _is_genuine(match, asked):
            continue
        if without_tokens(text[before : match.start()]).strip():
            left_out = text[match.end() :]
            if TOKEN.match(left_out.lstrip()):
                _doubt_unless_clear(text[: match.start()], left_out, doubted)
            else:
                doubted.append(left_out)  # a template begins a new turn with a token
            return text[: match.start()]
        before = match.end()
    return text


def before_new_turn(text: str, doubted: list[str]) -> str:
    """Cut off the conversation that a model invents after its answer."""
    content = len(text) - len(text.lstrip())
    for match in _NEW_TURN.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()].rstrip()
        # A turn after a colon is a quotation: an example of a better answer.
        if match.start() > content and not before.endswith((":", "：")):
            _doubt_unless_clear(text[: match.start()], text[match.start() :], doubted)
            return text[: match.start()]
    return text


_THINK = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think|"
    "begin_of_thought|chain_of_thought|cot|deliberation"
)
_TAG = re.compile(rf"<\|?\s{{0,3}}(/?)\s{{0,3}}(?:{_THINK})\s{{0,3}}\|?>|\[(/?)THINK\]|◁(/?)think▷", re.IGNORECASE)
# An unclosed tag with one of these words is certainly thinking; an unclosed <analysis> may be just a heading.
_SURE = re.compile(r"think|thought", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}final[^<]{0,40}<\|message\|>")


_LABELLED_JSON = re.compile(
    r"\W{0,8}(?:\w{1,20}\s){0,4}\w{1,20}\W{0,4}[:：=][\s*_]{0,6}(?:(?:```|~~~)\w{0,10}\s{0,3})?[{\[]"
)
_MAX_TAGS = 2000


def last_channel(text: str, doubted: list[str]) -> str:
    """Return the final channel of a reply in OpenAI's harmony format. The analysis channel, the reasoning, is dropped."""
    if not text.lstrip().startswith(("<|channel|>", "<|start|>")):
        return text
    *before, final = _FINAL_CHANNEL.split(text)
    if before:
        doubted.extend(before[1:])
        return final
    if "<|channel|>analysis" not in text:
        return text
    _, end, rest = text.partition("<|end|>")
    if not end:
        raise Unreadable("the reply ends before its thinking does")
    return rest


def _closes(tag: re.Match[str]) -> bool:
    return any(tag.groups())


def _tags(text: str, asked: Asked) -> list[re.Match[str]]:
    """Return the tags that count. A reply that begins with thinking must end it, so its closing tag counts even if it looks
    quoted.
    """
    every = list(_TAG.finditer(text))
    leads = bool(every) and not _closes(every[0]) and not text[: every[0].start()].strip()
    tags = [tag for number, tag in enumerate(every) if _is_genuine(tag, asked) or (leads and number == 0)]
    if leads and not any(map(_closes, tags)):
        closing = [tag for tag in every if _closes(tag)]
        tags += [tag for tag in closing if not is_quoted(text, *tag.span())][:1] or closing[-1:]
    return tags


def without_thinking(text: str, asked: Asked, doubted: list[str]) -> str:
    """Return the text without closed blocks of thinking and without everything before a lone closing tag.

    Raises:
        Unreadable: the text ends inside its thinking and contains nothing else, or it has more tags than any honest reply.
    """
    tags = _tags(text, asked)
    if len(tags) > _MAX_TAGS:
        raise Unreadable("the reply holds very many blocks of thinking; give the answer and nothing else")
    last = max((number for number, tag in enumerate(tags) if _closes(tag)), default=-1)
    text_kept = ""
    start = index = 0  # start: offset of the text that is not yet processed
    while index < len(tags):
        tag = tags[index]
        text_kept += text[start : tag.start()]
        start = tag.end()
        close = None if _closes(tag) else _closing(tags, index, last)
        if _closes(tag):
            doubted.extend(_doubt(text_kept, tag, asked))
            text_kept = ""
        elif close is not None:
            _doubt_unless_clear(text_kept, text[start : tags[close].start()], doubted)
            start = tags[close].end()
            index = close
        elif _SURE.search(tag.group()):
            if not text_kept.strip():
                raise Unreadable("the reply ends before its thinking does")
            _doubt_unless_clear(text_kept, text[start:], doubted)
            return text_kept
        index += 1
    return text_kept + text[start:]


def _closing(tags: list[re.Match[str]], opening: int, last: int) -> int | None:
    """Return the index of the tag that closes a block: the matching closing tag, else the first one. ``last``: the index of the
    last closing tag.
    """
    depth = 0
    first = None
    for number in range(opening, last + 1):
        depth += -1 if _closes(tags[number]) else 1
        if _closes(tags[number]):
            first = number if first is None else first
            if depth == 0:
                return number
    return first


def _doubt(before: str, tag: re.Match[str], asked: Asked) -> list[str]:
    """Return what could be the judge's answer in the text before a lone closing tag."""
    stripped = before.strip()
    if (
        on_line(tag.string, *tag.span())[0].strip()  # the tag does not begin its line
        or stripped.endswith((":", "："))
        or stripped[:1] in set("{[`~<>\"'")
        or _LABELLED_JSON.match(stripped)
    ):
        return [before]
    if not asked.known and (declines(stripped) or speaks_of_another(stripped[-_SHORT:])):
        return [before]
    first = stripped.partition("\n")[0]
    return [first] if len(first) <= _SHORT and "{" not in first else []


def answer_part(text: str) -> tuple[str, tuple[str, ...]]:
    """Remove thinking, chat-template tokens and invented turns from a reply. Return the part that contains the answer, and the
    parts that were left out but may be the answer.

    Raises:
        Unreadable: the reply is empty, or contains nothing but thinking.
    """
    question = question_of(text)
    if not text.strip("\ufeff\u200b\u2060 \t\r\n\f\v\u00a0"):
        raise Unreadable("the reply is empty")
    doubted: list[str] = []
    answer = str(text)
    if "<" in text or "[/" in text or "◁" in text:
        answer = last_channel(answer, doubted)
        answer = without_thinking(answer, question, doubted)
        answer = own_turn(answer, question, doubted)
    answer = before_new_turn(answer, doubted)
    if not answer.strip():
        raise Unreadable("the reply holds no answer outside its thinking")
    return question.on(answer), tuple(question.on(other) for other in doubted if other.strip())
