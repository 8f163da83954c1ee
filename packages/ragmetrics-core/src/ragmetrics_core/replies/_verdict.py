"""A yes or a no in words.

The first explicit answer counts, and "explicit" is a matter of place: at the head of a sentence and closed off from
what follows ("Yes, because ..."), behind a label ("Answer: no"), or alone. The same word in running text is none
("there is no law", "one could say yes"). Labels of two-valued scales ("supported", "incorrect") count in the same
places, and in a plain sentence ("the figures are not correct") when nothing hedges it. A final answer or a
correction outranks what came before; any other contradiction is no answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from ._around import ANOTHERS, plain_labels, undress, without_colour
from ._clean import tidy
from ._problem import Problem
from ._words import CJK_NO, CJK_YES, CONCLUSION, FINAL, HEDGES, NEGATIVE, NO, POSITIVE, REASON, YES

__all__ = ["read_verdict", "truth", "truth_of_text"]


def _any(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_END = r"(?=\s{0,3}(?:$|[,.;:!)\]}\"'…|،؛।，。、！；：）」』】]|-\s|--|[–—]|\())"
_ANSWER = re.compile(rf"(?:(?P<yes>{_any(YES)})|(?P<no>{_any(NO)}))(?!\w|['’-]\w){_END}")
_CJK = re.compile(
    rf"(?:(?P<yes>{CJK_YES})|(?P<no>{CJK_NO}))(?=\s?(?:$|[,.;:!?)\]\"'，。、！？；：）」』】…~～-])|です|だ[。\s])"
)
# In English the comma after the answer is often forgotten.
_LOOSE = re.compile(
    r"(?:(?P<yes>yes)\s(?=(?:because|it|the|this|that|these|they|there|as|since|all|both|its|i|we|he|she)\b)"
    r"|(?P<no>no)\s(?=(?:because|it|this|that|these|they|there|the|since|i|we|he|she|not)\b))"
)
_LETTER = re.compile(r"(?:(?P<yes>y)|(?P<no>n))[.)\]\"']{0,3}\s?$")
_NUMBERED = re.compile(r"(?<!\w)(?:nos?|nr|n)[.º°]?[ \t]{0,3}(?=\d)")
_LABEL = re.compile(
    rf"(?P<not>(?:is\s+|are\s+)?(?:not|isn't|aren't|non|in)[\s-]+|un-)?(?:fully\s+|entirely\s+|completely\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE)})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
    rf"(?:{_END}|(?=\s+(?:by|with|in (?:the|this|its)|from|because|as|since)\b))"
)
_DIGIT = re.compile(
    r"(?:(?P<yes>1)|(?P<no>0))(?:\.0{1,4})?(?=\s{0,3}(?:$|[)\]]*\s*$|[-–—:=(]\s*\D|[.,;!]\s*(?:$|\D{3})))"
)
_OPTION = rf"(?:{_any(YES)}|{_any(NO)}|{_any(POSITIVE)}|{_any(NEGATIVE)}|{CJK_YES}|{CJK_NO}|[01])"
_MENU = re.compile(
    rf"(?<!\w)(?P<one>{_OPTION})[\"'\])]{{0,3}}\s{{0,3}}"
    rf"(?:/|\||\bor\b|\band\b|\boder\b|\bou\b|\bo\b|\bof\b|\bили\b|\bи\b|또는|か|或者|或|&)\s{{0,3}}"
    rf"[\"'(\[]{{0,3}}(?P<two>{_OPTION})(?!\w)(?:\s?(?:/|\||,|or\b){{1,3}}\s?[\"']?[\w/]{{1,14}}[\"']?){{0,3}}[\"')\]>}}]{{0,3}}"
)
_COMMA_MENU = re.compile(
    rf"(?:[(\[<{{]|\A|(?<=[:=] ))\s?(?P<one>{_OPTION})\s?,\s?(?P<two>{_OPTION})\s?(?:[)\]>}}]|[.!]?\s?$)"
)
_AFFIRMS = re.compile(rf"(?:{_any(YES)}|{_any(POSITIVE)}|{CJK_YES}|1)\Z")
_WHETHER = re.compile("是否|是不是|对不对|有没有|对错")
_DECORATION = re.compile(
    r"</?(?:b|i|u|em|strong|code|br|p|span|mark|h\d)\s{0,3}/?>|[*`#>_~$]|\\boxed|\\text|^[-•·–]\s", re.MULTILINE
)
_BREAK = re.compile(r"(?<=[.!?。！？;；।])(?=\s|[^\x00-\x7f])|\n|(?<=[.!?])(?=[\"')\]]\s)")
_OPENING = re.compile(r"[\s\"'(\[{<【「『:：]{0,12}")
_HEAD = re.compile(
    r"[\s\"'(]{0,12}[^\s,.;:!?()，。、！？；：]{1,40}(?:\s[^\s,.;:!?()，。、！？；：]{1,40})?\s?(?:$|[,.;:!?，。、！？；：]|[-–—])"
)
_LEAD_IN = re.compile(
    r"(?:so|thus|therefore|hence|overall|in conclusion|in short|in summary|to conclude|well|ok|okay|sure|certainly|"
    r"consequently|accordingly|actually|wait|hmm|also|donc|also|daher|por lo tanto|所以|因此|따라서|したがって|つまり)\b"
    r"[,:，、]?\s?"
    r"|(?:it'?s|that'?s|(?:it|this|that) is|my (?:answer|verdict) is) an? (?:clear |definite |firm |hard |strong )?"
    r"|(?:i (?:would|'d|will|must)? ?(?:say|answer|conclude|reply|respond)(?: that| with)?:?|i'd say)\s+"
)
_LABELLED = re.compile(r"(?P<label>[^:=：\n]{1,80}?)\s?(?:[:=：]|\s[-–—→]|->|=>)\s?(?P<body>.*)", re.DOTALL)
_SAYS = re.compile(
    rf"\b(?P<label>(?:[\w']{{1,40}}\s){{0,3}}(?:{CONCLUSION}))"
    r"\s?(?:is|would be|was|ist|est|es|è|é|は|是|은|는|为)\s?:?\s?(?P<body>.*)",
    re.DOTALL,
)
_FINAL_LABEL = re.compile(rf"(?<!\w)(?:{FINAL})(?!\w)|최종|最终|最終|итог|修正|정정")
_CONCLUSION_LABEL = re.compile(rf"(?<!\w)(?:the|my|your)?(?:{CONCLUSION})(?!\w)|(?:{CONCLUSION})\s*$")
_REASON_LABEL = re.compile(rf"(?<!\w)(?:{REASON})(?!\w)|(?:理由|原因|이유)")
_CORRECTION = re.compile(
    r"\b(?:correction|on reflection|upon reflection|i change my (?:answer|mind)|actually|rather|i meant)\b"
)
_COPULA = re.compile(
    rf"\b(?:is|are|was|were|seems|looks)(?P<not>n't|\s+not)?\s+(?:fully\s+|entirely\s+|completely\s+|indeed\s+|also\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE - {'support', 'pass', 'right', 'positive'})})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
)
_CONTRAST = re.compile(
    r"\b(?:but|however|although|though|except|only|yet|in part|"
    r"until|once|unless|if|partly|partially|mostly|largely|somewhat|depending|to some (?:extent|degree)|that)\b|\?"
)
_NEGATION = re.compile(r"\bnot\b|n't\b|\bnever\b")
_FULLY_NOT = re.compile(
    r"(?:\bnot|n't)\s+(?:fully|entirely|completely|necessarily|always)\b|\bnot un"
    r"|n't\s+(?:un|in|ir|wrong|false|fail)|\b(?:no|nor|neither)\b"
)
# A list marker before a lone answer; one that counts on is a list.
_ITEM = re.compile(r"(?:\(?1[.)]|\(?[a-d]\)|[a-d]\.)\s(?!.*(?:(?<!\d)\d{1,2}|\b[a-d])[.)])(?P<body>[^\n]*)\Z")
_COUNTED = re.compile(r"\(?1[.)]\s+(?P<word>[\w']+)")
_CRITERIA = re.compile(r"[,;]\s")
_WORD = re.compile(r"[\w']+")
_MAX_SENTENCE = 400


class _Sign(NamedTuple):
    """One explicit answer: its truth (None: it takes no side), its rank, and whether the text begins with it."""

    truth: bool | None
    rank: int
    leads: bool = False


_FINALLY, _CONCLUDED, _SAID, _TERM = 3, 2, 1, 0


def _menu(match: re.Match[str]) -> str:
    """Blank out a choice between yes and no; two words for the same are an answer."""
    around = (
        match.string[max(0, match.start() - 3) : match.start()].rstrip()[-1:],
        match.string[match.end() : match.end() + 3].strip()[:1],
    )
    if any(undress(f"{sign}x")[1] for sign in around):
        # A symbol at the choice must not be left standing as the answer.
        return " either "
    opposed = bool(_AFFIRMS.match(match.group("one"))) != bool(_AFFIRMS.match(match.group("two")))
    return " " if opposed else match.group()


def _side(match: re.Match[str]) -> bool:
    positive = match.group("yes") is not None
    return positive != bool(match.groupdict().get("not"))


def _answer_at(body: str, *, digits: bool = True) -> tuple[bool | None, bool] | None:
    """The answer at the head of ``body`` as (truth, explicit word); (None, True) for a hedge."""
    body = body[_OPENING.match(body).end() :]  # type: ignore[union-attr]
    worn, sides = undress(body[:_MAX_SENTENCE])
    if sides and (answer := _answer_at(worn, digits=digits)):
        return (None, True) if sides - {answer[0]} else answer
    for pattern in (_ANSWER, _CJK, _LOOSE, _LETTER):
        if match := pattern.match(body):
            return _side(match), True
    if digits and (match := _DIGIT.match(body)):
        rest = _answer_at(body[match.end() :].lstrip(" -–—:=(.,"), digits=False)
        word = _WORD.search(body, match.end())
        if rest is None and word and word.group() in (NO if _side(match) else YES):
            return None, True
        return (_side(match), True) if rest is None or rest[0] == _side(match) else (None, True)
    if match := _LABEL.match(body):
        return _side(match), False
    first = _WORD.match(body)
    if first and first.group() in HEDGES:
        return None, True
    return None


def _signs(text: str) -> list[_Sign]:
    signs: list[_Sign] = []
    digits = len(text) <= _MAX_SENTENCE and "\n" not in text
    if (counted := _COUNTED.match(text)) and counted["word"] in (HEDGES | NO):
        digits = False
    for number, sentence in enumerate(part.strip() for part in _BREAK.split(text)):
        found = _sentence_signs(sentence, first=number == 0, digits=digits and number == 0)
        signs.extend(sign._replace(leads=number == 0) for sign in found)
    return signs


def _sentence_signs(sentence: str, *, first: bool, digits: bool) -> list[_Sign]:
    sentence, sides = undress(sentence)
    signs = _bare_signs(sentence, first=first, digits=digits)
    return [sign._replace(truth=None) if sides - {sign.truth} else sign for sign in signs]


def _bare_signs(sentence: str, *, first: bool, digits: bool) -> list[_Sign]:
    corrected = bool(_CORRECTION.match(sentence))
    body = sentence
    for _ in range(3):
        opening = _LEAD_IN.match(body)
        if opening is None or opening.end() == len(body):
            break
        body = body[opening.end() :]
    answer = _answer_at(body, digits=digits)
    if answer is None or not answer[1]:
        for match in (_LABELLED.match(body), _SAYS.search(body[:_MAX_SENTENCE])):
            if answer and match and match.re is _LABELLED and body[match.end("label")] not in ":=：":
                # "not supported - the text ..." explains; "supported: no" answers.
                continue
            sign = match and _labelled_sign(match.group("label").strip(), match.group("body"), corrected=corrected)
            if sign:
                return [sign]
    if answer is None or (not first and (answer[0] is None or (not corrected and not _HEAD.match(body)))):
        return []
    return [_Sign(answer[0], _FINALLY if corrected else _SAID if answer[1] else _TERM)]


def _labelled_sign(label: str, body: str, *, corrected: bool, nested: int = 0) -> _Sign | None:
    words = set(_WORD.findall(label))
    if _REASON_LABEL.search(label) or ANOTHERS.search(label) or words & HEDGES:
        return None
    concluded = _FINAL_LABEL.search(label) or _CONCLUSION_LABEL.search(label)
    answer = _answer_at(body, digits=bool(concluded))
    if answer is None:
        inner = _LABELLED.match(body) if nested < 3 else None
        if inner is None:
            return None
        return _labelled_sign(inner["label"], inner["body"][:200], corrected=corrected, nested=nested + 1)
    for part in _CRITERIA.split(body[:_MAX_SENTENCE])[1:]:
        other = _LABELLED.match(part) if nested < 3 else None
        said = other and _labelled_sign(other["label"], other["body"], corrected=False, nested=3)
        if said and said.truth is not answer[0]:
            # "supported: yes, faithful: no" judges two things.
            return _Sign(None, _SAID)
    if corrected or _FINAL_LABEL.search(label):
        return _Sign(answer[0], _FINALLY)
    if concluded:
        return _Sign(answer[0], _CONCLUDED)
    return _Sign(answer[0], _SAID if answer[1] else _TERM) if answer[0] is not None else None


def _copulas(text: str) -> set[bool | None]:
    """What plain sentences such as "the figures are not correct" say; None for a hedged one."""
    said: set[bool | None] = set()
    for sentence in _BREAK.split(text):
        matches = list(_COPULA.finditer(sentence[:_MAX_SENTENCE]))
        if not matches:
            continue
        before = set(_WORD.findall(sentence[: matches[0].end()]))
        negated = _NEGATION.search(sentence, 0, matches[0].start())
        hedged = (
            before & HEDGES or negated or len(matches) > 1 or _CONTRAST.search(sentence) or _FULLY_NOT.search(sentence)
        )
        said.add(None if hedged or undress(sentence)[1] - {_side(matches[0])} else _side(matches[0]))
    return said


def read_verdict(text: str) -> bool:
    """The answer that a reply in words gives.

    Raises:
        Problem: there is none, or two that disagree.
    """
    normal = _WHETHER.sub(" ", _DECORATION.sub(" ", without_colour(tidy(text)).casefold()))
    normal = plain_labels(normal.strip())
    normal = _COMMA_MENU.sub(_menu, _MENU.sub(_menu, normal))
    normal = _NUMBERED.sub("number ", normal).strip()
    if len(normal) <= _MAX_SENTENCE and (item := _ITEM.match(normal)) and _is_item(normal, item["body"]):
        normal = item["body"]
    signs = _signs(normal)
    for rank in (_FINALLY, _CONCLUDED):
        ranked = {sign.truth for sign in signs if sign.rank == rank}
        if ranked:
            first = signs[0]
            if rank == _CONCLUDED and first.leads and first.rank < rank and first.truth is not None:
                # An answer at the very beginning and another behind a label contradict each other openly.
                ranked.add(first.truth)
            return _agreed(ranked)
    for rank in (_SAID, _TERM):
        ranked = {sign.truth for sign in signs if sign.rank == rank}
        if ranked:
            return _agreed(ranked)
    return _agreed(_copulas(normal))


def _is_item(text: str, body: str) -> bool:
    """Whether what follows a list marker is an answer; behind a letter it has to stand alone."""
    answer = _answer_at(body, digits=False)
    return answer is not None and answer[0] is not None and ("1" in text[:2] or len(body.split()) == 1)


def _agreed(said: set[bool | None]) -> bool:
    if len(said) == 1 and (answer := next(iter(said))) is not None:
        return answer
    raise Problem("the reply says both yes and no" if {True, False} <= said else "the reply does not say yes or no")


@lru_cache(maxsize=512)
def truth_of_text(text: str) -> bool | None:
    """What a short text such as the value of a key says, or None."""
    try:
        return read_verdict(text)
    except Problem:
        return None


def truth(value: Any) -> bool | None:
    """True or False for a value that says so (true, 1, "yes", "Supported."), None for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return truth_of_text(value) if len(value) < 2000 else None
    if isinstance(value, list) and len(value) == 1:
        return truth(value[0]) if not isinstance(value[0], list) else None
    return None
