"""What an answer can say without claiming anything: greetings, apologies, feelings, remarks; and how it says yes and no."""

from __future__ import annotations

import re

QUESTION_MARKS = ("?", "？", "؟")
_YES = frozenset(
    {"yes", "yeah", "yep", "ja", "oui", "sí", "si", "sì", "sim", "да", "是", "是的", "はい", "네", "예", "نعم", "हाँ"}
)
_NO = frozenset({"no", "nope", "nein", "non", "não", "nee", "нет", "不是", "不", "いいえ", "아니요", "لا", "नहीं"})

_LONGEST_GREETING = 120  # characters; longer courtesies say something
_GREETING = re.compile(
    r"""(?:
    (?:hi|hello|hey|good\s+(?:morning|day|afternoon|evening|night)|welcome|thanks|thank\s+you|you\s*(?:'re|’re|\s+are)\s+welcome
    |bye|goodbye|see\s+you|sure|certainly|of\s+course|no\s+problem|great\s+question|good\s+question|my\s+pleasure|sorry
    |(?:how|what)\s+(?:can|may)\s+i\s+(?:help|assist|do\s+for)\s+you(?:\s+today)?(?:\s+with)?\s*\?
    |i\s+hope\s+this\s+helps|hope\s+this\s+helps|let\s+me\s+know|happy\s+to\s+help|glad\s+to\s+help
    |hallo|guten\s+(?:tag|morgen|abend)|danke|gerne|tschüss|bonjour|bonsoir|salut|merci|au\s+revoir|hola|gracias|adiós|buenos\s+días
    |(?:es\s+)?tut\s+mir\s+leid|leider|entschuldigung|(?:je\s+suis\s+)?désolée?|malheureusement|lo\s+siento|mi\s+dispiace|purtroppo|desculpe|infelizmente
    |(?:i['’]m\s+)?(?:very\s+)?sorry|i\s+am\s+sorry|(?:my\s+)?apologies|i\s+apologi[sz]e|unfortunately|hmm+|申し訳(?:あり|ござい)ません(?:が|でした)?|抱歉|对不起
    |ciao|grazie|buongiorno|olá|obrigad[oa]|bom\s+dia|hoi|dank\s+je|привет|здравствуйте|спасибо|你好|您好|谢谢|こんにちは|ありがとうございます|안녕하세요)
    (?:\s+(?:there|again|so\s+much|very\s+much|everyone|all|you|to\s+you|for\s+(?:asking|your\s+question)|if\s+you\s+(?:have|need)(?:\s+\w+){1,6}))*
    [\s,!.…~?！。、，:)]* )+""",
    re.IGNORECASE | re.VERBOSE,
)


def is_greeting(sentence: str) -> bool:
    """Whether ``sentence`` is nothing but greetings, thanks and other courtesies."""
    text = " ".join(sentence.split())
    return len(text) <= _LONGEST_GREETING and _GREETING.fullmatch(text) is not None


def yes_or_no(text: str) -> bool | None:
    """True for a bare *yes*, False for a bare *no* in one of the common languages, None for anything else."""
    word = text.strip(" .,!:;。！，、\"'*").casefold()
    return True if word in _YES else False if word in _NO else None


_FEELING = re.compile(
    r"""\W*(?:i\s+(?:just\s+|really\s+|also\s+|do\s+)*(?:love|like|enjoy|hate|dislike|adore|prefer)\b
    |ich\s+(?:liebe|mag|hasse)\b|j['’](?:adore|aime)\b|je\s+déteste\b|me\s+(?:encanta|gusta)n?\b|mi\s+piac(?:e|ciono)\b|eu\s+(?:adoro|gosto)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_REMARK = re.compile(
    r"\W*(?:here\s+(?:is|are)|below\s+(?:is|are)|hier\s+(?:ist|sind)|voici|aquí\s+(?:está|tiene)n?)\b[^.:!?]*[.:!]?\W*",
    re.IGNORECASE,
)

_FACT = re.compile(
    r"[,;:\d]|\b(?:because|that|since|but|how|who|what|which|where|when|why|weil|dass|aber|wie|wo|parce|que|mais|où|porque|pero|perché|che|ma)\b",
    re.IGNORECASE,
)
"""What leads from a feeling or a remark to something that can be checked."""


def is_feeling(sentence: str) -> bool:
    """Whether ``sentence`` says no more than what its writer likes: *I love jazz*, but not *I love jazz, which began in 1900*."""
    return _FEELING.match(sentence) is not None and not _FACT.search(sentence)


def is_remark(sentence: str) -> bool:
    """Whether ``sentence`` only announces the answer: *Here is a summary.*"""
    return _REMARK.fullmatch(sentence) is not None and not _FACT.search(sentence)
