"""Find the parts of a reply that are copied from the data: the data object itself, and verdicts in the texts that are judged.

Small models sometimes repeat the data before they judge it, or instead of judging it. Data and replies may have fields of the same
names, so repeated data could be parsed as a verdict; it is removed before a reply is parsed. A text to judge may also contain a
verdict, so that the judge copies it. So a reply is refused if it is nothing but an object, or a label with its value, from the
data. Case, list marks, quotes, escapes and final punctuation are ignored in this comparison. Single words and numbers are common in
honest texts, so they prove nothing. Most replies need none of these checks, because they contain no names of fields, or no braces
and colons.

The reply is not parsed for this, but searched for the known data: blanks, quotes and escapes are removed from both, and the parts
are compared one after another, so data that is not quite JSON is found too. ``holds_verdict`` finds rows whose texts contain
something that looks like a verdict; a summary counts these rows.
"""

from __future__ import annotations

import html
import json
import re
import string
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

from .._values._errors import BadReply
from .._values._sample import Document, Sample
from ._wording import Asked, to_json

_FILLER = re.compile(
    r"\\+u(?P<high>d[89ab][0-9a-f]{2})\\+u(?P<low>d[c-f][0-9a-f]{2})|\\+u(?P<code>[0-9a-f]{4})|\\+[nrtbf]?"
    r"|&(?:quot|apos|amp|lt|gt|#x?[0-9a-f]{2,4});|[\s\x08\"'`“”„‘’\u200b\ufeff]+",
    re.IGNORECASE,
)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # keeps the number of characters
_COMMENT = re.compile(r"(?<=[{\[,\n\"\]}])[ \t]{0,40}(?://[^\n]{0,500}|/\*[^*]{0,500}\*/)")
_LEFT_OUT = re.compile(r"(?:\.\.\.|…)[\]}]{0,9}\Z")
_NO_WORD = re.compile(r"[\W_]+")
_FORM = re.compile(r"(?:the|field|key|name|value|input|data|json|ya?ml|xml|md|markdown)*")
_MAX_DEPTH = 40
_MAX_STARTS = 1000
_CUT = sys.maxsize
"""Marks the end of a value that is cut off by the end of the text."""

Squeezed = tuple[str, list[int]]
"""A text without blanks, quotes and escapes, and the original position of each of its characters."""


def _meant(match: re.Match[str]) -> str:
    """Return the character that an escape stands for; empty if the match is other filler, or if the character itself is filler."""
    if match["high"]:
        return chr(0x10000 + ((int(match["high"], 16) - 0xD800) << 10) + int(match["low"], 16) - 0xDC00)
    if match["code"]:
        meant = chr(int(match["code"], 16))
    elif match[0][0] == "&":
        meant = html.unescape(match[0])
    else:
        return ""
    return "" if meant == "\\" or _FILLER.fullmatch(meant) else meant


def squeeze(text: str) -> Squeezed:
    """Return a text in lower case, without what copying may change: blanks, quotes and escapes."""
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in _FILLER.finditer(text):
        character = _meant(match)
        parts += (text[at : match.start()], character)
        places.extend(range(at, match.start()))
        places.extend([match.start()] * len(character))
        at = match.end()
    parts.append(text[at:])
    places.extend(range(at, len(text)))
    return "".join(parts).translate(_LOWER), places


def uncommented(text: str) -> str:
    """Replace comments by the same number of blanks."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "//" in text or "/*" in text else text


def _written(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with squeezed texts: a dict (each key with its colon), a list, or a tuple of forms of a scalar."""
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        return {_simplified(str(key)) + ":": _written(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth < _MAX_DEPTH:
        return [_written(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return (to_json(value), str(value).lower())
    if isinstance(value, float) and value.is_integer():
        return (to_json(value), str(int(value)))
    return (_simplified(value),)


def _simplified(value: Any) -> str:
    return _FILLER.sub(_meant, to_json(value)).translate(_LOWER)


def _end(text: str, at: int, value: Any, stop: int) -> int:
    """Return the end of ``value`` in ``text`` if it begins at ``at``; -1 if it does not, ``_CUT`` if the text ends within it."""
    if isinstance(value, tuple):  # a scalar, in one of several forms
        end = next((at + len(way) for way in value if text.startswith(way, at)), -1)
        return _CUT if end < 0 and _are_cut(value, text, at, stop) else end
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not text.startswith(opening, at):
        return _CUT if at >= stop else -1
    at += 1
    remaining: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
    for item in value:
        inner = item
        if isinstance(value, dict):  # in any order
            key = next((key for key in remaining if text.startswith(key, at)), None)
            if key is None:
                return _CUT if _are_cut(remaining, text, at, stop) else -1
            at, inner = at + len(key), remaining.pop(key)
        at = _end(text, at, inner, stop)
        if at < 0 or at == _CUT:
            return at
        if not text.startswith((",", closing), at):
            return _CUT if at >= stop else -1
        at += text.startswith(",", at)
    return at + 1 if text.startswith(closing, at) else _CUT if at >= stop else -1


def _are_cut(ways: Iterable[str], text: str, at: int, stop: int) -> bool:
    """Whether the rest of the text, up to ``stop``, is the beginning of one of these texts."""
    if stop == _CUT:
        return False
    rest = text[at:stop]
    return any(way.startswith(rest) for way in ways)


def _goes_on(text: str, at: int, value: Any, stop: int) -> bool:
    """Whether a cut-off object has at least one complete field, followed by a comma unless it is the only field."""
    key = next((key for key in value if text.startswith(key, at + 1)), None)
    end = -1 if key is None else _end(text, at + 1 + len(key), value[key], stop)
    return 0 < end < _CUT and (len(value) == 1 or text.startswith(",", end))


def _starts(value: Any) -> str:
    """Return a pattern for the possible beginnings of an object or a list."""
    if isinstance(value, dict):
        return r"\{(?:" + "|".join(map(re.escape, value)) + ")"
    return r"\[" + (_starts(value[0]) if value and not isinstance(value[0], tuple) else "")


def spans_of(value: Any, text: Squeezed, *, cut: bool = False) -> list[tuple[int, int]]:
    """Find the places of an object or a list in a text, from left to right, as positions in the original text.

    Args:
        value: the object or list.
        text: the squeezed text to search.
        cut: whether to find also an object that is cut off by the end of the text or by "...".
    """
    squeezed, places = text
    forms = _written(value)
    spans: list[tuple[int, int]] = []
    last = 0
    left_out = _LEFT_OUT.search(squeezed, max(0, len(squeezed) - 20)) if cut else None
    stop = _CUT if not cut else left_out.start() if left_out else len(squeezed)
    for match in islice(re.finditer(_starts(forms), squeezed), _MAX_STARTS):
        start = match.start()
        end = _end(squeezed, start, forms, stop) if start >= last else -1
        if end == _CUT:
            end = len(squeezed) if _goes_on(squeezed, start, forms, stop) else -1
        if end > 0:
            spans.append((places[start], places[end - 1] + 1))
            last = end
    return spans


def says_only(fields: Mapping[str, Any], text: Squeezed) -> bool:
    """Whether a text contains all fields with their values and nothing else, as YAML, XML, headings, a table or several objects."""
    rest = _NO_WORD.sub("", text[0])
    written = {_words(name): _words(value) for name, value in fields.items()}
    for name, value in sorted(written.items(), key=lambda item: -len(item[1])):
        if name + value not in rest:
            return False
        rest = rest.replace(name + value, " ", 1)
    for name in written:  # the names in closing tags
        rest = rest.replace(name, " ")
    return all(map(_FORM.fullmatch, rest.split()))


def _words(value: Any) -> str:
    return _NO_WORD.sub("", _simplified(value))


_LABELS = (
    "verdict verdicts answer score rating grade judg(?:e)?ment passing useful supported better feedback claims statements "
    "noncommittal contexts_suffice response_declines urteil antwort bewertung punkte punktzahl note bestanden belegt réponse "
    "notation réussi veredicto respuesta puntuación calificación"
)
_VALUES = (
    r"yes|no|true|false|pass(?:ed)?|fail(?:ed)?|(?:un)?supported|ja|nein|wahr|falsch|oui|non|vrai|faux|s[íi]|verdadero|falso|"
    r"belegt|widerlegt|[AB]|tie|\d{1,3}(?:[.,]\d)?|\{|\[\[?"
)
_VERDICT = re.compile(
    rf"(?<!\w)(?:{'|'.join(_LABELS.split())})(?:\s(?:finale?|definitiv[oa]))?[\\\"'*_`\s]{{0,8}}[:：][\\\"'*_`\s]{{0,12}}(?:{_VALUES})(?!\w)",
    re.IGNORECASE,
)
_BEFORE, _BEHIND = 40, 40
_MAX_COLONS = 4000


def holds_verdict(text: str) -> bool:
    """Whether a text contains an object with a verdict, or a label with a verdict."""
    places = (match.start() for match in islice(re.finditer("[:：]", text), _MAX_COLONS))
    return any(_VERDICT.search(text, max(0, at - _BEFORE), at + _BEHIND) for at in places)


def judged_text(sample: Sample) -> str:
    """Return the texts of a row that judges see, joined into one text."""
    texts: list[Any] = [sample.user_input, sample.response, sample.reference]
    for found in (sample.retrieved_contexts, sample.reference_contexts, sample.retrieved_documents):
        if isinstance(found, (list, tuple)):
            texts += found
    if isinstance(sample.history, (list, tuple)):
        texts += [item.get("content") for item in sample.history if isinstance(item, Mapping)]
    contents = (item.content if isinstance(item, Document) else item for item in texts)
    return "\n".join(item for item in contents if isinstance(item, str))


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
"""The least number of fields of the data that a verdict does not have by chance."""

_ENDED = re.compile(r"(?<!\d)[.!?。！？]|[\n{}\[\]>]")
_GOES_ON = re.compile(r"[^\w\n{\[<-]*(?:[a-zß-ÿ][^\n.!?{}\[\]<]*[.!?]?)?")
_LONGEST_SENTENCE = 400
_SURE = r"\W*(?:sure|certainly|of course|ok(?:ay)?|absolutely|gladly|natürlich|gerne?|klar|bien sûr|d'accord|claro|por supuesto)\W*"
_POLITE = re.compile(_SURE, re.IGNORECASE)
_ANNOUNCED = re.compile(rf"\A(?:{_SURE})?[^:：.!?。\n]{{0,150}}[:：]\W*\n", re.IGNORECASE)
"""A first line that announces what follows."""


def without_data(text: str, inputs: Mapping[str, Any], data: Callable[[Mapping[str, Any]], str]) -> str:
    """Remove the data object from a reply, with the words that announce it and the marks that enclose it.

    Raises:
        BadReply: nothing else is left of the reply.
    """
    if not _may_repeat(text, inputs):
        return text  # the usual case
    sent_object = _object(data(inputs))
    if not sent_object:
        return text
    squeezed = squeeze(text)
    spans = spans_of(sent_object, squeezed, cut=True)
    if not spans and (plain := uncommented(text)) != text:
        spans = spans_of(sent_object, squeeze(plain), cut=True)
    if not spans:
        return _without_labels(text, sent_object)
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
    """Whether a reply may repeat the data: it contains the names of all fields, or it contains a brace and is cut off."""
    lower = text.lower()
    for name in inputs:
        known = name.lower() in lower or ("_" in name and name.lower().replace("_", " ") in lower)
        if not known and name.isascii() and '"' not in name and "\\" not in name:
            end = text[-_END:]
            return "{" in text and ("}" not in end or "..." in end or "…" in end)
    return bool(inputs)


def _object(data: str) -> Any:
    """Parse the data as an object; None if a custom prompt sends something else."""
    try:
        sent = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return sent if isinstance(sent, dict) else None


def _without_labels(text: str, sent: Mapping[str, Any]) -> str:
    """Remove all fields of the data, with their values, if they are not written as an object."""
    head, _, tail = text.rpartition("\n\n")
    for said, rest in ((text, ""), (head, tail)):
        plain = _LIST_MARK.sub("", _ANNOUNCED.sub("", said))
        if any(says_only(sent, squeeze(form)) for form in dict.fromkeys((said, plain))):
            if not rest.strip():
                raise BadReply(REPEATED, text)
            return rest
    return _without_fields(text, sent)


def _without_fields(text: str, sent: Mapping[str, Any]) -> str:
    """If a reply is an object with all fields of the data, return it with only its other fields."""
    held = _object(text) or {}
    others = {key: value for key, value in held.items() if key not in sent}
    if len(sent) < _SEVERAL or any(name not in held or held[name] != value for name, value in sent.items()):
        return text
    return to_json(others)


def _without_sentences(parts: list[str]) -> str:
    """Join the parts of a reply between the removed data, without the rest of the sentences that contained the data."""
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
_NO_KEY = r"(?![\"'])"  # a single label proves nothing if the data contain an object with such a key
_BRIEF = 4
"""The most words of a value after its label."""

_LONGEST_LABELS = 1000
_MAX_WRAPPERS = 6
_BLANKS = string.whitespace + "\ufeff\u200b"
_WRAPS = frozenset("<\\$")
_OPENS = frozenset('{["')
_SEPARATED = re.compile(r"[:=>|→]")
_SEPARATES = re.compile(r"[:：=＝>|→\n\[]| [-–—] ")


def check_own(text: str, asked: Asked) -> None:
    """Refuse a reply that is nothing but a copy from the data: an object, or a label with its value.

    Raises:
        BadReply: the reply is merely such a copy.
    """
    if text[:1] == "{" and not text[1:2].isalpha() and not asked.has_braces:
        return  # the usual case
    body = (_THOUGHT.split(text)[-1] if "<" in text or "[/" in text else text).strip(_BLANKS)
    if body[:1] in _WRAPS and (wrapped := _WRAPPED.fullmatch(body)):
        inner = wrapped["tagged"] or wrapped["boxed"]
        body = inner.strip(_BLANKS) if _SEPARATES.search(inner) else body
    if fence := _FENCE.match(body):
        body = body[fence.end() :].rstrip("`~ \t\r\n")
    copied = body[:1] in _OPENS and asked.has_braces and holds_object(body, asked)
    is_json = body[:1] == "{" and not body[1:2].isalpha()
    if copied or (not is_json and _is_only_labels(body, asked)):
        raise BadReply(SENT, text)


def holds_object(value: Any, asked: Asked) -> bool:
    """Whether the data contain an object, or the single object inside it. ``value`` is the object, or its JSON text.

    Case is ignored, and ``true`` counts as "yes".
    """
    data = _plain("\n".join(asked.data))
    objects = list(_wrapped(value))
    if "\\u" not in data:  # otherwise keys in the data may be escaped
        objects = [item for item in objects if isinstance(item, list) or all(_plain(key) in data for key in item)]
    if not objects:
        return False
    squeezed = squeeze(_folded(data))
    return any(spans_of(_folded_value(item), squeezed) for item in objects)


def _wrapped(value: Any) -> Iterator[Any]:
    """Yield the object that a value is, or that its JSON text contains; then the only object inside that object, and so on.

    The search ends at an object that has a verdict beside the object inside it.
    """
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
        # lists of verdicts are not searched: a single verdict may equal one in the data by chance
        inner = [item for item in value.values() if isinstance(item, dict) or (isinstance(item, str) and "{" in item)]
        others = {key: item for key, item in value.items() if isinstance(item, (str, int, float)) and item not in inner}
        if len(inner) != 1 or (len(value) > 1 and holds_verdict(to_json(others))):
            return
        value = inner[0]


def _folded_value(value: Any) -> Any:
    """Apply ``_folded`` to all texts of a JSON value."""
    if isinstance(value, dict):
        return {_folded(str(key)): _folded_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_folded_value(item) for item in value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _folded(value) if isinstance(value, str) else value


def _is_only_labels(body: str, asked: Asked) -> bool:
    """Whether a text is nothing but labels with their values that the data contain too, apart from marks and case."""
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
        return False  # the usual case
    return bool(re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", _folded(data)))


def _labels(body: str) -> str:
    """Return the lines of a text without introduction and marks; "" if they are not labels with their values."""
    # each line without its marks, with the original line
    stripped = {
        f"[[{mark[1]}" if (mark := _MARK.fullmatch(line)) else _EDGES.sub("", line): line for line in body.splitlines()
    }
    lines = [line for line in stripped if line]
    if len(lines) > 1 and stripped[lines[0]].rstrip().endswith(":") and _LABELLED.match(lines[1]):
        del lines[0]
    # a label and its value may also be on two lines, or have a dash between them
    for other in (": ".join(lines) if len(lines) == 2 else "", _DASH.sub(": ", lines[0]) if len(lines) == 1 else ""):
        if other and not any(line[0] != "[" and _LABELLED.match(line) for line in lines) and holds_verdict(other):
            lines = [other]
    matches = list(map(_LABELLED.match, lines))
    values = [match["value"] for match in matches if match]
    brief = any("?" not in value and 0 < len(value.split()) <= _BRIEF for value in values)
    return "\n".join(lines) if brief and all(matches) else ""


def _folded(text: str) -> str:
    """Return a text in lower case, with yes for true and no for false, without list marks and closing tags."""
    text = _LIST_MARK.sub("", _CLOSING_TAG.sub("\n", _plain(text)))
    return _TRUTH.sub(lambda match: "yes" if match[1] else "no", text)


def _plain(text: str) -> str:
    """Return a text in lower case, with Unicode and HTML escapes normalized and without invisible characters."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text.lower()
    if any(map(text.__contains__, _INVISIBLE)):
        text = text.translate(dict.fromkeys(map(ord, _INVISIBLE)))
    return unicodedata.normalize("NFKC", text.casefold())
