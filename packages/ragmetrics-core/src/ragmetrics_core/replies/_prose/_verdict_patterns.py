"""The patterns behind ``_verdict``: the words that answer, and where in a sentence they do.

Texts are in lower case and tidied before they are searched (one blank at a time), so every search is linear.
"""

from __future__ import annotations

import re

from ._words import CJK_NO, CJK_YES, CONCLUSION, FINAL, NEGATIVE, NO, POSITIVE, REASON, YES


def _any(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_END = r"(?=\s{0,3}(?:$|[,.;:!)\]}\"'…|،؛।，。、！；：）」』】]|-\s|--|[–—]|\())"
ANSWER = re.compile(rf"(?:(?P<yes>{_any(YES)})|(?P<no>{_any(NO)}))(?!\w|['’-]\w){_END}")
CJK = re.compile(
    rf"(?:(?P<yes>{CJK_YES})|(?P<no>{CJK_NO}))(?=\s?(?:$|[,.;:!?)\]\"'，。、！？；：）」』】…~～-])|です|だ[。\s])"
)
# In English the comma after the answer is often forgotten.
LOOSE = re.compile(
    r"(?:(?P<yes>yes)\s(?=(?:because|it|the|this|that|these|they|there|as|since|all|both|its|i|we|he|she|for|on|about|regarding)\b)"
    r"|(?P<no>no)\s(?=(?:because|it|this|that|these|they|there|the|since|i|we|he|she|not|for|on|about|regarding)\b))"
)
LETTER = re.compile(r"(?:(?P<yes>y)|(?P<no>n))[.)\]\"']{0,3}\s?$")
NUMBERED = re.compile(r"(?<!\w)(?:nos?|nr|n)[.º°]?[ \t]{0,3}(?=\d)")
LABEL = re.compile(
    rf"(?P<not>(?:is\s+|are\s+)?(?:not|isn't|aren't|non|in)[\s-]+|un-)?(?:fully\s+|entirely\s+|completely\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE)})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
    rf"(?:{_END}|(?=\s+(?:by|with|in (?:the|this|its)|from|because|as|since)\b))"
)
DIGIT = re.compile(
    r"(?:(?P<yes>1)|(?P<no>0))(?:\.0{1,4})?(?=\s{0,3}(?:$|[)\]]*\s*$|[-–—:=(]\s*\D|[.,;!]\s*(?:$|\D{3})))"
)
_OPTION = rf"(?:{_any(YES)}|{_any(NO)}|{_any(POSITIVE)}|{_any(NEGATIVE)}|{CJK_YES}|{CJK_NO}|[01])"
# A choice between two answers, and its end alone: where there is none, nothing need be looked for from the beginning.
_OR = r"(?:/|\||\bor\b|\band\b|\boder\b|\bou\b|\bo\b|\bof\b|\bили\b|\bи\b|또는|か|或者|或|&)\s{0,3}[\"'(\[]{0,3}"
MENU = re.compile(
    rf"(?<!\w)(?P<one>{_OPTION})[\"'\])]{{0,3}}\s{{0,3}}{_OR}(?P<two>{_OPTION})(?!\w)"
    r"(?:\s?(?:/|\||,|or\b){1,3}\s?[\"']?[\w/]{1,14}[\"']?){0,3}[\"')\]>}]{0,3}"
)
MENU_END = re.compile(rf"{_OR}{_OPTION}(?!\w)")
COMMA_MENU = re.compile(
    rf"(?:[(\[<{{]|\A|(?<=[:=] ))\s?(?P<one>{_OPTION})\s?,\s?(?P<two>{_OPTION})\s?(?:[)\]>}}]|[.!]?\s?$)"
)
AFFIRMS = re.compile(rf"(?:{_any(YES)}|{_any(POSITIVE)}|{CJK_YES}|1)\Z")
WHETHER = re.compile("是否|是不是|对不对|有没有|对错")
DECORATION = re.compile(
    r"</?(?:b|i|u|em|strong|code|br|p|span|mark|h\d)\s{0,3}/?>|[*`#>_~$]|\\boxed|\\text|^[-•·–]\s", re.MULTILINE
)
BREAK = re.compile(r"(?<=[.!?。！？;；।])(?=\s|[^\x00-\x7f])|\n|(?<=[.!?])(?=[\"')\]]\s)")
OPENING = re.compile(r"[\s\"'(\[{<【「『:：]{0,12}")
HEAD = re.compile(
    r"[\s\"'(]{0,12}[^\s,.;:!?()，。、！？；：]{1,40}(?:\s[^\s,.;:!?()，。、！？；：]{1,40})?\s?(?:$|[,.;:!?，。、！？；：]|[-–—])"
)
LEAD_IN = re.compile(
    r"(?:so|thus|therefore|hence|overall(?!(?:\s\w{1,20})?\s?[:：])|in conclusion|in short|in summary|to conclude|well|ok|okay|"
    r"sure|certainly|consequently|accordingly|actually|wait|hmm|also|donc|daher|por lo tanto|所以|因此|따라서|したがって|つまり)\b"
    r"[,:，、]?\s?"
    r"|(?:it'?s|that'?s|(?:it|this|that) is|my (?:answer|verdict) is) an? (?:clear |definite |firm |hard |strong )?"
    r"|(?:i (?:would|'d|will|must)? ?(?:say|answer|conclude|reply|respond)(?: that| with)?:?|i'd say)\s+"
)
LABELLED = re.compile(r"(?P<label>[^:=：\n]{1,80}?)\s?(?:[:=：]|\s[-–—→]|->|=>)\s?(?P<body>.*)", re.DOTALL)
# "The answer is yes", and the part of it that tells it from other sentences.
_IS = r"\s?(?:is|would be|was|ist|est|es|è|é|は|是|은|는|为)\s?:?\s?"
SAYS = re.compile(rf"\b(?P<label>(?:[\w']{{1,40}}\s){{0,3}}(?:{CONCLUSION})){_IS}(?P<body>.*)", re.DOTALL)
CONCLUDES = re.compile(rf"(?:{CONCLUSION}){_IS}")
FINAL_LABEL = re.compile(rf"(?<!\w)(?:{FINAL})(?!\w)|최종|最终|最終|итог|修正|정정")
CONCLUSION_LABEL = re.compile(rf"(?<!\w)(?:the|my|your)?(?:{CONCLUSION})(?!\w)|(?:{CONCLUSION})\s*$")
REASON_LABEL = re.compile(rf"(?<!\w)(?:{REASON})(?!\w)|(?:理由|原因|이유)")
CORRECTION = re.compile(
    r"\b(?:correction|on reflection|upon reflection|i change my (?:answer|mind)|actually|rather|i meant)\b"
)
COPULA = re.compile(
    rf"\b(?:is|are|was|were|seems|looks)(?P<not>n't|\s+not)?\s+(?:fully\s+|entirely\s+|completely\s+|indeed\s+|also\s+)?"
    rf"(?:(?P<yes>{_any(POSITIVE - {'support', 'pass', 'right', 'positive'})})|(?P<no>{_any(NEGATIVE)}))(?![\w'’]|-\w)"
)
CONTRAST = re.compile(
    r"\b(?:but|however|although|though|except|only|yet|in part|"
    r"until|once|unless|if|partly|partially|mostly|largely|somewhat|depending|to some (?:extent|degree)|that)\b|\?"
)
NEGATION = re.compile(r"\bnot\b|n't\b|\bnever\b")
FULLY_NOT = re.compile(
    r"(?:\bnot|n't)\s+(?:fully|entirely|completely|necessarily|always)\b|\bnot un"
    r"|n't\s+(?:un|in|ir|wrong|false|fail)|\b(?:no|nor|neither)\b"
)
# A list marker before a lone answer; one that counts on is a list.
ITEM = re.compile(r"(?:\(?1[.)]|\(?[a-d]\)|[a-d]\.)\s(?!.*(?:(?<!\d)\d{1,2}|\b[a-d])[.)])(?P<body>[^\n]*)\Z")
COUNTED = re.compile(r"\(?1[.)]\s+(?P<word>[\w']+)")
CRITERIA = re.compile(r"[,;]\s")
WORD = re.compile(r"[\w']+")
FIRST = re.compile(r"\W*\w*")
# The last two words of a label with what follows it.
TAIL = re.compile(r"\A.*?((?:[\w']+\s)?[\w']+\W*\s?(?:is|ist|est|es|è|é|は|是|은|는|为)?\W*\w+)\Z", re.DOTALL)
# "The context supports it: yes" names the context and is no reason.
SUPPORTS = re.compile(r"\b(?:supports?|supported|confirms?|confirmed|entails?|entailed|backs?)\b")
CLOSING = re.compile(
    r",\s(?:(?:so|therefore|thus|hence|then|and so)[,:]?\s)?(?:(?:my|the) (?:answer|verdict) is:?\s)?"
    r"(?:(?P<yes>yes)|(?P<no>no))[.!]?\Z"
)
# The judge corrects itself, in the first person or in a word of surprise.
SELF = re.compile(
    r"\b(?:wait|hmm|on (?:second thoughts?|(?:further )?reflection|closer (?:look|inspection))|upon reflection|actually|"
    r"i (?:misread|overlooked|missed|was wrong|made a mistake|erred|take that back|change my (?:mind|answer)|meant)|"
    r"let me (?:re|think|check|correct)\w*|sorry|my mistake)\b"
)
# Where an answer stands: behind a label, a question, a bar, the brackets of the answer before it, or before what it is about.
_ABOUT = r"(?:for|on|about|regarding)\s"
SLOT = re.compile(
    rf"(?:[:=：→|?/)-](?<!\w-)[,;]?\s{{0,3}}[\"'(]?|(?:[,;]|and|but)\s(?=(?:yes|no)\s{_ABOUT}))"
    rf"(?:(?P<yes>{_any(YES)}|{CJK_YES})|(?P<no>{_any(NO)}|{CJK_NO}))"
    rf"(?=\s{{0,3}}(?:$|[,.:;|/()\n!\"–—。、；），]|-\s|\b(?:and|because|since|it|{_ABOUT})\b))"
)
MAX_SENTENCE = 400
