"""Shared tools of all readers: the exception for a text without an honest reading, and text in a normal form.

Readers deep inside the package do not have the whole reply, so they raise ``Unreadable``. The public ``parse`` methods
turn it into a ``BadReply`` with the raw text. For a ``str`` input, they raise nothing else.

A role, a list marker, a symbol or an open tag around a short answer is removed only if it cannot mean anything else. A symbol
that takes a side ("✅") is remembered, because it must not contradict the words. "Response: yes" loses its label only if nothing
after the label speaks about that response.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from typing import TypeVar

from .._kernel._repeated import SENT
from .._kernel._wording import question_of
from .._values._errors import BadReply
from ._words import CONCLUSION, NEGATIVE

T = TypeVar("T")

MAX_REPLY = 1_000_000
"""The most characters of a reply that is read: far more than any answer has, and readable within a second or two."""
MAX_BRACKETS = 100_000
"""The most opening brackets of a reply that is read. Brackets take the most time."""
_BARE = 2
"""The most words of a reply that is only an answer."""


class Unreadable(Exception):
    """A text has no honest reading. ``reason`` is one short sentence that tells the model what to correct."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misfit(Unreadable):
    """A value inside some data cannot be read. ``path`` is its position (``statements[2].verdict``)."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path} {what}" if path else what)
        self.what = what
        self.path = path

    def under(self, parent: str) -> Misfit:
        """Return the same misfit with ``parent`` in front of its path."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return Misfit(self.what, f"{parent}{joint}{self.path}")


def parse_or_bad_reply(text: str, read: Callable[[str], T]) -> T:
    """Return the value that ``read`` finds in ``text``.

    Raises:
        BadReply: there is no honest reading, or the text is too long. The reason comes from the reader that failed.
    """
    if len(text) > MAX_REPLY or text.count("{") + text.count("[") > MAX_BRACKETS:
        raise BadReply(
            f"the reply is too long ({len(text):,} characters); give the answer and nothing else", text[:1000]
        )
    try:
        return read(text)
    except Unreadable as unreadable:
        raise BadReply(unreadable.reason, str(text)) from None


def on_line(text: str, start: int, end: int, reach: int = sys.maxsize) -> tuple[str, str]:
    """Return the text before and after ``text[start:end]`` on its line, at most ``reach`` characters of each."""
    begin = max(text.rfind("\n", 0, start) + 1, start - reach)
    stop = text.find("\n", end, end + reach)
    return text[begin:start], text[end : stop if stop >= 0 else end + reach]


def outside(text: str, spans: Iterable[tuple[int, int]], gap: str = " … ") -> str:
    """Return the text outside some spans, with ``gap`` in the place of each span."""
    parts = []
    start = 0
    for begin, end in spans:
        parts.append(text[start:begin])
        start = max(start, end)
    return gap.join([*parts, text[start:]])


def without_sent(signs: list[T], said: Callable[[T], str], text: str, normal: str) -> list[T]:
    """Drop the signs of an answer whose words are in the data that was sent. A reply of one or two words keeps all its signs.

    Raises:
        Unreadable: the words of all signs are in the data.
    """
    asked = question_of(text)
    if not asked.known or len(normal.split()) <= _BARE:
        return signs
    left = [sign for sign in signs if not asked.holds_saying(said(sign))]
    if signs and not left:
        raise Unreadable(SENT)
    return left


def shown(value: object, limit: int = 40) -> str:
    """Return a value as error messages show it: quoted, on one line, truncated if it is long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


TOKEN = re.compile(
    r"<\|[\w▁ /-]{1,40}\|>|<｜[\w▁ ]{1,40}｜>|</?s>|<(?:start|end)_of_turn>|<(?:eos|bos|pad|unk)>|\[/?INST\]|\[TOOL_CALLS\]|"
    r"<</?SYS>>",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u00ad\u200b\u200c\u200d\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\ufeff\u20e3]")
_BOXED = re.compile(r"\$?\\boxed\s?\{(?:\\text\s?\{)?([^{}]*)\}{1,2}\$?")
_BOX = re.compile(r"(?:^[ \t]*[-*+•] )?(?:\[ ?\]|☐|(?P<tick>\[[xX✓✔]\]|☑))[ \t]*(?P<text>[^\n\[\]☐☑]*)", re.MULTILINE)
_SHORT = re.compile(r"\W*\w{1,12}\W*")
_QUOTES = str.maketrans("“”„‟«»‘’‚−", '""""""\'\'\'-')


def without_tokens(text: str) -> str:
    """Return the text with a space in the place of each chat-template token."""
    return TOKEN.sub(" ", text) if "<" in text or "[" in text else text


def tidy(text: str) -> str:
    """Normalize prose for the readers of words and numbers: plain, without chat tokens, with single spaces and no empty lines.

    The patterns of these readers can then allow for one or two spaces instead of any number, which keeps them linear.
    """
    lines = (" ".join(line.split()) for line in plain(without_tokens(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def unboxed(text: str) -> str:
    """Remove the LaTeX box that some models put around their answer."""
    return _BOXED.sub(r"\1", text) if "\\boxed" in text else text


def ticked(text: str) -> str:
    """Replace tick boxes before short answers by the ticked answers: "☑ yes ☐ no" becomes "yes"."""
    options = list(_BOX.finditer(text)) if "[" in text or "☐" in text or "☑" in text else []
    if not any(option["tick"] for option in options) or any(not _SHORT.fullmatch(option["text"]) for option in options):
        return text
    return _BOX.sub(lambda option: option["text"] if option["tick"] else " ", text)


def plain(text: str) -> str:
    """Normalize prose: full-width and compatibility characters, quotes and HTML entities. Invisible characters are removed."""
    text = html.unescape(text) if "&" in text else text
    if text.isascii():
        return text
    visible = _UNSEEN.sub("", text)
    normal = unicodedata.normalize("NFKC", visible)
    # A few ligatures expand to whole sentences; a text that grows too much is not normalized.
    return (normal if len(normal) <= 2 * len(visible) else visible).translate(_QUOTES)


_AFFIRM = "✅✔✓☑👍🟢🟩"
_DENY = "❌✗✘✖👎🚫🔴⛔🟥"
_SIGN = f"[{_AFFIRM}{_DENY}]"
# Emoji without a meaning. Boxes and stars are not among them (they may be ticked or counted), nor are emoji of _KEPT.
_COLOUR = re.compile("[\u2600-\u2604\u2607-\u260f\u2613-\u26ff\u2728\u27a1\U0001f300-\U0001faff]")
_DOUBT = "🤔🤷😕🫤😐❓❔🙄🟡🟠⚖"
_KEPT = frozenset(_AFFIRM + _DENY + _DOUBT)
_DRESS = re.compile(
    rf"(?P<head>(?:{_SIGN}\s?){{0,20}})(?P<body>.*?)(?P<tail>(?:\s?{_SIGN}){{0,20}})(?P<end>[\s.!]{{0,9}})", re.DOTALL
)
_EDGE = re.compile(rf"^(?:{_SIGN}\s?){{1,20}}|\s?{_SIGN}{{1,20}}$", re.MULTILINE)
_ROLE = re.compile(
    r"\A[\s*_#>]{0,8}(?:ai assistant|assistant|ai|chatbot|bot|model|response|output|reply|judge|evaluator)[*_\s]{0,4}[:：]"
    r"[*_\s]{0,6}(?=\S)",
    re.IGNORECASE,
)
_MAX_ROLE_TEXT = 300
ANOTHERS = re.compile(
    r"\b(?:correct|right|true|reference|expected|gold|golden|candidate|candidate's|given|model|model's|student|student's|user|"
    r"user's|other|old|previous|original|generated|assistant|assistant's|first|initial|their|his|her|whose|your|"
    r"says?|said|states?|stated|claims|answered|replied|responded|response|wrote|asks?|asked|quotes?|quoted)\b"
)
_ABOUT = re.compile(
    r"\b(?:but|however|though|although|this is|that is|it is|instead|rather|while|whereas|verdict|judge?ment|answer|final)\b"
)
_LABEL = re.compile(
    rf"(?:^|(?<=[.!?]\s))\[{{1,2}}\s?((?:(?:the|my|final|overall)\s){{0,2}}(?:{CONCLUSION}))\s?[:=]?\s?\]{{1,2}}\s?[:=]?\s?"
    r"(?=\S)",
    re.MULTILINE,
)
_OPEN_TAG = re.compile(r"(?:\A|[>\n])\s{0,9}<(?P<tag>[A-Za-z_]\w{0,30})>\s{0,9}(?P<text>[^<>]{1,40})\Z")


def without_role(text: str) -> str:
    """Remove the role or label that a transcript puts before a one-line reply ("Assistant: yes")."""
    match = _ROLE.match(text) if len(text) <= _MAX_ROLE_TEXT else None
    if match is None:
        return text
    rest = text[match.end() :].strip()
    words = rest.casefold()
    if "\n" in rest or ":" in rest or "：" in rest or ANOTHERS.search(words) or _ABOUT.search(words):
        return text
    return text if set(re.findall(r"\w+", words)) & NEGATIVE and len(words.split()) > 1 else rest


def without_colour(text: str) -> str:
    """Remove emoji without a meaning. Emoji that take a side or express doubt stay."""
    return text if text.isascii() else _COLOUR.sub(lambda match: match.group() if match.group() in _KEPT else "", text)


def without_emoji(text: str) -> str:
    """Remove emoji without a meaning, and the side-taking symbols at the beginning and end of lines, which decorate a score."""
    return text if text.isascii() else _EDGE.sub("", without_colour(text))


def undress(sentence: str) -> tuple[str, frozenset[bool]]:
    """Return a sentence without the symbols around it, and the sides that these symbols take (True: yes, False: no)."""
    if sentence.isascii():
        return sentence, frozenset()
    match = _DRESS.fullmatch(sentence)
    if match is None or not re.search(r"\w", match["body"]):
        return sentence, frozenset()
    worn = match["head"] + match["tail"]
    sides = {True for sign in worn if sign in _AFFIRM} | {False for sign in worn if sign in _DENY}
    return match["body"] + match["end"], frozenset(sides)


def plain_labels(text: str) -> str:
    """Replace labels in brackets ("[RESULT] yes") by labels with a colon."""
    return _LABEL.sub(r"\1: ", text) if "[" in text else text


def close_tag(text: str) -> tuple[str, str]:
    """Close a last open tag that only a short text follows. Return the text and the name of the tag (empty: no such tag)."""
    start = text.rfind("<")
    match = _OPEN_TAG.search(text, max(0, start - 12)) if start >= 0 else None
    return (f"{text}</{match['tag']}>", match["tag"]) if match else (text, "")
