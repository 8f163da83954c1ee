"""Read a yes or a no in words.

An answer counts only if it is explicit: at the beginning of a sentence and separated from the words after it ("Yes, because
..."), after a label ("Answer: no"), or alone. The same word in running text is not an answer ("there is no law", "one could say
yes"). Labels of two-valued scales ("supported", "incorrect") count in the same positions, and also in a plain sentence without a
hedge ("the figures are not correct"). A final answer or a correction outranks earlier answers. Any other contradiction means that
there is no answer.

Texts are lower-cased and tidied before they are searched (single spaces), so every search is linear.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from .._kernel._wording import question_of
from ._text import ANOTHERS, Unreadable, plain_labels, tidy, undress, without_colour, without_sent
from ._whose import QUOTED, declines, own_words, speaks_of_another
from ._words import CJK_NO, CJK_YES, CONCLUSION, FINAL, HEDGES, NEGATIVE, NO, POSITIVE, REASON, YES


def _any(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_END = r"(?=\s{0,3}(?:$|[,.;:!)\]}\"'…|،؛।，。、！；：）」』】]|-\s|--|[–—]|\())"
ANSWER = re.compile(rf"(?:(?P<yes>{_any(YES)})|(?P<no>{_any(NO)}))(?!\w|['’-]\w){_END}")
CJK = re.compile(
    rf"(?:(?P<yes>{CJK_YES})|(?P<no>{CJK_NO}))(?=\s?(?:$|[,.;:!?)\]\"'，。、！？；：）」』】…~～-])|です|だ[。\s])"
)
# In English, the comma after the answer is often missing.
LOOSE = re.compile(
    r"(?:(?P<yes>yes)\s(?=(?:because|it|the|this|that|these|they|there|as|since|all|both|its|i|we|he|she|for|on|about|regarding)\b)"
    r"|(?P<no>no)\s(?=(?:because|it|this|that|these|they|there|the|since|i|we|he|she|not|for|on|about|regarding)\b))"
)
LETTER = re.compile(r"(?:(?P<yes>y)|(?P<no>n))[.)\]\"']{0,3}\s?$")
NUMBERED = re.compile(r"(?<!\w)(?:nos?|nr|n)[.º°]?[ \t]{0,3}(?=\d)")
LABEL = re.compile(
    rf"(?P<not>(?:is\s+|are\s+)?(?:not|isn't|aren't|non|in)[\s-]+|un-)?(?:fully\s+|entirely\s+|completely\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE)})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
    rf"(?:{_END}|(?=\s+(?:by|with|in (?:the|this|its)|from|because|as|since)\b))"
)
DIGIT = re.compile(
    r"(?:(?P<yes>1)|(?P<no>0))(?:\.0{1,4})?(?=\s{0,3}(?:$|[)\]]*\s*$|[-–—:=(]\s*\D|[.,;!]\s*(?:$|\D{3})))"
)
_OPTION = rf"(?:{_any(YES)}|{_any(NO)}|{_any(POSITIVE)}|{_any(NEGATIVE)}|{CJK_YES}|{CJK_NO}|[01])"
# A choice between two answers ("yes/no"), and the end of such a choice. A text without an end needs no full search.
_OR = r"(?:/|\||\bor\b|\band\b|\boder\b|\bou\b|\bo\b|\bof\b|\bили\b|\bи\b|또는|か|或者|或|&)\s{0,3}[\"'(\[]{0,3}"
MENU = re.compile(
    rf"(?<!\w)(?P<one>{_OPTION})[\"'\])]{{0,3}}\s{{0,3}}{_OR}(?P<two>{_OPTION})(?!\w)"
    r"(?:\s?(?:/|\||,|or\b){1,3}\s?[\"']?[\w/]{1,14}[\"']?){0,3}[\"')\]>}]{0,3}"
)
MENU_END = re.compile(rf"{_OR}{_OPTION}(?!\w)")
COMMA_MENU = re.compile(
    rf"(?:[(\[<{{]|\A|(?<=[:=] ))\s?(?P<one>{_OPTION})\s?,\s?(?P<two>{_OPTION})\s?(?:[)\]>}}]|[.!]?\s?$)"
)
AFFIRMS = re.compile(rf"(?:{_any(YES)}|{_any(POSITIVE)}|{CJK_YES}|1)\Z")
WHETHER = re.compile("是否|是不是|对不对|有没有|对错")
DECORATION = re.compile(
    r"</?(?:b|i|u|em|strong|code|br|p|span|mark|h\d)\s{0,3}/?>|[*`#>_~$]|\\boxed|\\text|^[-•·–]\s", re.MULTILINE
)
BREAK = re.compile(r"(?<=[.!?。！？;；।])(?=\s|[^\x00-\x7f])|\n|(?<=[.!?])(?=[\"')\]]\s)")
OPENING = re.compile(r"[\s\"'(\[{<【「『:：]{0,12}")
HEAD = re.compile(
    r"[\s\"'(]{0,12}[^\s,.;:!?()，。、！？；：]{1,40}(?:\s[^\s,.;:!?()，。、！？；：]{1,40})?\s?(?:$|[,.;:!?，。、！？；：]|[-–—])"
)
LEAD_IN = re.compile(
    r"(?:so|thus|therefore|hence|overall(?!(?:\s\w{1,20})?\s?[:：])|in conclusion|in short|in summary|to conclude|well|ok|okay|"
    r"sure|certainly|consequently|accordingly|actually|wait|hmm|also|donc|daher|por lo tanto|所以|因此|따라서|したがって|つまり)\b"
    r"[,:，、]?\s?"
    r"|(?:it'?s|that'?s|(?:it|this|that) is|my (?:answer|verdict) is) an? (?:clear |definite |firm |hard |strong )?"
    r"|(?:i (?:would|'d|will|must)? ?(?:say|answer|conclude|reply|respond)(?: that| with)?:?|i'd say)\s+"
)
LABELLED = re.compile(r"(?P<label>[^:=：\n]{1,80}?)\s?(?:[:=：]|\s[-–—→]|->|=>)\s?(?P<body>.*)", re.DOTALL)
# "The answer is yes", and the part that distinguishes this sentence from others.
_IS = r"\s?(?:is|would be|was|ist|est|es|è|é|は|是|은|는|为)\s?:?\s?"
SAYS = re.compile(rf"\b(?P<label>(?:[\w']{{1,40}}\s){{0,3}}(?:{CONCLUSION})){_IS}(?P<body>.*)", re.DOTALL)
CONCLUDES = re.compile(rf"(?:{CONCLUSION}){_IS}")
FINAL_LABEL = re.compile(rf"(?<!\w)(?:{FINAL})(?!\w)|최종|最终|最終|итог|修正|정정")
CONCLUSION_LABEL = re.compile(rf"(?<!\w)(?:the|my|your)?(?:{CONCLUSION})(?!\w)|(?:{CONCLUSION})\s*$")
REASON_LABEL = re.compile(rf"(?<!\w)(?:{REASON})(?!\w)|(?:理由|原因|이유)")
CORRECTION = re.compile(
    r"\b(?:correction|on reflection|upon reflection|i change my (?:answer|mind)|actually|rather|i meant)\b"
)
COPULA = re.compile(
    rf"\b(?:is|are|was|were|seems|looks)(?P<not>n't|\s+not)?\s+(?:fully\s+|entirely\s+|completely\s+|indeed\s+|also\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE - {'support', 'pass', 'right', 'positive'})})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
)
CONTRAST = re.compile(
    r"\b(?:but|however|although|though|except|only|yet|in part|"
    r"until|once|unless|if|partly|partially|mostly|largely|somewhat|depending|to some (?:extent|degree)|that)\b|\?"
)
NEGATION = re.compile(r"\bnot\b|n't\b|\bnever\b")
FULLY_NOT = re.compile(
    r"(?:\bnot|n't)\s+(?:fully|entirely|completely|necessarily|always)\b|\bnot un"
    r"|n't\s+(?:un|in|ir|wrong|false|fail)|\b(?:no|nor|neither)\b"
)
# A list marker before a single answer. Consecutive numbers are a list.
ITEM = re.compile(r"(?:\(?1[.)]|\(?[a-d]\)|[a-d]\.)\s(?!.*(?:(?<!\d)\d{1,2}|\b[a-d])[.)])(?P<body>[^\n]*)\Z")
COUNTED = re.compile(r"\(?1[.)]\s+(?P<word>[\w']+)")
CRITERIA = re.compile(r"[,;]\s")
WORD = re.compile(r"[\w']+")
FIRST = re.compile(r"\W*\w*")
# The last two words of a label, with the text after the label.
TAIL = re.compile(r"\A.*?((?:[\w']+\s)?[\w']+\W*\s?(?:is|ist|est|es|è|é|は|是|은|는|为)?\W*\w+)\Z", re.DOTALL)
# "The context supports it: yes" names the context and is not a reason.
SUPPORTS = re.compile(r"\b(?:supports?|supported|confirms?|confirmed|entails?|entailed|backs?)\b")
CLOSING = re.compile(
    r",\s(?:(?:so|therefore|thus|hence|then|and so)[,:]?\s)?(?:(?:my|the) (?:answer|verdict) is:?\s)?"
    r"(?:(?P<yes>yes)|(?P<no>no))[.!]?\Z"
)
# The judge corrects itself, in the first person or in a word of surprise.
SELF = re.compile(
    r"\b(?:wait|hmm|on (?:second thoughts?|(?:further )?reflection|closer (?:look|inspection))|upon reflection|actually|"
    r"i (?:misread|overlooked|missed|was wrong|made a mistake|erred|take that back|change my (?:mind|answer)|meant)|"
    r"let me (?:re|think|check|correct)\w*|sorry|my mistake)\b"
)
# An answer after a label, a question, a bar or a bracketed answer, or before the words that say what it is about.
_ABOUT = r"(?:for|on|about|regarding)\s"
SLOT = re.compile(
    rf"(?:[:=：→|?/)-](?<!\w-)[,;]?\s{{0,3}}[\"'(]?|(?:[,;]|and|but)\s(?=(?:yes|no)\s{_ABOUT}))"
    rf"(?:(?P<yes>{_any(YES)}|{CJK_YES})|(?P<no>{_any(NO)}|{CJK_NO}))"
    rf"(?=\s{{0,3}}(?:$|[,.:;|/()\n!\"–—。、；），]|-\s|\b(?:and|because|since|it|{_ABOUT})\b))"
)
MAX_SENTENCE = 400


FINALLY, CONCLUDED, SAID, TERM, HINT = 3, 2, 1, 0, -1
_MOST_LEAD_INS = 3
_MOST_LABELS = 3
_ALONE = re.compile(r"\W*\w+\W*")
_OF_A_PART = re.compile(r"\W*(?:as )?(?:for|on|about|regarding)\b")  # "For the context, no."
# "Query: no / Faithful: yes": another label follows the answer.
_MORE = re.compile(
    rf"\W*(?P<word>{'|'.join(map(re.escape, sorted(YES | NO)))})\s?(?:[/|&]|(?:and|und|et|y|e|en)\s)[^:=：\n]{{1,80}}[:=：]"
)


class Sign(NamedTuple):
    """One explicit answer.

    Attributes:
        truth: yes or no; None if it takes no side.
        rank: its strength.
        said: its words.
        part: whether a label names the part of the question that it answers.
    """

    truth: bool | None
    rank: int
    said: str = ""
    part: bool = False


class _Answer(NamedTuple):
    """The answer that some words begin with: its truth (None: a hedge), and whether the word can only be an answer."""

    truth: bool | None
    explicit: bool


_HEDGE = _Answer(None, explicit=True)


def side_of(match: re.Match[str]) -> bool:
    """Return the side that a match takes: True for the group ``yes``, False for ``no``. A group ``not`` reverses it."""
    positive = match.group("yes") is not None
    return positive != bool(match.groupdict().get("not"))


def answer_at(body: str, *, digits: bool = True) -> _Answer | None:
    """Return the answer that ``body`` begins with: yes, no or a hedge; None if it begins with none of them. ``digits``: whether
    1 and 0 are answers.
    """
    body = body[OPENING.match(body).end() :]  # type: ignore[union-attr]
    undressed, sides_of_symbols = undress(body[:MAX_SENTENCE])
    if sides_of_symbols and (answer := answer_at(undressed, digits=digits)):
        contradicted = sides_of_symbols != {answer.truth}  # "✅ no" takes no side
        return _HEDGE if contradicted else answer
    for pattern in (ANSWER, CJK, LOOSE, LETTER):
        if match := pattern.match(body):
            return _Answer(side_of(match), explicit=True)
    if digits and (match := DIGIT.match(body)):
        return _Answer(_side_of_digit(match), explicit=True)
    if match := LABEL.match(body):
        return _Answer(side_of(match), explicit=False)
    first = WORD.match(body)
    return _HEDGE if first and first.group() in HEDGES else None


def _side_of_digit(match: re.Match[str]) -> bool | None:
    """Return the side of 1 or 0; None if the words after the digit contradict it."""
    said = side_of(match)
    body, end = match.string, match.end()
    rest = answer_at(body[end:].lstrip(" -–—:=(.,"), digits=False)
    if rest is not None:
        return said if rest.truth == said else None
    word = WORD.search(body, end)
    return None if word and word.group() in (NO if said else YES) else said


def find_signs(text: str) -> list[Sign]:
    """Return the explicit answers in a text in normal form (see ``_verdict``)."""
    signs: list[Sign] = []
    digits = len(text) <= MAX_SENTENCE and "\n" not in text
    if (counted := COUNTED.match(text)) and counted["word"] in (HEDGES | NO):
        digits = False
    sentences = [part.strip() for part in BREAK.split(text)]
    for number, sentence in enumerate(sentences):
        sign = _sign_in(sentence, first=number == 0, digits=digits and number == 0)
        if sign:
            signs.append(sign if sign.said else sign._replace(said=sentence))
    last = next((sentence for sentence in reversed(sentences) if sentence), "")
    closing = _closing_sign(last) if not signs or _OF_A_PART.match(last) else None
    return [*signs, closing] if closing else signs


def _closing_sign(sentence: str) -> Sign | None:
    """Return the answer at the end of the last sentence: "based on the context, yes"."""
    match = CLOSING.search(sentence[:MAX_SENTENCE])
    if match is None or set(WORD.findall(sentence)) & HEDGES or ANOTHERS.search(sentence):
        return None
    return Sign(side_of(match), SAID, sentence)


def _sign_in(sentence: str, *, first: bool, digits: bool) -> Sign | None:
    sentence, sides = undress(sentence)
    sign = _bare_sign(sentence, first=first, digits=digits)
    return sign._replace(truth=None) if sign and sides - {sign.truth} else sign


def _bare_sign(sentence: str, *, first: bool, digits: bool) -> Sign | None:
    """Return the answer that a sentence without symbols gives."""
    corrected = bool(CORRECTION.match(sentence))
    body = sentence
    for _ in range(_MOST_LEAD_INS):  # "so", "therefore", "it's a"
        opening = LEAD_IN.match(body)
        if opening is None or opening.end() == len(body):
            break
        body = body[opening.end() :]
    answer = answer_at(body, digits=digits)
    if answer is None or not answer.explicit:
        sign = _said_of_label(body, answer, corrected=corrected)
        if sign:
            return sign
    if answer is None:
        return None
    if not first and (answer.truth is None or not (corrected or HEAD.match(body))):
        return None
    return Sign(answer.truth, FINALLY if corrected else SAID if answer.explicit else TERM)


def _said_of_label(body: str, answer: _Answer | None, *, corrected: bool) -> Sign | None:
    """Return the answer after a label at the beginning of a sentence, or after "the answer is"."""
    label = LABELLED.match(body)
    # "not supported - the text ..." is an answer with its reason; "supported: no" is a label with its answer.
    is_label = label is not None and (answer is None or body[label.end("label")] in ":=：")
    sign = _labelled_sign(label, corrected=corrected) if label and is_label else None
    if sign is None and CONCLUDES.search(body, 0, MAX_SENTENCE):
        says = SAYS.search(body[:MAX_SENTENCE])
        sign = _labelled_sign(says, corrected=corrected) if says else None
    return sign


def _labelled_sign(match: re.Match[str], *, corrected: bool, nested: int = 0) -> Sign | None:
    """Return the answer after a label, which may follow another label."""
    sign = _side_of_label(match["label"].strip(), match["body"], corrected=corrected, nested=nested)
    if sign is None or sign.said:
        return sign
    body = match.start("body") - match.start()
    return sign._replace(said=TAIL.sub(r"\1", match.group()[: body + FIRST.match(match["body"]).end()]))  # type: ignore[union-attr]


def _side_of_label(label: str, body: str, *, corrected: bool, nested: int) -> Sign | None:
    if _is_no_label(label):
        return _sign_of_a_part(label, body)
    final = FINAL_LABEL.search(label)
    concluded = final or CONCLUSION_LABEL.search(label)
    answer = answer_at(body, digits=bool(concluded))
    if answer is None:
        return _inner_sign(body, corrected=corrected, nested=nested) if nested < _MOST_LABELS else None
    if _reverses(label, answer) or (nested < _MOST_LABELS and _judges_more(body, answer)):
        return Sign(None, SAID)
    if corrected or final:
        return Sign(answer.truth, FINALLY)
    if concluded:
        return Sign(answer.truth, CONCLUDED)
    return Sign(answer.truth, SAID if answer.explicit else TERM, part=True) if answer.truth is not None else None


def _sign_of_a_part(label: str, body: str) -> Sign | None:
    """Return the answer to one part, as in "Query: yes. Context: no". It can contradict another answer but is no verdict alone."""
    anothers = ANOTHERS.search(label)
    named = len(WORD.findall(label)) == 1 if anothers else REASON_LABEL.search(label)
    answer = answer_at(body, digits=False) if named and (anothers or _ALONE.fullmatch(body)) else None
    return Sign(answer.truth, HINT, part=True) if answer and answer.explicit else None


def _inner_sign(body: str, *, corrected: bool, nested: int) -> Sign | None:
    """Return the answer after a second label. It takes no side if the first label has a different answer: "Query: no / Faithful:
    yes".
    """
    inner = LABELLED.match(body)
    sign = _labelled_sign(inner, corrected=corrected, nested=nested + 1) if inner else None
    first = _MORE.match(body) if sign else None
    return Sign(None, SAID) if sign and first and (first["word"] in YES) is not sign.truth else sign


def _is_no_label(label: str) -> bool:
    """Whether the words before a colon introduce a reason, another speaker's answer, or a hedged answer."""
    if REASON_LABEL.search(label) and not SUPPORTS.search(label):
        return True
    return bool(ANOTHERS.search(label)) or not HEDGES.isdisjoint(WORD.findall(label))


def _reverses(label: str, answer: _Answer) -> bool:
    """Whether a label may reverse its answer: "unsupported: yes" means no; "it is not supported: yes" may mean either."""
    if answer.truth and SUPPORTS.search(label) and NEGATION.search(label):
        return True
    return answer.explicit and not NEGATIVE.isdisjoint(WORD.findall(label)[-1:])


def _judges_more(body: str, answer: _Answer) -> bool:
    """Whether another label with a different answer follows: "supported: yes, faithful: no" judges two things."""
    for part in CRITERIA.split(body[:MAX_SENTENCE])[1:]:
        other = LABELLED.match(part)
        said = _labelled_sign(other, corrected=False, nested=_MOST_LABELS) if other else None
        if said and said.truth is not answer.truth:
            return True
    return False


_BOTH = "the reply says both yes and no"
_BRIEF = 4
_LONGEST_VALUE = 2000


def read_verdict(text: str) -> bool:
    """Return the answer that a reply in words gives.

    Raises:
        Unreadable: the reply gives no answer, or two that disagree, or the answer may be quoted.
    """
    normal = _normal(text)
    signs = find_signs(normal)
    own_signs = without_sent(signs, lambda sign: "" if sign.said == normal else sign.said, text, normal)
    plain = _copulas(normal)
    answer = _decided(own_signs, normal) if own_signs else _agreed(plain)
    if own_signs and ((not answer) in plain or _answers_more(own_signs, answer, text, normal)):
        raise Unreadable(_BOTH)
    if not _is_own(answer, text, plainly=not own_signs) or (len(own_signs) == len(signs) and declines(text)):
        raise Unreadable(QUOTED)
    return answer


def _answers_more(signs: list[Sign], answer: bool, text: str, normal: str) -> bool:
    """Whether the text also gives the opposite answer, and no label says which of the two is the verdict."""
    if max(sign.rank for sign in signs) >= CONCLUDED or not _slots(normal, not answer):
        return False
    asked = question_of(text)
    return any(not asked.holds_saying(said) for said in _slots(_normal(own_words(text)), not answer))


def _slots(normal: str, answer: bool) -> list[str]:
    """Return every occurrence of an answer (True: yes) that ``SLOT`` matches, with the words before it."""
    found = (match for match in SLOT.finditer(normal) if (match["yes"] is not None) is answer)
    return [normal[max(0, match.start() - 20) : match.end()] for match in found]


def _is_own(answer: bool, text: str, *, plainly: bool) -> bool:
    """Whether an answer remains after quotations are removed. ``plainly``: the answer is a plain sentence ("it is correct")."""
    own = own_words(text)
    if own == text:
        return True
    normal = _normal(own)
    return answer in (_copulas(normal) if plainly else {sign.truth for sign in find_signs(normal)})


def _normal(text: str) -> str:
    """Normalize a text for the patterns of answers: lower case, no decoration, no choice between yes and no."""
    normal = WHETHER.sub(" ", DECORATION.sub(" ", without_colour(tidy(text)).casefold()))
    normal = plain_labels(normal.strip())
    if MENU_END.search(normal):
        normal = MENU.sub(_menu, normal)
    normal = COMMA_MENU.sub(_menu, normal)
    normal = NUMBERED.sub("number ", normal).strip()
    item = ITEM.match(normal) if len(normal) <= MAX_SENTENCE else None
    answer = answer_at(item["body"], digits=False) if item else None
    # After a letter ("a)"), the answer must be a single word.
    if item and answer and answer.truth is not None and ("1" in normal[:2] or len(item["body"].split()) == 1):
        return item["body"]
    return normal


def _menu(match: re.Match[str]) -> str:
    """Replace a choice between yes and no by a space. Two words for the same side are an answer and stay."""
    text, (start, end) = match.string, match.span()
    around = text[max(0, start - 3) : start].rstrip()[-1:], text[end : end + 3].strip()[:1]
    if all(sign and sign in ":：=" for sign in around):
        return match.group()  # "Query: no / Faithful: yes" are two labels
    if any(undress(f"{sign}x")[1] for sign in around):
        # A symbol beside the choice must not become the answer.
        return " either "
    opposed = bool(AFFIRMS.match(match.group("one"))) != bool(AFFIRMS.match(match.group("two")))
    return " " if opposed else match.group()


def _decided(signs: list[Sign], text: str) -> bool:
    """Return the side of the highest-ranking signs, unless another sign says the opposite."""
    rank = max(sign.rank for sign in signs)
    answer = _agreed({sign.truth for sign in signs if sign.rank == rank > HINT})
    against = [sign for sign in signs if sign.truth is (not answer)]
    if against:
        # "No. Correction: yes." is too short for a quotation. In longer texts, the judge must say that it was wrong.
        brief = "\n" not in text and len(text.split()) <= _BRIEF
        parts = all(sign.part for sign in against)  # answers to parts of the question, before the overall answer
        corrected = rank == FINALLY and signs[-1].rank == rank and (brief or parts or SELF.search(text))
        if not corrected or speaks_of_another(text) or '"' in text:
            raise Unreadable(_BOTH)
    return answer


def _agreed(said: set[bool | None]) -> bool:
    if len(said) == 1 and (answer := next(iter(said))) is not None:
        return answer
    raise Unreadable(_BOTH if {True, False} <= said else "the reply does not say yes or no")


def _copulas(text: str) -> set[bool | None]:
    """Return the sides of plain sentences such as "the figures are not correct"; None for a hedged sentence."""
    sides: set[bool | None] = set()
    for sentence in BREAK.split(text):
        matches = list(COPULA.finditer(sentence[:MAX_SENTENCE]))
        if not matches:
            continue
        first, side = matches[0], side_of(matches[0])
        hedges = HEDGES.intersection(WORD.findall(sentence[: first.end()]))
        hedged = (
            hedges or NEGATION.search(sentence, 0, first.start()) or len(matches) > 1 or undress(sentence)[1] - {side}
        )
        sides.add(None if hedged or CONTRAST.search(sentence) or FULLY_NOT.search(sentence) else side)
    return sides


@lru_cache(maxsize=512)
def _truth_of_text(text: str) -> bool | None:
    """Return the side of a short text such as the value of a key; None if it takes no side."""
    try:
        return read_verdict(str(text))
    except Unreadable:
        return None


def truth(value: Any) -> bool | None:
    """Return the side of a value (true, 1, "yes", "Supported."); None for any other value."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        return _truth_of_text(value) if len(value) < _LONGEST_VALUE else None
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list):
        return truth(value[0])
    return None
