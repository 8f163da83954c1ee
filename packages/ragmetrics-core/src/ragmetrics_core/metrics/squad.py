"""SQuAD's normalisation of answers, and the words of an answer in any script.

``normalise`` follows the official rule exactly, so that exact match compares with published figures. ``words`` gives the same
words for ASCII text and covers other scripts too: it ignores the punctuation of every script, and it splits Chinese, Japanese and
Korean into characters, because spaces do not separate words there.
"""

from __future__ import annotations

import re
import string
import unicodedata

__all__ = ["CJK", "normalise", "words"]

DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")
# Han with its extensions, kana, Hangul. Korean has spaces, but particles are attached to words, so KorQuAD counts characters.
CJK = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
# full-width and ideographic punctuation separates words, because it is written without spaces
CJK_PUNCTUATION = re.compile(
    "[\u3001-\u3003\u3008-\u3020\u3030\u303d\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u30fb]"
)
# punctuation, and invisible characters such as soft hyphens and direction marks
IGNORED = frozenset({"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Cf"})


def normalise(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation and English articles, with single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(DELETE_PUNCTUATION)).split())


def words(text: str) -> list[str]:
    """Return the words of a text; for ASCII text, the same words as ``normalise`` gives."""
    if not text.isascii():
        text = CJK_PUNCTUATION.sub(" ", text)
        # composed and compatibility forms (é, ﬁ, １) count as one spelling, and ß as ss
        text = unicodedata.normalize("NFKC", text).casefold()
        text = "".join(character for character in text if unicodedata.category(character) not in IGNORED)
        text = CJK.sub(r" \g<0> ", text)
    return normalise(text).split()
