"""A list of short texts: questions, claims, key points.

The plain form is one per line, numbered or with bullets; models also send JSON lists or an object around one.
Numbering, labels, introductions, closing remarks, empty lines and repetitions are left out; the wording of an item
is never touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ._clean import answer_part, without_tokens
from ._find import Bad, Fit, choose, decode, embedded, is_jsonish, views
from ._keys import ASIDES, CONTAINERS, REASONS, RELATED, WRAPPERS, WRITTEN, is_schema, is_template, name, singular, stem
from ._numerals import ASKS, arabic
from ._problem import Problem, parse_or_bad_reply
from ._scan import scan
from ._tags import read_tags

__all__ = ["LinesReply", "read_lines", "split_lines"]

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
_ENVELOPES = ("choices", "tool_calls", "candidates")


def split_lines(text: str) -> list[str]:
    """The items of a text: its numbered or bulleted lines, else all its lines."""
    return _items(text)[0]


def read_lines(text: str, *, marked_only: bool = False) -> list[str]:
    """The items of a reply in plain text.

    ``marked_only``: take them only when every item is numbered, bulleted or labelled, or all are questions.

    Raises:
        Problem: there are none.
    """
    items, marked = _items(without_tokens(text))
    if not items:
        raise Problem("the reply lists nothing; write one item per line")
    if not marked:
        if marked_only and not all(item.rstrip().endswith(ASKS) for item in items):
            raise Problem("the reply is prose, not a list")
        if _REFUSAL.match(items[0]) or (len(items) == 1 and len(items[0]) > _MAX_BARE):
            raise Problem("the reply lists nothing; write one item per line")
    return items


def _items(text: str) -> tuple[list[str], bool]:
    lines = [line for line in text.strip("\ufeff\u200b \n").splitlines() if line.strip() and not _RULE.fullmatch(line)]
    lines = arabic(lines)
    matches = [(line, _ITEM.match(line)) for line in lines]
    kinds = {_kind(match) for _, match in matches if match}
    kind = next((kind for kind in ("number", "circled", "label", "bullet") if kind in kinds), None)
    if kind is None:
        return _unique(_inline(_bare(lines)) or _bare(lines)), False
    items: list[str] = []
    indent = min(len(match["indent"]) for _, match in matches if match and _kind(match) == kind)
    questions = all(match["text"].endswith(ASKS) for _, match in matches if match and _kind(match) == kind)
    for line, match in matches:
        if match and _kind(match) == kind and len(match["indent"]) <= indent + 1:
            items.append(match["text"])
        elif questions and match and match["text"].endswith(ASKS) and len(match["indent"]) <= indent + 1:
            # A question that only has another mark than the others.
            items.append(match["text"])
        elif items and match is None and len(line) - len(line.lstrip()) > indent:
            # A deeper line without a mark of its own goes on with the item above it.
            items[-1] += " " + line.strip()
    if len(items) == 1 and kind == "number":
        items = _inline([lines[-1]]) or items
    return _unique(items), True


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
    kept = [line for line in lines if not line.rstrip(" *_").endswith((":", "："))]
    if len(kept) > 1 and _INTRO.match(kept[0].strip()):
        kept = kept[1:]
    if len(kept) > 1 and _OUTRO.match(kept[-1].strip()):
        kept = kept[:-1]
    return kept


def _unique(items: list[str]) -> list[str]:
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


def _texts_in(data: Any, depth: int = 0) -> Fit[list[str]] | Bad | None:
    """The one list of texts in a JSON value."""
    if depth > 5:
        return None
    if isinstance(data, str):
        inner = embedded(data)
        return _texts_in(inner, depth + 1) if not isinstance(inner, str) else None
    if isinstance(data, list):
        return _texts_of_list(data, depth)
    if not isinstance(data, dict) or is_schema(data):
        return None
    if isinstance(data.get("properties"), dict):
        return _texts_in(data["properties"], depth + 1)
    if len(data) > 1 and any(
        isinstance(data.get(key), list) and data[key] and isinstance(data[key][0], dict) for key in _ENVELOPES
    ):
        data = {key: data[key] for key in _ENVELOPES if key in data}
    lists = _lists(data)
    if len(lists) > 1:
        return Bad("the reply holds several lists; give one")
    if lists:
        return _texts_of_list(lists[0], depth + 1)
    texts = [value for key, value in data.items() if isinstance(value, str) and _names_text(key)]
    if len(texts) == 1:
        inner = _texts_in(texts[0], depth + 1)
        return inner if inner is not None else Fit(split_lines(texts[0])) if not is_template(texts[0]) else None
    inside = [
        _texts_in(value, depth + 1)
        for key, value in data.items()
        if isinstance(value, (dict, str)) and (len(data) == 1 or singular(name(key)) in WRAPPERS)
    ]
    fits = [reading for reading in inside if isinstance(reading, Fit)]
    return fits[0] if len(fits) == 1 else None


def _lists(data: dict[str, Any]) -> list[list[Any]]:
    return [value for key, value in data.items() if isinstance(value, list) and name(key) not in ASIDES]


def _names_text(key: str) -> bool:
    group = RELATED.get(stem(key))
    return group is WRITTEN["question"] or group is WRITTEN["claim"]


def _texts_of_list(data: list[Any], depth: int) -> Fit[list[str]] | Bad | None:
    texts: list[str] = []
    if depth == 0 and len(data) > 1 and all(isinstance(item, dict) and _lists(item) for item in data):
        return Bad("the reply holds several lists; give one")
    for item in data:
        if isinstance(item, str):
            text = item
        elif isinstance(item, dict) and any(isinstance(value, (list, dict)) for value in item.values()):
            inner = _texts_in(item, depth + 1)
            if not isinstance(inner, Fit):
                return inner
            texts.extend(inner.value)
            continue
        elif isinstance(item, dict) and not is_schema(item):
            named = [
                value
                for key, value in item.items()
                if isinstance(value, str) and (_names_text(key) or stem(key) in CONTAINERS)
            ]
            others = [value for key, value in item.items() if isinstance(value, str) and name(key) not in REASONS]
            if len(named) != 1 and len(others) != 1:
                return Bad("the items of the list are no texts")
            text = (named if len(named) == 1 else others)[0]
        else:
            return Bad("the items of the list are no texts")
        if re.fullmatch(r"\s*(?:<[^<>]*>|\.{3}|…)\s*", text):
            return None
        texts.append(text)
    return Fit(_unique(texts))


def _read(text: str) -> list[str]:
    whole = decode(text)
    if whole is not None:
        reading = _texts_in(whole[0])
        if isinstance(reading, Fit):
            return list(reading.value)
        if isinstance(whole[0], (dict, list)):
            raise Problem(reading.reason if reading else "the JSON in the reply holds no list of texts")
        text = str(whole[0])
    part = answer_part(text)
    for view in views(part):
        found = [item for item in scan(view) if _is_data(item.value) or not (item.value or view[: item.start].strip())]
        reading = choose(view, found, _texts_in, lambda one, two: one == two)
        if isinstance(reading, Fit):
            return list(reading.value)
        if isinstance(reading, Bad):
            raise Problem(reading.reason)
    if is_jsonish(part):
        raise Problem("the JSON in the reply cannot be read")
    tags = read_tags(part)
    reading = _texts_in(_untagged(tags)) if tags else None
    return list(reading.value) if isinstance(reading, Fit) else read_lines(_without_objects(part))


def _without_objects(part: str) -> str:
    """The prose around objects that are no answer, such as an echoed schema."""
    kept = []
    start = 0
    for item in scan(part):
        if item.state == "whole" and isinstance(item.value, dict):
            kept.append(part[start : item.start])
            start = item.end
    return "".join(kept) + part[start:]


def _is_data(value: Any) -> bool:
    return isinstance(value, dict) or (bool(value) and all(isinstance(item, (str, dict)) for item in value))


def _untagged(data: Any) -> Any:
    """Tags as lists: an element that holds only repeated elements of one kind is their list."""
    while isinstance(data, dict) and len(data) == 1:
        data = next(iter(data.values()))
    return [data] if isinstance(data, str) else data


@dataclass(frozen=True)
class LinesReply:
    """A list of texts, one per line; its value is a list of str without repetitions, possibly empty for an empty JSON list.

    Reads numbered and bulleted lists, plain lines, JSON lists of texts, and an object that holds exactly one such
    list.
    """

    @property
    def schema(self) -> None:
        """None: the reply is plain text."""
        return None

    def instructions(self) -> str:
        """The shape of the reply, for the system message."""
        return "Reply with a numbered list, one item per line, and nothing else."

    def parse(self, text: str) -> list[str]:
        """The items, in order.

        Raises:
            BadReply: the reply lists nothing, refuses, or holds a JSON list that is cut or broken.
        """
        return parse_or_bad_reply(text, _read)
