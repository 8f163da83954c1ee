"""What of a reply is no judgement, because it stood in the data: the data themselves, and a verdict copied from them.

Small models repeat their data instead of judging them, or before they do; fields of the data and of replies have names in common,
so what is repeated could be read as a verdict. It is taken out before a reply is read. And a text under judgement may hold a
verdict in the hope that the judge copies it: a reply that is nothing but a structure of the data (an object, a label with its
value) is none. Bare words and numbers are words of honest texts too, so nothing follows from them.

Most replies are neither. For them a look for the names of the fields, and for braces and colons, decides.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from ._asked import Asked
from ._errors import BadReply
from ._find_value import says_only, spans_of, squeeze, uncommented
from ._wording import to_json

__all__ = ["REPEATED", "SENT", "check_own", "without_data"]

REPEATED = "the reply only repeats the data; judge them, and reply with your own answer"
SENT = "the only answer in the reply stands in the data as well, so it may be quoted; reply with your own, and nothing else"

_HOLE = "\ufffc"
_W = r"(?:\s|\\+[nrt])*"
_KEY = r"(?:\\*[\"'][^\"'\\{}\[\]\n]{0,80}\\*[\"']|\w{1,40})"
_EMPTIED = re.compile(
    rf"(?:```|~~~)[\w+-]{{0,20}}{_W}{_HOLE}{_W}(?:```|~~~)?"  # a fence
    rf"|(?<!\\)\\*[\"'“«„]{_W}{_HOLE}{_W}\\*[\"'”»“]"  # a string
    rf"|<(?P<tag>\w{{1,30}})>{_W}{_HOLE}{_W}</(?P=tag)>"
    rf"|(?<=[{{,]){_W}{_KEY}{_W}:{_W}{_HOLE}"  # a member of an object
    rf"|,{_W}{_HOLE}|{_HOLE}{_W},"  # an item
    rf"|[\[{{(]{_W}{_HOLE}{_W}[\]}})]"  # an object or a list
    rf"|{_HOLE}{_W}{_HOLE}"
)
_MAX_NESTING = 40
_END = 12
_SEVERAL = 2
"""Fields of the data that no verdict has by chance."""

_ENDED = re.compile(r"(?<!\d)[.!?。！？]|[\n{}\[\]>]")
_GOES_ON = re.compile(r"[^\w\n{\[<-]*(?:[a-zß-ÿ][^\n.!?{}\[\]<]*[.!?]?)?")
_LONGEST_SENTENCE = 400
_POLITE = re.compile(
    r"\W*(?:sure|certainly|of course|ok(?:ay)?|absolutely|gladly|natürlich|gerne?|klar|bien sûr|d'accord|claro|por supuesto)\W*",
    re.IGNORECASE,
)


def without_data(text: str, inputs: Mapping[str, Any], data: Callable[[Mapping[str, Any]], str]) -> str:
    """The reply without the data object that was sent, wherever it stands in it, and without what announces or wraps it.

    Raises:
        BadReply: nothing else is left.
    """
    if not _may_repeat(text, inputs):
        return text  # as nearly always
    sent = _object(data(inputs))
    if not sent:
        return text
    squeezed = squeeze(text)
    spans = spans_of(sent, squeezed, cut=True)
    if not spans and (plain := uncommented(text)) != text:
        spans = spans_of(sent, squeeze(plain), cut=True)
    if not spans:
        if says_only(sent, squeezed):
            raise BadReply(REPEATED, text)
        return _without_fields(text, sent)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    rest = _HOLE.join(text[end:start] for end, start in zip(ends, starts, strict=True))
    for _ in range(_MAX_NESTING):
        rest, changed = _EMPTIED.subn(_HOLE, rest)
        if not changed:
            break
    rest = _without_sentences(rest.split(_HOLE))
    if not any(map(str.isalnum, rest)) or _POLITE.fullmatch(rest):
        raise BadReply(REPEATED, text)
    return rest


def _may_repeat(text: str, inputs: Mapping[str, Any]) -> bool:
    """Whether the names of the fields stand in a reply, or it breaks off; in what is repeated they do, escapes aside."""
    lower = text.lower()
    for name in inputs:
        if name.lower() not in lower and name.isascii() and '"' not in name and "\\" not in name:
            end = text[-_END:]
            return "{" in text and ("}" not in end or "..." in end or "…" in end)
    return bool(inputs)


def _object(data: str) -> Any:
    """The data, unless a prompt with words of its own sends something else than an object."""
    try:
        sent = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return sent if isinstance(sent, dict) else None


def _without_fields(text: str, sent: Mapping[str, Any]) -> str:
    """An object that holds all fields of the data, and others, without the former."""
    held = _object(text) or {}
    others = {key: value for key, value in held.items() if key not in sent}
    if len(sent) < _SEVERAL or any(name not in held or held[name] != value for name, value in sent.items()):
        return text
    return to_json(others)


def _without_sentences(parts: list[str]) -> str:
    """The parts of a reply between the places where the data stood, without the sentences that they stood in."""
    rest = parts[0]
    for part in parts[1:]:
        outside = rest.count("{") + rest.count("[") <= rest.count("}") + rest.count("]")
        if not outside:
            rest += part
            continue
        intro = rest.rstrip()
        if "\n" not in rest[len(intro) :] or intro.endswith((":", "：")):
            tail = intro[-_LONGEST_SENTENCE:]
            ends = [match.end() for match in _ENDED.finditer(tail)]
            rest = intro[: len(intro) - len(tail) + (ends[-1] if ends else 0)] + "\n"
        match = _GOES_ON.match(part)
        rest += part[match.end() :] if match else part
    return rest


_THOUGHT = re.compile(r"</?think\w*>|\[/THINK\]|<\|message\|>", re.IGNORECASE)
_FENCE = re.compile(r"(?:```|~~~)[\w+-]{0,20}\s*")
_VALUE = r"[^\s?]{1,40}(?:[ \t]{1,3}[^\s?]{1,40}){0,3}"
_LABELLED = re.compile(
    rf"[-*_#>` \t]*(?:[^\W\d][^\n:：=<>{{}}]{{0,60}}[:：=][*_` \t]*{_VALUE}|\[\[\w{{1,20}}\]\]|<(\w{{1,30}})>\s*{_VALUE}\s*</\1>)"
    r"[*_` \t]*"
)
_DECORATION = re.compile(r"[*_`#>]+|(?<!\w)-")
_AROUND_COLON = re.compile(r" ?[:：=] ?")
_LONGEST_LABELS = 1000
_MAX_WRAPPERS = 6
_BLANKS = string.whitespace + "\ufeff\u200b"
_OPENS = frozenset('{["')


def check_own(text: str, asked: Asked) -> None:
    """Refuse a reply that is, as a whole, an object or a label with its value which stands in the data.

    Raises:
        BadReply: it is.
    """
    if text[:1] == "{" and not asked.has_braces:
        return  # as nearly always
    body = (_THOUGHT.split(text)[-1] if "<" in text or "[/" in text else text).strip(_BLANKS)
    if fence := _FENCE.match(body):
        body = body[fence.end() :].rstrip("`~ \t\r\n")
    copied = body[:1] in _OPENS and asked.has_braces and any(map(asked.holds_value, _wrapped(body)))
    if copied or _stands_as_labels(body, asked):
        raise BadReply(SENT, text)


def _wrapped(text: str) -> list[Any]:
    """The object that a text is, and what stands alone inside it; also where one or the other is a string."""
    found: list[Any] = []
    value: Any = text
    for _ in range(_MAX_WRAPPERS):
        if isinstance(value, str):
            try:
                value = json.loads(value, strict=False)
            except (ValueError, RecursionError):
                break
        if not isinstance(value, (dict, list)) or not value:
            break
        if isinstance(value, dict) or any(isinstance(item, dict) for item in value):
            found.append(value)
        if len(value) > 1:
            break
        inner = next(iter(value.values())) if isinstance(value, dict) else value[0]
        if isinstance(value, dict) and isinstance(inner, list):
            break  # a list of verdicts, each of which may well be what another one was
        value = inner
    return found


def _stands_as_labels(body: str, asked: Asked) -> bool:
    """Whether a text is nothing but labels with their values, and stands in the data."""
    if len(body) > _LONGEST_LABELS:
        return False
    lines = list(filter(str.strip, body.splitlines()))
    if not lines or not all(map(_LABELLED.fullmatch, lines)):
        return False
    return bool(re.search(rf"(?<!\w){re.escape(_folded(body))}(?!\w)", _folded("\n".join(asked.data))))


def _folded(text: str) -> str:
    """A text in lower case, on one line, without emphasis, and without blanks around colons."""
    return _AROUND_COLON.sub(":", " ".join(_DECORATION.sub(" ", text.casefold()).split()))
