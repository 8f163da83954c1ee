"""Splits text into words that can be compared, in any script, with the word lists of its language.

A word keeps its offset in the text, because claims are cut at words. It gets a *key*, by which words are compared, and a *kind*,
which decides its weight. Numbers, months and number words are normalized, so that *eleven* equals *11* and *2019-07-15* equals
*July 15, 2019*. Scripts written without spaces, and Hangul with its attached particles, are split into overlapping pairs of
characters, the usual substitute for words in these scripts.

There is one list per language because words collide: *die* is an article in German and a verb in English. The language is guessed
by counting the stop words of each language in all given texts, so the guess is cheap and needs no model. In a language without a
list, all words count as content.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


def _sets(lists: dict[str, str]) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(text.split()) for language, text in lists.items()}


# Articles, prepositions, conjunctions, auxiliaries and third-person pronouns: they connect facts but state no fact.
STOP_WORDS = _sets(
    {
        "en": """a an the and or but if then of at by for with about to from in on off over under is am are was were be
        been being has have had having do does did as so than too very can will would could should may might must just
        there here what which who whom whose when where why how also into out up down that this these those it its such
        both each any some all other more most own same until while during before after again further through because
        between against above below once only 's 'm 're 've 'd 'll he she they him her them his hers their theirs
        himself herself itself themselves itself ca wo yes yeah yep oh well okay ok""",
        "de": """der die das den dem des ein eine einen einem einer eines und oder aber wenn von vom zu zum zur im in
        am an auf aus bei beim mit nach seit vor für um durch über unter als wie ist sind war waren wird werden wurde
        wurden sein hat haben hatte hatten er sie es ihr ihre seine sein dass auch noch nur sich so sehr dies diese
        dieser dieses welche welcher ja kann können soll""",
        "fr": """le la les l un une des du de d et ou mais si à au aux en dans par pour avec sur sous vers chez entre
        est sont était étaient être été a ont avait avaient avoir il elle ils elles on ce cet cette ces c qu que qui
        dont où se s sa son ses leur leurs y ne n plus très aussi comme oui fut peut""",
        "es": """el la los las lo un una unos unas y e o u pero si de del a al en por para con sobre entre desde hasta
        es son era eran fue fueron ser está están estaba ha han había haber él ella ellos ellas que quien cuyo donde
        se su sus este esta estos estas ese esa como más muy también sí puede""",
        "it": """il lo la i gli le l un uno una e o ma se di del della dei delle dello degli a al alla ai alle in nel
        nella nei nelle da dal dalla con su sul sulla per tra fra è sono era erano fu essere stato stata ha hanno aveva
        avere egli lui lei loro che chi cui dove si suo sua suoi sue questo questa questi come più anche sì può""",
        "pt": """o a os as um uma uns umas e ou mas se de do da dos das em no na nos nas por pelo pela para com sobre
        entre é são era eram foi foram ser está estão estava há tem têm tinha ter ele ela eles elas que quem cujo onde
        seu sua seus suas este esta isto esse essa como mais muito também sim pode""",
        "nl": """de het een en of maar als van in op aan bij met naar uit voor door over onder om te tot tussen is zijn
        was waren wordt worden werd werden heeft hebben had hadden hij zij ze hun haar dat die dit deze er ook nog zo
        zeer wie waar ja kan kunnen""",
        "ru": """и в во на с со к ко по о об от до из за для у при над под или но а если что чтобы как это этот эта эти
        он она оно они его её их был была было были есть быть который которая которые также так же ли бы уже да""",
    }
)

NEGATIONS = _sets(
    {
        "en": "not no never none nor neither nobody nothing without cannot",
        "de": "nicht kein keine keinen keinem keiner nie niemals ohne",
        "fr": "pas jamais aucun aucune sans rien ni",
        "es": "no nunca jamás ningún ninguna sin nada ni",
        "it": "non mai nessun nessuna senza né",
        "pt": "não nunca nem nenhum nenhuma sem",
        "nl": "niet geen nooit zonder",
        "ru": "не нет ни никогда без",
    }
)

# First-person and second-person pronouns: a sentence that consists of them claims nothing.
SPEAKERS = _sets(
    {
        "en": "i me my mine myself you your yours we us our ours",
        "de": "ich mir mich mein wir uns",
        "fr": "je moi mon nous",
        "es": "yo mi nosotros",
        "it": "io mio noi",
        "pt": "eu meu nós",
        "nl": "ik mij mijn wij ons",
        "ru": "я мы мне мой",
    }
)

_NUMBERS: dict[str, str] = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять",
}
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred")
_RANKS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MORE_NUMBERS = {
    **{word: str(10 * tens) for tens, word in enumerate(_TENS, 3)},
    **{word: str(rank) for rank, word in enumerate(_RANKS, 3)},
}

# The words for "one" are left out: they are far more often articles and pronouns than numbers.
NUMBER_WORDS: Mapping[str, Mapping[str, str]] = {
    language: {
        **{word: str(value) for value, word in enumerate(text.split()) if value != 1},
        **(_MORE_NUMBERS if language == "en" else {}),
    }
    for language, text in _NUMBERS.items()
}

_MONTH_NAMES = (
    "january februari march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari february maart april mei juni juli augustus september oktober november december",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "jan feb mar apr may jun jul aug sept oct nov dec",
    "jan feb mar apr may jun jul aug sep oct nov dec",
)
MONTHS = {name: f"month {number}" for names in _MONTH_NAMES for number, name in enumerate(names.split(), 1)}


Kind = Literal["number", "name", "plain", "pair", "negation", "stop"]


class Word(NamedTuple):
    """A word: the key by which it is compared, its kind, its offset in the text, and its text."""

    key: str
    kind: Kind
    start: int
    text: str

    @property
    def end(self) -> int:
        """The offset at which the word ends in the text."""
        return self.start + len(self.text)


# Letters with the vowel signs of the Indic and Semitic scripts, which \w leaves out.
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f\u0591-\u05bd\u064b-\u0655\u0900-\u0963\u0971-\u0df4])"
# Han, kana, Hangul, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    r"[\u0e01-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
)
_TOKEN = re.compile(
    r"(?P<citation>\[\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*\]|【\d{1,3}[^】\n]{0,30}】)"
    rf"|(?P<date>(?<!\d)\d{{4}}-\d\d?-\d\d?(?!\d))|(?P<number>\d+(?:[.,:]\d+)*)(?P<ordinal>(?:st|nd|rd|th|s|['’]s)\b)?"
    rf"|(?P<unspaced>{_UNSPACED}+)|(?P<initials>\b(?:[A-Za-z]\.){{2,}})|(?P<not>(?<=[a-z])n['’]t\b|\bn['’]t\b)"
    rf"|(?P<clitic>(?<=\w)['’](?:s|re|ve|ll|d|m)\b)"
    rf"|(?P<word>(?:(?!n['’]t\b|{_UNSPACED}){_LETTER})(?:(?!n['’]t\b|{_UNSPACED})(?:{_LETTER}|\d))*)"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = frozenset({"de", "fr", "es", "it", "pt", "nl", "ru"})
_SPELLED_RANKS = {"1st": "first", "2nd": "second"}  # written as words, these are too common to count as numbers
_SHORT_MONTH = 3  # length of a month's abbreviation, in letters
_RUN = re.compile(r"\w+")
_MARKS = re.compile("[\u0300-\u036f]")


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Return the word without case and accents. A plural in ``s`` or ``ies`` becomes the singular."""
    folded = word.casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", folded)))
    if len(folded) > 3 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        return folded[:-3] + "y" if folded.endswith("ies") and len(folded) > 5 else folded[:-1]
    return folded


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
    """Return all words of ``text`` in order, read with the stop words, numerals and decimal mark of ``language``."""
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        start, word, group = match.start(), match.group(), match.lastgroup
        if group == "citation":
            continue  # a citation marker states no fact
        if group == "date":
            year, month, day = word.split("-")
            words += [Word(key, "number", start, word) for key in (year, f"month {int(month)}", str(int(day)))]
        elif group in {"number", "ordinal"}:
            rank = _SPELLED_RANKS.get(word.casefold()) if language == "en" else None
            key = rank or _number(match.group("number"), language)
            words.append(Word(key, "plain" if rank else "number", start, word))
        elif group == "unspaced":
            pairs = range(max(1, len(word) - 1))  # a single character counts as a pair
            words += [Word(word[i : i + 2], "pair", start + i, word[i : i + 2]) for i in pairs]
        elif group == "initials":
            words.append(Word(word.replace(".", "").casefold(), "name" if word.isupper() else "stop", start, word))
        elif group == "not":
            words.append(Word("not", "negation", start, word))
        elif group == "clitic":
            words.append(Word("'s", "stop", start, word))
        elif fold(word):  # skips accents without a letter, which fold to nothing
            words.append(_word(word, start, language, first=not words))
    return tuple(_with_months(words))


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
    """Convert months to numbers. Short or lower-case words such as *may* and *mar* count as months only near a number."""
    for i, word in enumerate(words):
        month = MONTHS.get(word.text.casefold()) if word.kind in {"plain", "name", "stop"} else None
        beside = words[max(0, i - 2) : i] + words[i + 1 : i + 3]
        named = word.kind == "name" and len(word.text) > _SHORT_MONTH
        if month and (named or any(w.kind == "number" for w in beside)):
            words[i] = word._replace(key=month, kind="number")
    return words


def guess_language(*texts: str) -> str:
    """Return the language with the most stop words in ``texts``; ``"en"`` if there are no stop words."""
    counts = Counter(word.casefold() for text in texts for word in _RUN.findall(text[:4000]))
    hits = {language: sum(counts[word] for word in counts.keys() & stop) for language, stop in STOP_WORDS.items()}
    return max(hits, key=lambda language: (hits[language], language == "en"))
