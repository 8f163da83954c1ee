"""The two prompts that all claim metrics share: take a text apart into claims, check claims against texts.

Sharing them is what makes metrics cheap together: the same extraction of the same text, or the same check of the same claims, is
the same request, whichever metric makes it, so a run asks it once. It also makes their numbers comparable: faithfulness,
context recall and factual correctness count the same claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from ragmetrics_core import BadReply, Prompt, Steps
from ragmetrics_core.metrics.numbering import check_one_each
from ragmetrics_core.replies import JsonReply, real_items

__all__ = [
    "EXTRACT_CLAIMS",
    "VERIFY_CLAIMS",
    "Claims",
    "Verdict",
    "Verdicts",
    "best",
    "check_verdicts",
    "extract",
    "in_words",
    "supported_share",
    "verify",
]


class Claims(BaseModel):
    """The claims of a text."""

    claims: list[str]


class Verdict(BaseModel):
    """The verdict on one claim; the reason comes first, so that a model thinks before it decides.

    Replies in the form of earlier versions, which named no contexts, are read as well: ``supported_by`` is not in
    ``model_fields_set`` then.
    """

    number: int
    # a model that forgets the reason has still given its verdict
    reason: str = Field(default="", description="what the contexts say, briefly")
    supported_by: list[int] = Field(default_factory=list)
    contradicted_by: list[int] = Field(default_factory=list)
    contradicted: SkipJsonSchema[bool] = False  # asked for until version 2 of the prompt
    supported: bool

    @property
    def names_contexts(self) -> bool:
        """Whether the reply says which contexts support the claim, as the form has it from version 3 of the prompt on."""
        return "supported_by" in self.model_fields_set


class Verdicts(BaseModel):
    """One verdict per claim."""

    verdicts: list[Verdict]


def check_verdicts(reply: Verdicts, inputs: Mapping[str, Any]) -> None:
    """Every claim has exactly one verdict, which names contexts that were sent, and some exactly if the claim is supported.

    A missing, doubled or invented verdict would change the score, and so would a context that nobody sent.

    Raises:
        BadReply: one of these does not hold.
    """
    check_one_each((verdict.number for verdict in reply.verdicts), len(inputs["claims"]), "claims")
    for verdict in reply.verdicts:
        _check_contexts(verdict, len(inputs["contexts"]))


def _check_contexts(verdict: Verdict, sent: int) -> None:
    for name, named in (("supported_by", verdict.supported_by), ("contradicted_by", verdict.contradicted_by)):
        if named and not 1 <= min(named) <= max(named) <= sent:
            unknown = next(number for number in named if not 1 <= number <= sent)
            raise BadReply(f"claim {verdict.number}: {name} names context {unknown}, but the contexts are 1 to {sent}")
    if verdict.supported is bool(verdict.supported_by):
        return
    if not verdict.supported:
        named_ones = ", ".join(map(str, verdict.supported_by))
        raise BadReply(
            f"claim {verdict.number} is said to be not supported, but supported_by names context {named_ones}"
        )
    if verdict.names_contexts and sent > 1:  # of a single one there is no doubt
        raise BadReply(f"claim {verdict.number} is said to be supported, but supported_by names no context")


EXTRACT_CLAIMS = Prompt(
    name="extract_claims",
    version="3",
    instructions=(
        "Take the answer apart into claims: statements of one fact, each true or false on its own.\n"
        "- Cover all that it states, in its order and its language, and add nothing. A condition stays with its claim; an item of "
        'a list is a claim if it could be wrong alone; alternatives (as "1983; June 1983") are one claim, with "or".\n'
        "- Make every claim understandable alone: names for pronouns and short forms come from the answer or the question; where "
        "there is none, keep the pronoun.\n"
        "- A word or two (a name, a number, yes, no) become a sentence with the help of the question; agreement where nothing was "
        "asked is no claim.\n"
        '- Claims too: advice, guesses, evaluations ("is important"), facts of the writer\'s own life. No claims: opinions, '
        "feelings, greetings, offers, questions, nonsense, remarks that something is not known or not in the sources. Without "
        "claims the list is empty."
    ),
    reply=JsonReply(Claims),
)

VERIFY_CLAIMS = Prompt(
    name="verify_claims",
    version="4",
    instructions=(
        "Decide for each numbered claim which numbered contexts support and which contradict it.\n"
        "- A context supports a claim if it states all of it, in any words, or a reader concludes it from there. Emphasis and "
        "praise need no support; every other detail does, be it a name, number, date, place, cause, or whether something was "
        "planned or done. Where only several contexts together support a claim, name these.\n"
        "- A context contradicts a claim if both cannot be true. One that leaves the claim or a detail of it open does neither.\n"
        "- Use the contexts alone, not what you know. The question tells what claims and pronouns are about.\n"
        "- One verdict per claim, in order; a claim may be both supported and contradicted."
    ),
    reply=JsonReply(Verdicts),
    check=check_verdicts,
    numbered=("contexts", "claims"),
    listed="claims",
)


def extract(prompt: Prompt[Claims], question: str | None, answer: str) -> Steps[list[str]]:
    """Take the answer apart in one call; its claims, in order, without items that only say that there are no claims."""
    reply = yield from prompt.ask(question=question, answer=answer)
    return real_items(reply.claims)


def verify(
    prompt: Prompt[Verdicts], claims: Sequence[str], contexts: Sequence[str], question: str | None = None
) -> Steps[list[dict[str, Any]]]:
    """Check every claim against the contexts in one call; one row per claim, in order.

    A row is ``{"claim", "supported", "reason", "verdict", "supported_by", "contradicted_by"}``: the verdict in words
    (``supported``, ``contradicted`` or ``not stated``) and the numbers of the contexts, from 1. Where a context contradicts the
    claim it also holds ``"contradicted": True``, so a claim that is supported and contradicted is one on which contexts disagree.
    A reply that names no contexts, as earlier prompts asked for, gives rows without the last three.
    """
    reply = yield from prompt.ask(question=question, contexts=list(contexts), claims=list(claims))
    verdicts = sorted(reply.verdicts, key=lambda verdict: verdict.number)
    return [_row(claim, verdict, len(contexts)) for claim, verdict in zip(claims, verdicts, strict=True)]


def _row(claim: str, verdict: Verdict, sent: int) -> dict[str, Any]:
    """The evidence for one claim; the verdicts of a user's own model may have no more than ``number`` and ``supported``."""
    row = {"claim": claim, "supported": verdict.supported, "reason": getattr(verdict, "reason", "")}
    against = sorted(set(getattr(verdict, "contradicted_by", ())))
    if getattr(verdict, "names_contexts", False):
        by = sorted(set(verdict.supported_by))
        if verdict.supported and not by and sent == 1:
            by = [1]  # there is only one that it can be
        row |= {"verdict": in_words(bool(by), bool(against)), "supported_by": by, "contradicted_by": against}
    return row | ({"contradicted": True} if against or getattr(verdict, "contradicted", False) else {})


def in_words(supported: bool, contradicted: bool) -> str:
    """What contexts say of a claim; one that any of them supports is supported."""
    return "supported" if supported else "contradicted" if contradicted else "not stated"


def best(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The rows of several calls on one claim, each with other contexts, as one: supported if any of them supports it.

    That is the rule of a single call as well, so a verdict does not depend on how the contexts were cut: what one passage supports
    is supported, and what another one says against it is flagged. The numbers of contexts are taken to mean the same in all rows.
    """
    if len(answers) == 1:
        return answers[0]
    chosen = next((number for number, answer in enumerate(answers) if answer["supported"]), None)
    against = [answer for answer in answers if answer.get("contradicted")]
    merged: dict[str, Any] = {"contradicted": True} if against else {}
    if all("supported_by" in answer for answer in answers):
        for name in ("supported_by", "contradicted_by"):
            merged[name] = sorted({number for answer in answers for number in answer[name]})
        merged["verdict"] = in_words(chosen is not None, bool(against))
    if chosen is not None:
        return {**answers[chosen], "window": chosen + 1, **merged}
    reasons = filter(None, (answer["reason"] for answer in against or answers))
    return {**answers[0], "reason": " / ".join(reasons), **merged}


def supported_share(verdicts: Sequence[Mapping[str, Any]]) -> float:
    """Supported verdicts / all verdicts."""
    return sum(verdict["supported"] for verdict in verdicts) / len(verdicts)
