"""Decide whether a reply speaks in the judge's own words or quotes the text under judgement.

A judge that was attacked often says so: it quotes the verdict that the text demands, and then gives its own verdict or declines.
Three things show that a verdict may be a quotation: quotation marks around it, words before it that name another speaker ("the
response demands"), and words anywhere that decline to judge. If one of them is present, an answer that is found only after it
does not count. The cost is at most a second question to the model.

The patterns that look for speakers search a lower-case text, which is three times as fast as ignoring the case.
"""

from __future__ import annotations

import re

from ._text import on_line

_TEXTS = (
    r"response|answer|reply|submission|candidate|student|user|text|passage|document|context|statement|output|author|source|"
    r"article|message|input|content|attacker|line|sentence|paragraph|essay|summary|they|he|she|it"
)
_SAYING = (
    r"says?|said|saying|states?|stated|contains?|contained|containing|includes?|included|including|reads?|ends?|ended|"
    r"ending|closes?|"
    r"begins?|starts?|opens?|holds?|held|carries|claims?|claimed|writes?|wrote|written|presents?|offers?|"
    r"goes on|continues?|adds?|added|asserts?|announces?|declares?|draws|repeats?|pretends?|asks?|asked|wants?|wanted|tells?|told|"
    r"calls? for"
)
# Words for a quotation or an attack that name no speaker.
_ATTACK = (
    r"inject\w*|quot(?:es?|ed|ing|ations?)\b|verbatim|smuggl\w*|manipulat\w*|embed(?:s|ded)\b|malicious|adversarial|"
    r"(?:try|tries|tried|trying|attempts?|attempted|attempting) to\b|instruct(?:s|ed|ion|ions|ing)?\b|demand\w*|"
    r"(?:response|answer|text|candidate|student|user)(?:'s|’s)\s(?:\w+\s){0,2}(?:line|sentence|words?|ending|(?<=own\s)verdict)\b|"
    r"insist\w*|orders? me|under (?:judge?ment|evaluation|review|test|assessment|scrutiny)|"
    r"commands?\b|told to|planted|spoof\w*|fake\w*|trick\w*|excerpt\w*|cited|echo(?:es|ed|ing)?\b|"
    r"zitat\w*|zitier\w*|eingeschleust\w*|eingefügt\w*|fordert|verlangt(?!en)|behauptet|enthält|lautet|sagt|steht|"
    r"endet mit|schreibt|"
    r"citation\w*|cit[eé]\w*|injecte\w*|injection\w*|exige\w*|prétend\w*|contient|écrit|affirme|se termine|"
    r"cita\w*|inyec\w*|exige\w*|contiene|dice|termina con|afirma|escribe|pide|iniett\w*|iniezion\w*|chiede|finisce|scrive|"
    r"contém|diz|pede|injet\w*|injeç\w*|escreve|citaç\w*|"
    r"цитат\w*|цитир\w*|внедр\w*|инъекц\w*|требует|содержит|говорит|сказано|утверждает|написано|гласит|"
    r"bevat|zegt|eist|citaat|zawiera|mówi|cytat\w*|żąda|içeriyor|diyor|alıntı\w*"
)
_ATTACK_CJK = (
    "引用|注入|声称|聲稱|写道|寫道|写着|寫著|(?:回答|答案|文本|文中|上下文|原文)[^。：:、，,\\n]{0,12}(?:包含|要求|[说說称稱][：:“「])|"
    "(?:回答|答え|文章|本文)[^。：:、，,\\n]{0,12}(?:含ま|書か|述べ|主張|要求)|と言|"
    "인용|주입|(?:적혀|쓰여) 있|라고 (?:말|주장|적|쓰|요구)|"
    "(?:답변|응답|텍스트|본문)[^.:,\\n]{0,12}(?:포함되|포함하고 있|요구합|요구한다|주장합|주장한다)"
)
_SOURCES = r"contexts?|passages?|documents?|sources?|articles?|evidence"
_FROM = (
    r"(?:in|from|inside|within|at the end of|according to)\s(?:the|this|that|its|their)\s(?:\w+\s){0,2}"
    r"(?:response|answer|reply|submission|candidate|student|user|text|output|statement|input|message|essay|summary)\b|"
    r"(?:in|aus)\s(?:der|dem)\s(?:antwort|text)|dans\sla\sréponse|de\sla\s(?:réponse|respuesta)|en\sla\srespuesta|"
    r"(?:nella|della)\srisposta|(?:na|da)\sresposta|(?:в|из)\sответ[еа]|回答中|答案中|回答に|"
    r"\b(?:line|sentence|paragraph|ending)\s(?:[\w'’]+\s){0,4}(?:was|is)\b"
)
_SPEAKS = rf"\b(?:{_TEXTS})(?:['’]s)?\b(?:\s+[\w'’]+){{0,4}}?\s+(?:{_SAYING})\b|(?<!\w)(?:{_ATTACK})|{_ATTACK_CJK}"
SPEAKER = re.compile(_SPEAKS)
ANOTHER = re.compile(rf"{_SPEAKS}|\b(?:{_FROM})")
ANNOUNCED = re.compile(
    rf"{_SPEAKS}|\b(?:{_FROM})|\b(?:in|from|of|by)\s(?:the|this|that|its|their)\s(?:\w+\s){{0,2}}(?:{_TEXTS}|{_SOURCES})\b"
)
STRONG = re.compile(
    r"(?<!\w)(?:inject\w*|quot(?:es?|ed|ing|ations?)\b|verbatim|smuggl\w*|manipulat\w*|malicious|adversarial)|注入|주입"
)
# A heading over the material: "The user text:".
HEADING = re.compile(
    r"(?:\A|[.!?\n]|\b(?:the|this|that))\s{0,3}[*_#\s]{0,6}(?:user|candidate|student|submitted|given|provided|original)(?:'s|’s)?\s"
    r"(?:text|input|message|answer|response|submission|reply|statement)[*_\s]{0,4}[:：][\s*_\"'`>]*\Z"
)
# Words between a verdict and the speaker after it: "score 5 is what the text says", "is demanded by the text".
SAID_OF_IT = re.compile(
    r"[\"'`»”’」』]\s\Z|(?<!it)(?<!this)(?<!that)(?<!which)\s(?:is|was|being)\s(?:(?:only|just|merely)\s)?(?:what\s(?:\w+\s){0,2})?\Z"
)
IN_BRACKETS = re.compile(r"\(\s?(?:\w+\s){0,2}\Z")
DEMANDED = re.compile(r"(?:(?!\b(?:but|and|so|yet|hence|therefore|thus|while|which|because)\b)[^,;:.!?—–]){0,40}")
SOURCE = re.compile(rf"(?:{_SOURCES})\b")
SO = re.compile(r",\s(?:so|therefore|thus|hence)\b(?!\s(?:says|it))")
COLON = re.compile(r"[:：][\s*_\"'`]*\Z")
_JUDGEMENT = r"(?:evaluation|assessment|judge?ment|verdict|rating|grading|analysis|review|score)"
OWN = re.compile(
    rf"\b(?:my|here(?:'s|’s| is) (?:my|the|an))\s(?:\w+\s){{0,2}}{_JUDGEMENT}\s(?:of|for|on)\s(?:the|this|that|these)\s"
    r"(?:\w+\s){0,2}\w+|"
    r"\bhere are (?:the|all|my)\s(?:\w+\s){0,2}(?:claims|statements|facts)\s(?:\w+\s){0,2}(?:from|of|in)\s(?:the|this|that)\s"
    r"(?:\w+\s){0,2}\w+|"
    r"\b(?:here(?:'s|’s| is| are)|my|mine|below is|i (?:would |will |must |therefore |now )?(?:rate|judge|conclude|find|"
    r"give|score|assign|say|answer|"
    r"reply|respond|output|return)|mein\w*|mon|ma|mi|mio|mia|minha|meu|мой|моя|моё)\b|我的|私の|제\b|나의"
)
_NOT_JUDGE = (
    r"(?:judge|evaluate|assess|rate|score|grade|follow|comply|obey|accept|adopt|repeat|help|assist|"
    r"(?:do|output|say) (?:that|this|so)|give (?:a|any) (?:verdict|score|rating|judge?ment))"
)
DECLINES = re.compile(
    r"\b(?:i|we)\b[^.!?\n]{0,30}?\b(?:declin\w+|refus\w+|abstain\w*|ignor\w+|disregard\w*|reject\w*)\b"
    rf"|\b(?:i|we)\b[^.!?\n]{{0,20}}?(?:can(?:not|'t|’t| not)|won(?:'t|’t)|will not|(?:am|are) (?:unable|not (?:able|"
    rf"going)) to|do(?:n't|n’t| not)|must not|shall not)\s(?:\w+\s){{0,2}}{_NOT_JUDGE}\b"
    r"|(?:^|[.!?\n]\s{0,3}|\band\s|\bso\s)(?:declin(?:ed|ing)|refus(?:ed|ing)|ignor(?:ed|ing)|disregard(?:ed|ing)|"
    r"no (?:verdict|judge?ment) (?:is |will be )?(?:given|possible))\b"
    r"|\bich\b[^.!?\n]{0,40}\b(?:lehne|ignoriere|weigere|verweigere|folge dem nicht|bewerte\w*\s[^.!?\n]{0,30}nicht)\b"
    r"|\b(?:lehne|ignoriere|verweigere)\sich\b"
    r"|\bje\s(?:l'|le\s|la\s|m'en\s)?(?:refuse|décline|ignore|rejette)|\bje\sne\s(?:peux|veux|vais)\s(?:pas\s)?(?:juger|"
    r"évaluer|noter|suivre)"
    r"|\b(?:rechazo|ignoro|me\sniego|declino|rifiuto|mi\srifiuto|recuso|rejeito)\b|\bno\spuedo\s(?:juzgar|evaluar)|"
    r"\bnon\sposso\s(?:giudicare|valutare)|отказываюсь|игнорирую|отклоняю|не\s(?:буду|могу|стану)\s(?:оценивать|судить)"
    r"|我[^。\n]{0,8}(?:拒绝|拒絕|忽略|无法评|無法評|不予|不会评|不能评)|(?:判断|評価|判定)[^。\n]{0,6}(?:しません|できません|拒否|控え)|無視します"
    r"|(?:판단|평가)[^.\n]{0,6}(?:하지 않|거부|할 수 없)|무시합니다",
    re.MULTILINE,
)
SENTENCE = re.compile(r"(?<=[.!?。！？])(?=\s|[^\x00-\x7f])|\n\s*\n")
PARTS = re.compile(r"(?<=[.!?。！？])(?=\s|[^\x00-\x7f])|(?<=\n)")
SINGLE = re.compile(r"(?:^|(?<=[\s(\[:]))'(?=\S)([^'\n]{1,300})'(?!\w)", re.MULTILINE)
SPAN = re.compile(
    r"(?P<fence>^[ \t]*(?P<mark>```|~~~)[^\n]*\n(?P<fenced>.*?)(?:^[ \t]*(?P=mark)[^\n]*$|\Z))"
    r"|(?P<mail>^[ \t]{0,3}>[^\n]*$)|(?P<tick>(?P<ticks>`{1,3})[^`\n]{1,400}(?P=ticks))"
    r'|"[^"\n]{1,400}"|“[^“”]{1,400}”|„[^“”\n]{1,400}[“”]|«[^«»]{1,400}»|‹[^‹›]{1,400}›|「[^「」]{1,400}」|『[^『』]{1,400}』|‘[^‘’\n]{1,400}’(?!\w)'
    r"|<(?P<tag>blockquote|q|cite|quote|pre|code)\b[^<>]{0,100}>.{0,2000}?</(?P=tag)>",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
MARKS = re.compile(r"[`\"“”„«»‹›「」『』‘’>]|'|~~~|<(?:q|pre|code|cite)\b", re.IGNORECASE)


QUOTED = "the only answer in the reply is quoted or announced as another's; reply with your own, and nothing else"

_PAIRS = tuple(zip('"“„«‹「『‘', '"”“»›」』’', strict=True))
_BARE = 2
# Texts with fewer characters cannot name another speaker. Most replies in words are shorter.
_FEW = 7
_INTRO = 240
ENDS = (".", "!", "?", "。", "！", "？")


def speaks_of_another(text: str) -> bool:
    """Whether a text names another speaker, or mentions a quotation."""
    return len(text) >= _FEW and bool(ANOTHER.search(_lower(text)))


def _lower(text: str) -> str:
    """Return the text in lower case and with the same length (one capital letter in Unicode has two lower-case characters)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one if len(one) == 1 else "i" for one in map(str.lower, text))


def quotes_another(line: str) -> bool:
    """Whether a line announces another speaker's words. "Questions from the text" does not."""
    line = _lower(line)
    match, own = SPEAKER.search(line), OWN.search(line)
    return match is not None and not (own and own.start() < match.start())


def declines(text: str) -> bool:
    """Whether the judge says that it will not judge, or will not follow an instruction."""
    return len(text) >= _FEW and DECLINES.search(_lower(text)) is not None


def announced_by_another(before: str) -> bool:
    """Whether the text before an answer announces another speaker: in its last sentence, or by mentioning a quotation anywhere."""
    before = _lower(before)
    intro = before[-_INTRO:].rstrip(" \t\r\n`*\"'>~#“„«「『").removesuffix("```json").removesuffix("```").rstrip()
    last = [part for part in SENTENCE.split(intro) if part.strip()][-1:]
    last_sentence = last[0].strip() if last else ""
    if last_sentence.endswith(ENDS) and "\n" in before[before.rfind(last_sentence) + len(last_sentence) :]:
        last_sentence = ""  # a complete sentence on an earlier line announces nothing
    # whichever comes last in the sentence counts: words of the judge itself, or words that announce another speaker
    own_end = max((match.end() for match in OWN.finditer(last_sentence)), default=-1)
    if own_end < 0 and HEADING.search(before):
        return True
    another = max((match.end() for match in ANNOUNCED.finditer(last_sentence)), default=-1)
    if another > own_end:
        return True
    return own_end < 0 and bool(STRONG.search(before))


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is inside quotation marks on its line."""
    before, rest = on_line(text, start, end, 400)
    if before.lstrip().startswith(">") or before.count("`") % 2:
        return True
    for opening, closing in _PAIRS:
        opened = before.count(opening) % 2 == 1 if opening == closing else before.rfind(opening) > before.rfind(closing)
        if opened and closing in rest:
            return True
    return bool(re.search(r"(?:^|[\s(\[:])'[^']*$", before)) and bool(re.search(r"'(?!\w)", rest))


def own_words(text: str) -> str:
    """Replace each quotation, and all words that are attributed to another speaker, by an ellipsis."""
    if len(text) < _FEW:
        return text
    if MARKS.search(text):
        text = SINGLE.sub(_unquoted, SPAN.sub(_unquoted, text))
    return _attributed(text)


def _unquoted(match: re.Match[str]) -> str:
    """Return an ellipsis for a quotation. If the quotation marks only emphasize, return the words unchanged."""
    inside = match.group().strip("`\"'“”„«»‹›「」『』‘’> \t\n~")
    groups = match.groupdict()
    mail, fence = groups.get("mail"), groups.get("fence")
    # Quotes around one or two words are emphasis ("the answer is `no`"); quotes around the whole text mean nothing.
    is_emphasis = len(re.findall(r"\w+", inside)) <= _BARE and not re.search(r"[:：=]", inside) and not mail
    if fence and is_emphasis and match.string[match.end() :].lstrip()[:1].islower():
        return " … "  # the sentence continues after the fence
    is_whole_text = not re.search(r"\w", match.string[: match.start()] + match.string[match.end() :])
    if is_emphasis or is_whole_text or not (mail or fence or not _fills_line(match)):
        return match.group()
    return " … "


def _fills_line(match: re.Match[str]) -> bool:
    """Whether a quotation is a whole line and no colon announces it. Some models put their verdict in quotes."""
    before, behind = on_line(match.string, *match.span())
    above = match.string[: match.start() - len(before)]
    return not (before + behind).strip(" \t*_.") and not above.rstrip().endswith((":", "："))


def _attributed(text: str) -> str:
    """Remove the text after "the response says" in the same sentence, or on the next line after a colon."""
    if not ANOTHER.search(_lower(text)):
        return text
    parts_kept: list[str] = []
    pending = False
    for part in PARTS.split(text):
        if pending and part.strip():
            parts_kept.append("…\n" if part.endswith("\n") else "…")
            pending = False
            continue
        attribution = _attribution(part)
        if attribution is None:
            parts_kept.append(part)
            continue
        head = part[: attribution.start()]
        if _speaks_of_words_before(head, attribution):
            if parts_kept and not head.strip(" (\"'`»”’」』").rstrip("abcdefghijklmnopqrstuvwxyz "):
                parts_kept[-1] = " … "  # the sentence began before a full stop: "Score: 5. (quoted)"
            head = ""
        parts_kept.append(head + " … " + _own_rest(part, attribution))
        # After an unfinished line, a heading or a colon, the next part belongs to the other speaker too.
        pending = part.endswith("\n") and not part.rstrip(" \t\r\n*_\"'`").endswith(ENDS)
    return "".join(parts_kept)


def _attribution(part: str) -> re.Match[str] | None:
    """Return the words of a sentence that name another speaker; None if the judge's own words follow."""
    lower = _lower(part)
    another = ANOTHER.search(lower)
    own = OWN.search(lower) if another else None
    if another is None or own is None or own.start() <= another.start() or COLON.search(part[: own.start()]):
        return another
    # "The text demands that I give it 5" are not the judge's own words.
    return another if DEMANDED.fullmatch(lower, another.end(), max(own.start(), another.end())) else None


def _speaks_of_words_before(head: str, said: re.Match[str]) -> bool:
    """Whether the words before an attribution are the other speaker's: "score 5 is what the text says"."""
    if SAID_OF_IT.search(head.lower()):
        return True
    return bool(IN_BRACKETS.search(head) and STRONG.match(said.string, said.start()))


def _own_rest(part: str, said: re.Match[str]) -> str:
    """Return the judge's own words after an attribution: "so the answer is yes" in "The context says it, so the answer is yes"."""
    so = SO.search(said.string, said.end()) if SOURCE.match(said.string, said.start()) else None
    return part[so.start() :] if so else "\n" if part.endswith("\n") else ""
