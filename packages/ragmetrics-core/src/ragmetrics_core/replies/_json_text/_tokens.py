"""Keys, strings and bare scalars of almost-JSON.

The hard question is where a string ends when quotes inside it are not escaped (``'the harbour's depth'``, ``"says
"no" twice"``). A quote closes its string only when what follows can follow a value there: a closing bracket, the
end, or a comma and then another key or item. Every look-ahead is bounded, so reading stays linear.
"""

from __future__ import annotations

import re
from typing import Any

_BLANK = r"[\s\u200b\u200e\u200f\u2060\ufeff]"
_GAP = rf"{_BLANK}{{0,200}}(?:(?<=\n)>{_BLANK}{{0,20}})?(?:(?://|\#)[^\n]{{0,200}}{_BLANK}{{0,200}}|/\*[^*]{{0,200}}\*/{_BLANK}{{0,200}})?"
_OPEN = "\"'“‘„”’"
_QUOTED_KEY = rf"[{_OPEN}][^\"'“”‘’\n]{{1,80}}[\"'”’“]{_BLANK}{{0,50}}:"
_BARE_KEY = rf"[^\W\d][\w .-]{{0,40}}{_BLANK}{{0,50}}:"
_CUT_KEY = rf"[{_OPEN}][^\"'“”‘’\n]{{0,80}}[\"'”’]?{_BLANK}{{0,50}}\Z"
_STOP = r"```|~~~|</|<\||\[/?INST\]"
_ITEM = rf"[{_OPEN}\[{{(]|-?\d[\d.]{{0,20}}{_BLANK}{{0,50}}[,\]]|(?:true|false|null|None|True|False)\b"

SPACE = re.compile(rf"(?:{_BLANK}+|//[^\n]*|\#[^\n]*|/\*[^*]{{0,300}}\*+/|(?<=\n)>)*")
STOP = re.compile(_STOP)

_AFTER_IN_OBJECT = re.compile(
    rf"{_GAP}(?:\Z|[}}\])]|(?:[,;]{_GAP})+(?:\Z|[}}\]]|{_QUOTED_KEY}|{_BARE_KEY}|{_CUT_KEY})|{_STOP}|(?<=\s){_QUOTED_KEY}|\n{_BARE_KEY})"
)
_AFTER_IN_LIST = re.compile(
    rf"{_GAP}(?:\Z|[}}\])]|(?:[,;]{_GAP})+(?:\Z|[}}\]]|{_ITEM}|\.\.\.|…)|{_STOP}|(?<=\s)[{_OPEN}]\w)"
)
_AFTER_KEY = re.compile(rf"{_BLANK}{{0,50}}(?::|=>?)")
_AFTER_BARE = re.compile(rf"{_GAP}(?:\Z|[,;}}\])]|{_STOP}|{_QUOTED_KEY}|(?<=\n){_BARE_KEY})")

_QUOTE = re.compile(rf"[{_OPEN}]")
_NEXT = {
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    "“": re.compile(r"[”“\"\\]"),
    "”": re.compile(r"[”\"\\]"),
    "„": re.compile(r"[“”\"\\]"),
    "‘": re.compile(r"[’'\\]"),
    "’": re.compile(r"[’'\\]"),
}
_PLAIN_KEY = re.compile(r"([^\W][\w .()/-]{0,60}?)\s{0,50}(?::|=>?)")
# The end of a sentence: a brace that prose left open.
_PROSE = re.compile(r"\w{2}\.\s+\w")
_BARE = re.compile(r"[^\s,\]}{\[:\"'][^,;\]}{\[\n\"“]{0,80}")
# A quote that closes: behind a word, before a blank. One inside an item would open first.
_ENDED = re.compile(r"\S[\"“”](?=[\s,;])")
_COMMENT = re.compile(r"\s+(?://|#)|\s*/\*")
_INTEGER = re.compile(r"[+-]?\d{1,300}\Z")
_FLOAT = re.compile(r"[+-]?(?:\d{1,300}\.\d{0,300}|\.\d{1,300}|\d{1,300})(?:[eE][+-]?\d{1,4})?\Z")
_LITERALS: dict[str, Any] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "None": None, "nil": None, "undefined": None, "NULL": None,
    "NaN": float("nan"), "nan": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
}  # fmt: skip

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_MAX_KEY = 200


class Stopped(Exception):
    """The text is not JSON from ``position`` on, or (``cut``) it ends inside the string ``value``."""

    def __init__(self, position: int, *, cut: bool = False, value: str = "") -> None:
        super().__init__(position)
        self.position = position
        self.cut = cut
        self.value = value


def _one_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code in _ESCAPED:
        return _ESCAPED[code]
    # An unknown escape of a letter is most likely LaTeX; of punctuation, needless caution of the model.
    return match.group() if code.isalnum() else code


def _join(match: re.Match[str]) -> str:
    pair = match.group()
    return chr(0x10000 + ((ord(pair[0]) - 0xD800) << 10) + (ord(pair[1]) - 0xDC00))


def unescape(text: str) -> str:
    """Undo backslash escapes; illegal ones lose their backslash (punctuation) or keep it (letters)."""
    if "\\" not in text:
        return text
    return _SURROGATES.sub(_join, _ESCAPE.sub(_one_escape, text))


def read_string(text: str, position: int, *, in_object: bool) -> tuple[str, int] | None:
    """The quoted string at ``position`` and the position after it, or None when no quote stands there."""
    if not _QUOTE.match(text, position):
        return None
    after = _AFTER_IN_OBJECT if in_object else _AFTER_IN_LIST
    following = _NEXT[text[position]]
    start = index = position + 1
    first = True
    while match := following.search(text, index):
        index = match.end()
        if match.group() == "\\":
            index += 1
        elif after.match(text, index):
            return unescape(text[start : match.start()]), index
        elif first and not in_object and match.group() not in "'’" and _ENDED.match(text, max(start, index - 2)):
            raise Stopped(index)  # the item is over, and stray words follow: what comes next is not its second half
        else:
            first = False
    raise Stopped(len(text), cut=True, value=unescape(text[start:]))


def read_key(text: str, position: int) -> tuple[str, int]:
    """The key at ``position``, quoted or not, and the position after its colon."""
    if not _QUOTE.match(text, position):
        match = _PLAIN_KEY.match(text, position)
        if match is None or _PROSE.search(match.group(1)):
            raise Stopped(position)
        return match.group(1), match.end()
    following = _NEXT[text[position]]
    start = index = position + 1
    limit = start + _MAX_KEY
    while match := following.search(text, index, limit):
        index = match.end()
        if match.group() == "\\":
            index += 1
        elif colon := _AFTER_KEY.match(text, index):
            return unescape(text[start : match.start()]), colon.end()
    if limit >= len(text):
        raise Stopped(len(text), cut=True, value=text[start:])
    raise Stopped(min(limit, index))


def read_bare(text: str, position: int, *, in_object: bool) -> tuple[Any, int]:
    """A number, a literal or (as a value in an object) unquoted words, and the position after it."""
    match = _BARE.match(text, position)
    if match is None:
        raise Stopped(position)
    token = _COMMENT.split(match.group(), maxsplit=1)[0].strip()
    if token in {"...", "…"}:
        raise Stopped(position, cut=True)
    end = position + len(match.group().rstrip()) if token == match.group().rstrip() else position + len(token)
    if not _AFTER_BARE.match(text, end):
        raise Stopped(end)
    if token in _LITERALS:
        return _LITERALS[token], end
    if _INTEGER.match(token):
        return int(token), end
    if _FLOAT.match(token):
        return float(token), end
    if in_object:
        return token, end
    raise Stopped(position)
