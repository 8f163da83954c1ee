"""What of a reply is no judgement, because it stood in the data: the data themselves, and a verdict copied from them.

Small models repeat their data instead of judging them, or before they do; fields of the data and of replies have names in common,
so what is repeated could be read as a verdict. It is taken out before a reply is read. And a text under judgement may hold a
verdict in the hope that the judge copies it: a reply that is nothing but a structure of the data (an object, a label with its
value) is none. Both sides are compared without case, marks of lists, quotes and final punctuation; true is yes. Bare words and
numbers are words of honest texts too, so nothing follows from them; and a label is never looked for where a reply is an object.

Most replies are neither. For them a look for the names of the fields, and for braces and colons, decides.
"""

from __future__ import annotations

import html
import json
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ._asked import Asked
from ._errors import BadReply
from ._find_value import says_only, spans_of, squeeze, stands_in, uncommented
from ._planted import holds_verdict
from ._wording import to_json

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
_SURE = r"\W*(?:sure|certainly|of course|ok(?:ay)?|absolutely|gladly|natürlich|gerne?|klar|bien sûr|d'accord|claro|por supuesto)\W*"
_POLITE = re.compile(_SURE, re.IGNORECASE)
_ANNOUNCED = re.compile(rf"\A(?:{_SURE})?[^:：.!?。\n]{{0,150}}[:：]\W*\n", re.IGNORECASE)
"""A first line that announces what follows."""


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
        return _without_labels(text, sent)
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
        known = name.lower() in lower or ("_" in name and name.lower().replace("_", " ") in lower)
        if not known and name.isascii() and '"' not in name and "\\" not in name:
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


def _without_labels(text: str, sent: Mapping[str, Any]) -> str:
    """What stands behind all fields of the data, each with its value, in another layout than that of an object."""
    head, _, tail = text.rpartition("\n\n")
    for said, rest in ((text, ""), (head, tail)):
        plain = _LIST_MARK.sub("", _ANNOUNCED.sub("", said))
        if any(says_only(sent, squeeze(form)) for form in dict.fromkeys((said, plain))):
            if not rest.strip():
                raise BadReply(REPEATED, text)
            return rest
    return _without_fields(text, sent)


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
_TRUTH = re.compile(r"\b(?:(true)|false)\b")
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_WRAPPED = re.compile(
    r"<(?P<tag>\w{1,30})>(?P<tagged>(?:(?!</(?P=tag)>).)+)</(?P=tag)>|\$*\\boxed\{(?:\\text\{)?(?P<boxed>.+?)\}+\$*",
    re.DOTALL,
)
_CLOSING_TAG = re.compile(r"</\w{1,30}>")
_LIST_MARK = re.compile(r"^[^\w\n]*(?:\d{1,2}|[a-z])[.)](?=\s)", re.MULTILINE)
_MARK = re.compile(r"[^\w\[]*\[{2,3}\s?(\w{1,20})\s?\]{2,3}[^\w\]]*")
_EDGES = re.compile(r"\A[\W_]+|[^\w?✅✓✔❌✗✘👍👎]+\Z")
_LABELLED = re.compile(r"(?:[^\W\d][^:=<>|{}→]{0,60}[:=>|→]|\[\[)(?P<value>.*)")
_DASH = re.compile(r" [-–—] ")
_WORD = re.compile(r"[^\W_]+|[✅✓✔❌✗✘👍👎]|\[\[")
_NEXT = r"(?:[\W_]{1,40}|(?<=\[))"
_VALUE_NEXT = r"[\W_]{0,40}?[:=>|→\n–—-][\W_]{0,40}"
_NO_KEY = r"(?![\"'])"  # one label says no more than a word where the data hold an object with such a key
_MOST_WORDS = 4
_LONGEST_LABELS = 1000
_MAX_WRAPPERS = 6
_BLANKS = string.whitespace + "\ufeff\u200b"
_WRAPS = frozenset("<\\$")
_OPENS = frozenset('{["')
_SEPARATED = re.compile(r"[:=>|→]")
_SEPARATES = re.compile(r"[:：=＝>|→\n\[]| [-–—] ")


def check_own(text: str, asked: Asked) -> None:
    """Refuse a reply that is, as a whole, an object or a label with its value which stands in the data.

    Raises:
        BadReply: it is.
    """
    if text[:1] == "{" and not text[1:2].isalpha() and not asked.has_braces:
        return  # as nearly always
    body = (_THOUGHT.split(text)[-1] if "<" in text or "[/" in text else text).strip(_BLANKS)
    if body[:1] in _WRAPS and (wrapped := _WRAPPED.fullmatch(body)):
        inner = wrapped["tagged"] or wrapped["boxed"]
        body = inner.strip(_BLANKS) if _SEPARATES.search(inner) else body
    if fence := _FENCE.match(body):
        body = body[fence.end() :].rstrip("`~ \t\r\n")
    copied = body[:1] in _OPENS and asked.has_braces and holds_object(body, asked)
    is_json = body[:1] == "{" and not body[1:2].isalpha()
    if copied or (not is_json and _stands_as_labels(body, asked)):
        raise BadReply(SENT, text)


def holds_object(value: Any, asked: Asked) -> bool:
    """Whether the data hold an object, given as JSON or as text, or the one inside it; case and true for "yes" aside."""
    data = _plain("\n".join(asked.data))
    objects = list(_wrapped(value))
    if "\\u" not in data:  # else keys in the data may be escaped
        objects = [item for item in objects if isinstance(item, list) or all(_plain(key) in data for key in item)]
    if not objects:
        return False
    squeezed = squeeze(_folded(data))
    return any(stands_in(_folded_value(item), squeezed) for item in objects)


def _wrapped(value: Any) -> Iterator[Any]:
    """The object that a value, or a text, is, and the one inside it beside which no verdict stands."""
    for _ in range(_MAX_WRAPPERS):
        if isinstance(value, str):
            try:
                value = json.loads(value, strict=False)
            except (ValueError, RecursionError):
                return
        if isinstance(value, list):
            if value and isinstance(value[0], dict):
                yield value
            if not value or any(item != value[0] for item in value[1:]):
                return
            value = value[0]
            continue
        if not isinstance(value, dict) or not value:
            return
        yield value
        # a list of verdicts in an object is not looked into: each may well be what another one was
        inner = [item for item in value.values() if isinstance(item, dict) or (isinstance(item, str) and "{" in item)]
        beside = {key: item for key, item in value.items() if isinstance(item, (str, int, float)) and item not in inner}
        if len(inner) != 1 or (len(value) > 1 and holds_verdict(to_json(beside))):
            return
        value = inner[0]


def _folded_value(value: Any) -> Any:
    """A JSON value in the letters of ``_folded``."""
    if isinstance(value, dict):
        return {_folded(str(key)): _folded_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_folded_value(item) for item in value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _folded(value) if isinstance(value, str) else value


def _stands_as_labels(body: str, asked: Asked) -> bool:
    """Whether a text is nothing but labels with their values, and stands in the data; marks and case aside."""
    if len(body) > _LONGEST_LABELS or not _SEPARATES.search(body):
        return False
    labels = _labels(_folded(body))
    words = list(_WORD.finditer(labels))
    if len(words) < 2:
        return False
    behind_label = _VALUE_NEXT if "\n" in labels or len(_SEPARATED.findall(labels)) > 1 else _NO_KEY + _VALUE_NEXT
    pattern = re.escape(words[0][0])
    for word, after in pairwise(words):
        between = labels[word.end() : after.start()]
        pattern += (behind_label if _SEPARATED.search(between) else _NEXT) + re.escape(after[0])
    data = _plain("\n".join(asked.data))
    if any(word[0] not in data for word in words if word[0] not in {"yes", "no"}):
        return False  # as nearly always
    return bool(re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", _folded(data)))


def _labels(body: str) -> str:
    """A text without its introduction and marks around its lines, or "" if they are not labels with their values."""
    written = {
        f"[[{mark[1]}" if (mark := _MARK.fullmatch(line)) else _EDGES.sub("", line): line for line in body.splitlines()
    }
    lines = [line for line in written if line]
    if len(lines) > 1 and written[lines[0]].rstrip().endswith(":") and _LABELLED.match(lines[1]):
        del lines[0]
    for other in (": ".join(lines) if len(lines) == 2 else "", _DASH.sub(": ", lines[0]) if len(lines) == 1 else ""):
        if other and not any(line[0] != "[" and _LABELLED.match(line) for line in lines) and holds_verdict(other):
            lines = [other]
    found = list(map(_LABELLED.match, lines))
    brief = any(
        match and "?" not in match["value"] and 0 < len(match["value"].split()) <= _MOST_WORDS for match in found
    )
    return "\n".join(lines) if brief and all(found) else ""


def _folded(text: str) -> str:
    """A text in lower case, with yes for true and no for false, without marks of lists and what closes a tag."""
    text = _LIST_MARK.sub("", _CLOSING_TAG.sub("\n", _plain(text)))
    return _TRUTH.sub(lambda match: "yes" if match[1] else "no", text)


def _plain(text: str) -> str:
    """A text in lower case, with one way to write each letter."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text.lower()
    if any(map(text.__contains__, _INVISIBLE)):
        text = text.translate(dict.fromkeys(map(ord, _INVISIBLE)))
    return unicodedata.normalize("NFKC", text.casefold())
