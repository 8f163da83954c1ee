"""The two prompts that all metrics of claims share: split a text into claims, and check claims against texts.

Shared prompts save calls: if several metrics of a run split the same text, or check the same claims, they make the same request,
and the run asks it once. Shared prompts also make numbers comparable: faithfulness, context recall and factual correctness count
the same claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from pydantic import (
    AliasChoices,
    BaseModel,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from ragmetrics_core import Evidence, Example, Prompt, Steps
from ragmetrics_core.metrics.checks import check_claims, check_verdicts, once_each
from ragmetrics_core.metrics.claim_origin import PlacedClaims
from ragmetrics_core.metrics.rules import CLAIMS, CONTEXTS_ALONE, SUPPORT
from ragmetrics_core.replies import JsonReply, real_items

__all__ = [
    "EXTRACT_CLAIMS",
    "VERIFY_CLAIMS",
    "Claims",
    "Verdict",
    "Verdicts",
    "best",
    "check_verdicts",
    "claims_in",
    "evidence",
    "in_words",
    "supported_share",
]


class Claims(BaseModel):
    """The claims of a text."""

    claims: list[str]


def _numbers_under(*keys: str) -> Any:
    """Return a field for numbers of contexts: the key that the prompt asks for, then other keys that replies have."""
    return Field(default_factory=list, validation_alias=AliasChoices(*keys), serialization_alias=keys[0])


class Verdict(BaseModel):
    """The verdict on one claim."""  # short, because the schema sends it with every question

    # The reason comes first, so that a model thinks before it decides. Replies to earlier versions of the prompt are read too:
    # up to version 2 they named no contexts, and up to version 4 they had ``supported`` in addition to the lists.

    number: int
    # a verdict without a reason is still a verdict
    reason: str = Field(default="", description="briefly")
    supported_by: list[int] = _numbers_under("for", "supported_by", "supports")
    contradicted_by: list[int] = _numbers_under("against", "contradicted_by", "contradicts")
    contradicted: SkipJsonSchema[bool] = False  # asked for until version 2 of the prompt
    supported: SkipJsonSchema[bool] = False  # asked for until version 4

    @model_validator(mode="after")
    def _supported_by_a_context(self) -> Verdict:
        """Require the two lists or the flags of earlier versions, and derive ``supported`` from the list where it is not given.

        A missing list is not an empty list: a reply that was cut before ``against`` would turn a contradicted claim into one that
        is not stated.
        """
        fields_set = self.__pydantic_fields_set__
        if "supported" not in fields_set:
            if "supported_by" not in fields_set:
                raise ValueError("for is missing")
            if "contradicted_by" not in fields_set and "contradicted" not in fields_set:
                raise ValueError("against is missing")
            # not through the attribute, so that it does not count as given
            vars(self)["supported"] = bool(self.supported_by)
        return self

    @model_serializer(mode="wrap")
    def _as_asked(self, dump: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Dump the verdict with the keys of replies, as in examples. Flags of earlier versions are left out unless they were
        given.
        """
        dumped: dict[str, Any] = dump(self)
        unasked = {"supported", "contradicted"} - self.model_fields_set if info.by_alias else set[str]()
        return {name: value for name, value in dumped.items() if name not in unasked}

    @property
    def names_contexts(self) -> bool:
        """Whether the reply names the contexts that support the claim, as replies do since version 3 of the prompt."""
        return "supported_by" in self.__pydantic_fields_set__


ON_CONTRADICTIONS = frozenset({"supported_by", "contradicted_by", "contradicted"})
"""Fields that show that a reply distinguishes contradicted claims from claims that the contexts do not mention."""


class Verdicts(BaseModel):
    """One verdict per claim."""

    verdicts: list[Verdict]


EXTRACT_CLAIMS = Prompt(
    name="extract_claims",
    version="5",
    instructions=(f"Split the answer into claims, in its order and language. {CLAIMS} Without claims: an empty list."),
    reply=JsonReply(Claims),
    examples=(
        Example(
            {
                "question": "Is the castle open on Mondays?",
                "answer": "Good question! Yes, and perhaps from 9 if it is dry. I love it. You should book ahead. "
                "The leaflet gives no prices.",
            },
            Claims(
                claims=[
                    "The castle is open on Mondays.",
                    "The castle is perhaps open from 9 on Mondays if it is dry.",
                    "You should book ahead for the castle.",
                ]
            ),
        ),
    ),
    check=check_claims,
)

VERIFY_CLAIMS = Prompt(
    name="verify_claims",
    version="6",
    instructions=(
        f"Which contexts support each claim, which contradict it? {CONTEXTS_ALONE} The question only explains the claims.\n"
        f"for: contexts that support it. {SUPPORT}\n"
        "against: contexts that make the claim false (another date or number). A silent context is in no list.\n"
        'A context is in one list at most; if it says both, in "for". Give one verdict per claim.'
    ),
    reply=JsonReply(Verdicts),
    examples=(
        Example(
            {
                "question": "When did the museum open?",
                "contexts": ["The museum was to open in May 1931.", "It opened in June 1931."],
                "claims": ["The museum opened in May 1931.", "The museum opened in 1931.", "The museum is free."],
            },
            Verdicts.model_validate(
                {
                    "verdicts": [
                        {"number": 1, "reason": "It opened in June.", "for": [], "against": [2]},
                        {"number": 2, "reason": "June 1931.", "for": [2], "against": []},
                        {"number": 3, "reason": "No price is given.", "for": [], "against": []},
                    ]
                }
            ),
        ),
    ),
    check=check_verdicts,
    numbered=("contexts", "claims"),
    listed="claims",
)


def claims_in(prompt: Prompt[Claims], question: str | None, answer: str) -> Steps[PlacedClaims]:
    """Split an answer into claims, in one call. The claims keep their order and know their places; items such as "no claims" are
    left out.

    Metrics that ask for the claims of the same answer share the result.
    """
    return prompt.ask_for(_placed_claims, question=question, answer=answer)


def _placed_claims(reply: Claims, inputs: Mapping[str, Any]) -> PlacedClaims:
    return PlacedClaims.of(real_items(reply.claims), inputs["answer"])


CLOSED = frozenset({str, bool, tuple})
"""The types of values in a usual row; all are immutable."""


def evidence(
    prompt: Prompt[Verdicts],
    claims: Sequence[str],
    contexts: Sequence[str],
    question: str | None,
    extras: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
) -> Steps[Evidence]:
    """Check every claim against the contexts in one call. The result has one row per claim, in order.

    A row is ``{"claim", "supported", "reason", "verdict", "supported_by", "contradicted_by"}``. ``verdict`` is ``supported``,
    ``contradicted`` or ``not stated``; the last two hold numbers of contexts, from 1. If a context contradicts the claim, the row
    also has ``"contradicted": True``. A claim can be both supported and contradicted, if the contexts disagree.

    Replies to earlier prompts have less. If a reply names no contexts, the rows lack ``supported_by`` and ``contradicted_by``. If
    it does not speak of contradictions either, they also lack ``verdict``, because an unsupported claim may then be contradicted
    or not stated.

    Metrics that ask with the same ``extras`` share the rows; see ``Evidence``.
    """
    texts = contexts.copy() if isinstance(contexts, list) else list(contexts)
    return prompt.ask_for(_evidence, extras, question=question, contexts=texts, claims=list(claims))


def _evidence(reply: Verdicts, inputs: Mapping[str, Any], extras: Callable[[], Any] | None) -> Evidence:
    rows = _rows(reply, inputs)
    # the usual case: the values are immutable, and the tuples hold whole numbers
    if all(CLOSED.issuperset(map(type, row.values())) for row in rows):
        return Evidence.of_closed(map(MappingProxyType, rows), extras)
    return Evidence(rows, extras)


def _rows(reply: Verdicts, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    verdicts = sorted(reply.verdicts, key=attrgetter("number"))
    says = any(not ON_CONTRADICTIONS.isdisjoint(getattr(verdict, "model_fields_set", ())) for verdict in verdicts)
    sent = len(inputs["contexts"])
    return [_row(claim, verdict, sent, says) for claim, verdict in zip(inputs["claims"], verdicts, strict=True)]


def _row(claim: str, verdict: Verdict, sent: int, says_contradicted: bool) -> dict[str, Any]:
    """Return the evidence for one claim. Verdicts of a user's own model may have only ``number`` and ``supported``."""
    supported = verdict.supported
    row = {"claim": claim, "supported": supported, "reason": getattr(verdict, "reason", "")}
    contradicting = once_each(getattr(verdict, "contradicted_by", ()))
    flagged = getattr(verdict, "contradicted", False)
    if getattr(verdict, "names_contexts", False):
        supporting = once_each(verdict.supported_by)
        if sent == 1:  # the verdict can only mean this context
            supporting = supporting or (1,) * supported
            contradicting = contradicting or (1,) * flagged
        row["verdict"] = in_words(bool(supporting), bool(contradicting))
        row["supported_by"] = supporting
        row["contradicted_by"] = contradicting
    flagged = bool(contradicting) or flagged
    if says_contradicted and "verdict" not in row:
        row["verdict"] = in_words(supported, flagged)
    if flagged:
        row["contradicted"] = True
    return row


OPTIONAL = frozenset({"verdict", "supported_by", "contradicted_by"})
"""Keys that a row has only if the reply gave them."""


def in_words(supported: bool, contradicted: bool) -> str:
    """Return the verdict in words. A claim that any context supports is supported."""
    return "supported" if supported else "contradicted" if contradicted else "not stated"


def best(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge the rows of several calls about one claim, each with other contexts. The claim is supported if any of the rows
    supports it.

    A single call with all contexts follows the same rule, so the verdict does not depend on how the contexts were divided: a
    claim that one passage supports is supported, and what another passage says against it is flagged. All rows must number the
    contexts in the same way.
    """
    if len(answers) == 1:
        return answers[0]
    chosen = next((number for number, answer in enumerate(answers) if answer["supported"]), None)
    against = [answer for answer in answers if answer.get("contradicted")]
    merged: dict[str, Any] = {"contradicted": True} if against else {}
    if all("supported_by" in answer for answer in answers):
        for name in ("supported_by", "contradicted_by"):
            merged[name] = sorted({number for answer in answers for number in answer[name]})
    if all("verdict" in answer for answer in answers):
        merged["verdict"] = in_words(chosen is not None, bool(against))
    # a key that one of the calls left out is left out
    first = {name: value for name, value in answers[chosen or 0].items() if name not in OPTIONAL}
    if chosen is not None:
        return {**first, "window": chosen + 1, **merged}
    reasons = filter(None, (answer["reason"] for answer in against or answers))
    return {**first, "reason": " / ".join(reasons), **merged}


def supported_share(verdicts: Sequence[Mapping[str, Any]]) -> float:
    """Return the number of supported verdicts, divided by the number of verdicts."""
    return sum(verdict["supported"] for verdict in verdicts) / len(verdicts)
