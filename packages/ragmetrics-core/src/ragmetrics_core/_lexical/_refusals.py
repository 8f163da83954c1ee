"""How speakers say that they do not know or cannot answer, language by language.

Three ways of declining are recognised: the speaker does not know or will not say; the sources say nothing; there is no answer. A
source must be called one ("the text does not say"), or every statement of what a thing lacks would be taken for a refusal.
"""

from __future__ import annotations

import re

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


def is_unsure(sentence: str) -> bool:
    """Whether a noncommittal ``sentence`` only says that its speaker is not sure: beside an answer that is a hedge."""
    return _UNSURE.search(sentence) is not None
