"""Nothing in data, names, replies and errors steers a terminal, whatever is printed: every command, and every result in Python."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.cli.calling import call
from ragmetrics_core import (
    BadReply,
    Document,
    Evaluation,
    Metric,
    RagmetricsError,
    Score,
    evaluate,
    generate_testset,
)
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import ScriptedLLM

pytestmark = pytest.mark.slow

SEQUENCES = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\link",
    "\x1b[2J\x1b[H",
    "\x1bPq\x1b\\",
    "\x9b2J",
    "\x9d0;t\x9c",
    "\u202egnp",
    "\u2066x\u2069",
    "\u200ex\u200f",
    "\u061c",
    "a\rb",
    "a\x08b",
    "\x00",
    "\x7f",
    "\x85",
    "\u2028x\u2029",
    "\U000e0041",
    "\ufeff",
    "\ufff9x\ufffb",
    "\ud800",
    "\x0b\x0c",
]
TEXTS = st.lists(
    st.sampled_from([*SEQUENCES, "x", " ", ".", "'", '"', "[", "{", "図", "\u0301", "\u200d", "\n"])
    | st.characters()
    | st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
    min_size=1,
    max_size=6,
).map(lambda parts: "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
"""Two halves of a character beside each other are that character: a file of JSON could not tell them from it."""

DEEP = settings(max_examples=12, deadline=None)


def check(output: str, where: object) -> None:
    """Printable, a line end, a space, or a joiner: nothing else is printed."""
    wrong = {
        character
        for character in output
        if not character.isprintable() and character not in "\n\u200c\u200d" and unicodedata.category(character) != "Zs"
    }
    assert wrong == set(), where


def run(*arguments: str | Path, statuses: tuple[int, ...] = (0,)) -> None:
    result = call(*arguments)
    assert result.exit_code in statuses, (arguments, result.exit_code, result.stderr)
    check(result.stdout, arguments)
    check(result.stderr, arguments)


@contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with TemporaryDirectory() as path:
        os.chdir(path)
        try:
            yield Path(path)
        finally:
            os.chdir(before)


def measured(self: object, response: str) -> Score:
    """A score whose every text is the response; some fail, some are unscored."""
    if response.startswith("lost"):
        return Score.failed(BadReply(f"none {response}", [response]))
    if response.startswith("none"):
        return Score.unscored(response, label=response)
    verdict = {"claim": response, "supported": False, "verdict": response, "supported_by": [1], "reason": response}
    details = {"verdicts": [verdict, {**verdict, "verdict": "not stated"}], response: {response: [response]}}
    return Score(0.5, reason=response, label=response, details=details)


def rows(text: str, *starts: str) -> list[dict[str, Any]]:
    row = {
        "user_input": text,
        "reference": text,
        "contexts": [text],
        "lang": f"l{text}",
        f"c{text}": {f"k{text}": text},
    }
    return [{**row, "id": f"{number}{text}", "response": f"{start}{text}"} for number, start in enumerate(starts)]


def scored(text: str, *starts: str, run_dir: str | None = None) -> Evaluation:
    metric = type("Hostile", (Metric,), {"measure": measured})(name=f"m{text}")
    other = type("Other", (Metric,), {"measure": measured})(name="other")
    return evaluate(rows(text, *starts), [metric, other], progress=False, run_dir=run_dir)


@DEEP
@given(TEXTS)
def test_commands_that_look_at_runs(text: str) -> None:
    with folder():
        scored(text, "x", "y", "lost", "none", run_dir="before")
        later = replace(scored(text, "x", "none", "y", "lost"), source=text, caveats=(text,), stopped=text)
        later.to_jsonl("after.jsonl")
        for mode in (
            [],
            ["--worst", "2"],
            ["--metric", f"m{text}"],
            ["--failed"],
            ["--by", "lang"],
            ["--row", f"0{text}"],
        ):
            # JSON makes one character of two halves, so a name with both is another one in the file
            run("show", "before", *mode, statuses=(0, 2))
        run("show", "before", "--row", f"z{text}", statuses=(2,))
        run("show", "before", "--metric", f"z{text}", statuses=(2,))
        run("show", "before", "--by", f"z{text}", statuses=(2,))
        run("compare", "before", "after.jsonl", "--by", "lang", "--markdown", "-", statuses=(0, 2))
        run("compare", "before", "after.jsonl", "--gate", "other drop <= 0.1", statuses=(1, 2, 3))
        labels = [
            {"id": f"{n}{text}", "metric": "other", "label": n % 2, "note": text, "annotator": text} for n in (0, 1)
        ]
        Path("labels.jsonl").write_text(
            "".join(f"{json.dumps(label)}\n" for label in [*labels, {**labels[0], "id": text}])
        )
        run("calibrate", "before", "--labels", "labels.jsonl", "--by", "lang", statuses=(0, 2))
        Path("labels.jsonl").write_text(json.dumps({"id": f"0{text}", "metric": f"z{text}", "label": text}))
        run("calibrate", "before", "--labels", "labels.jsonl", statuses=(0, 2))
        run("show", "before", "--disputed", "2", statuses=(0, 2))
        run("report", "before", "--out", "report.html")
        run("report", "before", "--out", "x." + text.replace("/", "").replace("\0", ""), statuses=(2,))
        for result in (
            later,
            later.summary(by="lang"),
            later.summary(),
            later.worst(f"m{text}"),
            *later.scores["other"],
        ):
            check(str(result), type(result))
            check(repr(result), type(result))
        for score in later.scores["other"]:
            check(score.text(contexts=[text]), score.state)
            check(score.explain(), score.state)
        check(str(Evaluation.load("before").compare(later, by="lang", allow_different_judges=True)), "comparison")
        check(str(later.gate("other >= 0.4", by="lang")), "gates")


@DEEP
@given(TEXTS)
def test_calibrations(text: str) -> None:
    with folder():
        starts = [chr(97 + number) for number in range(12)]
        run_of = scored(text, *starts, run_dir="run")
        names = [str(row.id) for row in run_of.rows]
        lines = [
            {"id": name, "metric": f"m{text}", "label": place % 3 > 0, "annotator": who, "note": text, "claim": claim}
            for place, name in enumerate(names)
            for who in (f"a{text}", "b")
            for claim in (None, 1)
        ]
        Path("labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        found = run_of.calibrate(lines, by="lang", cluster="lang")
        for shown in (str(found), repr(found), found.text(40), found.to_markdown()):
            check(shown, "calibration")
        compared = run_of.compare(run_of, calibration=(found, found))
        check(compared.text(60), "comparison")
        check(run_of.summary(calibration=found).to_markdown(), "summary")
        for more in (
            ["--by", "lang"],
            ["--markdown", "-"],
            ["--json", "-"],
            ["--cluster", f"z{text}"],
            ["--metric", f"z{text}"],
        ):
            run("calibrate", "run", "--labels", "labels.jsonl", *more, statuses=(0, 2))
        run("calibrate", "run", "--suggest", "3", "--metric", f"m{text}", "--out", "-", statuses=(0, 2))
        for wrong in ({"id": f"z{text}"}, {"metric": f"z{text}"}, {"label": f"z{text}"}, {"claim": f"z{text}"}):
            Path("wrong.jsonl").write_text(json.dumps({**lines[0], **wrong}) + "\n")
            run("calibrate", "run", "--labels", "wrong.jsonl", statuses=(2,))


@DEEP
@given(TEXTS)
def test_commands_that_read_data(text: str) -> None:
    with folder():
        Path("good.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(text, "x", "y")))
        Path("poor.jsonl").write_text(
            "".join(
                json.dumps(row) + "\n" for row in [*rows(text, "x"), {"response": 5}, {f"a{text}": {f"b{text}": text}}]
            )
        )
        Path("bad.jsonl").write_bytes(f'{{"{text}'.encode("utf-8", "surrogatepass"))
        for name in ("good", "poor", "bad"):
            run("look", f"{name}.jsonl", statuses=(0, 2))
            run("evaluate", f"{name}.jsonl", "-m", "exact_match,faithfulness", "--llm", "lexical", statuses=(0, 2))
            run("evaluate", f"{name}.jsonl", "-m", "exact_match", "--by", f"z{text}", statuses=(0, 2))
            run("evaluate", f"{name}.jsonl", "-m", f"z{text}", statuses=(2,))
            run("evaluate", f"{name}.jsonl", "-m", "exact_match", "--map", f"question=z{text}", statuses=(2,))
        run("evaluate", "good.jsonl", "-m", "faithfulness", "--llm", "lexical", "--dry-run", statuses=(0, 2))


@DEEP
@given(TEXTS)
def test_replies(text: str) -> None:
    """A model answers what no judge would: the failure and its reply are shown, and steer nothing."""
    with folder():
        row = {"user_input": "Q?", "response": "A.", "contexts": ["C."]}
        judge = ScriptedLLM(lambda ask: text)
        result = evaluate([row], Faithfulness(), llm=judge, progress=False, run_dir="run", on_error="record")
        check(f"{result.summary()}\n{result.scores['faithfulness'][0]}", "summary")
        for mode in ([], ["--failed"], ["--worst", "1"], ["--row", "row 1"]):
            run("show", "run", *mode)


@DEEP
@given(TEXTS)
def test_errors_and_test_sets(text: str) -> None:
    check(str(RagmetricsError(text)), "error")
    check(str(BadReply(text, [text])), "error")
    documents = [Document(id=f"d{text}", content=f"The library opens at nine. {text}"), Document(id=text, content=" ")]
    made = generate_testset(documents, LexicalJudge(), questions_per_document=1, progress=False)
    check(f"{made}\n{made!r}", "test set")
    for problem in made.problems:
        check(str(problem), "problem")
    try:
        evaluate([{"response": text}], "faithfulness", llm=f"z{text}", progress=False)
    except RagmetricsError as error:
        check(str(error), "error")
