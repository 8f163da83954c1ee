"""What an answer can say without claiming anything: greetings, and that its author does not know."""

from __future__ import annotations

import re

__all__ = ["QUESTION_MARKS", "is_greeting", "is_noncommittal", "yes_or_no"]

QUESTION_MARKS = ("?", "？", "؟")
_YES = frozenset(
    {"yes", "yeah", "yep", "ja", "oui", "sí", "si", "sì", "sim", "да", "是", "是的", "はい", "네", "예", "نعم", "हाँ"}
)
_NO = frozenset({"no", "nope", "nein", "non", "não", "nee", "нет", "不是", "不", "いいえ", "아니요", "لا", "नहीं"})

_NONCOMMITTAL = re.compile(
    r"""
    \b(?:i|we)\s*(?:'m|’m|\s+am|\s+are|'re)?\s*(?:really\s+|just\s+|honestly\s+)?(?:
        (?:do\s*n['’]?t|do\s+not|did\s*n['’]?t|did\s+not)\s+(?:really\s+)?(?:know|have\s+(?:any\s+|enough\s+|the\s+)?(?:\w+\s+)?
        (?:information|idea|answer|context|data|details))
      | (?:ca\s*n['’]?t|cannot|can\s+not|could\s*n['’]?t|could\s+not|(?:(?:am|was|were)\s+)?unable\s+to)\s+
        (?:answer|say|tell|determine|find|help|provide|comment|confirm|assist)
      | (?:not|n['’]t)\s+(?:really\s+)?(?:sure|certain|able\s+to\s+(?:answer|say|find|help|provide)) )
    | \bunable\s+to\s+(?:answer|determine|provide)\b
    | \b(?:no\s+idea|not\s+enough\s+information|insufficient\s+(?:information|context)|cannot\s+be\s+(?:determined|answered))\b
    | \b(?:information|answer|context|contexts|document|documents|text|passage)s?\s+(?:is|are|does|do)\s*(?:not|n['’]t)\s+
      (?:available|provided|given|known|contain|include|provide|mention|say|specify|found)
    | \bich\s+wei(?:ß|ss)\s+(?:es\s+|das\s+)?(?:leider\s+)?nicht
    | \bich\s+kann\s+(?:\w+\s+){0,4}nicht\s+(?:beantworten|sagen)
    | \bkeine\s+ahnung\b | \bnicht\s+genug\s+informationen
    | \bje\s+ne\s+(?:le\s+)?(?:sais|peux)\s+pas
    | \bje\s+(?:sais|peux)\s+pas\b | \baucune\s+idée | \bpas\s+assez\s+d['’]informations
    | \bno\s+(?:lo\s+)?sé\b | \bno\s+(?:lo\s+)?puedo\s+(?:responder|contestar|decir)
    | \bno\s+tengo\s+(?:suficiente\s+)?(?:información|idea)
    | \bnon\s+(?:lo\s+)?so\b | \bnon\s+posso\s+(?:rispondere|dire)
    | \bnon\s+ho\s+(?:abbastanza\s+)?(?:informazioni|idea)
    | \b(?:eu\s+)?não\s+sei\b | \bnão\s+posso\s+(?:responder|dizer) | \bnão\s+tenho\s+(?:informações|ideia)
    | \bik\s+weet\s+(?:het\s+)?niet | \bgeen\s+idee\b | \bik\s+kan\s+(?:\w+\s+){0,3}niet\s+beantwoorden
    | \bя\s+не\s+(?:знаю|могу\s+ответить) | \bне\s+знаю\b
    | 不知道 | 无法(?:回答|确定) | 無法(?:回答|確定) | 没有(?:足够的)?信息
    | わかりません | 分かりません | 知りません | 答えられません
    | 모르겠 | 알\s*수\s*없 | لا\s+أعرف | لا\s+أعلم | पता\s+नहीं | नहीं\s+जानता | \bbilmiyorum\b | \bnie\s+wiem\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_GREETING = 120  # characters; longer courtesies say something
_GREETING = re.compile(
    r"""(?:
    (?:hi|hello|hey|good\s+(?:morning|day|afternoon|evening|night)|welcome|thanks|thank\s+you|you\s*(?:'re|’re|\s+are)\s+welcome
    |bye|goodbye|see\s+you|sure|certainly|of\s+course|no\s+problem|great\s+question|good\s+question|my\s+pleasure|sorry
    |(?:how|what)\s+(?:can|may)\s+i\s+(?:help|assist|do\s+for)\s+you(?:\s+today)?(?:\s+with)?\s*\?
    |i\s+hope\s+this\s+helps|hope\s+this\s+helps|let\s+me\s+know|happy\s+to\s+help|glad\s+to\s+help
    |hallo|guten\s+(?:tag|morgen|abend)|danke|gerne|tschüss|bonjour|bonsoir|salut|merci|au\s+revoir|hola|gracias|adiós|buenos\s+días
    |ciao|grazie|buongiorno|olá|obrigad[oa]|bom\s+dia|hoi|dank\s+je|привет|здравствуйте|спасибо|你好|您好|谢谢|こんにちは|ありがとうございます|안녕하세요)
    (?:\s+(?:there|again|so\s+much|very\s+much|everyone|all|you|to\s+you|for\s+(?:asking|your\s+question)|if\s+you\s+(?:have|need)(?:\s+\w+){1,6}))*
    [\s,!.…~?！。、，:)]* )+""",
    re.IGNORECASE | re.VERBOSE,
)


def is_noncommittal(sentence: str) -> bool:
    """Whether ``sentence`` says that its speaker does not know or cannot answer, in one of the common languages."""
    return _NONCOMMITTAL.search(" ".join(sentence.split())) is not None


def is_greeting(sentence: str) -> bool:
    """Whether ``sentence`` is nothing but greetings, thanks and other courtesies."""
    text = " ".join(sentence.split())
    return len(text) <= _LONGEST_GREETING and _GREETING.fullmatch(text) is not None


def yes_or_no(text: str) -> bool | None:
    """True for a bare *yes*, False for a bare *no* in one of the common languages, None for anything else."""
    word = text.strip(" .,!:;。！，、\"'*").casefold()
    return True if word in _YES else False if word in _NO else None
