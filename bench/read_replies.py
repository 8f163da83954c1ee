"""How many raw replies of real judges the reply formats read as a person reads them.

    python bench/read_replies.py [FOLDER]

FOLDER holds ``judge_outputs.jsonl`` (default: the environment variable RAGMETRICS_DATA, else ../shared/data). Every record has the
raw reply and its intended reading; null means that there is no honest one. "wrong" is a value where another or none was
meant, "bad reply" a refusal where a value was meant. Records marked low in certainty are left out. Lines in brackets are of kinds
that no metric of this library uses; they show how the rules carry over.

The table before counts the same for the files in ``tests/core/replies/data``: replies written for this project in the habits of
current models, read by the prompts of the metrics. The README beside them says how they were made.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from ragmetrics_core import BadReply, Prompt
from ragmetrics_core._kernel._wording import Asked, ReplyText
from ragmetrics_core._testset._kinds import WRITE_QUESTIONS
from ragmetrics_core._values._requests import Reply
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerOrAbstain,
    AnswerRelevancy,
    ContextPrecision,
    ContextRelevance,
    ContextRelevanceRating,
    Correctness,
    Guideline,
    PairwiseComparison,
    Relevancy,
    RelevantStatements,
    RubricScore,
    SinglePassFaithfulness,
)
from ragmetrics_core.metrics.claims import EXTRACT_CLAIMS, VERIFY_CLAIMS
from ragmetrics_core.replies import JsonReply, RatingReply, ReplyFormat, ScoreReply, YesNoReply, real_items


class Claims(BaseModel):
    statements: list[str]


class Questions(BaseModel):
    questions: list[str]
    noncommittal: Literal[0, 1] | None = None


class Verdict(BaseModel):
    statement: str = ""
    reason: str | None = None
    verdict: Literal[0, 1, "idk"]


class Verdicts(BaseModel):
    statements: list[Verdict]


COUNTED = ("yes_no", "score_1_5", "rating_0_2", "rating_0_4", "statements", "verdicts", "questions")
HABITS = Path(__file__).resolve().parents[1] / "tests" / "core" / "replies" / "data"
OTHERS = ("rating_1_10", "rating_0_1", "rating_0_10", "rating_0_100", "rating_0_3", "rating_1_5")


class Reading(NamedTuple):
    """What a format read in one record: right, wrong or bad reply, and the seconds it took."""

    outcome: str
    seconds: float


class Tally(NamedTuple):
    """The counts of one kind."""

    records: int
    right: int
    wrong: int
    bad: int
    seconds: float

    def row(self, label: str) -> str:
        share = 100 * self.right / self.records
        micros = 1e6 * self.seconds / self.records
        return f"{label:<16}{self.records:>8}{self.right:>8}{self.wrong:>8}{self.bad:>11}{share:>9.1f}{micros:>13.0f}"


def _named(*names: str) -> Callable[[Any], Any]:
    """The values of these attributes, in a list unless there is one name."""
    return lambda value: [getattr(value, name) for name in names] if len(names) > 1 else getattr(value, names[0])


def _first(value: Any) -> Any:
    return value[0]


PROMPTS: dict[str, tuple[Prompt[Any], Callable[[Any], Any]]] = {
    "yes_no": (Relevancy().first, _first),
    "rating_0_2": (ContextRelevance().first, _first),
    "rating_0_4": (AnswerAccuracy().first, _first),
    "score_1_5": (Correctness().grade, _first),
    "score_0_4": (ContextRelevanceRating().first, _first),
    "rubric": (RubricScore().grade, _named("score")),
    "pairwise": (PairwiseComparison().compare, _named("better")),
    "guideline": (Guideline(guidelines="It is polite.").critique, _named("passing")),
    "useful": (ContextPrecision().judge, _named("useful")),
    "useful_all": (
        ContextPrecision().judge_all,
        lambda value: [item.useful for item in sorted(value.verdicts, key=_named("number"))],
    ),
    "abstention": (AnswerOrAbstain().judge, _named("contexts_suffice", "response_declines")),
    "verdicts": (
        VERIFY_CLAIMS,
        lambda value: [
            [item.supported_by, item.contradicted_by] for item in sorted(value.verdicts, key=_named("number"))
        ],
    ),
    "claims": (EXTRACT_CLAIMS, lambda value: real_items(value.claims)),
    "relevant": (RelevantStatements().find, lambda value: real_items(value.relevant_statements)),
    "questions": (AnswerRelevancy().ask_back, _named("questions", "noncommittal")),
    "lines": (WRITE_QUESTIONS, lambda value: value),
    "single_pass": (SinglePassFaithfulness().judge, _named("statements", "statement_scores")),
}
"""The prompt that reads each kind of the second collection, and what turns its value into the form of ``expected``."""


def read_habit(record: dict[str, Any]) -> Reading:
    """Read one record of the second collection as a metric reads it, with the check of its prompt."""
    prompt, as_expected = PROMPTS[record["kind"]]
    numbered = [f"number {number} of the texts" for number in range(1, record.get("n", 3) + 1)]
    contexts = (
        numbered if record["kind"] == "useful_all" else ["Adults pay 9 euros.", "Children get in free.", "A café."]
    )
    contexts = contexts + [f"text {number}" for number in range(4, record.get("contexts", 0) + 1)]
    inputs = {
        "question": "Is it so?",
        "response": "It is.",
        "contexts": contexts,
        "claims": numbered,
        "rubric": dict.fromkeys("12345", "a description"),
    }
    started = time.perf_counter()
    try:
        got = as_expected(prompt.read(Reply(record["raw"]), inputs))
    except BadReply:
        got = None
    seconds = time.perf_counter() - started
    if got == record["expected"]:
        return Reading("right", seconds)
    return Reading("bad reply" if got is None else "wrong", seconds)


def tally_habits(records: Iterable[dict[str, Any]]) -> dict[str, Tally]:
    """The counts per kind of the second collection, and of all of it."""
    readings: dict[str, list[Reading]] = {kind: [] for kind in (*PROMPTS, "all of them")}
    for record in records:
        reading = read_habit(record)
        readings[record["kind"]].append(reading)
        readings["all of them"].append(reading)
    return {kind: _sum(found) for kind, found in readings.items() if found}


def load_habits() -> list[dict[str, Any]]:
    """The records of the second collection."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(HABITS.glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def kind_of(record: dict[str, Any]) -> str:
    return record["kind_detail"] if record["kind"] == "other" else record["kind"]


def format_for(record: dict[str, Any]) -> tuple[ReplyFormat[Any], Callable[[Any], Any]] | None:
    """The format that reads a record, and what turns its value into the form of ``expected``; None for other kinds."""
    kind = kind_of(record)
    if kind == "yes_no":
        return YesNoReply(), lambda value: {"answer": value}
    if kind in {"rating_0_2", "rating_0_4"}:
        menu = record.get("allowed_values") or range(int(kind[-1]) + 1)
        return RatingReply(menu), lambda value: {"rating": value}
    if kind == "score_1_5":
        return ScoreReply(1, 5), lambda value: {"score": value[0]}
    if kind in OTHERS:
        return ScoreReply(*record["scale"]), lambda value: {"score": value[0]}
    if kind == "statements":
        return JsonReply(Claims), lambda value: value.model_dump()
    if kind == "questions":
        return JsonReply(Questions), lambda value: value.model_dump(exclude_none=True)
    if kind == "verdicts":
        return JsonReply(Verdicts), lambda value: {"verdicts": [item.verdict for item in value.statements]}
    return None


def read(record: dict[str, Any]) -> Reading:
    """Read one record and compare with what was meant; the number of verdicts is checked as a prompt checks it."""
    found = format_for(record)
    assert found is not None, record["id"]
    reply, as_expected = found
    started = time.perf_counter()
    try:
        value = reply.parse(ReplyText(record["raw"], Asked(count=record.get("n_expected"))))
    except BadReply:
        value = None
    seconds = time.perf_counter() - started
    got = None if value is None else as_expected(value)
    if got is not None and "verdicts" in got and len(got["verdicts"]) != record["n_expected"]:
        got = None
    meant = [record["expected"], *record.get("also_accept", [])]
    if any(_same(got, reading) for reading in meant):
        return Reading("right", seconds)
    return Reading("bad reply" if got is None else "wrong", seconds)


def _same(got: dict[str, Any] | None, meant: dict[str, Any] | None) -> bool:
    if got is None or meant is None:
        return got is meant
    # Reasons are not compared, and a field that nobody annotated is not either.
    return all(got.get(key) == value for key, value in meant.items() if key != "reason")


def load(folder: Path) -> list[dict[str, Any]]:
    """The records that count: those whose intended reading is certain."""
    with (folder / "judge_outputs.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [record for record in records if record["certainty"] != "low"]


def tally(records: Iterable[dict[str, Any]]) -> dict[str, Tally]:
    """The counts per kind, in the order of the kinds."""
    readings: dict[str, list[Reading]] = {kind: [] for kind in (*COUNTED, *OTHERS)}
    for record in records:
        if kind_of(record) in readings:
            readings[kind_of(record)].append(read(record))
    return {kind: _sum(found) for kind, found in readings.items() if found}


def _sum(readings: list[Reading]) -> Tally:
    outcomes = Counter(reading.outcome for reading in readings)
    seconds = sum(reading.seconds for reading in readings)
    return Tally(len(readings), outcomes["right"], outcomes["wrong"], outcomes["bad reply"], seconds)


def total(tallies: dict[str, Tally]) -> Tally:
    """The counts over the kinds that count."""
    counted = [tallies[kind] for kind in COUNTED if kind in tallies]
    return Tally(*(sum(column) for column in zip(*counted, strict=True)))  # type: ignore[arg-type]


def main() -> None:
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RAGMETRICS_DATA", default))
    records = load(folder)
    tally(records)  # once for nothing: the first reading of a kind compiles its patterns
    tallies = tally(records)
    habits = load_habits()
    tally_habits(habits)
    head = f"{'kind':<16}{'records':>8}{'right':>8}{'wrong':>8}{'bad reply':>11}{'right %':>9}{'µs per reply':>14}"
    print(head)
    for kind, counts in tally_habits(habits).items():
        print(counts.row(kind))
    print(f"\n{head}")
    for kind, counts in tallies.items():
        print(counts.row(kind if kind in COUNTED else f"({kind})"))
    summed = total(tallies)
    print(summed.row("all that count"))
    print(
        f"read right: {100 * summed.right / summed.records:.2f} %, read wrong: {100 * summed.wrong / summed.records:.2f} %"
    )


if __name__ == "__main__":
    main()
