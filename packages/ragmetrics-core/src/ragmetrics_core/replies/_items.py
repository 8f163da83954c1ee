"""Read the items of a list in plain text: one item per line, numbered, bulleted or unmarked.

Numbering, labels, introductions, closing remarks, empty lines and repetitions are left out; the wording of an item is never
changed. A reply with two lists, or with a list that is announced as another speaker's, is not an answer, because a list may be
quoted.

Two kinds of lines are not items. If a judge finds nothing, it often says so in the list: "None", "No relevant statements found."
(``real_items``). A chat model that does not do its task may greet, offer help or ask a question instead (``is_chat``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._markup import behind_each
from ._text import Unreadable, plain, without_tokens
from ._whose import QUOTED, declines, quotes_another

ASKS = ("?", "？", "؟")

_GREETINGS = (
    "hello|hi|hey|greetings|welcome|good (?:morning|afternoon|evening|day)|thanks|thank you|hallo|guten (?:tag|morgen|abend)|"
    "willkommen|danke|bonjour|bonsoir|salut|bienvenue|merci|hola|buenos días|buenas (?:tardes|noches)|bienvenid[oa]|gracias|"
    "ciao|buongiorno|buonasera|salve|benvenut[oa]|grazie|olá|oi|bom dia|boa (?:tarde|noite)|bem-vindo|obrigad[oa]|hoi|"
    "goedemorgen|goedemiddag|goedendag|welkom|bedankt|cześć|dzień dobry|witaj|witam|dziękuję|привет|здравствуйте|добрый день|"
    "доброе утро|добро пожаловать|спасибо|你好|您好|欢迎|谢谢|こんにちは|こんばんは|おはようございます|"
    "ありがとうございます|안녕하세요|안녕|반갑습니다|감사합니다|"
    "مرحبا|مرحباً|أهلا|أهلاً|السلام عليكم|شكرا|नमस्ते|नमस्कार|धन्यवाद|merhaba|selam|hoş geldiniz|teşekkürler"
)
_OFFERS = (
    r"(?:sure|certainly|of course|okay|ok|absolutely|great)?[,!.]? ?(?:"
    r"i(?:'m| am|'d be| would be| will be) (?:(?:always|very|ready|happy|glad|here|pleased|delighted) ){1,2}to (?:help|assist)\b"
    r"|(?:i can|i will|i'll|let me) (?:help|assist) you\b|how (?:can|may|could) i (?:help|assist)(?=\W*(?:you\b|\Z))"
    r"|please (?:provide|share|give|send|paste|specify|tell|let me know|enter|upload)\b|feel free to\b"
    r"|(?:just )?let me know(?= (?:if you (?:need|want|have|would)|what|how|which)\b|\W*\Z)|is there anything else\b"
    r"|i(?:'ll| will)? need (?:the|your|more) (?:question|answer|text|context|response|information|details)\b)"
    r"|(?:gerne|natürlich)?,? ?(?:ich )?(?:helfe|unterstütze) (?:ich )?(?:ihnen|dir)\b"
    r"|bitte (?:geben|gib|teilen|teile|senden|stellen)\b|n'hésitez pas\b|je suis (?:là|prête?|ravie?) (?:à|de|pour)\b"
    r"|(?:veuillez|merci de) (?:fournir|partager|indiquer)\b"
    r"|por favor,? (?:comparte|proporciona|proporcione|envía|indica|indique|forneça|compartilhe|envie|informe)\b"
    r"|estoy (?:aquí|list[oa]|encantad[oa]) (?:para|de)\b|no dudes en\b|(?:per favore,? )(?:fornisci|condividi|inviami|fornisca)\b"
    r"|sono qui per\b|estou (?:aqui|pront[oa]) para\b|fique à vontade\b|(?:geef|deel|stuur) (?:alstublieft|alsjeblieft)\b"
    r"|ik help (?:u|je)\b|ik sta klaar\b|proszę (?:podać|podaj|przesłać|udostępnić)\b|chętnie (?:ci )?pomogę\b"
    r"|пожалуйста,? (?:предоставьте|укажите|пришлите|отправьте)|(?:я )?(?:готов|рад|рада) (?:вам )?помочь|буду рад"
    r"|请(?:提供|输入|告诉|分享|问)|很高兴(?:为您|能为|帮)|我(?:可以|能)(?:帮|为)(?:您|你)"
    r"|ご自由に|お気軽に|お手伝いします|도와드리겠습니다|(?:من فضلك|يرجى|الرجاء)\b|يسعدني\b"
    r"|कृपया\b|मैं आपकी (?:मदद|सहायता)|lütfen\b|size yardımcı olmaktan"
)
_GREETING = re.compile(rf"(?:{_GREETINGS})(?!\w)(?P<rest>[^.!?。！？\n]{{0,40}})(?:[.!。！,，]\s*|\Z)")
_OFFER = re.compile(_OFFERS)
_LONGEST = 300
_TAKEN = 2
"""The number of words at the end of a question that are looked for in the source text."""
_NAMES = 2
"""The most words that may follow a greeting without making it a statement: "Hello there", "Good morning, dear user"."""


def is_small_talk(text: str) -> bool:
    """Whether a short text is only a greeting, or an offer to help."""
    if len(text) > _LONGEST:
        return False
    said = plain(text).strip(" \t\r\n*_\"'`>-#").casefold()
    if _OFFER.match(said):
        return True
    greeting = _GREETING.match(said)
    if greeting is None or len(greeting["rest"].split()) > _NAMES:
        return False
    rest = said[greeting.end() :].strip()
    return not rest or rest.endswith(ASKS) or _OFFER.match(rest) is not None


def is_chat(text: str, source: str = "") -> bool:
    """Whether a text is a greeting, an offer or a question, and not a statement.

    A text that comes from ``source`` is not chat. The title of a film may be a greeting ("Hello, Dolly!"), and a statement may
    end with a title that is a question ("It is Who's Afraid of Virginia Woolf?").
    """
    end = text.rstrip(" \t\r\n*_\"'`)”»")
    asks = end.endswith(ASKS)
    if not asks and not is_small_talk(text):
        return False
    taken = " ".join(end.split()[-_TAKEN:]) if asks else text.strip()
    return taken.casefold() not in source.casefold()


_LABEL = (
    r"q|questions?|query|statements?|claims?|facts?|items?|points?|sub-?questions?|frage|aussage|question|pregunta|domanda|pergunta|"
    r"вопрос|утверждение|问题|陈述|質問|文|질문|진술"
)
_ITEM = re.compile(
    rf"(?P<indent>\s{{0,40}})(?:>\s?)?\**"
    rf"(?:(?P<number>[(\[#]?(?:(?:{_LABEL})\s?)?[0-9０-９]{{1,3}}\s?(?:[.)\]:：、．）]|\s[-–—]\s)(?![0-9])|[a-h]\))"
    rf"|(?P<bullet>[-*•–—‣▪◦●○+·▸►]\s|[•●▪])|(?P<circled>[①-⑳])|(?P<label>(?:{_LABEL})\s?[:：]))"
    r"\**\s{0,20}(?P<text>\S.*)",
    re.IGNORECASE,
)
_INLINE = re.compile(r"(?:^|(?<=[.!?。！？;；,:：)\"”]))\s?[(\[]?(\d{1,2})[.)\]]\s(?=\S)")
_RULE = re.compile(r"\s*(?:```\w*|~~~\w*|[-=_*]{3,}|#{1,6}\s.*|\*\*[^*]{1,80}:?\*\*:?|<[^<>]{1,40}>)\s*")
_INTRO = re.compile(
    r"(?:sure|certainly|of course|absolutely|great|okay|ok|here (?:are|is)|here's|"
    r"below|the following|these are|following|as requested|"
    r"i have|i've|hier sind|voici|aquí|ecco|aqui|вот|以下|这是|다음은|아래)\b(?!.*[?？]\s*$)",
    re.IGNORECASE,
)
_OUTRO = re.compile(
    r"(?:i hope|hope this|let me know|note\b|please|feel free|these (?:questions|statements|claims|points)|if you|each of|all of|"
    r"would you like|that's all|in summary|ich hoffe|j'espère|espero)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\s*(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can't|cannot|can not|could not|couldn't|"
    r"won't|do not|don't)|sorry\b|as an ai|unfortunately|"
    r"(?:http )?\d{3}\b|error\b|internal server|bad gateway|rate limit|too many requests|service unavailable|"
    r"timeout|none\b|n/?a\b|null\b|"
    r"nothing\b|empty\b|unknown\b|\[\w+\]\s*$|no answer|there (?:is|are) no\b|no \w+ (?:can|could|were|was|are|is)\b)"
    r"|.{0,120}\b(?:no|without(?: any)?|zero|any) (?:[\w-]+ ){0,2}(?:questions?|statements?|claims?|facts?|items?)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAX_BARE = 400
_BARE_NUMBER = re.compile(r"\s{0,8}\**(\d{1,2})(?:\**[.)\]:：、]|\**)\s+(?=\S)")


def read_lines(text: str, *, marked_only: bool = False) -> list[str]:
    """Return the items of a reply in plain text.

    ``marked_only``: accept the lines only if all of them are numbered, bulleted or labelled, or all are questions.

    Raises:
        Unreadable: there are no items, or they may be quoted.
    """
    items, marked = items_in(without_tokens(text))
    if marked and items:
        return items
    if items and marked_only and not all(item.rstrip().endswith(ASKS) for item in items):
        raise Unreadable("the reply is prose and not a list")
    if items and declines(text):
        raise Unreadable(QUOTED)
    is_prose = len(items) == 1 and len(items[0]) > _MAX_BARE
    if not items or is_prose or _REFUSAL.match(items[0]) or all(map(is_small_talk, items)):
        raise Unreadable("the reply lists nothing; write one item per line")
    return items


def items_in(text: str) -> tuple[list[str], bool]:
    """Return the items of a text, and whether they are marked: its numbered or bulleted lines; if it has none, all its lines."""
    lines = [line for line in text.strip("\ufeff\u200b \n").splitlines() if line.strip() and not _RULE.fullmatch(line)]
    lines = _counted(lines)
    matches = [(line, _ITEM.match(line)) for line in lines]
    kinds = {_kind(match) for _, match in matches if match}
    kind = next((kind for kind in ("number", "circled", "label", "bullet") if kind in kinds), None)
    if kind is None:
        return unique(_inline(_bare(lines)) or _bare(lines)), False
    _check_one_list(matches, kind)
    items = _marked(matches, kind)
    if len(items) == 1 and kind == "number":
        items = _inline([lines[-1]]) or items
    return unique(items), True


def _marked(matches: list[tuple[str, re.Match[str] | None]], kind: str) -> list[str]:
    """Return the items with one kind of mark, each joined with the more deeply indented lines below it."""
    marked = [match for _, match in matches if match and _kind(match) == kind]
    indent = min(len(match["indent"]) for match in marked)
    questions = all(match["text"].endswith(ASKS) for match in marked)
    items: list[str] = []
    for line, match in matches:
        if match is None:
            if items and len(line) - len(line.lstrip()) > indent:
                items[-1] += " " + line.strip()
        elif len(match["indent"]) > indent + 1:
            continue
        elif _kind(match) == kind or (questions and match["text"].endswith(ASKS)):
            # If all items are questions, a question with a different mark is an item too.
            items.append(match["text"])
    return items


def _counted(lines: list[str]) -> list[str]:
    """Number lines such as "1 What is it?" as "1. What is it?", if the numbers of all such lines count from 1."""
    matches = [_BARE_NUMBER.match(line) for line in lines]
    counting = [int(match[1]) for match in matches if match]
    bare = [match and not _ITEM.match(line) for match, line in zip(matches, lines, strict=True)]
    if len(counting) < 2 or counting != list(range(1, len(counting) + 1)) or not any(bare):
        return lines
    return [_BARE_NUMBER.sub(r"\1. ", line) if is_bare else line for line, is_bare in zip(lines, bare, strict=True)]


def _check_one_list(matches: list[tuple[str, re.Match[str] | None]], kind: str) -> None:
    """Raise ``Unreadable`` if the lines are two lists, or may be quoted."""
    marked = [(line, match) for line, match in matches if match and _kind(match) == kind]
    prose = [line for line, match in matches if match is None]
    quoted = {line.lstrip().startswith(">") for line, _ in marked}
    ones = [match["text"] for _, match in marked if kind == "number" and re.match(r"\W*1(?!\d)", match["number"])]
    first = {" ".join(re.findall(r"\w+", one.casefold())) for one in ones}
    if len(quoted) > 1 or len(first) > 1:
        raise Unreadable("the reply holds several lists; give one")
    if any(declines(line) or (_announces(line) and quotes_another(line)) for line in prose):
        raise Unreadable(QUOTED)


def _announces(line: str) -> bool:
    return line.rstrip(" *_").endswith((":", "："))


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("number", "bullet", "circled", "label") if match[kind])


def _inline(lines: list[str]) -> list[str]:
    """Return the items numbered 1, 2, 3 within one line."""
    if len(lines) != 1:
        return []
    marks = list(_INLINE.finditer(lines[0]))
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    return behind_each(marks)


def _bare(lines: list[str]) -> list[str]:
    """Return the unmarked lines without an introduction and a closing remark."""
    kept = [line for line in lines if not _announces(line)]
    if len(kept) > 1 and _INTRO.match(kept[0].strip()):
        kept = kept[1:]
    if len(kept) > 1 and _OUTRO.match(kept[-1].strip()):
        kept = kept[:-1]
    return kept


def unique(items: list[str]) -> list[str]:
    seen: dict[str, str] = {}
    for item in items:
        clean = item.strip().strip("*").strip()
        for opening, closing in (('"', '"'), ("“", "”"), ("'", "'"), ("`", "`")):
            if len(clean) > 2 and clean.startswith(opening) and clean.rstrip(",;").endswith(closing):
                inner = clean.rstrip(",;")[1:-1]
                clean = inner if opening not in inner and closing not in inner else clean
        if any(character.isalnum() for character in clean):
            seen.setdefault(" ".join(clean.casefold().split()), clean)
    return list(seen.values())


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
"""The most characters of a text that only says that there is nothing."""


def says_nothing(text: str) -> bool:
    """Whether the whole text only says that there is nothing: blank, "None", "N/A", "No claims were found.", "keine", "无"."""
    if len(text) > LONGEST:
        return False
    said = " ".join(text.strip(AROUND).casefold().split())
    return not any(map(str.isalnum, said)) or said in WORDS or SAID.fullmatch(said) is not None


def real_items(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not blank, in order; an empty list if all of them only say that there is nothing."""
    items = [text for text in texts if text.strip()]
    return [] if all(map(says_nothing, items)) else items
