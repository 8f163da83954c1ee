"""Prose in one normal form: one kind of quotes, digits and blanks, without the tokens of chat templates."""

from __future__ import annotations

import html
import re
import unicodedata

TOKEN = re.compile(
    r"<\|[\w▁ /-]{1,40}\|>|<｜[\w▁ ]{1,40}｜>|</?s>|<(?:start|end)_of_turn>|<(?:eos|bos|pad|unk)>|\[/?INST\]|\[TOOL_CALLS\]|"
    r"<</?SYS>>",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u200d\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\ufeff\u20e3]"
)
_BOXED = re.compile(r"\$?\\boxed\s?\{(?:\\text\s?\{)?([^{}]*)\}{1,2}\$?")
_OPTION = re.compile(
    r"(?:^[ \t]*[-*+•] )?(?:\[ ?\]|☐|(?P<tick>\[[xX✓✔]\]|☑))[ \t]*(?P<text>[^\n\[\]☐☑]*)", re.MULTILINE
)
_SHORT = re.compile(r"\W*\w{1,12}\W*")
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "−": "-"}
)


def without_tokens(text: str) -> str:
    """The text with the tokens of chat templates blanked out."""
    return TOKEN.sub(" ", text) if "<" in text or "[" in text else text


def tidy(text: str) -> str:
    """Prose for the readers of words and numbers: plain, without chat tokens, one blank at a time, no empty lines.

    Their patterns may then allow for a blank or two instead of any number, which keeps them linear.
    """
    lines = (" ".join(line.split()) for line in plain(without_tokens(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def unboxed(text: str) -> str:
    """A text without the LaTeX box that some models put around their answer."""
    return _BOXED.sub(r"\1", text) if "\\boxed" in text else text


def ticked(text: str) -> str:
    """A text in which boxes before short answers are ticked, with those that are ticked alone: "☑ yes ☐ no" as "yes"."""
    options = list(_OPTION.finditer(text)) if "[" in text or "☐" in text or "☑" in text else []
    if not any(option["tick"] for option in options) or any(not _SHORT.fullmatch(option["text"]) for option in options):
        return text
    return _OPTION.sub(lambda option: option["text"] if option["tick"] else " ", text)


def plain(text: str) -> str:
    """Prose in one normal form: full-width and compatibility forms, quotes, entities and invisible characters undone."""
    if text.isascii():
        return html.unescape(text) if "&" in text else text
    text = html.unescape(text) if "&" in text else text
    visible = _INVISIBLE.sub("", text)
    normal = unicodedata.normalize("NFKC", visible)
    # A few ligatures stand for whole sentences; a text made of them is not worth its normal form.
    return (normal if len(normal) <= 2 * len(visible) else visible).translate(_QUOTES)
