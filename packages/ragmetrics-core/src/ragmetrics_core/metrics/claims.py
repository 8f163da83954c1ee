"""The two prompts that all claim metrics share: take a text apart into claims, check claims against texts.

Sharing them is what makes metrics cheap together: the same extraction of the same text, or the same check of the same claims, is
the same request, whichever metric makes it, so a run asks it once. It also makes their numbers comparable: faithfulness,
context recall and factual correctness count the same claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from ragmetrics_core import BadReply, Example, Prompt, Steps
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
    "supported_share",
    "verify",
]


class Claims(BaseModel):
    """The claims of a text."""

    claims: list[str]


class Verdict(BaseModel):
    """The verdict on one claim; the reason comes first, so that a model thinks before it decides."""

    number: int
    # a model that forgets the reason has still given its verdict
    reason: str = Field(default="", description="what the contexts say about it, in one short sentence")
    contradicted: bool = Field(default=False, description="whether a context says something else")
    supported: bool


class Verdicts(BaseModel):
    """One verdict per claim."""

    verdicts: list[Verdict]


def check_verdicts(reply: Verdicts, inputs: Mapping[str, Any]) -> None:
    """Every claim has exactly one verdict; a missing, doubled or invented one would change the score."""
    expected = list(range(1, len(inputs["claims"]) + 1))
    given = sorted(verdict.number for verdict in reply.verdicts)
    if given != expected:
        raise BadReply(
            f"exactly one verdict is needed for each of the claims 1 to {len(expected)}, got numbers {given}"
        )


EXTRACT_CLAIMS = Prompt(
    name="extract_claims",
    version="2",
    instructions=(
        "Take the answer apart into claims: statements of one fact each, true or false on their own.\n"
        "- Cover all that the answer states, in its order, and add nothing. Leave a condition with what it is a condition of.\n"
        "- Make every claim understandable alone: with the help of the question, if any, put names for pronouns and short forms. "
        "Where no name is given, keep the pronoun.\n"
        "- An answer of a word or two (a name, a number, yes, no) is one claim: complete it from the question.\n"
        "- Advice is a claim about what should be done. The writer's opinions and feelings, greetings, offers of help, questions, "
        "and remarks that something is not known or not in the sources are no claims. Without claims the list is empty.\n"
        "- Write the claims in the language of the answer."
    ),
    reply=JsonReply(Claims),
    examples=(
        Example(
            {
                "question": "Who designed the Sagrada Família?",
                "answer": "Antoni Gaudí took it over in 1883 and gave it its final shape. Happy to tell you more!",
            },
            Claims(
                claims=[
                    "Antoni Gaudí took over the Sagrada Família in 1883.",
                    "Antoni Gaudí gave the Sagrada Família its final shape.",
                ]
            ),
        ),
        Example(
            {"question": "Is the chapel open on Mondays?", "answer": "No. I found nothing about Tuesdays."},
            Claims(claims=["The chapel is not open on Mondays."]),
        ),
    ),
)

VERIFY_CLAIMS = Prompt(
    name="verify_claims",
    version="2",
    instructions=(
        "Decide for each numbered claim whether the contexts support it.\n"
        "- Supported: the contexts state all of it, in whatever words, or it follows from them directly.\n"
        "- Not supported: they leave it open or contradict it, or any detail (a name, number, date, place or cause) is missing or "
        "differs.\n"
        "- Where contexts contradict each other, a claim that any of them supports is supported, and contradicted as well.\n"
        "- Use the contexts alone; that a claim is true in the world does not count.\n"
        "- Give exactly one verdict per claim, under its number, in the order of the claims."
    ),
    reply=JsonReply(Verdicts),
    examples=(
        Example(
            {
                "contexts": [
                    "The Tay Bridge opened in 1887. It replaced one that fell in 1879.",
                    "The Tay Bridge dates from 1886.",
                ],
                "claims": ["The Tay Bridge was opened in 1887.", "The first Tay Bridge fell in a storm."],
            },
            Verdicts(
                verdicts=[
                    Verdict(number=1, reason="One says 1887, another 1886.", contradicted=True, supported=True),
                    Verdict(number=2, reason="It fell, but no storm is mentioned.", supported=False),
                ]
            ),
        ),
    ),
    check=check_verdicts,
    numbered=("claims",),
)


def extract(prompt: Prompt[Claims], question: str | None, answer: str) -> Steps[list[str]]:
    """Take the answer apart in one call; its claims, in order, without items that only say that there are no claims."""
    reply = yield from prompt.ask(question=question, answer=answer)
    return real_items(reply.claims)


def verify(prompt: Prompt[Verdicts], claims: Sequence[str], contexts: Sequence[str]) -> Steps[list[dict[str, Any]]]:
    """Check every claim against the contexts in one call; one ``{"claim", "supported", "reason"}`` per claim, in order.

    Where a context says something else, the verdict also holds ``"contradicted": True``.
    """
    reply = yield from prompt.ask(contexts=list(contexts), claims=list(claims))
    verdicts = sorted(reply.verdicts, key=lambda verdict: verdict.number)
    return [
        {
            "claim": claim,
            "supported": verdict.supported,
            "reason": verdict.reason,
            # the verdicts of a custom prompt may not have this field
            **({"contradicted": True} if getattr(verdict, "contradicted", False) else {}),
        }
        for claim, verdict in zip(claims, verdicts, strict=True)
    ]


def best(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The verdicts of several windows of context on one claim, as one: supported if any of them supports it.

    That is the rule of a single call as well, so a verdict does not depend on how the contexts were cut: what one passage supports
    is supported, and what another one says against it is flagged.
    """
    if len(answers) == 1:
        return answers[0]
    flag = {"contradicted": True} if any(answer.get("contradicted") for answer in answers) else {}
    for number, answer in enumerate(answers, 1):
        if answer["supported"]:
            return {**answer, "window": number, **flag}
    return {**answers[0], "reason": " / ".join(filter(None, (answer["reason"] for answer in answers))), **flag}


def supported_share(verdicts: Sequence[Mapping[str, Any]]) -> float:
    """Supported verdicts / all verdicts."""
    return sum(verdict["supported"] for verdict in verdicts) / len(verdicts)
