"""Questions that lean on a text which their reader does not see: the ones that can be told by their words, before a call is spent.

Only phrases that name the text itself are taken for certain ("according to the passage", "im obigen Text", "本文"). A word such as
*text* or *author* that is part of what is asked about ("Who is the author of Dubliners?") is none. What no rule sees, such as a
pronoun that stands for nobody, the model is asked about.
"""

from __future__ import annotations

import re

# Per language: what stands before the name of a text, the names of texts, and what may follow where some other text is meant.
_GRAMMAR = [
    (
        "according to the|in the|from the|within the|by the|of the|does the|do the|did the|is the|was the",
        "passages?|texts?|documents?|excerpts?|paragraphs?|sections?|articles?|contexts?|snippets?|extracts?|authors?|writer|narrator",
        "of|by|that|who|which|on|about|in|for|to|from|with",
    ),
    (
        "this|these|the above|the given|the provided|the following|the present|the preceding",
        "passages?|texts?|documents?|excerpts?|paragraphs?|sections?|articles?|contexts?|snippets?|extracts?",
        "",
    ),
    (
        "laut dem|laut|gemäß dem|gemäß|nach dem|in dem|in der|im|aus dem|aus der|vom|im obigen|in diesem|in dieser|im vorliegenden",
        "text|abschnitt|dokument|passage|auszug|artikel|absatz|kontext|autor|verfasser",
        "von|vom|des|der|über|zu|zur|zum",
    ),
    (
        "selon le|selon la|selon l['’]|selon ce|selon cet|dans le|dans la|dans l['’]|dans ce|dans cet|dans cette|d['’]après le",
        "texte|passage|document|extrait|article|paragraphe|section|contexte|auteur",
        "de|du|des|d['’]|sur|qui",
    ),
    (
        "según el|según la|en el|en la|en este|en esta|del presente|en dicho",
        "texto|pasaje|documento|fragmento|artículo|párrafo|sección|contexto|autor|autora",
        "de|del|sobre|que",
    ),
    (
        "secondo il|secondo l['’]|nel|nella|nell['’]|in questo|in questa",
        "testo|brano|documento|estratto|articolo|paragrafo|sezione|contesto|autore|autrice",
        "di|del|della|dell['’]|su|che",
    ),
    (
        "segundo o|segundo a|de acordo com o|de acordo com a|conforme o|no|na|neste|nesta",
        "texto|passagem|documento|trecho|artigo|parágrafo|seção|secção|contexto|autor|autora",
        "de|do|da|sobre|que",
    ),
    (
        "volgens de|volgens het|in de|in het|in dit|in deze|uit de|uit het",
        "tekst|passage|document|fragment|artikel|alinea|paragraaf|context|auteur|schrijver",
        "van|over|dat|die",
    ),
    (
        "согласно|в этом|в данном|в приведённом|в приведенном|в|из|по",
        "тексте?|тексту|текста|отрывке|отрывку|документе|документу|фрагменте|абзаце|автор[уа]",
        "о|об|про|из",
    ),
]

_UNSPACED = (
    "本文|文中|上文|该文|這段|这段|该段|該段|此段|根据(?:文本|文章|段落|文档|上述)|文章中|文档中|该文档|上述(?:文本|文章|内容)",
    "(?:この|上記の|前述の)(?:文章|文書|テキスト|段落|記事|文|節|資料)|(?:文章|文書|テキスト|資料)(?:によると|によれば|では)",
    "(?:이|위|해당) ?(?:글|문서|텍스트|단락|문단|기사|지문)(?:에|의|은|을)|본문",
    "(?:هذا|هذه|في|وفق|بحسب|حسب) ?(?:النص|المستند|المقطع|الوثيقة|الفقرة)|(?:وفقا|وفقًا) للنص",
)


def _phrase(before: str, names: str, after: str) -> str:
    """The name of a text after one of these words, unless a number or one of those words follows, which tell what text it is."""
    openings = "|".join(f"{item}{'' if item.endswith(']') else ' '}" for item in before.split("|"))
    further = rf"(?! (?:{after})(?<=[ '’\w])(?!\w))" if after else ""
    return rf"\b(?:{openings})(?:{names})\b{further}(?! ?\d)"


_LEANS = re.compile("|".join([*(_phrase(*row) for row in _GRAMMAR), *_UNSPACED]), re.IGNORECASE)


def leans_on_a_text(question: str) -> str | None:
    """The words with which a question leans on a text that its reader does not see; None where no rule finds any."""
    found = _LEANS.search(" ".join(question.split()))
    return None if found is None else found[0]
