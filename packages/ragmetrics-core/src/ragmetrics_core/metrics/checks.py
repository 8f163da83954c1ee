"""Checks of the content of replies. A reply that fails a check is a ``BadReply``, so the judge is asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragmetrics_core import BadReply
from ragmetrics_core.replies import is_chat

__all__ = ["check_claims", "check_halves", "check_one_each", "check_verdicts", "once_each"]

JUST_NUMBERS = frozenset({int})


def check_halves(reply: tuple[float, str], _: Mapping[str, Any]) -> None:
    """Check that the score of a reply is a multiple of 0.5.

    Raises:
        BadReply: it is not.
    """
    if not (2 * reply[0]).is_integer():
        raise BadReply(f"the score must be a multiple of 0.5, got {reply[0]:g}")


def check_one_each(numbers: Iterable[int], count: int, things: str) -> None:
    """Check that every number from 1 to ``count`` occurs exactly once. A missing, repeated or invented verdict would change the
    score.

    Args:
        numbers: the numbers in the reply, in any order.
        count: how many items were sent.
        things: what the items are, such as ``claims``, for the message.

    Raises:
        BadReply: a number is missing, repeated or invented.
    """
    ordered = sorted(numbers)
    if ordered != list(range(1, count + 1)):
        raise BadReply(f"exactly one verdict is needed for each of the {things} 1 to {count}, got numbers {ordered}")


def once_each(numbers: Iterable[Any]) -> Sequence[Any]:
    """Sort numbers and remove duplicates. The result is a tuple if all of them are ints, else a list."""
    given = tuple(numbers)
    if not given:
        return given  # the usual case: one of the two lists of a verdict is empty
    found = sorted(set(given))
    return tuple(found) if JUST_NUMBERS.issuperset(map(type, given)) else found


def check_claims(reply: Any, inputs: Mapping[str, Any]) -> None:
    """Check that a list of claims has other items than greetings, offers and questions, which are small talk or copied text.

    Raises:
        BadReply: all items are of these kinds.
    """
    claims = reply.claims
    if not claims or not is_chat(claims[0]):
        return  # the usual case
    source = f"{inputs.get('question')}\n{inputs.get('answer')}"
    if all(is_chat(claim, source) for claim in claims):
        raise BadReply(
            "greetings, offers and questions are no claims: list the statements of the answer, or give an empty list"
        )


def check_verdicts(reply: Any, inputs: Mapping[str, Any]) -> None:
    """Check that every claim has exactly one verdict, that a verdict names only contexts that were sent, and that a claim called
    "supported" names some.

    A missing, repeated or invented verdict would change the score, and so would a context that was not sent.

    Raises:
        BadReply: one of these conditions is not met.
    """
    check_one_each([verdict.number for verdict in reply.verdicts], len(inputs["claims"]), "claims")
    number_sent = len(inputs["contexts"])
    contexts = frozenset(range(1, number_sent + 1))
    for verdict in reply.verdicts:
        _check_contexts(verdict, contexts)


def _check_contexts(verdict: Any, contexts: frozenset[int]) -> None:
    by, against = getattr(verdict, "supported_by", ()), getattr(verdict, "contradicted_by", ())
    flagged = getattr(verdict, "contradicted", False)
    if not against and not flagged and contexts.issuperset(by) and verdict.supported is bool(by):
        return  # the usual case
    for number in (*by, *against):
        if number not in contexts:
            raise BadReply(
                f"claim {verdict.number}: context {number} is named, but the contexts are 1 to {len(contexts)}"
            )
    if both := sorted(set(by).intersection(against)):
        listed = ", ".join(map(str, both))
        raise BadReply(f"claim {verdict.number}: context {listed} is both for and against it; name it on one side only")
    if not hasattr(verdict, "names_contexts"):
        return  # a user's own model, which says in another way whether the claim is supported
    if "contradicted" in verdict.model_fields_set:  # the flag of earlier versions
        _check_flag(verdict, "contradicted", against, "against", len(contexts))
    _check_flag(verdict, "supported", by, "for", len(contexts))


def _check_flag(verdict: Any, flag: str, named: Sequence[int], side: str, sent: int) -> None:
    """Check that a flag agrees with the list of contexts on its side. If a single context was sent, the flag alone is enough."""
    flagged = getattr(verdict, flag)
    if named and not flagged:
        contexts = ", ".join(map(str, named))
        raise BadReply(f"claim {verdict.number} is said to be not {flag}, but context {contexts} is named {side} it")
    if flagged and not named and verdict.names_contexts and sent > 1:
        raise BadReply(f"claim {verdict.number} is said to be {flag}, but no context is named {side} it")
