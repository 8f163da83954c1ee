"""The items of a list in plain text: one per line, numbered, bulleted or bare.

Numbering, labels, introductions, closing remarks, empty lines and repetitions are left out; the wording of an item is never
touched. Two lists in one reply, or one that is announced as another's, are no answer: one of them may be quoted.
"""

from __future__ import annotations

import re

from ._chat import is_small_talk
from ._clean import without_tokens
from ._numerals import ASKS, arabic
from ._unreadable import Unreadable
from ._whose import QUOTED, declines, quotes_another

_LABEL = (
    r"q|questions?|query|statements?|claims?|facts?|items?|points?|sub-?questions?|frage|aussage|question|pregunta|domanda|pergunta|"
    r"вопрос|утверждение|问题|陈述|質問|文|질문|진술"
)
_ITEM = re.compile(
    rf"(?P<indent>\s{{0,40}})(?:>\s?)?\**"
    rf"(?:(?P<number>[(\[#]?(?:(?:{_LABEL})\s?)?[0-9０-９]{{1,3}}\s?(?:[.)\]:：、．）]|\s[-–—]\s)(?![0-9])|[a-h]\))"
    rf"|(?P<bullet>[-*•–—‣▪◦●○+·▸►]\s|[•●▪])"
    rf"|(?P<circled>[①-⑳])"
    rf"|(?P<label>(?:{_LABEL})\s?[:：]))"
    r"\**\s{0,20}(?P<text>\S.*)",
    re.IGNORECASE,
)
_INLINE = re.compile(r"(?:^|(?<=[.!?。！？;；,:：)\"”]))\s?[(\[]?(\d{1,2})[.)\]]\s(?=\S)")
_RULE = re.compile(r"\s*(?:```\w*|~~~\w*|[-=_*]{3,}|#{1,6}\s.*|\*\*[^*]{1,80}:?\*\*:?|<[^<>]{1,40}>)\s*")
_INTRO = re.compile(
    r"(?:sure|certainly|of course|absolutely|great|okay|ok|here (?:are|is)|here's|"
    r"below|the following|these are|following|as requested|"
    r"i have|i've|hier sind|voici|aquí|ecco|aqui|вот|以下|这是|다음은|아래)\b(?!.*[?？]\s*$)",
    re.IGNORECASE,
)
_OUTRO = re.compile(
    r"(?:i hope|hope this|let me know|note\b|please|feel free|these (?:questions|statements|claims|points)|if you|each of|all of|"
    r"would you like|that's all|in summary|ich hoffe|j'espère|espero)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\s*(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can't|cannot|can not|could not|couldn't|"
    r"won't|do not|don't)|sorry\b|as an ai|unfortunately|"
    r"(?:http )?\d{3}\b|error\b|internal server|bad gateway|rate limit|too many requests|service unavailable|"
    r"timeout|none\b|n/?a\b|null\b|"
    r"nothing\b|empty\b|unknown\b|\[\w+\]\s*$|no answer|there (?:is|are) no\b|no \w+ (?:can|could|were|was|are|is)\b)"
    r"|.{0,120}\b(?:no|without(?: any)?|zero|any) (?:[\w-]+ ){0,2}(?:questions?|statements?|claims?|facts?|items?)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAX_BARE = 400
_BARE_NUMBER = re.compile(r"\s{0,8}\**(\d{1,2})(?:\**[.)\]:：、]|\**)\s+(?=\S)")


def split_lines(text: str) -> list[str]:
    """The items of a text: its numbered or bulleted lines, else all its lines."""
    return _items(text)[0]


def read_lines(text: str, *, marked_only: bool = False) -> list[str]:
    """The items of a reply in plain text.

    ``marked_only``: take them only when every item is numbered, bulleted or labelled, or all are questions.

    Raises:
        Unreadable: there are none.
    """
    items, marked = _items(without_tokens(text))
    if not items:
        raise Unreadable("the reply lists nothing; write one item per line")
    if not marked:
        if marked_only and not all(item.rstrip().endswith(ASKS) for item in items):
            raise Unreadable("the reply is prose, not a list")
        if declines(text):
            raise Unreadable(QUOTED)
        if (
            _REFUSAL.match(items[0])
            or all(map(is_small_talk, items))
            or (len(items) == 1 and len(items[0]) > _MAX_BARE)
        ):
            raise Unreadable("the reply lists nothing; write one item per line")
    return items


def _items(text: str) -> tuple[list[str], bool]:
    lines = [line for line in text.strip("\ufeff\u200b \n").splitlines() if line.strip() and not _RULE.fullmatch(line)]
    lines = arabic(_counted(lines))
    matches = [(line, _ITEM.match(line)) for line in lines]
    kinds = {_kind(match) for _, match in matches if match}
    kind = next((kind for kind in ("number", "circled", "label", "bullet") if kind in kinds), None)
    if kind is None:
        return unique(_inline(_bare(lines)) or _bare(lines)), False
    _check_one_list(matches, kind)
    items = _marked(matches, kind)
    if len(items) == 1 and kind == "number":
        items = _inline([lines[-1]]) or items
    return unique(items), True


def _marked(matches: list[tuple[str, re.Match[str] | None]], kind: str) -> list[str]:
    """The items with a mark of one kind, each with the deeper lines below it."""
    own = [match for _, match in matches if match and _kind(match) == kind]
    indent = min(len(match["indent"]) for match in own)
    questions = all(match["text"].endswith(ASKS) for match in own)
    items: list[str] = []
    for line, match in matches:
        if match is None:
            if items and len(line) - len(line.lstrip()) > indent:
                items[-1] += " " + line.strip()
        elif len(match["indent"]) > indent + 1:
            continue
        elif _kind(match) == kind or (questions and match["text"].endswith(ASKS)):
            # Among questions, one with another mark than the others is an item as well.
            items.append(match["text"])
    return items


def _counted(lines: list[str]) -> list[str]:
    """Lines with bare numbers ("1 What is it?") as numbered ones, where the numbers count all lines or all items from 1."""
    numbers = [match and int(match[1]) for match in map(_BARE_NUMBER.match, lines)]
    counting = [number for number in numbers if number is not None]
    bare = [match and not _ITEM.match(line) for match, line in zip(map(_BARE_NUMBER.match, lines), lines, strict=True)]
    if len(counting) < 2 or counting != list(range(1, len(counting) + 1)) or not any(bare):
        return lines
    return [_BARE_NUMBER.sub(r"\1. ", line) if is_bare else line for line, is_bare in zip(lines, bare, strict=True)]


def _check_one_list(matches: list[tuple[str, re.Match[str] | None]], kind: str) -> None:
    """Raise when the lines are two lists, or may be another's."""
    marked = [(line, match) for line, match in matches if match and _kind(match) == kind]
    prose = [line for line, match in matches if match is None]
    quoted = {line.lstrip().startswith(">") for line, _ in marked}
    first = {
        " ".join(re.findall(r"\w+", match["text"].casefold()))
        for _, match in marked
        if kind == "number" and re.match(r"\W*1(?!\d)", match["number"])
    }
    if len(quoted) > 1 or len(first) > 1:
        raise Unreadable("the reply holds several lists; give one")
    if any(declines(line) or (_announces(line) and quotes_another(line)) for line in prose):
        raise Unreadable(QUOTED)


def _announces(line: str) -> bool:
    return line.rstrip(" *_").endswith((":", "："))


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("number", "bullet", "circled", "label") if match[kind])


def _inline(lines: list[str]) -> list[str]:
    """Items numbered 1, 2, 3 within one line."""
    if len(lines) != 1:
        return []
    marks = list(_INLINE.finditer(lines[0]))
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(lines[0])]
    return [lines[0][mark.end() : end] for mark, end in zip(marks, ends, strict=True)]


def _bare(lines: list[str]) -> list[str]:
    """Unmarked lines without an introduction and a closing remark."""
    kept = [line for line in lines if not _announces(line)]
    if len(kept) > 1 and _INTRO.match(kept[0].strip()):
        kept = kept[1:]
    if len(kept) > 1 and _OUTRO.match(kept[-1].strip()):
        kept = kept[:-1]
    return kept


def unique(items: list[str]) -> list[str]:
    seen: dict[str, str] = {}
    for item in items:
        clean = item.strip().strip("*").strip()
        for opening, closing in (('"', '"'), ("“", "”"), ("'", "'"), ("`", "`")):
            if len(clean) > 2 and clean.startswith(opening) and clean.rstrip(",;").endswith(closing):
                inner = clean.rstrip(",;")[1:-1]
                clean = inner if opening not in inner and closing not in inner else clean
        if any(character.isalnum() for character in clean):
            seen.setdefault(" ".join(clean.casefold().split()), clean)
    return list(seen.values())
