"""Splits an answer into claims: each sentence, and then the small pieces of the sentence.

A verdict is yes or no, so the share of supported claims is only as fine as the number of claims allows. So each sentence is a
claim, and each of its pieces is a claim too: a name, a number, a verb or a noun with the function words before it. Pieces are cut
at function words and punctuation. They are literal parts of the answer, so a person can read and check them. The whole sentence
stays a claim as well, because all its pieces can be true and the sentence false.

Some sentences claim nothing: greetings, apologies, feelings, remarks, and sentences that say that their speaker does not know.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ._words import MONTHS, SPEAKERS, Word, guess_language, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator


QUESTION_MARKS = ("?", "？", "؟")
_YES = frozenset(
    {"yes", "yeah", "yep", "ja", "oui", "sí", "si", "sì", "sim", "да", "是", "是的", "はい", "네", "예", "نعم", "हाँ"}
)
_NO = frozenset({"no", "nope", "nein", "non", "não", "nee", "нет", "不是", "不", "いいえ", "아니요", "لا", "नहीं"})

_LONGEST_GREETING = 120  # in characters; a longer courtesy contains a claim
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
    """Whether ``sentence`` contains only greetings, thanks and other courtesies."""
    text = " ".join(sentence.split())
    return len(text) <= _LONGEST_GREETING and _GREETING.fullmatch(text) is not None


def yes_or_no(text: str) -> bool | None:
    """Return True for a bare *yes* and False for a bare *no* in one of the common languages; None for anything else."""
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
"""Words and marks that connect a feeling or a remark with a statement that can be checked."""


def is_feeling(sentence: str) -> bool:
    """Whether ``sentence`` only says what its writer likes: *I love jazz*, but not *I love jazz, which began in 1900*."""
    return _FEELING.match(sentence) is not None and not _FACT.search(sentence)


def is_remark(sentence: str) -> bool:
    """Whether ``sentence`` only announces the answer: *Here is a summary.*"""
    return _REMARK.fullmatch(sentence) is not None and not _FACT.search(sentence)


# Three kinds of refusals are recognised: the speaker does not know or will not say; the sources say nothing; there is no answer.
# A source must be named as a source ("the text does not say"). Otherwise any "X does not have Y" would count as a refusal.
_WORDS = r"(?:\w+\s+)"

_EN_SOURCE = r"(?:information|answer|context|document|text|passage|source|material|manual|excerpt|record)s?"
_EN_SAYS = (
    r"(?:say|state|mention|give|tell|contain|explain|specif(?:y|ies)|include|provide|cover|address|answer)(?:e?s)?"
)
_ENGLISH = rf"""
    \b(?:i|we)\s*(?:'m|’m|\s+am|\s+are|'re)?\s*(?:really\s+|just\s+|honestly\s+)?(?:
        (?:do\s*n['’]?t|do\s+not|did\s*n['’]?t|did\s+not)\s+(?:really\s+)?(?:know|have\s+(?:any\s+|enough\s+|the\s+)?(?:\w+\s+)?
        (?:information|idea|answer|context|data|details))
      | (?:ca\s*n['’]?t|cannot|can\s+not|could\s*n['’]?t|could\s+not|(?:(?:am|was|were)\s+)?unable\s+to)\s+
        (?:answer|say|tell|determine|find|help|provide|comment|confirm|assist)
      | (?:not|n['’]t)\s+(?:really\s+)?(?:sure|certain|able\s+to\s+(?:answer|say|find|help|provide))
      | (?:can\s+|could\s+)?(?:have|found|find|see)\s+(?:nothing\s+(?:about|on)|no\s+(?:\w+\s+)?(?:information|idea|answer
      |data|details|context|mention)\b)
      | (?:do\s*n['’]?t|do\s+not)\s+have\s+access | (?:would\s+|['’]d\s+)?need\s+more\s+(?:information|details|context)
      | (?:must|have\s+to)\s+(?:decline|refuse) | (?:['’]d|would)\s+rather\s+not | prefer\s+not\s+to )
    | \bunable\s+to\s+(?:answer|determine|provide)\b
    | \b(?:no\s+idea|not\s+enough\s+information|insufficient\s+(?:information|context)|cannot\s+be\s+(?:determined|answered))\b
    | \b(?:information|answer|context|contexts|document|documents|text|passage)s?\s+(?:is|are|does|do)\s*(?:not|n['’]t)\s+
      (?:available|provided|given|known|contain|include|provide|mention|say|specify|found)
    | \b(?:the|this|these|those|provided|given)\s+{_EN_SOURCE}\s+(?:does|do|did)\s*(?:not|n['’]t)\s+{_EN_SAYS}\b
    | \bnone\s+of\s+(?:the|these|those|my)\s+{_WORDS}?{_EN_SOURCE}\s+{_EN_SAYS}\b
    | \bno\s+{_EN_SOURCE}\s+{_EN_SAYS}\b
    | \bno\s+(?:\w+\s+)?(?:information|data|details)\s+(?:is|was|are|were|on|about|regarding)\b
    | \b{_EN_SOURCE}\s+(?:(?:is|are)\s+silent|leaves?\s+(?:that|this|it)\s+open)\b
    | \bthere\s+(?:is|was)\s+(?:no\s+(?:information|mention)\b|nothing\s+{_WORDS}{{0,5}}in\s+(?:the|these|those
      |my)\s+{_EN_SOURCE}\b)
    | \b(?:is|was|are|were)\s*(?:not|n['’]t)\s+(?:\w+(?:ed|en|und)\s+)?(?:by|in|anywhere\s+in)\s+(?:the|these|those|this|any
      |my)\s+{_WORDS}?{_EN_SOURCE}\b
    | \bnot\s+possible\s+to\s+(?:tell|say|answer|know|determine)\b | \bhard\s+to\s+say\b
    | ^\W*as\s+an\s+ai\b(?:\s+(?:language|model|assistant|chatbot)){{0,2}}\W*(?:,|$)
    | ^\W*(?:n/a|no\s+answer(?:\s+(?:found|available|given))?)\W*$
"""

_DE_SOURCE = (
    r"(?:texte?[sn]?|kontexte?[sn]?|dokumente?[sn]?|unterlagen?|quellen?|passagen?|abschnitte?n?|auszügen?|auszug"
    r"|materiali?e?n?)"
)
_DE_NOTHING = r"(?:nichts|keine?n?\s+(?:\w+\s+)?(?:angaben?|informationen|information|hinweise?|antwort|auskunft))\b"
_GERMAN = rf"""
    \bich\s+wei(?:ß|ss)\s+(?:es\s+|das\s+)?(?:leider\s+)?nicht | \bwei(?:ß|ss)\s+ich\s+(?:es\s+|das\s+)?(?:leider\s+)?nicht
    | \b(?:ich\s+kann|kann\s+ich|könnte\s+ich)\s+{_WORDS}{{0,5}}nicht\s+{_WORDS}?
      (?:beantworten|sagen|(?:weiter)?helfen|angeben|finden|feststellen|beurteilen|mitteilen)
    | \b(?:ich\s+kann|kann\s+ich)\s+{_WORDS}{{0,5}}keine\s+(?:auskunft|antwort|angaben?|aussage)
    | \bmöchte\s+ich\s+mich\s+{_WORDS}?nicht\s+äußern
    | \bkeine\s+ahnung\b | \bnicht\s+genug\s+informationen | \bmir\s+(?:leider\s+)?nicht\s+bekannt
    | \bmir\s+ist\s+{_WORDS}?nicht\s+bekannt
    | \b(?:finde|fand)\s+(?:ich\s+)?{_WORDS}{{0,5}}{_DE_NOTHING}
    | \b(?:habe|liegen|liegt|gibt|enthält|enthalten)\s+{_WORDS}{{0,5}}keine?n?\s+{_WORDS}?
      (?:angaben?|informationen|information|hinweise?|antwort|auskunft)\b
    | \bich\s+habe\s+{_WORDS}{{0,4}}nichts\s+{_WORDS}{{0,3}}gefunden
    | \b(?:der|die|das|dem|den|diese[rnms]?|kein(?:e[rsnm]?)?)\s+{_WORDS}?{_DE_SOURCE}\s+
      (?:sag|nenn|erwähn|enth[aä]l|verrat|verrät|geb|gib|mach|beantwort)\w*\s+{_WORDS}{{0,4}}(?:nicht|nichts|keine?n?)\b
    | \b(?:im|(?:in|aus)\s+(?:de[nmr]|diese[nmr]|meinen|keiner))\s+{_WORDS}?{_DE_SOURCE}\s+{_WORDS}{{0,4}}(?:nicht|nichts
      |nirgends)\b
    | \bkeine[rs]?\s+(?:de[rs]|dieser)\s+{_WORDS}?{_DE_SOURCE}\b | \b{_DE_SOURCE}\s+schweigen\b
    | \bich\s+bin\s+{_WORDS}?nicht\s+in\s+der\s+lage\b
    | \bgeh(?:t|en)\s+{_WORDS}{{0,6}}nicht\s+hervor
    | \bl(?:ä|ae)sst\s+sich\s+{_WORDS}{{0,6}}nicht\s+{_WORDS}?(?:beantworten|sagen|entnehmen|bestimmen|feststellen)
    | \bsteht\s+{_WORDS}?(?:nicht|nichts|nirgends)\s+{_WORDS}{{0,3}}in\s+(?:den|dem|diesen|diesem
      |meinen)\s+{_WORDS}?{_DE_SOURCE}
    | \bsteht\s+in\s+(?:den|dem|diesen|diesem|meinen)\s+{_WORDS}?{_DE_SOURCE}\s+{_WORDS}?(?:nicht|nichts)\b
    | \b(?:wird|werden|ist|sind)\s+{_WORDS}{{0,4}}(?:nicht|nirgends)\s+(?:genannt|erwähnt|angegeben)
    | ^\W*als\s+ki\b(?:\W\w+)?(?:\s+sprachmodell)?\W*(?:,|$|kann\s+ich) | ^\W*keine\s+(?:antwort|angabe)\W*$
"""

_FR_SOURCE = r"(?:textes?|contextes?|documents?|passages?|extraits?|sources?|informations?)"
_FR_NO = r"n(?:e\s+|['’])(?:\w+\s+){1,2}(?:pas|rien|aucune?)\b"
_FRENCH = rf"""
    \bje\s+(?:ne\s+)?(?:(?:le|la|les|vous)\s+){{0,2}}(?:sais|peux|saurais|trouve|dispose)\s+(?:donc\s+
      |malheureusement\s+)?(?:pas|rien)\b
    | \bje\s+n['’]en\s+sais\s+rien\b | \bje\s+ne\s+saurais\b
    | \bje\s+(?:ne\s+connais|n['’]ai)\s+(?:malheureusement\s+)?pas\s+(?:la|de)\s+réponse
    | \bne\s+figure(?:nt)?\s+(?:pas|nulle\s+part)\b | \brien\s+n['’]est\s+(?:dit|indiqué|précisé|mentionné)
    | \bil\s+n['’]y\s+a\s+(?:pas\s+d['’]|aucune\s+)(?:information|indication|mention|donnée)
    | \bje\s+ne\s+suis\s+(?:malheureusement\s+)?pas\s+(?:en\s+mesure|sûre?|certaine?|capable)
    | \bje\s+n['’]ai\s+(?:malheureusement\s+)?(?:rien\s+trouvé|(?:trouvé\s+)?(?:pas\s+(?:trouvé|assez\s+)?(?:d['’]|de\s+)?
      |aucune?\s+)\s*(?:information|document|réponse|donnée|élément|idée|trace|mention))
    | \bj['’]ignore\b | \bje\s+préfère\s+ne\s+pas\b | \baucune\s+idée | \baucune\s+information
    | \bpas\s+assez\s+d['’]informations
    | \b(?:les?|ces?|cet|mes|vos)\s+{_FR_SOURCE}\s+(?:\w+\s+)?{_FR_NO}
    | \baucun(?:\s+(?:des|de\s+ces))?\s+{_FR_SOURCE}\s+n(?:e\s+|['’])
    | \bn(?:['’]est|e\s+sont)\s+(?:pas|nulle\s+part)\s+(?:indiqué|mentionné|précisé|spécifié)
    | \bimpossible\s+de\s+(?:répondre|(?:le\s+)?savoir|(?:le\s+)?dire|déterminer)
    | ^\W*en\s+tant\s+qu(?:e\s+modèle|['’](?:ia|assistant|intelligence))[^,]*(?:,|$) | ^\W*pas\s+de\s+réponse\W*$
"""

_ES_SOURCE = r"(?:textos?|contextos?|documentos?|pasajes?|fragmentos?|fuentes?)"
_ES_SAYS = (
    r"(?:menciona|dice|indica|especifica|contiene|habla|explica|permite|da|proporciona|aporta|recoge|ofrece|incluye)n?"
)
_SPANISH = rf"""
    \bno\s+(?:lo\s+)?sé\b | \bno\s+(?:lo\s+)?puedo\s+(?:responder|contestar|decir|ayudar|saber)
    | \bno\s+(?:tengo|dispongo\s+de|encuentro|encontré|he\s+encontrado|hay)\s+{_WORDS}{{0,2}}
      (?:información|informaciones|datos|respuesta|idea|documentos?)\b
    | \b(?:el|los|este|estos|las|la)\s+{_ES_SOURCE}\s+(?:\w+\s+)?no\s+(?:lo\s+)?{_ES_SAYS}\b
    | \bningun[oa]?\s+(?:de\s+(?:los|estos|las)\s+)?{_ES_SOURCE}\s+{_ES_SAYS}\b
    | \bningún\s+{_ES_SOURCE}\s+(?:lo\s+)?{_ES_SAYS}\b
    | \bno\s+se\s+(?:indica|menciona|especifica|dice)n?\b
    | \b(?:no\s+es\s+posible|es\s+imposible)\s+(?:responder|saber|determinar|decir|contestar)
    | \bno\s+(?:aparece|figura|consta|está)n?\s+{_WORDS}{{0,2}}en\s+(?:el|los|las?|estos)\s+{_ES_SOURCE}\b
    | \bno\s+me\s+consta\b | \bno\s+sabría\b | \bdesconozco\b | \bni\s+idea\b | \bno\s+estoy\s+segur[oa]\b
    | ^\W*como\s+(?:modelo|inteligencia|asistente|ia)\b[^,]*(?:,|$) | ^\W*sin\s+respuesta\W*$
"""

_ITALIAN = rf"""
    \bnon\s+(?:lo\s+)?so\b | \bnon\s+(?:lo\s+)?posso\s+(?:rispondere|dire|dirlo|aiutar)
    | \bnon\s+(?:ne\s+)?(?:ho|trovo|dispongo\s+di|ci\s+sono)\s+{_WORDS}{{0,2}}(?:informazioni|idea|dati|risposta|documenti)\b
    | \b(?:il|i|questo|questi|le|la)\s+(?:contest[oi]|test[oi]|document[oi]|pass(?:o|i|aggi)|bran[oi]
      |font[ei])\s+(?:\w+\s+)?non\s+
      (?:(?:lo|ne)\s+)?(?:dic|indic|menzion|specific|conten|contien|parl|spieg|permett)\w+
    | \bnon\s+conosco\s+la\s+risposta\b | \bnon\s+saprei\b
    | \bnon\s+(?:è|sono|compare|figura)\s+{_WORDS}{{0,2}}(?:nel|nei|nella|nelle)\s+(?:contest[oi]|test[oi]|document[oi]
      |pass(?:o|i|aggi)|fonti)\b
    | \bnon\s+(?:è|sono)\s+(?:indicat|specificat|menzionat|riportat)\w
    | \b(?:non\s+è\s+possibile|impossibile)\s+(?:rispondere|saper|dir)
    | ^\W*come\s+modello\s+linguistico[^,]*(?:,|$) | ^\W*nessuna\s+risposta\W*$
"""

_PORTUGUESE = rf"""
    \b(?:eu\s+)?não\s+sei\b | \bnão\s+(?:o\s+)?posso\s+(?:responder|dizer|ajudar)
    | \bnão\s+(?:tenho|disponho\s+de|encontrei|encontro|há)\s+{_WORDS}{{0,2}}(?:informações|informação|ideia|dados|resposta
      |documentos?)\b
    | \b(?:os?|estes?|as?)\s+(?:textos?|contextos?|documentos?|trechos?|passagens?|fontes?)\s+(?:\w+\s+)?não\s+
      (?:o\s+)?(?:diz|menciona|indica|especifica|cont[eé]m|fala|explica|permite)\w*
    | \bnão\s+(?:é|está|são)\s+(?:indicad|mencionad|especificad)\w
    | \b(?:não\s+é\s+possível|impossível)\s+(?:responder|saber|dizer)
    | \bnão\s+(?:consigo\s+(?:responder|encontrar|dizer)|conheço\s+a\s+resposta|saberia)
    | \bnão\s+(?:aparece|consta|figura|está)m?\s+{_WORDS}{{0,2}}(?:no|nos|na|nas)\s+(?:textos?|contextos?|documentos?|trechos?
      |fontes?)\b
    | \bdesconheço\b | ^\W*como\s+modelo\s+de\s+linguagem[^,]*(?:,|$) | ^\W*sem\s+resposta\W*$
"""

_NL_SOURCE = r"(?:teksten|tekst|context|documenten|document|bronnen|bron|passages?|fragment(?:en)?)"
_DUTCH = rf"""
    \bik\s+weet\s+(?:het\s+)?niet | \bweet\s+ik\s+(?:het\s+)?(?:helaas\s+)?niet | \bgeen\s+idee\b
    | \b(?:ik\s+(?:kan|kon)|(?:kan|kon)\s+ik)\s+{_WORDS}{{0,4}}niet\s+{_WORDS}?(?:beantwoorden|zeggen|helpen|vinden)
    | \b(?:ik\s+(?:heb|vind|vond)|(?:heb|vind|vond)\s+ik)\s+{_WORDS}{{0,4}}(?:niets|geen\s+(?:informatie|gegevens|antwoord))\b
    | \b(?:de|het|deze|dit)\s+{_NL_SOURCE}\s+(?:vermeld|zeg|noem|bevat|geef|gev)\w*\s+{_WORDS}{{0,3}}(?:niet|niets|geen)\b
    | \bstaat\s+{_WORDS}{{0,3}}(?:niet|niets)\s+in\s+(?:de|het|deze|dit)\s+{_NL_SOURCE}
    | \bik\s+ken\s+het\s+antwoord\s+niet | \b(?:niet|nergens)\s+{_WORDS}?in\s+(?:de|het|deze|dit)\s+{_NL_SOURCE}
    | \bwordt\s+{_WORDS}?(?:niet|nergens)\s+(?:genoemd|vermeld)
"""

_OTHERS = r"""
    \bя\s+не\s+(?:знаю|могу\s+(?:ответить|сказать)) | \bне\s+знаю\b | \bнет\s+(?:информации|данных)\b
    | 不知道 | [无無]法(?:回答|确定|確定|得知) | 没有(?:足够的|相关的?)?信息
    | (?:没有|沒有|未)(?:提到|提及|说明|說明|找到|记载|記載|写明) | 找不到 | 不清楚
    | わかりません | 分かりません | 知りません | (?:答え|回答)(?:られません|できません|ることができません|かねます)
    | 記載(?:が|は)(?:ありません|見当たりません|ない) | (?:記載|言及)されていません | 含まれていません | 書かれていません
    | 見つかりません
    | 모르겠 | 알\s*수\s*없 | لا\s+أعرف | لا\s+أعلم | पता\s+नहीं | नहीं\s+जानता | \bbilmiyorum\b | \bnie\s+wiem\b
"""

_NONCOMMITTAL = re.compile(
    f"{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH}|{_ITALIAN}|{_PORTUGUESE}|{_DUTCH}|{_OTHERS}",
    re.IGNORECASE | re.VERBOSE,
)
_UNSURE = re.compile(r"\b(?:sure|certain|sicher|sûre?|certaine?|segur[oa]|sicur[oa]|zeker)\b", re.IGNORECASE)


def is_noncommittal(sentence: str) -> bool:
    """Whether ``sentence`` says that its speaker does not know or cannot answer, in one of the common languages."""
    return _NONCOMMITTAL.search(" ".join(sentence.split())) is not None


_PIECE_WORDS = 2  # content words in a piece: a fact seldom has fewer or more
_NAME_WORDS = 4  # words after which a name may be cut
_PAIR_CHARS = 12  # if words are pairs of characters, a piece ends at the next comma or at this length

_MONTH = rf"(?i:{'|'.join(MONTHS)})\b"
_LIST_MARK = re.compile(
    rf"^[ \t]*(?:#{{1,6}}|[-*•·–]|\(?\d{{1,3}}[.)](?![ \t]+{_MONTH})|\(?[a-z]\))[ \t]+",
    re.MULTILINE | re.IGNORECASE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Pp]rof|[Ss]t|[Jj]r|[Ss]r|vs|etc|[Ii]nc|[Ll]td|[Cc]o|Corp|Gen|Gov|Sen"
    r"|Rep|Mt|[Aa]pprox|[Ff]ig|[Vv]ol|bzw|ca|usw|Nr|ed|al|i\.e|e\.g|z\.B|d\.h))\.$"
)
_END = re.compile(
    rf"(?<![.!?…])[.!?…]+[\"'”’»)\]*]*(?=\s|$)(?!(?<=\bNo\.) ?\d)(?!(?<=\d\.) {_MONTH})|[。！？｡؟।॥]+[」』”）]*|\n+"
)
_BREAK = re.compile(r"[,;:()\[\]{}\"“”„«»|/=<>，、；：（）「」『』،؛—–]|\s-+\s|\*\*")
_JOINS = frozenset({"-", "‐", "‑", "'", "’"})  # within a compound
_EDGES = " \t\r\n*_#|>`~•-–—,;:，、；：،؛"
_CLAUSE = re.compile(
    r"[,;，；、]|\b(?:but|however|though|although|aber|jedoch|mais|cependant|pero|sino|ma|però|mas|porém|maar|но)\b"
    r"|但|でも|しかし|지만",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"(?:\w+[ ,!]+)?(?:did\s+you\s+know|wuss?test\s+du|wussten\s+sie|sav(?:iez|ais)[- ](?:vous|tu)|sabías|sapevi|sabia)\b",
    re.IGNORECASE,
)
_INDIRECT_QUESTION = re.compile(
    r"\W*(?:whether|if|how|who|what|when|where|which|why|ob|wie|wer|wann|wo|warum|welche[rsnm]?|si|comment|qui|quand|où|pourquoi|combien"
    r"|cuánt[oa]s?|cuándo|quién|cómo|dónde|qué|quant[oaie]|quando|chi|come|dove|perché|se|of|hoe|waar|wanneer|wat|waarom|quem|como|onde)\b",
    re.IGNORECASE,
)
_ACCORDING_TO = re.compile(
    r"\W*(?:(?:based\s+on|according\s+to|from|given|laut|gemäß|nach|auf\s+(?:der\s+)?(?:basis|grundlage)|anhand|selon|d['’]après"
    r"|sur\s+la\s+base|à\s+partir|según|con\s+base|in\s+base|secondo|de\s+acordo|com\s+base|volgens|op\s+basis)\b"
    r".*\b(?:context|kontext|contest|text|text[eo]|test|tekst|document|dokument|passage|source|quelle|unterlage|information|search)|根据|根據)",
    re.IGNORECASE,
)
_MORE_THAN_REFUSAL = 2  # content words next to a refusal that make it a claim
_BRACKETS = '()[]{}"“”„«»「」『』（）'


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text`` in order. List items and lines count as sentences; list marks are removed."""
    text = _LIST_MARK.sub("\n", text)
    found = (text[start:end] for start, end in pairwise([0, *sentence_ends(text), len(text)]))
    return [s for s in (raw.strip(_EDGES) for raw in found) if any(c.isalnum() for c in s)]


def sentence_ends(text: str) -> Iterator[int]:
    """Return the offsets at which a sentence or a line ends, in order. Final punctuation and closing quotes belong to the
    sentence.
    """
    start = 0
    for match in _END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text, max(start, match.start() - 12), match.end()):
            continue
        start = match.end()
        yield start


def split_claims(question: str | None, answer: str) -> list[str]:
    """Return the claims of ``answer``: every sentence that states something, followed by its pieces.

    Greetings and sentences that only say that the answer is not known are not claims. A bare *yes* or *no* claims what
    ``question`` asks. Questions are ignored if the answer also contains statements; in an answer that only contains questions,
    the questions are claims. Repetitions are kept: a statement made twice is two claims.
    """
    language = guess_language(question or "", answer)
    empty = (is_greeting, is_feeling, is_remark)
    relevant = [s for s in sentences(answer) if not any(kind(s) for kind in empty) and not is_refusal(s, language)]
    if question and question.strip() and relevant and all(yes_or_no(s) is not None for s in relevant):
        return [f"{relevant[0].strip(' .!,')}: {question.strip()}"]
    statements = [s for s in relevant if not is_question(s)]
    return _claims_of(statements, language) or _claims_of([s for s in relevant if is_question(s)], language)


def _claims_of(statements: list[str], language: str) -> list[str]:
    claims: list[str] = []
    for sentence in statements:
        words = words_of(sentence, language)
        capitals = sum(sentence[word.start].isupper() for word in words)
        says = (word.kind not in {"stop", "negation"} and word.key not in SPEAKERS[language] for word in words)
        if any(says) or capitals > 1:  # *I* and *you* alone claim nothing; a title may consist of function words
            parts = pieces(sentence, words)
            claims += [sentence, *parts] if len(parts) > 1 else [sentence]
    return claims


def is_question(sentence: str) -> bool:
    """Whether ``sentence`` is a question. *Did you know that ...?* counts as a statement."""
    return sentence.rstrip("\"'”’) ").endswith(QUESTION_MARKS) and _TELLS.match(sentence) is None


def is_refusal(sentence: str, language: str) -> bool:
    """Whether ``sentence`` is only a refusal. *I am not sure, but it opened in 1889* makes a claim."""
    if not is_noncommittal(sentence):
        return False
    rest = [part for part in _CLAUSE.split(sentence) if not (is_noncommittal(part) or _says_nothing(part))]
    content = [w for part in rest for w in words_of(part, language) if w.kind not in {"stop", "negation"}]
    return len(content) < _MORE_THAN_REFUSAL


def ends_in_refusal(sentence: str) -> bool:
    """Whether the last clause is a refusal, as in *it costs 5, but I do not know where*. *It costs 5, but I am not sure* is only
    a hedge.
    """
    last = next((part for part in reversed(_CLAUSE.split(sentence)) if part.strip()), "")
    return is_noncommittal(last) and not _UNSURE.search(last)


def _says_nothing(clause: str) -> bool:
    """Whether a clause next to a refusal claims nothing: an apology, the source that was searched, or the thing that is not
    known.
    """
    return is_greeting(clause) or any(start.match(clause) for start in (_INDIRECT_QUESTION, _ACCORDING_TO))


def pieces(sentence: str, words: tuple[Word, ...]) -> list[str]:
    """Split ``sentence`` into literal parts with about one fact each, before function words and at punctuation."""
    starts: list[int] = []
    content = 0  # content words in the current piece
    previous: Word | None = None
    for word in words:
        small = word.kind in {"stop", "negation"}
        if previous is None or (content and _cuts(sentence, previous, word, content, small=small)):
            starts.append(word.start)
            content = 0
        content += word.kind != "stop"
        previous = word
    if len(starts) > 1 and not content:
        starts.pop()  # function words at the end belong to the piece before them
    ends = [*starts[1:], len(sentence)]
    parts = (sentence[start:end].strip(_EDGES + _BRACKETS) for start, end in zip([0, *starts[1:]], ends, strict=True))
    return [part for part in parts if part]


def _cuts(sentence: str, previous: Word, word: Word, content: int, *, small: bool) -> bool:
    """Whether a new piece starts at ``word``, given that the current piece has ``content`` content words."""
    glued = word.start == previous.end and word.kind != "pair"
    if word.key == "'s" or glued or sentence[previous.end : word.start] in _JOINS:
        return False
    if word.start > previous.end and _BREAK.search(sentence, previous.end, word.start):
        return True
    if word.kind == "pair":
        return previous.kind != "pair" or content >= _PAIR_CHARS
    if small:
        return previous.kind not in {"stop", "negation"}
    longer = previous.kind == "name" and word.kind in {"name", "number"}
    return content >= (_NAME_WORDS if longer else _PIECE_WORDS)
