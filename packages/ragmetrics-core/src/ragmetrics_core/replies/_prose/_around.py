"""What stands around a short answer without changing it: a role, a list marker, a symbol, a tag left open.

Each is taken off only where it can mean nothing else. A symbol that takes a side ("✅") is remembered, for it must
not contradict the words; "Response: yes" loses its label only when nothing after it speaks about that response.
"""

from __future__ import annotations

import re

from ._words import CONCLUSION, NEGATIVE

_AFFIRM = "✅✔✓☑👍🟢🟩"
_DENY = "❌✗✘✖👎🚫🔴⛔🟥"
_SIGN = f"[{_AFFIRM}{_DENY}]"
# Emoji that say nothing. Boxes and stars may be ticked or counted, faces in thought and question marks doubt.
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
    """A one-line reply without the role or label that a transcript puts before it ("Assistant: yes")."""
    match = _ROLE.match(text) if len(text) <= _MAX_ROLE_TEXT else None
    if match is None:
        return text
    rest = text[match.end() :].strip()
    words = rest.casefold()
    if "\n" in rest or ":" in rest or "：" in rest or ANOTHERS.search(words) or _ABOUT.search(words):
        return text
    return text if set(re.findall(r"\w+", words)) & NEGATIVE and len(words.split()) > 1 else rest


def without_colour(text: str) -> str:
    """The text without emoji that say nothing; those that take a side or doubt stay."""
    return text if text.isascii() else _COLOUR.sub(lambda match: match.group() if match.group() in _KEPT else "", text)


def without_emoji(text: str) -> str:
    """The text without emoji at the ends of its lines, where a score has them for colour."""
    return text if text.isascii() else _EDGE.sub("", without_colour(text))


def undress(sentence: str) -> tuple[str, frozenset[bool]]:
    """A sentence without the symbols before and after its words, and the sides that those take."""
    if sentence.isascii():
        return sentence, frozenset()
    match = _DRESS.fullmatch(sentence)
    if match is None or not re.search(r"\w", match["body"]):
        return sentence, frozenset()
    worn = match["head"] + match["tail"]
    sides = {True for sign in worn if sign in _AFFIRM} | {False for sign in worn if sign in _DENY}
    return match["body"] + match["end"], frozenset(sides)


def plain_labels(text: str) -> str:
    """Labels in brackets ("[RESULT] yes") as labels with a colon."""
    return _LABEL.sub(r"\1: ", text) if "[" in text else text


def close_tag(text: str) -> tuple[str, str]:
    """The text with a tag closed that a short text follows up to the end, and that tag (empty: there is none)."""
    start = text.rfind("<")
    match = _OPEN_TAG.search(text, max(0, start - 12)) if start >= 0 else None
    return (f"{text}</{match['tag']}>", match["tag"]) if match else (text, "")
