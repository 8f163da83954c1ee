"""Scores in running text.

A number in prose is a score only where something says so. Four kinds of sign, strongest first: a final or overall score ("Overall score:
4"); a label or marker of its own ("Score: 4", "[RESULT] 4", "[[4]]", a line that is nothing but the number); a score named in a
sentence ("the rating is 4"); a sentence that grants points ("I rate it 4 out of 5"). The strongest kind present decides, and it must
speak with one voice: two values, or an unreadable one, are no answer. Numbers that are quoted, hypothetical, or labelled as
something else (confidence, maximum, word count) are no signs at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ._clean import tidy
from ._numbers import NUMBER, WORDS, Scale
from ._problem import Problem

__all__ = ["Mark", "read_marks"]

_SCORE = (
    r"(?:the|my|gesamt|end|quality|total)?(?:scores?|ratings?|grades?|marks?|punktzahl|wertung|bewertung|punktestand|puntuación|puntuacion|"
    r"calificación|calificacion|punteggio|voto|valutazione|pontuação|pontuacao|nota|notation|évaluation|beoordeling|cijfer|"
    r"betyg|ocena|wynik|hodnocení|skóre|puan)|note|оценка|балл|рейтинг|оцінка|评分|評分|得分|分数|分數|打分|評価|評点|得点|点数|总分|總分|総点|"
    r"採点|スコア|점수|평점|평가|등급|스코어|스コア"
)
# Labels that also introduce other things: they count only at the head of a line with a colon.
_WEAK = (
    r"overall|total|final|result|answer|verdict|evaluation|assessment|judge?ment|value|points|output|decision|antwort|ergebnis|réponse|respuesta|"
    r"risposta|resposta|ответ|回答|答案|结果|結果|답변|답|결과|판정|判定"
)
_FINAL = re.compile(
    r"\b(?:final|overall|total|corrected|revised|updated|adjusted|definitive|actual|gesamt\w*|endgültige?|finale|globale?|"
    r"total[ea]?|итогов\w+|общ\w+|окончательн\w+)\b|최종|종합|전체|총|最终|最終|总|総合|總|综合"
)
_OTHERS = re.compile(
    r"\b(?:user|users|user's|max|maximum|min|minimum|previous|prior|average|mean|confidence|reference|candidate|candidate's|human|"
    r"expected|sub|initial|draft|first|example|threshold|passing|other|another|similarity|possible|highest|lowest|second|best|worst|"
    r"bleu|rouge|f1|baseline|old|original|hypothetical|perfect|full|test|credit|page|word|line|step|sample|their|his|her|"
    r"assistant's own)\b|평균|신뢰도|平均|置信|信頼"
)
_UNREAL = re.compile(
    r"\b(?:would|could|might|may|if|unless|instead of|rather than|should|not|never|no|cannot|previously|e\.g|for example|"
    r"such as|than|or|until|whether|between|per|wäre|könnte|serait|sería|sarebbe)\b(?!\s{0,2}[:=])[^.!?\n]{0,60}\Z"
)
_GAP = r"[\s\"'*_`#)\]}>|]{0,12}"
_SEPARATOR = (
    r"(?P<separator>[:=](?:\s{0,2}[:=→])?|->|=>|→|⇒|\s[-–—]\s|\b(?:is|was|of|as|to|at|at a|is a|ist|beträgt|est|es|è|é|de)\b\s{0,3}:?|은|는|이|가|を|は|为|是|為)?"
)
_BEFORE = r"[\s\"'*_`\[({<$|\\]{0,12}(?:boxed\s?\{\s?|text\s?\{\s?)?(?:about|around|approximately|roughly|only|just)?\s{0,3}"
_COUNT = "|".join(sorted((re.escape(word) for word in WORDS if len(word) > 1), key=len, reverse=True))
_VALUE = (
    rf"(?:(?P<range>(?:between|from|zwischen|entre|von|de)\s{NUMBER})|(?P<number>{NUMBER})|(?P<word>(?:{_COUNT})(?![\w-])|[零〇一二三四五六七八九十两](?=\s{{0,2}}[分点點。,.]|\s{{0,2}}$)))"
    r"(?P<percent>\s{0,2}(?:%|percent\b|per cent\b))?"
    r"(?:\s{0,2}(?:/|\bout\sof\b|\bvon\b|\bsur\b|\bsu\b|\bиз\b)\s{0,2}\[{0,2}(?P<top>\d{1,4}(?:[.,]\d{1,2})?))?"
)
_LABELLED = re.compile(
    rf"(?P<label>(?<![^\W\d_])(?:(?P<strong>{_SCORE})|(?P<weak>{_WEAK}))(?![^\W\d_](?<![은는이가を는はを为是為]))){_GAP}{_SEPARATOR}{_BEFORE}{_VALUE}",
    re.MULTILINE,
)
_MARKER = re.compile(rf"\[\[\s{{0,2}}[\"'*_`]{{0,6}}(?:(?:{_SCORE})\s{{0,2}}[:=]?\s{{0,2}})?{_VALUE}[\"'*_`\s]{{0,6}}\]{{1,2}}|\\boxed\s?\{{\s{{0,2}}{_VALUE.replace('?P<', '?P<boxed_')}\s{{0,2}}\}}")
_ALONE = re.compile(
    rf"^[\s\"'*_`#>$\[({{<|]{{0,12}}(?:[-•]\s)?[\s\"'*_`\[(]{{0,12}}{_VALUE}\s{{0,2}}(?:points?|pts|分|点|점|stars?)?[\s\"'*_`\])}}>$.!。]{{0,12}}$"
    rf"|^[\s\"'*_`#>\[({{]{{0,12}}{_VALUE.replace('?P<', '?P<lead_')}[\s\"'*_`\])}}]{{0,12}}(?:\s[-–—]\s|:\s|\s\()(?!\d)[^\n]*$"
)
_GRANTS = re.compile(
    rf"\b(?:i|we|i'd|i'll|we'd)\s(?:(?:would|will|have to|must|can)\s)?(?:therefore\s)?(?:rate|give|score|grade|assign|award|rated|gave|scored)"
    rf"\b(?:\s\w{{1,30}}){{0,6}}?\s(?:an?\s|as\s|at\s)?{_VALUE}(?=\s{{0,2}}(?:$|[.,;:!)\n]|points?\b|stars?\b|for\b|because\b|since\b))"
    rf"|\b(?:rated|graded|scored)\s(?:as\s|at\s)?(?:an?\s)?(?P<rated>\d{{1,3}}(?:\.\d{{1,2}})?)(?=\s{{0,2}}(?:$|[.,;:!)\n]))"
    rf"|(?<![\d.])(?P<points>\d{{1,3}}(?:\.\d{{1,2}})?)\]{{0,2}}\s{{0,2}}점(?!\s{{0,2}}만점)(?=\s{{0,2}}(?:으로|을|를|이|입니다|정도|만|주|$|[.,]))"
    rf"|(?:给|給|打|评为|評為|得)\s{{0,2}}(?P<fen>\d{{1,3}}(?:\.\d{{1,2}})?)\s{{0,2}}分"
)
_TAG = re.compile(r"<\s{0,2}(?P<tag>[A-Za-z_][\w-]{0,40})\s{0,2}>\s{0,2}(?P<inside>[^<>]{0,80}?)\s{0,2}<\s{0,2}/")
_RANGE_AFTER = re.compile(
    r"[\s\"'*_`\])}]{0,6}(?:(?:-|–|—|~|〜|/|to|or|and|bis|oder|ou|až|до|或|또는|から)\s{0,3}|~)[\s\"'*_`\[({]{0,6}[+-]?\d"
)
_LIST_AFTER = re.compile(
    r"[\s\"'*_`\])}]{0,6}[,;]\s{0,3}[\[(\"'*]{0,4}[+-]?\d+(?:\.\d+)?\s{0,3}(?:[,;\])\"'*]|$|\n|and\b|or\b)"
    r"|\sfor\s[^,.\n]{1,40}[,;]?\s(?:and\s)?\d+(?:\.\d+)?\sfor\b"
)
_ASIDE = re.compile(r"(?<=[\w*_`]) ?\([^()\n]{0,80}\)(?=[\"'*_`\s]{0,4}[:=])")
_ANY = frozenset({"a", "an", "any", "the", "each", "every"})
_NOUN_AFTER = re.compile(r"\s[a-z]")
_BOUNDARY = re.compile(r"[\n.!?。;；:：|]\s{0,2}")
_MAX_MARKS = 500
_FINAL_RANK, _LABEL_RANK, _SENTENCE_RANK, _GRANT_RANK = 4, 3, 2, 1


class Mark(NamedTuple):
    """A sign of a score: its value (None: unreadable, with the reason), its rank, and where it stands."""

    value: float | None
    rank: int
    start: int
    end: int
    reason: str = ""


def read_marks(text: str, scale: Scale) -> Mark:
    """The one score that a text gives.

    Raises:
        Problem: there is none, or the strongest signs disagree.
    """
    normal = _ASIDE.sub(" ", scale.mentions.sub(" ", tidy(text)))
    marks = list(islice(_marks(normal, scale), _MAX_MARKS + 1))
    if len(marks) > _MAX_MARKS:
        raise Problem(f"the reply gives very many scores; give one, {scale.wanted}")
    for rank in (_FINAL_RANK, _LABEL_RANK, _SENTENCE_RANK, _GRANT_RANK):
        ranked = [mark for mark in marks if mark.rank == rank]
        if not ranked:
            continue
        unreadable = next((mark for mark in ranked if mark.value is None), None)
        if unreadable:
            raise Problem(unreadable.reason)
        if len({mark.value for mark in ranked}) > 1:
            raise Problem(f"the reply gives several scores; give one, {scale.wanted}")
        return ranked[0]
    raise Problem(f"the reply gives no score; give {scale.wanted}")


def _marks(text: str, scale: Scale) -> Iterator[Mark]:
    lowered = text.casefold() if len(text.casefold()) == len(text) else text.lower()
    if len(lowered) != len(text):
        lowered = text
    yield from _labelled(lowered, scale)
    yield from _markers(lowered, scale)
    yield from _lines(lowered, scale)
    for match in _GRANTS.finditer(lowered):
        if not _quoted(lowered, match.start()):
            digits = match["number"] or match["word"] or match["points"] or match["fen"] or match["rated"]
            yield _mark(scale, match, _GRANT_RANK, digits, lowered)


def _labelled(text: str, scale: Scale) -> Iterator[Mark]:
    for match in _LABELLED.finditer(text):
        before = text[max(0, match.start() - 80) : match.start()]
        head = _BOUNDARY.split(before)[-1] if _BOUNDARY.search(before) or match.start() <= 80 else before
        separator = (match["separator"] or "").strip()
        gap = text[match.end("label") : match.start("number") if match["number"] else match.end()]
        at_head = len(head.split()) <= 4 and (not separator or separator[0] in ":=-–—→⇒" or separator[-1] == ":")
        if _OTHERS.search(head) or _quoted(text, match.start("label")):
            continue
        if "\n" in gap and not _fills_line(text, match):
            continue
        if match["weak"] and not (at_head and separator[:1] in {":", "="}):
            if not (head.endswith("[") and "]" in gap):
                continue
        if not at_head and _UNREAL.search(head):
            continue
        if separator == "of" and set(head.split()) <= _ANY and _NOUN_AFTER.match(text, match.end()):
            continue
        bracketed = "]" in gap or "[" in gap
        if not separator and not bracketed and "\n" not in gap and _NOUN_AFTER.match(text, match.end()):
            continue
        rank = _FINAL_RANK if _FINAL.search(head + match["label"]) else _LABEL_RANK if at_head else _SENTENCE_RANK
        yield _mark(scale, match, rank, match["number"] or match["word"], text)


def _fills_line(text: str, match: re.Match[str]) -> bool:
    end = text.find("\n", match.end())
    return not text[match.end() : end if end >= 0 else len(text)].strip(" \t\"'*_`])}>.!|。分点점")


def _markers(text: str, scale: Scale) -> Iterator[Mark]:
    for match in _MARKER.finditer(text):
        if _quoted(text, match.start()):
            continue
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[max(line, match.start() - 200) : match.start()]
        alone = not before.strip(" \t\"'*_`#>$-|:")
        if not alone and _UNREAL.search(before):
            continue
        if not alone and before.rstrip(" *_`\"'").endswith((":", "：", "=")) and not _FINAL.search(before):
            # Behind a label that is not a score's: one of several criteria, or nothing of ours.
            continue
        digits = match["number"] or match["word"] or match["boxed_number"] or match["boxed_word"]
        yield _mark(scale, match, _LABEL_RANK if alone or match["boxed_number"] else _SENTENCE_RANK, digits, text)
    for match in _TAG.finditer(text):
        if re.fullmatch(rf"(?:\w+[_-])?(?:{_SCORE})|{_WEAK}|s\d?", match["tag"]):
            try:
                value = scale.read_text(match["inside"])
            except Problem as problem:
                yield Mark(None, _LABEL_RANK, match.start(), match.end(), problem.reason)
            else:
                yield Mark(value, _LABEL_RANK, match.start(), match.end())


def _lines(text: str, scale: Scale) -> Iterator[Mark]:
    """The first or last line of the text when it is nothing but a number (the first may go on with words)."""
    lines = [(match.start(), match.group()) for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for index in dict.fromkeys((0, len(lines) - 1)) if lines else ():
        start, line = lines[index]
        match = _ALONE.match(line[:400])
        if match and (match["number"] or match["word"] or (index == 0 and (match["lead_number"] or match["lead_word"]))):
            digits = match["number"] or match["word"] or match["lead_number"] or match["lead_word"]
            yield _mark(scale, match, _LABEL_RANK, digits, line, start)


def _mark(scale: Scale, match: re.Match[str], rank: int, digits: str | None, text: str, shift: int = 0) -> Mark:
    groups = match.groupdict()
    where = (match.start() + shift, match.end() + shift)
    end = match.end()
    if digits is None or _RANGE_AFTER.match(text, end) or _LIST_AFTER.match(text, end):
        return Mark(None, rank, *where, f"the reply gives a range or a list, not one score; give {scale.wanted}")
    top = next((groups[name] for name in ("top", "lead_top", "boxed_top") if groups.get(name)), None)
    percent = next((groups[name] for name in ("percent", "lead_percent", "boxed_percent") if groups.get(name)), None)
    try:
        value = scale.over(str(WORDS.get(digits, digits)), top, percent)
    except Problem as problem:
        return Mark(None, rank, *where, problem.reason)
    return Mark(value, rank, *where)


def _quoted(text: str, position: int) -> bool:
    """Whether a quotation that began on the same line is still open at ``position``; quotes around a whole line are none."""
    start = max(text.rfind("\n", 0, position) + 1, position - 400)
    before = text[start:position]
    if before.count('"') % 2 == 0 or before.rstrip().endswith((':"', '="', ': "')):
        return False
    end = text.find("\n", position, position + 400)
    return not (before.lstrip(" *_`>").startswith('"') and text[position : end if end >= 0 else position + 400].rstrip(" *_`.").endswith('"'))
