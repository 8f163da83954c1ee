"""Find scores in running text.

A number in prose is a score only if a mark shows that it is one. There are four kinds of marks, strongest first: a final or
overall score ("Overall score: 4"); a label or marker ("Score: 4", "[RESULT] 4", "[[4]]", a line that is nothing but the number);
a score named in a sentence ("the rating is 4"); a sentence that grants points ("I rate it 4 out of 5"). The strongest kind
present decides. All marks of that kind must agree: two values, or an unreadable value, are not an answer. Numbers that are quoted,
hypothetical, or labelled as something else (confidence, maximum, word count) are not marks.

Texts are tidied before they are searched (lower case, single spaces), so every gap in a pattern is bounded and every
search takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ._numbers import COMPARED, NUMBER, WORDS, Scale, bare_numbers, written_out
from ._text import Unreadable, on_line, tidy, without_emoji, without_sent
from ._whose import QUOTED, declines, own_words

_SCORE = (
    r"(?:the|my|gesamt|end|quality|total)?"
    r"(?:scores?|ratings?|grades?|marks?|punktzahl|wertung|bewertung|punktestand|puntuación|puntuacion|calificación|calificacion|"
    r"punteggio|voto|valutazione|pontuação|pontuacao|avaliação|nota|notation|évaluation|beoordeling|cijfer|betyg|ocena|wynik|hodnocení|"
    r"skóre|puan)|note|оценка|балл|рейтинг|оцінка|评分|評分|得分|分数|分數|打分|評価|評点|得点|点数|點數|总分|總分|総点|採点|スコア|점수|평점|평가|등급|총점|스코어"
)
# Labels that also introduce other things; they count only at the beginning of a line and with a colon.
_WEAK = (
    r"overall|total|final|result|answer|verdict|evaluation|assessment|judge?ment|value|points|output|decision|"
    r"correction|corrected|korrektur|corrección|correzione|correção|исправление|修正|更正|訂正|정정|"
    r"antwort|ergebnis|réponse|respuesta|risposta|resposta|ответ|回答|答案|结果|結果|답변|답|결과|판정|判定"
)
_GAP = r"[\s\"'*_`#)\]}|]{0,12}"
_SEPARATOR = (
    r"(?P<separator>[:=](?:\s{0,2}[:=→])?|->|=>|→|⇒|\s[-–—]\s"
    r"|\b(?:is|was|of|as|to|at|at a|is a|ist|beträgt|est|es|è|é|de)\b\s{0,3}:?|은|는|이|가|を|は|为|是|為)?"
)
_BEFORE = (
    r"[\s\"'*_`\[({$|\\]{0,12}(?:boxed\s?\{\s?|text\s?\{\s?)?(?:about|around|approximately|roughly|only|just)?\s{0,3}"
)
_COUNT = "|".join(sorted((re.escape(word) for word in WORDS if len(word) > 1), key=len, reverse=True))
_VALUE = (
    rf"(?:(?P<range>(?:between|from|zwischen|entre|von|de)\s{NUMBER})|(?P<number>{NUMBER})"
    rf"|(?P<word>(?:{_COUNT})(?![\w-])|[零〇一二三四五六七八九十两](?=\s{{0,2}}[分点點。,.]|\s{{0,2}}$)))"
    r"(?P<percent>\s{0,2}(?:%|percent\b|per cent\b))?"
    r"(?:\s{0,2}(?:/|\bout\sof\b|\bvon\b|\bsur\b|\bsu\b|\bиз\b)\s{0,2}\[{0,2}(?P<top>\d{1,4}(?:[.,]\d{1,2})?))?"
)
_SUBJECT = r"\b(?:i|we|i'd|i'll|we'd)\s(?:(?:would|will|have to|must|can)\s)?(?:therefore\s)?"
_UNITS = r"(?:points?|pts|分|点|점|stars?)?"
_DIGITS = r"\d{1,3}(?:[.,]\d{1,2})?(?![.,]?\d)"

FINAL = re.compile(
    r"\b(?:final|overall|total|correction|corrected|korrektur|corrección|correzione|correção|revised|updated|adjusted|definitive|actual|gesamt\w*|endgültige?|finale|globale?|"
    r"total[ea]?|итогов\w+|общ\w+|окончательн\w+)\b|최종|종합|전체|총|最终|最終|总|総合|總|综合"
)
OTHERS = re.compile(
    r"\b(?:user|users|user's|max|maximum|min|minimum|previous|prior|average|mean|confidence|reference|candidate|candidate's|"
    r"human|expected|sub|initial|draft|first|example|threshold|passing|other|another|similarity|possible|highest|lowest|second|third|fourth|fifth|"
    r"best|worst|bleu|rouge|f1|baseline|old|original|hypothetical|perfect|full|test|credit|page|word|line|step|sample|their|"
    r"his|her|assistant's own)\b|\b(?:penalty|error|mistake|hallucination|deduction)s?\s\Z|평균|신뢰도|平均|置信|信頼"
)
UNREAL = re.compile(
    r"\b(?:would|could|might|may|if|unless|instead of|rather than|should|not|never|no|cannot|previously|e\.g|for example|"
    r"such as|than|or|until|whether|between|per|wäre|könnte|serait|sería|sarebbe|(?:told|asked|hesitate|tempted|reluctant)\sto)"
    r"\b(?!\s{0,2}[:=])[^.!?\n]{0,60}\Z"
)
LABELLED = re.compile(
    rf"(?P<label>(?<![^\W\d_])(?:(?P<strong>{_SCORE})|(?P<weak>{_WEAK}))(?![^\W\d_](?<![은는이가を는はを为是為])))"
    rf"{_GAP}{_SEPARATOR}{_BEFORE}{_VALUE}",
    re.MULTILINE,
)
MARKER = re.compile(
    rf"\[\[\s{{0,2}}[\"'*_`]{{0,6}}(?:(?:{_SCORE})\s{{0,2}}[:=]?\s{{0,2}})?{_VALUE}[\"'*_`\s]{{0,6}}\]{{1,2}}"
    rf"|\\boxed\s?\{{\s{{0,2}}{_VALUE.replace('?P<', '?P<boxed_')}\s{{0,2}}\}}"
)
# A line that is only a number, or that begins with a number and continues with words.
ALONE = re.compile(
    rf"^(?:>\s)?[\s\"'*_`#$\[({{|]{{0,12}}(?:[-•]\s)?[\s\"'*_`\[(]{{0,12}}{_VALUE}\s{{0,2}}{_UNITS}"
    rf"[\s\"'*_`\])}}>$.!。]{{0,12}}$"
    rf"|^(?:>\s)?[\s\"'*_`#\[({{]{{0,12}}{_VALUE.replace('?P<', '?P<lead_')}[\s\"'*_`\])}}]{{0,12}}"
    r"(?:\s[-–—]\s|:\s|\s\(|\s(?:because|since)\s|(?<=[.,]\d)\.\s)(?!\d)[^\n]*$"
)
GRANTS = re.compile(
    r"\b(?:i|we|i'd|i'll|we'd)\s(?:(?:would|will|have to|must|can)\s)?(?:therefore\s)?"
    r"(?:rate|give|score|grade|assign|award|rated|gave|scored)\b(?:\s[^\W\d]\w{0,29}){0,6}?\s(?:an?\s|as\s|at\s)?"
    rf"{_VALUE}(?=\s{{0,2}}(?:$|[.,;:!)\n]|points?\b|stars?\b|for\b|because\b|since\b))"
    rf"|\b(?:is|are|was|be|been|being)\s(?:\w{{1,15}}\s)?(?:rated|graded|scored)\s(?:as\s|at\s)?(?:an?\s)?(?P<rated>{_DIGITS})"
    r"(?=\s{0,2}(?:$|[.,;:!)\n]))"
    rf"|\b(?:deserves?|earns?|receives?|gets?|merits?)\s(?:an?\s)(?:\w{{1,12}}\s)?(?P<earned>{_DIGITS})"
    r"(?:\s?/\s?(?P<of>\d{1,3}))?(?=\s{0,2}(?:$|[.,;:!)\n]))"
    rf"|(?<![\d.])(?P<points>{_DIGITS})\]{{0,2}}\s{{0,2}}점(?!\s{{0,2}}만점)"
    r"(?=\s{0,2}(?:으로|을|를|이|입니다|정도|만|주|$|[.,]))"
    rf"|(?:给|給|打|评为|評為|得)\s{{0,2}}(?P<fen>{_DIGITS})\s{{0,2}}分|{_SUBJECT}"
    r"(?:(?:set|put|place|fix)\s(?:(?:the|my|its|this|overall|final)\s){0,2}(?:rating|score|grade|mark)\s(?:at|to|as)\s"
    r"|(?:go with|go for|settle (?:on|for)|opt for|call it|call this|say it's|assign)\s(?:an?\s)?(?:(?:score|rating|grade)\sof\s)?)"
    rf"{_VALUE.replace('?P<', '?P<put_')}(?=\s{{0,2}}(?:$|[.,;:!)\n]|points?\b(?!\s[a-z])|stars?\b"
    r"|to (?:it|this)\b|because\b|since\b))|(?:(?:\A|\n|[.!?:]\s)(?:yo\s|eu\s)?(?:le\s|lhe\s)?dar[ií]a"
    r"|\b(?:ich\s(?:gebe|vergebe|würde|bewerte)|je\s(?:(?:lui|leur|le|la)\s)?(?:donne|donnerais|mets|mettrais|attribue)|doy|"
    r"asigno|pongo|otorgo|assegno|attribuisco|darei|do\sun|dou|atribuo|ik\sgeef|я\s(?:ставлю|даю|оцениваю)))\b"
    rf"(?:\s[^\W\d]{{1,30}}){{0,5}}?\s(?P<given>{_DIGITS})(?:\s?/\s?(?P<given_of>\d{{1,3}}))?"
    r"(?=\s{0,2}(?:$|[.,;:!)\n]|punkte?n?\b|points?\b|puntos?\b|punti\b|pontos?\b|баллов|балла|geben\b|vergeben\b))"
)
# Words that show that a grant of points is hypothetical, denied, or another speaker's.
NO_GRANT = re.compile(
    r"(?:\A|[,;]|\b(?:but|and|only|even))\W{0,3}(?:if|unless)\b|\A\W{0,3}(?:had|were|should)\b|\botherwise\b"
)
ANOTHERS_GRANT = re.compile(r"\b(?:previous|prior|reference|baseline)\b")
NO_GRANT_ABROAD = re.compile(
    r"\b(?:wenn|falls|sonst|nicht|kein\w*|si|ne|pas|sinon|sino|se|non|no|não|senão|если|бы|не|als|niet|entre|zwischen|tra|между)\b"
)
# Korean: "gave it 8 points, they say".
TOLD = re.compile(r"점?[을를]?\s?\w{1,3}다는")
ALSO_GRANTED = re.compile(
    rf"[^.!?\n]{{0,200}}?\b(?:an?|it|this|as|at|un|une?|um|eine)\s(?P<also>{_DIGITS})(?=\s?(?:$|[.,;:!)\n]|for\b|to\b))"
)
CRITERION = re.compile(
    r"[*_`#\s]{0,6}(?:\w{1,20}\s)?(?:relevance|relevancy|groundedness|faithfulness|accuracy|correctness|quality|helpfulness|"
    r"coherence|completeness|support|usefulness|agreement|consistency|level)[*_`\s]{0,4}[:=][*_`\s]{0,4}"
    rf"{_VALUE}[*_`.\s]{{0,6}}"
)
RANGE_AFTER = re.compile(
    r"[\s\"'*_`\])}]{0,6}(?:(?:-|–|—|~|〜|/|to|or|and|bis|oder|ou|až|до|或|또는|から)\s{0,3}|~)"
    r"(?:maybe|perhaps|possibly|even|rather)?\s{0,2}(?:an?\s)?[\s\"'*_`\[({]{0,6}"
    rf"(?:[+-]?\d|(?:{_COUNT})\b)|\s\d{{1,2}}\s?[/⁄]\s?\d"
    r"|,?\s(?:or|oder|ou|o|или|of)\s(?:(?:maybe|even|perhaps|an?|un[oe]?|um|eine?)\s){0,3}[+-]?\d"
)
CHANGED_AFTER = re.compile(
    r"[\s\"'*_`\])}]{0,6}(?:,\s?)?(?:if|unless|when|depending|->|→|=>)\s"
    r"|[^\n]{0,40}?\b(?:revised|changed|corrected|lowered|raised|reduced|increased|adjusted)(?:(?:\sit)?\sto\b|:)\s?\D{0,3}\d"
)
LIST_AFTER = re.compile(
    r"[\s\"'*_`\])}]{0,6}[,;]\s{0,3}[\[(\"'*]{0,4}[+-]?\d{1,6}(?:\.\d{1,6})?\s{0,3}(?:[,;\])\"'*]|$|\n|and\b|or\b)"
    r"| [+-]?\d{1,3}(?:[.,]\d{1,2})? {0,2}(?:$|[\n.,;])"
    r"|\s(?P<of>for|on|in)\s[^,.\n]{1,40}?[,;/]?\s(?:and\s)?\d{1,6}(?:[./]\d{1,6})?\s(?P=of)\b"
    r"|\s?\([^()\n]{1,40}\)\s?(?:[,;/]|and\b)\s?(?:and\s)?\d{1,6}(?:[./]\d{1,6})?\s?\("
)
NUMBERED_LINE = re.compile(r"\W{0,6}\d{1,2}\s?(?:[.:)=]|[-–—]\s)")
MARKED_LINE = re.compile(r"\W{0,6}(?P<number>\d{1,2})(?:[.),;](?=\s\D)|\s[-–—]\s(?=\D))")
NOUN_AFTER = re.compile(r"\s[a-z]")
BOUNDARY = re.compile(r"[\n.!?。;；:：|]\s{0,2}")
# The scale or a remark in brackets before the colon: "Score (5 is best): 4".
ASIDE = re.compile(r"(?<=[\w*_`]) ?\([^()\n]{0,80}\)(?=[\"'*_`\s]{0,4}[:=])")
ANY = frozenset({"a", "an", "any", "the", "each", "every"})
ANOTHER_NUMBER = re.compile(r"[^.!?\n]{0,200}?(?<![\d.,])\d")


FINAL_RANK, LABEL_RANK, SENTENCE_RANK, GRANT_RANK, HINT_RANK = 4, 3, 2, 1, 0
_GRANTED = ("number", "word", "points", "fen", "rated", "earned", "given", "put_number", "put_word")
_TOPS = ("top", "lead_top", "boxed_top", "put_top", "of", "given_of")
_PERCENTS = ("percent", "lead_percent", "boxed_percent", "put_percent")
_WHOLE = re.compile(r"\b(?:the|my|a|an|is|as|quoted|injected|demanded)\s*\Z")
_HEADS = re.compile(r"(?:[:=\-–—→⇒].*|.*:)?", re.DOTALL)
_SHORT = 80
_MAX_LINE = 400
_MOST_LINES = 50


class Mark(NamedTuple):
    """A mark of a score in a text.

    Attributes:
        value: the score; None if it is unreadable.
        rank: the strength of its kind.
        start, end: its position in the text.
        reason: why the value is unreadable.
        part: whether it is the score of a part, such as one criterion.
    """

    value: float | None
    rank: int
    start: int
    end: int
    reason: str = ""
    part: bool = False


def find_marks(text: str, scale: Scale) -> Iterator[Mark]:
    """Yield the marks in a text in normal form (see ``_marks``), those with a label first."""
    lowered = text.lower()
    for find in (_labelled, _markers, _lone_lines, _criterion, _grants):
        yield from find(lowered, scale)


def _labelled(text: str, scale: Scale) -> Iterator[Mark]:
    """Yield scores after a label: "Score: 4", "the rating is 4"."""
    for match in LABELLED.finditer(text):
        # head: the words before the label in its sentence; gap: the text between the label and the number
        head = BOUNDARY.split(text[max(0, match.start() - _SHORT) : match.start()])[-1]
        gap = text[match.end("label") : match.start("number") if match["number"] else match.end()]
        rank = _rank_of_label(match, head, gap)
        if rank is not None:
            words = head.split()
            part = rank == LABEL_RANK and bool(words) and words[-1].isalpha() and not _WHOLE.search(head)
            yield _mark(scale, match, rank, match["number"] or match["word"], text)._replace(part=part)


def _rank_of_label(match: re.Match[str], head: str, gap: str) -> int | None:
    """Return the rank of a labelled number; None if it is not the judge's score of the text under judgement."""
    text = match.string
    separator = (match["separator"] or "").strip()
    leads = len(head.split()) <= 4 and _HEADS.fullmatch(separator) is not None  # near the beginning of its sentence
    bracketed = head.endswith("[") and "]" in gap
    announced = bracketed and match["label"] == "result"  # "[RESULT] 2" is a result, whatever words precede it
    if (
        _is_anothers_label(match, "" if announced else head)
        # the number is on the next line, and more text follows it there
        or ("\n" in gap and not _fills_line(text, match))
        or (match["weak"] and not (bracketed or (leads and separator[:1] in {":", "="})))
        or (not (leads or announced) and UNREAL.search(head))
        or _names_something(text, match.end(), separator, head, gap)
    ):
        return None
    if announced or FINAL.search(head + match["label"]):
        return FINAL_RANK
    return LABEL_RANK if leads else SENTENCE_RANK


def _is_anothers_label(match: re.Match[str], head: str) -> bool:
    """Whether a label names something other than the judge's score, or is quoted."""
    if OTHERS.search(head.replace("_", " ")):
        return True
    return match.string[match.end("label")] not in "\"'" and _is_quoted(match.string, match.start("label"))


def _names_something(text: str, end: int, separator: str, head: str, gap: str) -> bool:
    """Whether the sentence talks about the number itself: "a score of 4 means", "score 3 claims"."""
    loose = set(head.split()) <= ANY if separator == "of" else not (separator or set(gap) & set("[]\n"))
    return loose and NOUN_AFTER.match(text, end) is not None


def _markers(text: str, scale: Scale) -> Iterator[Mark]:
    for match in MARKER.finditer(text):
        before, _ = on_line(text, *match.span(), 200)
        alone = not before.strip(" \t\"'*_`#>$-|:")
        # A marker after a colon belongs to a criterion.
        labelled = before.rstrip(" *_`\"'").endswith((":", "：", "=")) and not FINAL.search(before)
        if _is_quoted(text, match.start()) or (not alone and (labelled or UNREAL.search(before))):
            continue
        digits = match["number"] or match["word"] or match["boxed_number"] or match["boxed_word"]
        yield _mark(scale, match, LABEL_RANK if alone or match["boxed_number"] else SENTENCE_RANK, digits, text)


def _lone_lines(text: str, scale: Scale) -> Iterator[Mark]:
    """Yield the first or last line of the text if it is only a number. In the first line, words may follow the number."""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for index in dict.fromkeys((0, len(lines) - 1)) if lines else ():
        start, line = lines[index]
        others = [other for _, other in lines[:_MOST_LINES]]
        leads = index == 0 and not any(map(NUMBERED_LINE.match, others[1:]))
        match = None if COMPARED.search(line) else ALONE.match(line[:_MAX_LINE])
        digits = match and (match["number"] or match["word"])
        if match and leads and not digits:
            digits = match["lead_number"] or match["lead_word"]
        item = MARKED_LINE.match(line[:_MAX_LINE])
        list_numbers = {int(other["number"]) for other in map(MARKED_LINE.match, others) if other}
        if match and digits:
            yield _mark(scale, match, LABEL_RANK, digits, line, shift=start)
        elif item and list_numbers.isdisjoint((int(item["number"]) - 1, int(item["number"]) + 1)):
            # "1. The text demands ..." is a list of one item, or a score. It is not an answer, but it can contradict one.
            yield _mark(scale, item, HINT_RANK, item["number"], line, shift=start)


def _criterion(text: str, scale: Scale) -> Iterator[Mark]:
    """Yield the score of a reply that is only a criterion and its number, such as "Relevance: 2"."""
    match = CRITERION.fullmatch(text) if len(text) < _SHORT else None
    if match:
        yield _mark(scale, match, GRANT_RANK, match["number"] or match["word"], text)


def _grants(text: str, scale: Scale) -> Iterator[Mark]:
    for match in GRANTS.finditer(text):
        before = BOUNDARY.split(text[max(0, match.start() - 300) : match.start()])[-1]
        if _is_no_grant(text, match, before):
            continue
        digits = next((match[name] for name in _GRANTED if match[name]), None)
        if digits and _grants_more(text, match, before, digits):
            yield Mark(None, GRANT_RANK, *match.span(), f"the reply gives no plain score; give one, {scale.wanted}")
        else:
            yield _mark(scale, match, GRANT_RANK, digits, text)


def _is_no_grant(text: str, match: re.Match[str], before: str) -> bool:
    """Whether a sentence that seems to grant points is quoted, hypothetical, denied, or from another speaker."""
    reported = _is_quoted(text, match.start()) or TOLD.match(text, match.end())
    return bool(reported or OTHERS.search(before) or NO_GRANT.search(before) or ANOTHERS_GRANT.search(match.group()))


def _grants_more(text: str, match: re.Match[str], before: str, digits: str) -> bool:
    """Whether a sentence also grants a different number of points, or may do so in a language of which few words are known here."""
    end = match.end()
    if match["given"] and NO_GRANT_ABROAD.search(before + match.group()):
        return True
    if (match["given"] or match["put_number"]) and ANOTHER_NUMBER.match(text, end):
        return True
    also = ALSO_GRANTED.match(text, end)
    return also is not None and also["also"] != digits


def _fills_line(text: str, match: re.Match[str]) -> bool:
    return not on_line(text, *match.span())[1].strip(" \t\"'*_`])}>.!|。分点점")


def _mark(scale: Scale, match: re.Match[str], rank: int, digits: str | None, text: str, *, shift: int = 0) -> Mark:
    groups = match.groupdict()
    where = (match.start() + shift, match.end() + shift)
    end = match.end()
    if digits is None or CHANGED_AFTER.match(text, end) or RANGE_AFTER.match(text, end) or LIST_AFTER.match(text, end):
        return Mark(None, rank, *where, f"the reply gives a range or a list, not one score; give {scale.wanted}")
    top = next((groups[name] for name in _TOPS if groups.get(name)), None)
    percent = next((groups[name] for name in _PERCENTS if groups.get(name)), None)
    try:
        value = scale.over(str(WORDS.get(digits, digits)), top, percent)
    except Unreadable as unreadable:
        return Mark(None, rank, *where, unreadable.reason)
    return Mark(value, rank, *where)


def _is_quoted(text: str, position: int) -> bool:
    """Whether ``position`` is inside a quotation that began on the same line. Quotes around a whole line do not count."""
    before, rest = on_line(text, position, position, _MAX_LINE)
    if before.count('"') % 2 == 0 or before.rstrip().endswith((':"', '="', ': "')):
        return False
    return not (before.lstrip(" *_`>").startswith('"') and rest.rstrip(" *_`.").endswith('"'))


_MAX_MARKS = 500
_SHORTEST = 8
"""The fewest characters of a text that can contain a second score."""


def read_marks(text: str, scale: Scale) -> float:
    """Return the one score that a text gives.

    Raises:
        Unreadable: the text gives no score, its strongest marks disagree, or the score may be quoted.
    """
    normal = _normal(text, scale)
    marks = list(islice(find_marks(normal, scale), _MAX_MARKS + 1))
    if len(marks) > _MAX_MARKS:
        raise Unreadable(f"the reply gives very many scores; give one, {scale.wanted}")
    own_marks = without_sent(marks, lambda mark: normal[mark.start : mark.end], text, normal)
    value = _decided(own_marks, scale)
    judge_text = own_words(text)
    if judge_text != text and not any(mine.value == value for mine in find_marks(_normal(judge_text, scale), scale)):
        raise Unreadable(QUOTED)
    if len(own_marks) == len(marks) and declines(text):
        raise Unreadable(QUOTED)
    return value


def disagrees(text: str, scale: Scale, value: float | None) -> bool:
    """Whether any mark in a text gives a score that differs from ``value``. With ``value=None``: whether any mark gives a score
    at all.
    """
    if len(text) < _SHORTEST:
        return False
    return any(mark.value not in (None, value) for mark in find_marks(_normal(text, scale), scale))


def _normal(text: str, scale: Scale) -> str:
    """Bring a text into the form that the patterns of marks expect: plain numbers, no mention of the scale itself."""
    normal = bare_numbers(without_emoji(tidy(written_out(text))))
    return ASIDE.sub(" ", scale.mentions.sub(" ", normal))


def _decided(marks: list[Mark], scale: Scale) -> float:
    """Return the value of the strongest marks, if all of them agree and no weaker mark contradicts them."""
    if not marks:
        raise Unreadable(f"the reply gives no score; give {scale.wanted}")
    rank = max(mark.rank for mark in marks)
    if rank == HINT_RANK:
        raise Unreadable(f"the reply gives no plain score; give one, {scale.wanted}")
    for mark in marks:
        if mark.rank == rank and mark.value is None:
            raise Unreadable(mark.reason)
    values = {mark.value for mark in _comparable(marks, rank) if mark.value is not None}
    if len(values) > 1:
        raise Unreadable(f"the reply gives several scores; give one, {scale.wanted}")
    return next(mark.value for mark in marks if mark.rank == rank and mark.value is not None)


def _comparable(marks: list[Mark], rank: int) -> list[Mark]:
    """Return the marks that must agree with each other: all except the scores of parts."""
    kept = [mark for mark in marks if not (mark.part and rank == FINAL_RANK)]
    granted = {mark.value for mark in marks if mark.rank == GRANT_RANK < rank}
    if len(granted) > 1:
        # Different grants are about several parts, and none of them is about the whole.
        kept = [mark for mark in kept if mark.rank != GRANT_RANK]
    return kept
