"""Read a score that is written as a number, on a given scale.

A scale is the lowest and the highest number, or a menu of integers. The form of a number is flexible (full-width
digits, decimal comma, "4/5", "4 out of 5", bold, brackets, number words). A number with another meaning
is refused: another scale ("4/10", "80%"), a range ("3-4"), a list, a number that is not finite or off the scale.
"""

from __future__ import annotations

import math
import re
from functools import cached_property, lru_cache
from typing import Any

from ._text import Unreadable, plain, shown, without_emoji

NUMBER = (
    r"[+-]?(?:\d{1,4}(?:\.\d{1,3}|,\d{1,2})?|\.\d{1,3})(?![\d_⁄]|[.,]\d|\s?\+|(?!pts?\b|points?\b|stars?\b)[A-Za-z])"
)
_WORDS = (
    "zero one two three four five six seven eight nine ten;null eins zwei drei vier fünf sechs sieben acht neun zehn;"
    "zéro un deux trois quatre cinq six sept huit neuf dix;cero uno dos tres cuatro cinco seis siete ocho nueve diez;"
    "zero uno due tre quattro cinque sei sette otto nove dieci;zero um dois três quatro cinco seis sete oito nove dez;"
    "nul een twee drie vier vijf zes zeven acht negen tien;ноль один два три четыре пять шесть семь восемь девять десять;"
    "零 一 二 三 四 五 六 七 八 九 十;〇 壱 两 参 肆 伍 陸 漆 捌 玖 拾;영 일 이 삼 사 오 육 칠 팔 구 십;"
    "sıfır bir iki üç dört beş altı yedi sekiz dokuz on;zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć"
)
# "null" is German for zero but means "no value" in JSON, so it is not a number here. Turkish "on" (ten) is an English word.
WORDS = {
    word: value
    for language in _WORDS.split(";")
    for value, word in enumerate(language.split(" "))
    if word not in {"null", "on", "nul"}
}
_UNIT = r"(?:points?|pts?\.?|stars?|分|点|點|점|Punkte?n?|points|puntos?|punti|pontos?|балл(?:а|ов)?|★)"
_OVER = r"(?:/|out\sof|of|von|sur|de|su|из|op|/\s{0,2}out of)"
_DECORATION = re.compile(r"\\(?:boxed|text|mathbf|textbf|bf)\b|[*`#$~\"'{}\[\]()<>]|\s_|_\s")
_WHOLE = re.compile(
    rf"(?P<number>{NUMBER})\s{{0,2}}(?:(?P<percent>%|percent|per cent)|{_UNIT})?"
    rf"(?:\s{{0,2}}{_OVER}\s{{0,2}}(?P<top>{NUMBER})(?:\s{{0,2}}{_UNIT})?)?"
    r"(?P<rest>\s{0,2}(?:[.!。]?\s{0,2}$|[:：;,|]\s(?!\d)[^\n]*$|\s[-–—]+\s[^\d\n][^\n]*$|\(.*$))",
    re.IGNORECASE,
)
_MAX_TEXT = 300
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_FRACTION = re.compile(r"(\d)[ \u00a0]?([½¼¾])")
_SMALL = re.compile("(?<=\\d)[¹²³⁰⁴-⁹₀-₉⅐-⅞↉]")
_BOLD_TAG = re.compile(r"</?(?:b|strong|em|i)>(?=[\d/\s]|\Z)")
_EMPHASIS = re.compile(r"(?<![\w*_`.,])(\*{1,3}|_{1,3}|`{1,2})\s?([+-]?\d{1,4}(?:[.,]\d{1,3})?)\s?\1(?![\w*_`]|[.,]\S)")
_ANGLES = re.compile(r"(?<!<)<\s?([+-]?\d{1,4}(?:[.,]\d{1,3})?(?:\s?/\s?\d{1,4})?)\s?>(?!>)")
# "at least 4", "about 4", a price: not an exact score. A ">" followed by a space is the quotation mark of e-mail.
COMPARED = re.compile(r"[<≤≥~≈]\s?[\d.]|>[\d.]|#\d|\d\s?\+(?!\d)|\A[^$]*\$[^$]*\Z")
_PARENTHESIS = re.compile(r"(?<=\S)\s{0,2}\((?!\s{0,2}[+-]?[\d.]+\s{0,2}\)).*\)?\s{0,2}[.!]?\s{0,2}\Z", re.DOTALL)


def written_out(text: str) -> str:
    """Replace 4½ by 4.5. Mark any other small figure after a digit ("4⅓", "4²"), so that the digit is not read as a number."""
    if text.isascii():
        return text
    return _SMALL.sub("⁄", _FRACTION.sub(lambda match: match[1] + _FRACTIONS[match[2]], text))


def bare_numbers(text: str) -> str:
    """Remove emphasis and the angle brackets of a placeholder from numbers: "**3**/5" becomes "3/5", and "<3>" becomes "3"."""
    return _EMPHASIS.sub(r"\2", _BOLD_TAG.sub("", without_angles(text)))


def without_angles(text: str) -> str:
    """Remove one pair of angle brackets around numbers. Some models copy the brackets from the instructions."""
    return _ANGLES.sub(r"\1", text) if "<" in text else text


def _number(digits: str) -> float:
    return float(digits.replace(",", "."))


class Scale:
    """The scores that are allowed: all numbers from ``low`` to ``high``, or the integers of ``choices``."""

    def __init__(self, low: float, high: float, choices: tuple[int, ...] = ()) -> None:
        self.low = low
        self.high = high
        self.choices = choices

    @cached_property
    def wanted(self) -> str:
        """The allowed scores, in words for the model."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        return f"a number from {self.low:g} to {self.high:g}"

    @cached_property
    def mentions(self) -> re.Pattern[str]:
        """A pattern for mentions of the scale itself in running text ("1-5", "from 1 to 5", "0, 1 or 2"), which are not scores."""
        low, high = (re.escape(f"{end:g}") for end in (self.low, self.high))
        to = r"(?:-|–|—|to|through|and|~|〜|bis|und|à|et|a|y|e|до|и|至|到|から|부터|에서|\.{2,3}|…)"
        aside = r"(?:\s?\([^()\d]{1,40}\)|\s?=\s?[^\d\n,;]{1,40}[,;]?)?"
        end = r"(?:점|分|点|\s?(?:points?|stars?)\b)?"
        forms = [
            rf"(?:between|from|of|scale|von|de|da|от|zwischen|entre|tra)?\s?{low}{end}{aside}\s?{to}\s?{high}{end}{aside}",
            rf"(?<!\d)(?<!\d )(?:out\sof|/)\s?{high}(?=\s?[)\]]*\s?[:=])",
        ]
        first, last = math.ceil(self.low), math.floor(self.high)
        menu = self.choices or (range(first, last + 1) if 1 <= last - first <= 20 else ())
        if len(menu) > 1:
            between = r"\s?(?:,\s?(?:or|and|oder|ou|o|или)?|/|\||;|or|and|oder|ou|または|或|또는)\s?"
            forms.insert(0, between.join(f"{choice}{aside}" for choice in menu))
        return re.compile(rf"[(\[{{]?\s?(?<![\d.,/-])(?:{'|'.join(forms)})(?![\d/]|[.,]\d)\s?[)\]}}]?")

    def check(self, value: float) -> float:
        """Return ``value`` if it is on the scale.

        Raises:
            Unreadable: ``value`` is off the scale or not finite.
        """
        if not math.isfinite(value):
            raise Unreadable(f"the score is not a number; give {self.wanted}")
        if (self.choices and value not in self.choices) or not self.low <= value <= self.high:
            raise Unreadable(f"{value:g} is not on the scale; give {self.wanted}")
        return float(value)

    def over(self, digits: str, top: str | None, percent: str | None = None) -> float:
        """Return ``digits`` as a score. ``top`` is the number after "/" or "out of"; it must be the highest score of this scale."""
        if (top is not None and _number(top) != self.high) or (percent and self.high != 100):
            raise Unreadable(f"the score is on another scale; give {self.wanted}")
        return self.check(_number(digits))

    def read_text(self, text: str) -> float:
        """Read a short text that is a number, such as "4/5" or "4 - good".

        Raises:
            Unreadable: the text is something else, or the number is not on the scale.
        """
        text = without_angles(text)
        if len(text) > _MAX_TEXT or "\n" in text.strip():
            raise Unreadable(f"the score is a long text; give {self.wanted}")
        normal = bare_numbers(without_emoji(plain(written_out(text)))).strip()
        normal = _PARENTHESIS.sub("", normal) or normal
        normal = " ".join(_DECORATION.sub(" ", normal).split())
        word = normal.rstrip(".!。 ").casefold()
        if word in WORDS:
            return self.check(WORDS[word])
        match = _WHOLE.match(normal)
        if match is None or COMPARED.search(text):
            raise Unreadable(f"{shown(text)} is no score; give {self.wanted}")
        return self.over(match["number"], match["top"], match["percent"])

    def read_value(self, value: Any) -> float:
        """Read the value of a JSON key as a number. A boolean is not a number.

        Raises:
            Unreadable: the value is not a number, or the number is not on the scale.
        """
        if isinstance(value, list) and len(value) == 1:
            value = value[0][0] if isinstance(value[0], list) and len(value[0]) == 1 else value[0]
        if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
            raise Unreadable(f"the score is {shown(value)}; give {self.wanted}")
        if isinstance(value, str):
            return self.read_text(value)
        if isinstance(value, int) and abs(value) > 10**9:
            raise Unreadable(f"the score is not on the scale; give {self.wanted}")
        return self.check(value)


@lru_cache(maxsize=256)
def scale_of(low: float, high: float, choices: tuple[int, ...] = ()) -> Scale:
    """Return a cached scale. Compiling its patterns takes longer than reading a reply."""
    return Scale(low, high, choices)
