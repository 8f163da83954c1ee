"""Verdicts of a user's own model are checked, and become evidence, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply, Metric, Models, Prompt, Score, Steps, evaluate, run
from ragmetrics_core.metrics.claims import Verdict, Verdicts, check_verdicts, evidence
from ragmetrics_core.testing import ScriptedLLM

ROW = {"retrieved_contexts": ["one", "two"]}


class OwnVerdict(BaseModel):
    """A user's own, which says that it names contexts."""

    number: int
    supported: bool
    supported_by: Any = ()
    contradicted_by: Any = ()
    contradicted: bool = False
    names_contexts: bool = True


class OwnVerdicts(BaseModel):
    verdicts: list[OwnVerdict]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"supported": True}, "claim 1 is said to be supported, but no context is named for it"),
        (
            {"supported": False, "supported_by": [1]},
            "claim 1 is said to be not supported, but context 1 is named for it",
        ),
        (
            {"supported": False, "contradicted": True},
            "claim 1 is said to be contradicted, but no context is named against it",
        ),
    ],
)
def test_verdicts_of_ones_own_that_name_contexts_are_checked(said: dict[str, Any], problem: str) -> None:
    reply: Any = OwnVerdicts(verdicts=[OwnVerdict(number=1, **said)])
    with pytest.raises(BadReply) as refused:
        check_verdicts(reply, {"claims": ["It is here."], "contexts": ["one", "two"]})
    assert refused.value.reason == problem


@dataclass(frozen=True)
class Reads:
    """A form of a user's own, which makes of any reply what this function returns."""

    make: Callable[[], Any]
    schema = None

    def instructions(self) -> str:
        return "Reply."

    def parse(self, text: str) -> Any:
        return self.make()


def numbered(kind: Any) -> Any:
    """One verdict whose contexts come in this form."""
    verdict = OwnVerdict.model_construct(number=1, supported=True, supported_by=kind([2, 1, 2]))
    return OwnVerdicts.model_construct(verdicts=[verdict])


def altered(reason: Any) -> Any:
    """One verdict, the reason of which is changed after it was validated."""
    verdict = Verdict.model_validate({"number": 1, "for": [2], "against": []})
    verdict.reason = reason
    return Verdicts(verdicts=[verdict])


def reading(make: Callable[[Any], Any], given: Any) -> Any:
    return Prompt("Check.", Reads(partial(make, given)), name="own")


@dataclass(frozen=True)
class Verified(Metric):
    kind: Any = list

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        rows = yield from evidence(reading(numbered, self.kind), ["It is here."], retrieved_contexts, "Where?")
        return Score(1.0, details={"rows": rows})


def rows_of(reason: Any) -> Any:
    program = evidence(reading(altered, reason), ["It is here."], ["one", "two"], "Where?")
    return run(program, Models(ScriptedLLM("yes")))


def test_what_was_changed_after_it_was_validated_is_closed_as_well() -> None:
    reason = ["it", "is"]
    rows = rows_of(reason)
    reason.append("there")
    assert rows[0]["reason"] == ("it", "is")
    with pytest.raises(ValueError, match="numbers in details must be finite"):
        rows_of(float("nan"))


def test_details_of_a_score_hold_rows_with_lists() -> None:
    lists = {"verdict": "supported", "supported_by": [2], "contradicted_by": []}
    rows = Score(1.0, details={"rows": rows_of("why")}).details["rows"]
    assert rows == [{"claim": "It is here.", "supported": True, "reason": "why", **lists}]


@pytest.mark.parametrize("kind", [list, tuple, set, iter])
def test_verdicts_of_ones_own_name_contexts_in_any_form(kind: Any) -> None:
    score = evaluate([ROW], Verified(kind), llm=ScriptedLLM("yes"), progress=False).scores["verified"][0]
    assert score.error is None
    assert score.details["rows"][0]["supported_by"] == [1, 2]
