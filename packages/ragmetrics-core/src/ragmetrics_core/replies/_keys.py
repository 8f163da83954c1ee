"""Names that models use for the same key.

Keys are compared without regard to case, style and decoration (``finalScore``, ``Final Score``, ``final_score (1-5)``). In
addition, a small table of synonyms says which keys mean a verdict, a number, a reason, a list of claims and so on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ._words import word_set

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCALE = re.compile(r"[(\[{][^)\]}]{0,60}[)\]}]")
_SPLIT = re.compile(r"[\W_]+")


@lru_cache(maxsize=4096)
def words(key: str) -> tuple[str, ...]:
    """Return the lower-case words of a key: ``finalScore (1-5)`` -> ``("final", "score")``."""
    spaced = _CAMEL.sub(" ", _SCALE.sub(" ", key[:200]))
    return tuple(word.casefold() for word in _SPLIT.split(spaced) if word)


def name(key: str) -> str:
    """Return a key in the normal form in which keys are compared: ``final_score``."""
    return "_".join(words(key))


def singular(word: str) -> str:
    """Return a rough singular of a word. It is compared only with other rough singulars."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def stem(key: str) -> str:
    """Return the singular of a key, the form in which synonyms are looked up."""
    return "_".join(singular(word) for word in words(key))


WRITTEN = {
    "claim": word_set(
        "statement claim fact sentence proposition assertion simpler_statement atomic_fact atomic_statement atomic_claim "
        "extracted_statement extracted_claim"
    ),
    "question": word_set("question query generated_question sub_question follow_up_question"),
    "verdict": word_set(
        "verdict answer label judgement judgment decision classification result supported is_supported support attributed "
        "attribution faithful is_faithful entailed entailment correct is_correct relevant is_relevant useful is_useful "
        "useful_context grounded is_grounded vote conclusion evaluation assessment response final_answer final_verdict status"
    ),
    "score": word_set(
        "score rating grade mark point value rate overall_score final_score overall_rating final_rating total_score "
        "overall total score_value rating_value overall_grade final_grade numeric_score number"
    ),
    "reason": word_set(
        "reason reasoning explanation rationale justification comment feedback analysis thought why description note summary "
        "evidence critique chain_of_thought explain reasoning_steps thinking evaluation_reason details remark"
    ),
    "noncommittal": word_set("noncommittal non_committal is_noncommittal evasive is_evasive"),
    "number": word_set(
        "number id index no idx n statement_id claim_id statement_number claim_number statement_index claim_index "
        "statement_no claim_no item position"
    ),
}
REASONS = WRITTEN["reason"]
NUMBERED = WRITTEN["claim"] | word_set(
    "context passage source document chunk aussage kontext contexte contexto contesto"
)
"""Things that are sent with numbers. Models give the number of an item under such a key, or as "context 2"."""
RELATED = {member: group for group in WRITTEN.values() for member in group}
CONTAINERS = word_set("item list result output data value array element entry answer response final_list final_answer")
WRAPPERS = word_set(
    "result output response answer data propertie property argument parameter input json object final value content message "
    "choice text output_text evaluation assessment judgement judgment verdict tool_call tool_input function function_call args "
    "final_answer final_output return payload body reply instance structured_output parsed entity delta candidate part "
    "grade score rating review feedback"
)
# Numbers and flags beside an answer that are not the answer.
ASIDES = word_set(
    "confidence probability certainty max maximum max_score max_rating min minimum min_score min_rating scale threshold "
    "id index idx number count usage tokens temperature top_p created seed version model error "
    "errors code status_code http_status finish_reason status object role system_fingerprint user type title name language lang "
    "previous_score average mean weight page line step sub_scores subscores scores criteria_scores breakdown rubric rubric_items "
    "criteria refusal refused truncated is_final done"
)
# Words in keys whose value is a quotation.
_QUOTING = word_set(
    "quote quoted quotation quoting citation cited verbatim injected injection injecting echo echoed embedded attack attacker "
    "malicious demanded claimed fake alleged suspected untrusted ignored zitat zitiert cita citado citazione цитата 引用 인용"
)
# Words that reverse the meaning of a key, or make it a key for faults.
_OPPOSITE = word_set(
    "not no non isn without lacks lack lacking un wrong incorrect fail fails failed failing failure invalid "
    "irrelevant unfaithful unsupported unsatisfied unattributed unattributable ungrounded unanswered unverified "
    "unhelpful useless inaccurate inconsistent unacceptable contradiction contradictions contradicted contradicts "
    "contradictory hallucination hallucinations hallucinated hallucinates refuted refutes negative false fault "
    "faults faulty bad error errors mistake mistakes penalty penalties deduction deductions deducted issue issues "
    "problem problems missing unable reject rejects rejected refuse refuses refused refusal disagree disagrees "
    "fabricated fabrication misleading"
)
# Words in keys that count things.
_COUNTING = word_set("number count num amount length claims statements sentences steps words contexts documents")
_TYPES = word_set(
    "string integer number boolean bool int float str array object null list text value any your_answer your_score x n tbd todo"
)
_TEMPLATE = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\.{2,}|…|\?+|_+|.*(?:\||\bor\b|\boder\b|\bou\b|或|または|또는).*"
    r"|\w{1,12}(?:/\w{1,12}){1,4}|\$\{?\w*\}?",
    re.DOTALL | re.IGNORECASE,
)

# Keywords of JSON schemas: those found only in schemas, those that give a type, those that accompany a type.
_SCHEMA_ONLY = word_set("$schema $defs $ref")
_TYPING = word_set("type $ref anyOf enum")
_DESCRIBING = word_set("properties items enum")
_JSON_TYPES = word_set("string integer number boolean array object")
_MOST_KEYWORDS = 4
_BLANK = re.compile(r"\s*(?:<[^<>]*>|\.{3}|…)\s*")


@lru_cache(maxsize=4096)
def is_quotation(key: str) -> bool:
    """Whether a key says that its value is quoted, so that it is never the answer."""
    return not _QUOTING.isdisjoint(words(key))


@lru_cache(maxsize=4096)
def is_opposite(key: str) -> bool:
    """Whether a key asks for the opposite ("unsupported", "not_relevant", "errors"), so that a yes under it means no."""
    return not _OPPOSITE.isdisjoint(words(key))


def is_no_answer(key: str) -> bool:
    """Whether a key says that its value is quoted, or is the opposite of the answer."""
    return is_quotation(key) or is_opposite(key)


@lru_cache(maxsize=4096)
def is_count(key: str) -> bool:
    """Whether a key gives a number of things."""
    return not _COUNTING.isdisjoint(words(key))


def is_template(value: Any) -> bool:
    """Whether a value looks like a placeholder of a template ("<reason>", "...", "yes/no", "integer") and not like an answer."""
    if not isinstance(value, str) or len(value) > 200:
        return False
    stripped = value.strip()
    return stripped.casefold() in _TYPES or bool(_TEMPLATE.fullmatch(stripped))


def is_blank(text: str) -> bool:
    """Whether a text is a placeholder of the shape that the model was shown ("<text>", "..."), copied and not filled in."""
    return _BLANK.fullmatch(text) is not None


def is_schema(data: dict[str, Any]) -> bool:
    """Whether an object is a JSON schema, or a property of a schema, and not an answer."""
    if not _SCHEMA_ONLY.isdisjoint(data):
        return True
    properties = data.get("properties")
    if isinstance(properties, dict) and properties:
        return all(isinstance(value, dict) and not _TYPING.isdisjoint(value) for value in properties.values())
    kind = data.get("type")
    if isinstance(kind, (str, list)) and not _DESCRIBING.isdisjoint(data):
        return True
    return isinstance(kind, str) and kind in _JSON_TYPES and len(data) <= _MOST_KEYWORDS
