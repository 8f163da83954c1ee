"""Cutting text into words that can be compared, in any script.

A word keeps its place in the text (claims are cut along it) and gets a *key* (what is compared) and a *kind* (what it is
worth). Numbers, months and number words share one spelling, so that *eleven* meets *11* and *2019-07-15* meets
*July 15, 2019*. Scripts written without spaces, and Hangul with its glued particles, become overlapping pairs of
characters, the usual stand-in for words there.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from ._lists import MONTHS, NEGATIONS, NUMBER_WORDS, STOP_WORDS, language_of

Kind = Literal["number", "name", "plain", "pair", "negation", "stop"]


class Word(NamedTuple):
    """One word: the key it is compared by, what kind of word it is, and where it stands in the text."""

    key: str
    kind: Kind
    start: int
    text: str

    @property
    def end(self) -> int:
        """Where the word ends in the text."""
        return self.start + len(self.text)


# Letters with the vowel signs of the Indic and Semitic scripts, which \w leaves out.
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05bd\u064b-\u0655\u0900-\u0963\u0971-\u0df4])"
# Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    r"[\u0e01-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
_TOKEN = re.compile(
    r"(?P<citation>\[\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*\]|【\d{1,3}[^】\n]{0,30}】)"
    rf"|(?P<date>(?<!\d)\d{{4}}-\d\d?-\d\d?(?!\d))"
    rf"|(?P<number>\d+(?:[.,:]\d+)*)(?P<ordinal>(?:st|nd|rd|th|s|['’]s)\b)?"
    rf"|(?P<unspaced>{_UNSPACED}+)"
    rf"|(?P<initials>\b(?:[A-Za-z]\.){{2,}})"
    rf"|(?P<not>(?<=[a-z])n['’]t\b|\bn['’]t\b)"
    rf"|(?P<clitic>(?<=\w)['’](?:s|re|ve|ll|d|m)\b)"
    rf"|(?P<word>(?:(?!n['’]t\b|{_UNSPACED}){_LETTER})(?:(?!n['’]t\b|{_UNSPACED})(?:{_LETTER}|\d))*)"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = frozenset({"de", "fr", "es", "it", "pt", "nl", "ru"})
_RANKS = {"1st": "first", "2nd": "second"}  # spelled out, they are too common for numbers
_SHORT_MONTH = 3  # letters of a month's abbreviation
_RUN = re.compile(r"\w+")
_MARKS = re.compile("[\u0300-\u036f]")


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """The word without case and accents, and in the singular where an ``s`` makes the plural."""
    folded = word.casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", folded)))
    if len(folded) > 3 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        return folded[:-3] + "y" if folded.endswith("ies") and len(folded) > 5 else folded[:-1]
    return folded


def _numeral(match: re.Match[str], language: str) -> Word:
    start, found = match.start(), match.group()
    rank = _RANKS.get(match.group().casefold()) if language == "en" else None
    return (
        Word(rank, "plain", start, found)
        if rank
        else Word(_number(match.group("number"), language), "number", start, found)
    )


def _number(text: str, language: str) -> str:
    digits = unicodedata.normalize("NFKC", text)
    if not digits.isascii():
        digits = "".join(str(unicodedata.digit(c, 0)) if c.isdigit() else c for c in digits)
    if language in _DECIMAL_COMMA:
        digits = digits.translate({ord("."): ",", ord(","): "."})
    if _GROUPED.fullmatch(digits):
        digits = digits.replace(",", "")
    if digits.count(".") == 1 and digits.replace(".", "").isdigit():
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"


@lru_cache(maxsize=64)
def words_of(text: str, language: str) -> tuple[Word, ...]:
    """All words of ``text`` in order, read with the stop words, numerals and decimal mark of ``language``."""
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        start, found, group = match.start(), match.group(), match.lastgroup
        if group == "citation":
            continue  # it says where a fact comes from and is none
        if group == "date":
            year, month, day = found.split("-")
            words += [Word(key, "number", start, found) for key in (year, f"month {int(month)}", str(int(day)))]
        elif group in {"number", "ordinal"}:
            words.append(_numeral(match, language))
        elif group == "unspaced":
            words += _pairs(found, start)
        elif group == "initials":
            words.append(Word(found.replace(".", "").casefold(), "name" if found.isupper() else "stop", start, found))
        elif group == "not":
            words.append(Word("not", "negation", start, found))
        elif group == "clitic":
            words.append(Word("'s", "stop", start, found))
        elif fold(found):  # of accents without a letter, nothing is left
            words.append(_word(found, start, language, first=not words))
    return tuple(_with_months(words))


def _pairs(run: str, start: int) -> list[Word]:
    if len(run) == 1:
        return [Word(run, "pair", start, run)]
    return [Word(run[i : i + 2], "pair", start + i, run[i : i + 2]) for i in range(len(run) - 1)]


def _word(text: str, start: int, language: str, *, first: bool) -> Word:
    lower = text.casefold()
    shouted = len(text) > 1 and text.isupper()
    kind: Kind = "plain"
    key = fold(text)
    if lower in NEGATIONS[language]:
        key, kind = "not", "negation"
    elif not shouted and lower in STOP_WORDS[language]:
        key, kind = lower, "stop"
    elif lower in NUMBER_WORDS[language]:
        key, kind = NUMBER_WORDS[language][lower], "number"
    elif shouted or (text[0].isupper() and not first and language != "de"):
        kind = "name"
    return Word(key, kind, start, text)


def _with_months(words: list[Word]) -> list[Word]:
    """Read months as numbers, short or lower-case ones only beside a number: *may* and *mar* are other words as well."""
    for i, word in enumerate(words):
        month = MONTHS.get(word.text.casefold()) if word.kind in {"plain", "name", "stop"} else None
        beside = words[max(0, i - 2) : i] + words[i + 1 : i + 3]
        named = word.kind == "name" and len(word.text) > _SHORT_MONTH
        if month and (named or any(w.kind == "number" for w in beside)):
            words[i] = word._replace(key=month, kind="number")
    return words


def guess_language(*texts: str) -> str:
    """The language most of the stop words in ``texts`` belong to; ``"en"`` where there are none."""
    return language_of(word.casefold() for text in texts for word in _RUN.findall(text[:4000]))
