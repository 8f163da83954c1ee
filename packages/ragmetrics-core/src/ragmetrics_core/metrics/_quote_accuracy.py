"""Quote accuracy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics.citing import prose
from ragmetrics_core.metrics.settings import check_whole
from ragmetrics_core.metrics.squad import CJK

# “ ” „ “ « » " " and the brackets of Chinese and Japanese; a quotation does not cross a line end
QUOTE = re.compile(
    r"[“„”](?P<curly>[^“„”\n]{1,4000})[“”]|«(?P<angle>[^«»\n]{1,4000})»|»(?P<inner>[^«»\n]{1,4000})«"
    r"|「(?P<corner>[^「」\n]{1,4000})」|『(?P<double>[^『』\n]{1,4000})』|\"(?P<straight>[^\"\n]{1,4000})\""
)
LETTER = re.compile(r"\[(\w)\](?=\w)")
LEFT_OUT = re.compile(r"\[[^\]]{0,200}\]|…|\.\s?\.\s?\.")
WORD = re.compile(rf"{CJK.pattern}|(?:(?!{CJK.pattern})\w)+")


@dataclass(frozen=True)
class QuoteAccuracy(Metric):
    """Share of the response's quotations that occur word for word in a passage.

    Quotations found in a passage / quotations. A quotation is a text between quotation marks (“ ”, „ “, « », 「 」 or straight
    ones), in one line, with at least ``words`` words; in Chinese and Japanese each character is a word. Case, blanks and
    punctuation are ignored. If the quotation marks omissions (``…``, ``[...]``) or insertions (``[the tower]``), its parts must
    occur in one passage, in order. A response that quotes nothing is unscored.

    Attributes:
        words: the least number of words of a quotation. Shorter ones are names, terms and irony.

    Raises:
        InvalidInput: ``words`` is not a whole number from 1.

    Source: this library.
    """

    words: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "words", self.words)

    def measure(self, response: str, retrieved_contexts: Sequence[str]) -> Score:
        """Find the quotations, then search every passage for each of them."""
        passages = [f" {_plain(text)} " for text in retrieved_contexts]
        quotes = []
        for match in QUOTE.finditer(prose(response)):
            quoted = match[match.lastgroup or 0]
            parts = [_plain(part) for part in LEFT_OUT.split(LETTER.sub(r"\1", quoted))]
            if len(" ".join(parts).split()) >= self.words:
                found = [number for number, text in enumerate(passages, 1) if _contains_parts(text, parts)]
                quotes.append({"quote": quoted.strip(), "passages": found, "span": list(match.span())})
        if not quotes:
            return Score.unscored("the response quotes nothing")
        return Score(sum(bool(quote["passages"]) for quote in quotes) / len(quotes), details={"quotes": quotes})


def _plain(text: str) -> str:
    """Return the words of a text in lower case, with single blanks between them."""
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _contains_parts(passage: str, parts: Sequence[str]) -> bool:
    """Whether the passage contains the parts, in order, each as whole words."""
    at = 0
    for part in filter(None, parts):
        found = passage.find(f" {part} ", at)
        if found < 0:
            return False
        at = found + len(part) + 1
    return True
