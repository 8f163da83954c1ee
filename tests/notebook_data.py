"""Everything that a notebook shows, made of one text in every place where a text may stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ragmetrics_core import BadReply, Document, Metric, Sample, Score, Testset, evaluate
from report_data import XSS

HOSTILE = [
    *XSS,
    "</td></tr></table><script>window.hacked = 1</script>",
    "</details></div></div><script>window.hacked = 1</script>",
    "</p></li></ul></ol><img src=x onerror=window.hacked=1>",
    "` onmouseover=window.hacked=1",
    "<?xml version='1.0'?><script>window.hacked = 1</script>",
    "<!DOCTYPE html><script>window.hacked = 1</script>",
    "\x00<scr\x00ipt>window.hacked = 1</scr\x00ipt>",
]
"""Texts that would run a script or change the markup if they were read as markup."""

KINDS = ["score", "failed", "evaluation", "summary", "worst", "comparison", "testset"]


@dataclass(frozen=True)
class Errors(Metric):
    """Low is good; everything in its evidence is the response."""

    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str, reference: str) -> Score:
        if reference == "lost":
            return Score.failed(BadReply(f"none {response}", [response]))
        if reference == "none":
            return Score.unscored(response, label=response)
        verdict = {"claim": response, "supported": False, "reason": response, "verdict": response, "supported_by": [1]}
        details = {"verdicts": [verdict, verdict], "ratings": [2], "reasons": [response], response: response}
        return Score(len(reference) / 10, passing=False, reason=response, label=response, details=details)


@dataclass(frozen=True)
class Likeness(Metric):
    """High is good; it looks at the reference alone."""

    def measure(self, reference: str) -> Score:
        return Score(len(reference) / 10)


def outputs(text: str) -> dict[str, Any]:
    """Everything that a notebook may show of data in which every text is this one."""
    turns = [{"role": text, "content": text, "retrieved_contexts": [text]}, text]
    row = {
        "history": turns,
        "user_input": text,
        "response": text,
        "contexts": [text, text],
        f"k{text}": text,
        "lang": text,
    }
    rows = [Sample.from_mapping({**row, "reference": "x" * number, "id": f"{text}{number}"}) for number in range(1, 6)]
    others = [Sample.from_mapping({**row, "reference": word, "id": f"{text}{word}"}) for word in ("lost", "none")]
    metrics = [Errors(name=f"m{text}"), Likeness(name=f"l{text}")]
    found = replace(evaluate([*rows, *others], metrics, progress=False), source=text, caveats=(text,), stopped=text)
    later = evaluate([replace(sample, reference="xx") for sample in rows], metrics, progress=False)
    documents = [Document(id=text, content=text)]
    samples = [replace(sample, reference_contexts=[text], retrieved_documents=documents) for sample in rows]
    return {
        "score": found.scores[f"m{text}"][0],
        "failed": found.scores[f"m{text}"][5],
        "evaluation": found,
        "summary": replace(found.summary(by="lang"), seconds=None, waited={text: 1.0}),
        "worst": found.worst(f"m{text}", 9),
        "comparison": found.compare(later, by="lang", allow_different_judges=True),
        "testset": Testset(tuple(samples), missing=(text,), stopped=text),
    }
