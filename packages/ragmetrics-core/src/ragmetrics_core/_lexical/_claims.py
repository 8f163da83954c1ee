"""Cutting an answer into claims: each sentence, and then the small pieces it is made of.

A verdict is yes or no, so the share of supported claims can only be as fine as the claims are many. Each sentence is
therefore a claim, and so is each of its pieces: a name, a number, a verb or a noun with the small words before it.
Pieces are cut along function words and punctuation and are literal parts of the answer, so that a person can read and
check them. The whole sentence stays a claim of its own because its pieces can all be true and their union false.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ._lists import MONTHS, SPEAKERS
from ._phrases import QUESTION_MARKS, is_feeling, is_greeting, is_remark, yes_or_no
from ._refusals import is_noncommittal, is_unsure
from ._words import Word, guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PIECE_WORDS = 2  # content words in a piece: one fact is seldom said in fewer or needs more
_NAME_WORDS = 4  # a name is not cut before this many words
_PAIR_CHARS = 12  # where words are pairs of characters, a piece goes on to the next comma or to this length

_MONTH = rf"(?i:{'|'.join(MONTHS)})\b"
_LIST_MARK = re.compile(
    rf"^[ \t]*(?:#{{1,6}}|[-*•·–]|\(?\d{{1,3}}[.)](?![ \t]+{_MONTH})|\(?[a-z]\))[ \t]+",
    re.MULTILINE | re.IGNORECASE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Pp]rof|[Ss]t|[Jj]r|[Ss]r|vs|etc|[Ii]nc|[Ll]td|[Cc]o|Corp|Gen|Gov|Sen"
    r"|Rep|Mt|[Aa]pprox|[Ff]ig|[Vv]ol|bzw|ca|usw|Nr|ed|al|i\.e|e\.g|z\.B|d\.h))\.$"
)
_END = re.compile(
    rf"(?<![.!?…])[.!?…]+[\"'”’»)\]*]*(?=\s|$)(?!(?<=\bNo\.) ?\d)(?!(?<=\d\.) {_MONTH})"
    r"|[。！？｡؟।॥]+[」』”）]*|\n+"
)
_BREAK = re.compile(r"[,;:()\[\]{}\"“”„«»|/=<>，、；：（）「」『』،؛—–]|\s-+\s|\*\*")
_JOINS = frozenset({"-", "‐", "‑", "'", "’"})  # within a compound
_EDGES = " \t\r\n*_#|>`~•-–—,;:，、；：،؛"
_CLAUSE = re.compile(
    r"[,;，；、]|\b(?:but|however|though|although|aber|jedoch|mais|cependant|pero|sino|ma|però|mas|porém|maar|но)\b"
    r"|但|でも|しかし|지만",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"(?:\w+[ ,!]+)?(?:did\s+you\s+know|wuss?test\s+du|wussten\s+sie|sav(?:iez|ais)[- ](?:vous|tu)|sabías|sapevi|sabia)\b",
    re.IGNORECASE,
)
_INDIRECT_QUESTION = re.compile(
    r"\W*(?:whether|if|how|who|what|when|where|which|why|ob|wie|wer|wann|wo|warum|welche[rsnm]?|si|comment|qui|quand|où|pourquoi|combien"
    r"|cuánt[oa]s?|cuándo|quién|cómo|dónde|qué|quant[oaie]|quando|chi|come|dove|perché|se|of|hoe|waar|wanneer|wat|waarom|quem|como|onde)\b",
    re.IGNORECASE,
)
_ACCORDING_TO = re.compile(
    r"\W*(?:(?:based\s+on|according\s+to|from|given|laut|gemäß|nach|auf\s+(?:der\s+)?(?:basis|grundlage)|anhand|selon|d['’]après"
    r"|sur\s+la\s+base|à\s+partir|según|con\s+base|in\s+base|secondo|de\s+acordo|com\s+base|volgens|op\s+basis)\b"
    r".*\b(?:context|kontext|contest|text|text[eo]|test|tekst|document|dokument|passage|source|quelle|unterlage|information|search)|根据|根據)",
    re.IGNORECASE,
)
_MORE_THAN_REFUSAL = 2  # content words beside the refusal that make a claim
_BRACKETS = '()[]{}"“”„«»「」『』（）'


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, in order; list items and lines count as sentences, list marks are left out."""
    text = _LIST_MARK.sub("\n", text)
    found = (text[start:end] for start, end in pairwise([0, *sentence_ends(text), len(text)]))
    return [s for s in (raw.strip(_EDGES) for raw in found) if any(c.isalnum() for c in s)]


def sentence_ends(text: str) -> Iterator[int]:
    """Where in ``text`` a sentence or a line ends, its mark and closing quotes included, in order."""
    start = 0
    for match in _END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text, max(start, match.start() - 12), match.end()):
            continue
        start = match.end()
        yield start


def split_claims(question: str | None, answer: str) -> list[str]:
    """The claims of ``answer``: every sentence that states something, followed by its pieces.

    Greetings, sentences that only say that the answer is not known, and questions beside statements claim nothing. A
    bare *yes* or *no* claims what ``question`` asks. An answer of questions alone claims what they take for granted.
    Repetitions are kept: an answer that says a thing twice claims it twice.
    """
    language = guess_language(question or "", answer)
    empty = (is_greeting, is_feeling, is_remark)
    found = [s for s in sentences(answer) if not any(is_kind(s) for is_kind in empty) and not is_refusal(s, language)]
    if question and question.strip() and found and all(yes_or_no(s) is not None for s in found):
        return [f"{found[0].strip(' .!,')}: {question.strip()}"]
    statements = [s for s in found if not is_question(s)]
    return _claims_of(statements, language) or _claims_of([s for s in found if is_question(s)], language)


def _claims_of(statements: list[str], language: str) -> list[str]:
    claims: list[str] = []
    for sentence in statements:
        words = words_of(sentence, language)
        capitals = sum(sentence[word.start].isupper() for word in words)
        if has_content(words, language) or capitals > 1:  # a title may be all small words
            parts = pieces(sentence, words)
            claims += [sentence, *parts] if len(parts) > 1 else [sentence]
    return claims


def has_content(words: Iterable[Word], language: str) -> bool:
    """Whether any of ``words`` says something by itself; *I* and *you* do not."""
    return any(word.kind not in {"stop", "negation"} and word.key not in SPEAKERS[language] for word in words)


def is_question(sentence: str) -> bool:
    """Whether ``sentence`` asks; *did you know that ...?* tells."""
    return sentence.rstrip("\"'”’) ").endswith(QUESTION_MARKS) and _TELLS.match(sentence) is None


def is_refusal(sentence: str, language: str) -> bool:
    """Whether nothing but the refusal is left: *I am not sure, but it opened in 1889* does claim something."""
    if not is_noncommittal(sentence):
        return False
    rest = [part for part in _CLAUSE.split(sentence) if not (is_noncommittal(part) or _says_nothing(part))]
    content = [w for part in rest for w in words_of(part, language) if w.kind not in {"stop", "negation"}]
    return len(content) < _MORE_THAN_REFUSAL


def ends_in_refusal(sentence: str) -> bool:
    """Whether the last clause refuses: *it costs 5, but I do not know where*; *it costs 5, but I am not sure* is a hedge."""
    last = next((part for part in reversed(_CLAUSE.split(sentence)) if part.strip()), "")
    return is_noncommittal(last) and not is_unsure(last)


def _says_nothing(clause: str) -> bool:
    """Beside a refusal: an apology, where was looked, or what it is that is not known."""
    return is_greeting(clause) or any(start.match(clause) for start in (_INDIRECT_QUESTION, _ACCORDING_TO))


def pieces(sentence: str, words: tuple[Word, ...]) -> list[str]:
    """The literal parts of ``sentence`` that each hold one fact: cut before function words and at punctuation."""
    starts: list[int] = []
    content = 0  # content words in the piece at hand
    previous: Word | None = None
    for word in words:
        small = word.kind in {"stop", "negation"}
        if previous is None or (content and _cuts(sentence, previous, word, content, small=small)):
            starts.append(word.start)
            content = 0
        content += word.kind != "stop"
        previous = word
    if len(starts) > 1 and not content:
        starts.pop()  # a tail of function words belongs to the piece before it
    ends = [*starts[1:], len(sentence)]
    parts = (sentence[start:end].strip(_EDGES + _BRACKETS) for start, end in zip([0, *starts[1:]], ends, strict=True))
    return [part for part in parts if part]


def _cuts(sentence: str, previous: Word, word: Word, content: int, *, small: bool) -> bool:
    """Whether a new piece starts at ``word``, given that the piece before it holds ``content`` content words."""
    glued = word.start == previous.end and word.kind != "pair"
    if word.key == "'s" or glued or sentence[previous.end : word.start] in _JOINS:
        return False
    if word.start > previous.end and _BREAK.search(sentence, previous.end, word.start):
        return True
    if word.kind == "pair":
        return previous.kind != "pair" or content >= _PAIR_CHARS
    if small:
        return previous.kind not in {"stop", "negation"}
    longer = previous.kind == "name" and word.kind in {"name", "number"}
    return content >= (_NAME_WORDS if longer else _PIECE_WORDS)
