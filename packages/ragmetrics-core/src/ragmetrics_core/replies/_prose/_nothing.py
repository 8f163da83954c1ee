"""Items of a list that are none: a judge that finds nothing often writes so into the list, instead of leaving it empty.

Counted as a claim, "None" is unsupported; counted as a relevant statement, "No relevant statements found." is relevant. So
every list of texts that a judge gives goes through ``real_items``. A list is empty only where all of it says that there is
nothing; a sentence that says it of something ("No facts are known about the crew.") is an item, and so is "None" among others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LINES = (
    "none, null, nil, n/a, n.a, na, nothing, empty, not applicable, not available, none found, nothing found",
    "keine, keiner, keines, nichts, k.a, keine angabe, keine angaben, entfällt, aucun, aucune, rien, néant, s/o, sans objet",
    "ninguno, ninguna, nada, no aplica, no hay, nessuno, nessuna, niente, nulla, nenhum, nenhuma, não há, não aplicável",
    "geen, niets, niet van toepassing, n.v.t, ingen, inga, inget, intet, ingenting, brak, nie dotyczy, žádné, nincs, yok",
    "нет, н/д, ничего, отсутствует, отсутствуют, не применимо, немає, 无, 無, 没有, 沒有, 暂无, 不适用",
    "なし, 無し, 該当なし, 特になし, ありません, 없음, 없습니다, 해당 없음, 해당없음, لا شيء, لا يوجد",
)
WORDS = frozenset(word for line in LINES for word in line.split(", "))
NOUNS = r"(?:statement|sentence|claim|fact|question|item|passage|excerpt|part|result|answer)s?|information|content"
KINDS = r"(?:(?:such|relevant|factual|verifiable|atomic|useful|helpful|supporting|matching|suitable|specific|valid|clear) ){0,3}"
VERBS = r"(?:(?:are|is|were|was|has been|have been|can be|could be) )?"
DONE = (
    r"(?:found|identified|made|extracted|given|stated|present|provided|listed|available|detected|needed|derived|contained|"
    r"written|asked|generated)"
)
TEXTS = r"(?:answer|response|text|context|passage|document|source|question|query)s?"
WHERE = rf"(?: (?:in|from|by|within|among) (?:(?:the|this|these|any of|provided|given|above) )*{TEXTS})?"
HELPS = rf"(?: (?:that )?(?:helps?|answers?)(?: to)?(?: answer)?(?: (?:the|this) {TEXTS})?)?"
SAID = re.compile(
    rf"(?:there (?:are|is|were|was) )?no {KINDS}(?:{NOUNS})(?: {VERBS}{DONE})?{HELPS}{WHERE}"
    rf"|none of (?:the )?{KINDS}(?:{NOUNS}|contexts?) (?:is|are|was|were) (?:relevant|helpful|useful|needed|found){WHERE}"
    rf"|(?:(?:the|this) )?{TEXTS} (?:makes?|contains?|states?|gives?|has|have|provides?|holds?) no {KINDS}(?:{NOUNS})"
    r"|keine (?:\w+ ){0,2}(?:aussagen|behauptungen|fakten|sätze|fragen)(?: (?:gefunden|vorhanden|enthalten))?"
    r"|aucune? (?:\w+ ){0,2}(?:affirmation|énoncé|phrase|fait|question)s?(?: \w+){0,2}"
    r"|(?:no hay|ninguna?|sin) (?:\w+ ){0,2}(?:afirmaci(?:ón|ones)|enunciados?|hechos?|preguntas?|oraci(?:ón|ones))(?: \w+){0,2}"
)
AROUND = " \t\r\n\u3000.。!！,;:：-–—_*\"'`´“”„«»‘’「」()（）[]{}<>"
LONGEST = 120
"""Characters: whoever says more than that says something."""


def says_nothing(text: str) -> bool:
    """Whether all of a text says that there is nothing: it is blank, "None", "N/A", "No claims were found.", "keine", "无"."""
    if len(text) > LONGEST:
        return False
    said = " ".join(text.strip(AROUND).casefold().split())
    return not any(map(str.isalnum, said)) or said in WORDS or SAID.fullmatch(said) is not None


def real_items(texts: Iterable[str]) -> list[str]:
    """The texts that are not blank, in order; an empty list where they say no more than that there are none."""
    items = [text for text in texts if text.strip()]
    return [] if all(map(says_nothing, items)) else items
