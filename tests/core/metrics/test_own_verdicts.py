"""Verdicts of a user's own model are checked, and become evidence, whatever it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply, Metric, Prompt, Score, Steps, evaluate
from ragmetrics_core.metrics.claims import check_verdicts, evidence
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
class Numbered:
    """Reads any reply as one verdict whose contexts come in this form."""

    kind: Any
    schema = None

    def instructions(self) -> str:
        return "Reply."

    def parse(self, text: str) -> Any:
        by = self.kind([2, 1, 2])
        return OwnVerdicts.model_construct(
            verdicts=[OwnVerdict.model_construct(number=1, supported=True, supported_by=by)]
        )


@dataclass(frozen=True)
class Verified(Metric):
    kind: Any = list

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        prompt: Any = Prompt("Check.", Numbered(self.kind), name="own")
        rows = yield from evidence(prompt, ["It is here."], retrieved_contexts, "Where?")
        return Score(1.0, details={"rows": rows})


@pytest.mark.parametrize("kind", [list, tuple, set, iter])
def test_verdicts_of_ones_own_name_contexts_in_any_form(kind: Any) -> None:
    score = evaluate([ROW], Verified(kind), llm=ScriptedLLM("yes"), progress=False).scores["verified"][0]
    assert score.error is None
    assert score.details["rows"][0]["supported_by"] == [1, 2]
