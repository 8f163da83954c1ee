"""Pages that have no room for all evidence: contexts that no claim cites are cut first, and cited ones never."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from ragmetrics_core import Evaluation, evaluate
from ragmetrics_core.llms import LexicalJudge
from report_data import claim, half_of_evidence, line, score, unpacked, written

ROWS = 100
"""Two blocks of 48 rows, and one of 4."""


def note(text: str) -> str:
    return f"{text[:80]} [{len(text):,} characters, cited by no claim: left out of this file] {text[-20:]}"


def noise(seed: str) -> str:
    """A text of 2,000 characters that cannot be compressed much."""
    return f"{random.Random(seed).getrandbits(8000):02000x}"


def contexts_of(number: int, side: str = "") -> list[str]:
    """Four contexts: one that supports a claim, one that contradicts it, one that no claim cites, and a short one."""
    return [*(noise(f"{side}{number} {name}") for name in ("for", "against", "uncited")), "short"]


def row(number: int, side: str = "") -> dict[str, Any]:
    verdicts = [claim("It is so.", "supported", None, [1], [2])]
    sample = {"id": f"q{number}", "user_input": "?", "response": side, "retrieved_contexts": contexts_of(number, side)}
    return line(number, sample, score("m", number / ROWS, details={"verdicts": verdicts}))


@pytest.fixture
def run(tmp_path: Path) -> Evaluation:
    return written(tmp_path / "scores.jsonl", [row(number) for number in range(1, ROWS + 1)])


def read(path: Path) -> tuple[dict[str, Any], dict[int, Any]]:
    """The index of a page, and the evidence of each row that is in it."""
    page = path.read_text(encoding="utf-8")
    index = unpacked(page, "index")
    blocks = [unpacked(page, f"block-{number}") for number in range(len(index["blocks"]))]
    found = [
        pair for rows, block in zip(index["blocks"], blocks, strict=True) for pair in zip(rows, block, strict=True)
    ]
    return index, dict(found)


def whole_size(run: Any, path: Path) -> float:
    """The size in megabytes of a page with everything."""
    run.to_html(path)
    index, evidence = read(path)
    assert (index["cut"], len(evidence)) == (0, ROWS)
    assert all("cut" not in item for item in evidence.values())
    return path.stat().st_size / 1e6


def test_the_worst_rows_keep_all_contexts(run: Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    most = whole_size(run, path) - 0.01  # the last block has too little to cut, so the one before it is cut too
    run.to_html(path, max_megabytes=most)
    index, evidence = read(path)
    assert path.stat().st_size <= most * 1e6
    assert (index["cut"], len(evidence), index["rows"]["notes"]) == (52, ROWS, {})
    for at in range(ROWS):
        expected = contexts_of(at + 1)
        if at >= 48:
            expected[2] = note(expected[2])
        assert evidence[at]["sample"]["retrieved_contexts"] == expected
        assert evidence[at].get("cut", 0) == (at >= 48)


def test_then_the_evidence_of_the_best_rows_is_left_out(run: Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    half_of_evidence(run, path)
    index, evidence = read(path)
    assert index["cut"] == len(evidence) == ROWS - len(index["rows"]["notes"])
    assert 60 <= len(evidence) <= 80, "half of the room is enough for two of three contexts of so many"
    assert sorted(evidence) == list(range(len(evidence)))
    for at, item in evidence.items():
        one, two, three, short = contexts_of(at + 1)
        assert item["sample"]["retrieved_contexts"] == [one, two, note(three), short]


def test_both_runs_of_a_comparison(tmp_path: Path) -> None:
    before, after = (
        written(tmp_path / f"{side}.jsonl", [row(number, side) for number in range(1, ROWS + 1)]) for side in "ab"
    )
    comparison, path = before.compare(after), tmp_path / "comparison.html"
    most = whole_size(comparison, path) - 0.02
    comparison.to_html(path, max_megabytes=most)
    index, evidence = read(path)
    assert (index["cut"], len(evidence)) == (52, ROWS)
    assert {item.get("cut", 0) for item in evidence.values()} == {0, 2}
    cut = next(at for at, item in evidence.items() if item.get("cut"))
    for side, (record,) in zip("ab", evidence[cut]["sides"], strict=True):
        one, two, three, short = contexts_of(cut + 1, side)
        assert record["sample"]["retrieved_contexts"] == [one, two, note(three), short]


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({}, ""),
        ({"verdicts": [claim("a", "supported", None, [3], [])]}, "3"),
        ({"verdicts": [claim("a", "contradicted", None, [], [1, 2])]}, "12"),
        ({"verdicts": [{"useful": False}, {"useful": True}, {"useful": False}]}, "2"),
        ({"statements": [{"claim": "a", "citations": [{"text": "[2]", "passages": [2]}]}]}, "2"),
        ({"repeats": [{"value": 1, "details": {"verdicts": [claim("a", "supported", None, [3], [])]}}]}, "3"),
        ({"reference_verdicts": [claim("a", "supported", None, [1], [])]}, ""),
    ],
)
@pytest.mark.parametrize("documents", [False, True])
def test_what_is_cited(tmp_path: Path, details: dict[str, Any], kept: str, documents: bool) -> None:
    texts = [noise(name) for name in "123"]
    found = {"retrieved_contexts": texts}
    if documents:
        found = {"retrieved_documents": [{"content": text, "id": text[:4]} for text in texts]}
    lines = [line(at, {"id": f"q{at}", **found}, score("m", 0.5, details=details)) for at in range(1, 101)]
    path = tmp_path / "report.html"
    others = [line(at, {"id": f"q{at}", "user_input": noise(str(at)) * 2}, score("m", 1.0)) for at in range(101, 200)]
    half_of_evidence(written(tmp_path / "scores.jsonl", [*lines, *others]), path)
    _, evidence = read(path)
    sample = evidence[0]["sample"]
    shown = [item["content"] for item in sample["retrieved_documents"]] if documents else sample["retrieved_contexts"]
    assert shown == [text if str(number) in kept else note(text) for number, text in enumerate(texts, 1)]
    assert evidence[0]["cut"] == 3 - len(kept)


def test_messages_lose_the_same_contexts(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{at}", "question": f"Where {at}?", "answer": f"Tower {at} is in Paris.", "contexts": contexts}
        for at in range(60)
        for contexts in [[f"Tower {at} is in Paris. {noise(f'{at} a')}", f'"Fog"\n{noise(f"{at} b")}']]
    ]
    run = evaluate(rows, "faithfulness", llm=LexicalJudge(), run_dir=tmp_path / "run")
    half_of_evidence(run, tmp_path / "report.html")
    index, evidence = read(tmp_path / "report.html")
    assert index["cut"] == len(evidence) > 30
    for at, item in evidence.items():
        text = json.dumps(item)
        assert item["cut"] == 1
        assert (noise(f"{at} a") in text, noise(f"{at} b") in text) == (True, False)
        asked = item["exchanges"]["faithfulness"][1]["messages"][1]["content"]
        assert isinstance(json.loads(asked), dict), "the message is still JSON"
        assert asked.count("[2,006 characters, cited by no claim: left out of this file]") == 1


def test_a_context_that_one_run_cites_is_kept_in_both(tmp_path: Path) -> None:
    def rows(side: str, cited: list[int]) -> Evaluation:
        verdicts = [claim("It is so.", "supported", None, cited, [])]
        lines = [
            line(
                number,
                {"id": f"q{number}", "retrieved_contexts": [noise(f"{number}"), noise(f"{side}{number}")]},
                score("m", number / ROWS, details={"verdicts": verdicts}),
            )
            for number in range(1, ROWS + 1)
        ]
        return written(tmp_path / f"{side}.jsonl", lines)

    half_of_evidence(rows("a", [1]).compare(rows("b", [])), tmp_path / "comparison.html")
    _, evidence = read(tmp_path / "comparison.html")
    for at, item in evidence.items():
        before, after = (side[0]["sample"]["retrieved_contexts"] for side in item["sides"])
        assert (before[0], after[0], item["cut"]) == (noise(f"{at + 1}"), noise(f"{at + 1}"), 2)
        assert before[1] == note(noise(f"a{at + 1}"))
        assert after[1] == note(noise(f"b{at + 1}"))


def test_the_same_text_twice_is_kept_if_it_is_cited_once(tmp_path: Path) -> None:
    lines = [
        line(
            at,
            {"id": f"q{at}", "retrieved_contexts": [noise(str(at)), noise(str(at))]},
            score("m", at / 100, details={"verdicts": [claim("a", "supported", None, [2], [])]}),
        )
        for at in range(1, 101)
    ]
    half_of_evidence(written(tmp_path / "scores.jsonl", lines), tmp_path / "report.html")
    index, evidence = read(tmp_path / "report.html")
    assert index["cut"] == 0
    assert evidence[0]["sample"]["retrieved_contexts"] == [noise("1"), noise("1")]


class TestCommands:
    def test_report_and_compare(self, run: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert call("report", "scores.jsonl", "--max-megabytes", "0.3").stdout == "report.html: 100 rows, 0.3 MB\n"
        assert (tmp_path / "report.html").stat().st_size <= 300_000
        written(tmp_path / "again.jsonl", [row(number) for number in range(1, ROWS + 1)])
        done = call("compare", "scores.jsonl", "again.jsonl", "--out", "both.html", "--max-megabytes", "0.4")
        assert done.exit_code == 0
        assert (tmp_path / "both.html").stat().st_size <= 400_000

    @pytest.mark.parametrize("command", [["report", "no.jsonl"], ["compare", "no.jsonl", "no2.jsonl"]])
    @pytest.mark.parametrize("number", ["0", "-1", "nan"])
    def test_a_size_that_is_none(self, command: list[str], number: str) -> None:
        done = call(*command, "--max-megabytes", number)
        message = f"ragmetrics: --max-megabytes must be a number greater than 0, got {number}\n"
        assert (done.exit_code, done.stderr) == (2, message)
