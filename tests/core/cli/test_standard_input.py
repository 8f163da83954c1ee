"""``ragmetrics evaluate -``: rows from standard input, and what a run directory makes of them."""

from __future__ import annotations

import json
from pathlib import Path

from core.cli.calling import call
from core.cli.own import OWN
from ragmetrics_core import Evaluation


def test_from_standard_input_to_standard_output(folder: Path) -> None:
    result = call("evaluate", "-", "-m", OWN, "--out", "-", stdin=(folder / "q.jsonl").read_bytes())
    assert result.exit_code == 0
    assert [json.loads(line)["place"] for line in result.stdout.splitlines()] == [
        f"stdin, line {number}" for number in (1, 2, 3, 4)
    ]
    assert "\n\nstdin: 4 rows, 1 metric" in result.stderr


def test_metrics_that_fit_are_named(folder: Path) -> None:
    result = call("evaluate", "-", stdin=b'{"response": "a", "reference": "b"}')
    assert (result.exit_code, result.stderr) == (
        2,
        (
            "ragmetrics: choose metrics with --metrics a,b; these fit the columns of stdin: exact_match, "
            "factual_correctness, semantic_similarity, token_f1\n"
        ),
    )


def test_a_run_goes_on_with_the_same_rows(folder: Path) -> None:
    rows = b'{"response": "a"}\n{"response": "ab"}\n'
    command = ("evaluate", "-", "-m", OWN, "--run-dir", "run")
    assert call(*command, stdin=rows).exit_code == 0
    assert call(*command, stdin=rows).exit_code == 0
    assert [record.place for record in Evaluation.load("run").records] == ["stdin, line 1", "stdin, line 2"]
    other = call(*command, stdin=b'{"response": "c"}\n')
    assert (other.exit_code, other.stderr) == (
        2,
        (
            "ragmetrics: --run-dir run holds the finished scores of another data set: none of the first rows of stdin is "
            "among them: give another --run-dir, or --replace, which keeps those scores as scores.1.jsonl\n"
        ),
    )


def test_what_a_stopped_run_needs_to_go_on(folder: Path) -> None:
    rows = b'{"response": "a"}\n{"response": 5}\n'
    result = call("evaluate", "-", "-m", OWN, "--run-dir", "run", "--out", "-", "--on-error", "raise", stdin=rows)
    assert (result.exit_code, result.stderr.splitlines()) == (
        2,
        [
            (
                "ragmetrics: stdin, line 2: shortness: response must be a str, got int (the row finished before can be found in -) "
                "(all replies are kept in run); to go on, with the same rows on standard input:"
            ),
            f"ragmetrics evaluate - -m {OWN} --run-dir run --out - --on-error raise",
        ],
    )
