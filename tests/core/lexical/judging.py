"""The offline judge, asked as metrics ask it: by the name of a prompt and its inputs."""

from __future__ import annotations

import json
import re
from typing import Any

from ragmetrics_core import Prompt
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.replies import YesNoReply


def judged(prompt: str, **inputs: Any) -> Any:
    """What the judge replies to the prompt of that name, as JSON."""
    (ask,) = next(Prompt("Judge the data.", YesNoReply(), name=prompt).ask(**inputs))
    return json.loads(LexicalJudge().generate(ask).value)


def split_claims(question: str | None, answer: str) -> list[str]:
    claims: list[str] = judged("extract_claims", question=question, answer=answer)["claims"]
    return claims


def verify(claims: list[str], contexts: list[str]) -> list[dict[str, Any]]:
    """The verdicts on the claims: ``for`` and ``against`` list the contexts, numbered from 1."""
    verdicts: list[dict[str, Any]] = judged("verify_claims", claims=claims, contexts=contexts)["verdicts"]
    return verdicts


def percent(reply: dict[str, Any]) -> int:
    """The share that a reason gives."""
    found = re.search(r"(\d+)%", reply["reason"])
    assert found is not None
    return int(found[1])
