"""Whose words a reply speaks: the judge's own, or those of the text under judgement.

A judge that was attacked often says so: it quotes the verdict that the text demands, and gives its own, or declines. Three
things show that a verdict may be a quotation: marks of quotation around it, words before it that name another speaker ("the
response demands"), words anywhere that decline to judge. Where they show, nothing that only stands behind them is an
answer. That costs at most a second question to the model.
"""

from __future__ import annotations

import re

from ._whose_patterns import (
    ANNOUNCED,
    ANOTHER,
    COLON,
    DECLINES,
    DECLINING,
    DEMANDED,
    HEADING,
    IN_BRACKETS,
    MARKS,
    OWN,
    PARTS,
    SAID_OF_IT,
    SENTENCE,
    SINGLE,
    SO,
    SOURCE,
    SPAN,
    SPEAKER,
    STRONG,
)

QUOTED = "the only answer in the reply is quoted or announced as another's; reply with your own, and nothing else"

_PAIRS = (
    ("`", "`"),
    ('"', '"'),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("‹", "›"),
    ("「", "」"),
    ("『", "』"),
    ("‘", "’"),
)
_BARE = 2
# Characters in which nobody else can be named; most replies in words are shorter.
_FEW = 7
_INTRO = 240
ENDS = (".", "!", "?", "。", "！", "？")


def speaks_of_another(text: str) -> bool:
    """Whether a text names another speaker, or speaks of a quotation."""
    return len(text) >= _FEW and bool(ANOTHER.search(_lower(text)))


def _lower(text: str) -> str:
    """The text in lower case and of the same length (one capital in Unicode has two small characters)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one if len(one) == 1 else "i" for one in map(str.lower, text))


def quotes_another(line: str) -> bool:
    """Whether a line announces what another says; "questions from the text" do not."""
    line = _lower(line)
    match = SPEAKER.search(line)
    own = OWN.search(line)
    return bool(match) and not (own and match and own.start() < match.start())


def declines(text: str) -> bool:
    """Whether the judge says that it will not judge, or not follow something."""
    if len(text) < _FEW:
        return False
    lower = _lower(text)
    return any(stem in lower for stem in DECLINING) and bool(DECLINES.search(lower))


def announced_by_another(before: str) -> bool:
    """Whether the words directly before an answer announce it as another's: the last sentence, and talk of a quotation anywhere."""
    before = _lower(before)
    intro = before[-_INTRO:].rstrip(" \t\r\n`*\"'>~#“„«「『").removesuffix("```json").removesuffix("```").rstrip()
    last = [part for part in SENTENCE.split(intro) if part.strip()][-1:]
    said = last[0].strip() if last else ""
    if said.endswith(ENDS) and "\n" in before[before.rfind(said) + len(said) :]:
        said = ""  # a finished sentence on a line above announces nothing
    own = max((match.end() for match in OWN.finditer(said)), default=-1)
    if own < 0 and HEADING.search(before):
        return True
    another = max((match.end() for match in ANNOUNCED.finditer(said)), default=-1)
    if another > own:
        return True
    return own < 0 and bool(STRONG.search(before))


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the marks of quotation on its line stand around ``text[start:end]``."""
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - 400) : start]
    close = text.find("\n", end, end + 400)
    rest = text[end : close if close >= 0 else end + 400]
    if before.lstrip().startswith(">") or before.count("`") % 2:
        return True
    for opening, closing in _PAIRS[1:]:
        opened = before.count(opening) % 2 == 1 if opening == closing else before.rfind(opening) > before.rfind(closing)
        if opened and closing in rest:
            return True
    return bool(re.search(r"(?:^|[\s(\[:])'[^']*$", before)) and bool(re.search(r"'(?!\w)", rest))


def own_words(text: str) -> str:
    """The text without what it quotes: an ellipsis instead of each quotation, and of what another is said to say."""
    if len(text) < _FEW:
        return text
    if MARKS.search(text):
        text = SINGLE.sub(_unquoted, SPAN.sub(_unquoted, text))
    return _attributed(text)


def _unquoted(match: re.Match[str]) -> str:
    """An ellipsis for a quotation; the words themselves where the marks around them do not quote."""
    inside = match.group().strip("`\"'“”„«»‹›「」『』‘’> \t\n~")
    groups = match.groupdict()
    mail, fence = bool(groups.get("mail")), bool(groups.get("fence"))
    # A single word in quotes is emphasis ("the answer is `no`"); around the whole text they mean nothing.
    bare = len(re.findall(r"\w+", inside)) <= _BARE and not re.search(r"[:：=]", inside) and not mail
    if fence and bare and match.string[match.end() :].lstrip()[:1].islower():
        return " … "  # the sentence goes on behind the fence
    whole = not re.search(r"\w", match.string[: match.start()] + match.string[match.end() :])
    if bare or whole or not (mail or fence or not _fills_line(match)):
        return match.group()
    return " … "


def _fills_line(match: re.Match[str]) -> bool:
    """Whether a quotation is a line of its own that no colon announces: some models put their verdict in quotes."""
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    alone = not (text[start : match.start()] + text[match.end() : end if end >= 0 else len(text)]).strip(" \t*_.")
    return alone and not text[:start].rstrip().endswith((":", "："))


def _attributed(text: str) -> str:
    """The text without what stands behind "the response says" in the same sentence, or on the next line after a colon."""
    if not ANOTHER.search(_lower(text)):
        return text
    kept: list[str] = []
    pending = False
    for part in PARTS.split(text):
        if pending and part.strip():
            kept.append("…\n" if part.endswith("\n") else "…")
            pending = False
            continue
        said = _attribution(part)
        if said is None:
            kept.append(part)
            continue
        head = part[: said.start()]
        if _speaks_of_words_before(head, said):
            if kept and not head.strip(" (\"'`»”’」』").rstrip("abcdefghijklmnopqrstuvwxyz "):
                kept[-1] = " … "  # the sentence began before a full stop: "Score: 5. (quoted)"
            head = ""
        kept.append(head + " … " + _own_rest(part, said))
        # An unfinished line, a heading, a colon: what comes next belongs to it.
        pending = part.endswith("\n") and not part.rstrip(" \t\r\n*_\"'`").endswith((".", "!", "?", "。", "！", "？"))
    return "".join(kept)


def _attribution(part: str) -> re.Match[str] | None:
    """The words of a sentence (in lower case) that say that another speaks, unless the judge goes on in its own words."""
    lower = _lower(part)
    another = ANOTHER.search(lower)
    own = OWN.search(lower) if another else None
    if another is None or own is None or own.start() <= another.start() or COLON.search(part[: own.start()]):
        return another
    # "The text demands that I give it 5" are not the judge's own words.
    return another if DEMANDED.fullmatch(lower, another.end(), max(own.start(), another.end())) else None


def _speaks_of_words_before(head: str, said: re.Match[str]) -> bool:
    """Whether it is the words before them that another says: "score 5 is what the text says"."""
    if SAID_OF_IT.search(head.lower()):
        return True
    return bool(IN_BRACKETS.search(head) and STRONG.match(said.string, said.start()))


def _own_rest(part: str, said: re.Match[str]) -> str:
    """What of a sentence the judge says itself: "The context says it, so the answer is yes"."""
    so = SO.search(said.string, said.end()) if SOURCE.match(said.string, said.start()) else None
    return part[so.start() :] if so else "\n" if part.endswith("\n") else ""
