"""The closed word lists of the lexical analysis, and the guess of a text's language that picks one.

Lists are per language because they collide: *die* is an article in German and a verb in English. The guess counts each
language's stop words in all texts at hand and takes the best, so it is cheap and needs no model. A language without
a list still works: all its words then count as content.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def _sets(lists: dict[str, str]) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(text.split()) for language, text in lists.items()}


# Articles, prepositions, conjunctions, auxiliaries and third-person pronouns: they join facts and state none.
STOP_WORDS = _sets(
    {
        "en": """a an the and or but if then of at by for with about to from in on off over under is am are was were be
        been being has have had having do does did as so than too very can will would could should may might must just
        there here what which who whom whose when where why how also into out up down that this these those it its such
        both each any some all other more most own same until while during before after again further through because
        between against above below once only 's 'm 're 've 'd 'll he she they him her them his hers their theirs
        himself herself itself themselves itself ca wo yes yeah yep oh well okay ok""",
        "de": """der die das den dem des ein eine einen einem einer eines und oder aber wenn von vom zu zum zur im in
        am an auf aus bei beim mit nach seit vor für um durch über unter als wie ist sind war waren wird werden wurde
        wurden sein hat haben hatte hatten er sie es ihr ihre seine sein dass auch noch nur sich so sehr dies diese
        dieser dieses welche welcher ja kann können soll""",
        "fr": """le la les l un une des du de d et ou mais si à au aux en dans par pour avec sur sous vers chez entre
        est sont était étaient être été a ont avait avaient avoir il elle ils elles on ce cet cette ces c qu que qui
        dont où se s sa son ses leur leurs y ne n plus très aussi comme oui fut peut""",
        "es": """el la los las lo un una unos unas y e o u pero si de del a al en por para con sobre entre desde hasta
        es son era eran fue fueron ser está están estaba ha han había haber él ella ellos ellas que quien cuyo donde
        se su sus este esta estos estas ese esa como más muy también sí puede""",
        "it": """il lo la i gli le l un uno una e o ma se di del della dei delle dello degli a al alla ai alle in nel
        nella nei nelle da dal dalla con su sul sulla per tra fra è sono era erano fu essere stato stata ha hanno aveva
        avere egli lui lei loro che chi cui dove si suo sua suoi sue questo questa questi come più anche sì può""",
        "pt": """o a os as um uma uns umas e ou mas se de do da dos das em no na nos nas por pelo pela para com sobre
        entre é são era eram foi foram ser está estão estava há tem têm tinha ter ele ela eles elas que quem cujo onde
        seu sua seus suas este esta isto esse essa como mais muito também sim pode""",
        "nl": """de het een en of maar als van in op aan bij met naar uit voor door over onder om te tot tussen is zijn
        was waren wordt worden werd werden heeft hebben had hadden hij zij ze hun haar dat die dit deze er ook nog zo
        zeer wie waar ja kan kunnen""",
        "ru": """и в во на с со к ко по о об от до из за для у при над под или но а если что чтобы как это этот эта эти
        он она оно они его её их был была было были есть быть который которая которые также так же ли бы уже да""",
    }
)

NEGATIONS = _sets(
    {
        "en": "not no never none nor neither nobody nothing without cannot",
        "de": "nicht kein keine keinen keinem keiner nie niemals ohne",
        "fr": "pas jamais aucun aucune sans rien ni",
        "es": "no nunca jamás ningún ninguna sin nada ni",
        "it": "non mai nessun nessuna senza né",
        "pt": "não nunca nem nenhum nenhuma sem",
        "nl": "niet geen nooit zonder",
        "ru": "не нет ни никогда без",
    }
)

# Who speaks and who is spoken to: a sentence of such words alone claims nothing.
SPEAKERS = _sets(
    {
        "en": "i me my mine myself you your yours we us our ours",
        "de": "ich mir mich mein wir uns",
        "fr": "je moi mon nous",
        "es": "yo mi nosotros",
        "it": "io mio noi",
        "pt": "eu meu nós",
        "nl": "ik mij mijn wij ons",
        "ru": "я мы мне мой",
    }
)

_NUMBERS: dict[str, str] = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "ноль один два три четыре пять шесть семь восемь девять десять",
}
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred")
_RANKS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_MORE_NUMBERS = {
    **{word: str(10 * tens) for tens, word in enumerate(_TENS, 3)},
    **{word: str(rank) for rank, word in enumerate(_RANKS, 3)},
}

# Left out: the words for "one", which are far more often articles and pronouns than counts.
NUMBER_WORDS: Mapping[str, Mapping[str, str]] = {
    language: {
        **{word: str(value) for value, word in enumerate(text.split()) if value != 1},
        **(_MORE_NUMBERS if language == "en" else {}),
    }
    for language, text in _NUMBERS.items()
}

_MONTH_NAMES = (
    "january februari march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari february maart april mei juni juli augustus september oktober november december",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "jan feb mar apr may jun jul aug sept oct nov dec",
    "jan feb mar apr may jun jul aug sep oct nov dec",
)
MONTHS: Mapping[str, str] = {
    name: f"month {number}" for names in _MONTH_NAMES for number, name in enumerate(names.split(), 1)
}


def language_of(words: Iterable[str]) -> str:
    """Guess the language of case-folded words by their stop words; ``"en"`` where nothing points to another language."""
    counts = Counter(words)
    hits = {language: sum(counts[w] for w in stop) for language, stop in STOP_WORDS.items()}
    return max(hits, key=lambda language: (hits[language], language == "en"))
