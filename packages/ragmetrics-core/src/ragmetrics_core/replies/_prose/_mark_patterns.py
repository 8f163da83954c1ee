"""The patterns behind ``_marks``: the words that announce a score, and how a number follows them.

Texts are tidied before they are searched (lower case, one blank at a time), so every gap has a bound and every search is
linear.
"""

from __future__ import annotations

import re

from ._numbers import NUMBER, WORDS

_SCORE = (
    r"(?:the|my|gesamt|end|quality|total)?"
    r"(?:scores?|ratings?|grades?|marks?|punktzahl|wertung|bewertung|punktestand|puntuación|puntuacion|calificación|calificacion|"
    r"punteggio|voto|valutazione|pontuação|pontuacao|avaliação|nota|notation|évaluation|beoordeling|cijfer|betyg|ocena|wynik|hodnocení|"
    r"skóre|puan)|note|оценка|балл|рейтинг|оцінка|"
    r"评分|評分|得分|分数|分數|打分|評価|評点|得点|点数|點數|总分|總分|総点|採点|スコア|점수|평점|평가|등급|총점|스코어"
)
# Labels that also introduce other things: they count only at the head of a line with a colon.
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
    r"[\s\"'*_`\[({$|\\]{0,12}(?:boxed\s?\{\s?|text\s?\{\s?)?"
    r"(?:about|around|approximately|roughly|only|just)?\s{0,3}"
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
# A line that is a number and no more, or one that begins with it and goes on with words.
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
    rf"|(?:给|給|打|评为|評為|得)\s{{0,2}}(?P<fen>{_DIGITS})\s{{0,2}}分"
    rf"|{_SUBJECT}"
    r"(?:(?:set|put|place|fix)\s(?:(?:the|my|its|this|overall|final)\s){0,2}(?:rating|score|grade|mark)\s(?:at|to|as)\s"
    r"|(?:go with|go for|settle (?:on|for)|opt for|call it|call this|say it's|assign)\s(?:an?\s)?(?:(?:score|rating|grade)\sof\s)?)"
    rf"{_VALUE.replace('?P<', '?P<put_')}(?=\s{{0,2}}(?:$|[.,;:!)\n]|points?\b(?!\s[a-z])|stars?\b"
    r"|to (?:it|this)\b|because\b|since\b))"
    r"|(?:(?:\A|\n|[.!?:]\s)(?:yo\s|eu\s)?(?:le\s|lhe\s)?dar[ií]a"
    r"|\b(?:ich\s(?:gebe|vergebe|würde|bewerte)|je\s(?:(?:lui|leur|le|la)\s)?(?:donne|donnerais|mets|mettrais|attribue)|doy|"
    r"asigno|pongo|otorgo|assegno|attribuisco|darei|do\sun|dou|atribuo|ik\sgeef|я\s(?:ставлю|даю|оцениваю)))\b"
    rf"(?:\s[^\W\d]{{1,30}}){{0,5}}?\s(?P<given>{_DIGITS})(?:\s?/\s?(?P<given_of>\d{{1,3}}))?"
    r"(?=\s{0,2}(?:$|[.,;:!)\n]|punkte?n?\b|points?\b|puntos?\b|punti\b|pontos?\b|баллов|балла|geben\b|vergeben\b))"
)
# Words that show a grant to be supposed, denied, or another's.
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
