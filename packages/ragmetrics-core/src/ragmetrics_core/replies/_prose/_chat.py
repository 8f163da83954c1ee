"""Greetings, offers and questions back: what a chat model says when it does not do what it was asked.

Nothing of it is a statement. The phrases are those with which chat models begin and end a talk, in the common languages; an
offer counts only where it speaks to the user, so "The clinic helps patients." is a statement.
"""

from __future__ import annotations

import re

from ._clean import plain
from ._numerals import ASKS

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
    r"|(?:just )?let me know(?= (?:if you (?:need|want|have|would)|what|how|which)\b|\W*\Z)"
    r"|is there anything else\b"
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
_ASKED_FOR = re.compile(
    r".{0,20}(?:(?:提供して|ご提供|お知らせ|教えて|入力して)(?:ください|下さい)|(?:제공해|알려|입력해|공유해) ?주세요)"
)
"""Offers that begin with what is asked for."""
_GREETING = re.compile(rf"(?:{_GREETINGS})(?!\w)(?P<rest>[^.!?。！？\n]{{0,40}})(?:[.!。！,，]\s*|\Z)")
_OFFER = re.compile(_OFFERS)
_LONGEST = 300
_TAKEN = 2
"""Last words of a question by which it is found in the text that was judged."""
_NAMES = 2
"""Words that follow a greeting without making it a statement: "Hello there", "Good morning, dear user"."""


def is_small_talk(text: str) -> bool:
    """Whether a text is a greeting or an offer to help, or begins as one."""
    if len(text) > _LONGEST:
        return False
    said = plain(text).strip(" \t\r\n*_\"'`>-#").casefold()
    if _OFFER.match(said) or (not said.isascii() and _ASKED_FOR.match(said)):
        return True
    greeting = _GREETING.match(said)
    if greeting is None or len(greeting["rest"].split()) > _NAMES:
        return False
    rest = said[greeting.end() :].strip()
    return not rest or rest.endswith(ASKS) or bool(_OFFER.match(rest) or _ASKED_FOR.match(rest))


def is_chat(text: str, source: str = "") -> bool:
    """Whether a text is no statement but a greeting, an offer or a question.

    What was taken from ``source`` is none: the title of a film may greet ("Hello, Dolly!"), and a statement may end with one that
    asks ("It is Who's Afraid of Virginia Woolf?").
    """
    end = text.rstrip(" \t\r\n*_\"'`)”»")
    asks = end.endswith(ASKS)
    if not asks and not is_small_talk(text):
        return False
    taken = " ".join(end.split()[-_TAKEN:]) if asks else text.strip()
    return taken.casefold() not in source.casefold()
