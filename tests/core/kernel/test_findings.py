"""Evidence as a list of verdicts, and as text."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from core.kernel.test_explain import NAMES, any_value
from ragmetrics_core import BadReply, Score
from ragmetrics_core._kernel._evidence import Finding, findings_of

CLAIM = {
    "claim": "A.",
    "supported": True,
    "reason": "r",
    "verdict": "supported",
    "supported_by": [2],
    "contradicted_by": [1],
}
OLD = {"claim": "B.", "supported": False, "reason": ""}

CASES: list[tuple[dict[str, Any], list[Finding], str]] = [
    ({"verdicts": [CLAIM]}, [Finding("claims", 1, "A.", True, "supported", (2,), (1,), "r")], ""),
    ({"verdicts": [OLD]}, [Finding("claims", 1, "B.", False, "not supported")], ""),
    ({"verdicts": [{**OLD, "contradicted": True}]}, [Finding("claims", 1, "B.", False, "contradicted")], ""),
    ({"verdicts": [{**OLD, "verdict": "not stated"}]}, [Finding("claims", 1, "B.", None, "not stated")], ""),
    (  # the numbers of these are no passages: there is one text
        {"verdicts": [OLD], "reference_verdicts": [CLAIM]},
        [
            Finding("claims", 1, "B.", False, "not supported"),
            Finding("claims, compared with the reference", 1, "A.", True, "supported", reason="r"),
        ],
        "",
    ),
    (
        {"response_claims": [CLAIM], "precision": 1.0},
        [Finding("response claims", 1, "A.", True, "supported", reason="r")],
        "precision 1",
    ),
    (
        {"verdicts": [OLD], "reference_claims": [CLAIM]},
        [
            Finding("claims", 1, "B.", False, "not supported"),
            Finding("reference claims", 1, "A.", True, "supported", (2,), (1,), "r"),
        ],
        "",
    ),
    (
        {"verdicts": [{"reason": "year", "useful": True}, {"reason": "", "useful": False}], "reasons": ["year", ""]},
        [Finding("passages", 1, None, True, "useful", reason="year"), Finding("passages", 2, None, False, "not useful")],
        "",
    ),
    (
        {"quotes": [{"quote": "a b", "passages": [3], "span": [0, 3]}, {"quote": "c", "passages": []}]},
        [Finding("quotes", 1, "a b", True, "found", (3,)), Finding("quotes", 2, "c", False, "not found")],
        "",
    ),
    (
        {"statements": ["S.", "T."], "reasons": ["x", ""], "statement_scores": [1, 0]},
        [Finding("statements", 1, "S.", True, "scored 1", reason="x"), Finding("statements", 2, "T.", False, "scored 0")],
        "",
    ),
    ({"ratings": [2], "reasons": ["all"]}, [Finding("ratings", 1, None, None, "2", reason="all")], ""),
    (
        {"repeats": [{"value": 1.0, "reason": "", "details": {"verdicts": [OLD]}}, {"value": None, "error": "lost"}]},
        [
            Finding("judgements", 1, None, None, "1"),
            Finding("judgement 1, claims", 1, "B.", False, "not supported"),
            Finding("judgements", 2, None, None, "", reason="lost"),
        ],
        "",
    ),
    ({"ranks": [2], "relevant": 1, "retrieved": 3, "prompts": {"p": "1"}}, [], "1 of 1 relevant document found, at rank 2 of 3"),
    (
        {"verdicts": [{"claim": "A.", "supported": True, "supported_by": [True, "1", -1, 0, 10**30]}]},
        [Finding("claims", 1, "A.", True, "supported")],
        "",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("details", "items", "words"), CASES)
def test_findings(details: dict[str, Any], items: list[Finding], words: str) -> None:
    found = findings_of(details)
    assert list(found.items) == items
    assert found.words == words


def test_labels() -> None:
    assert [Finding(part, 2, text, None, "").label for part, text in [("ratings", None), ("", " "), ("x", "A.")]] == [
        "rating 2",
        "no. 2",
        "A.",
    ]


def test_any_evidence_makes_lines_that_fit() -> None:
    random = Random(2)
    for _ in range(1000):
        details = {name: any_value(random) for name in random.sample([*NAMES, "response_claims"], random.randrange(6))}
        text = Score(0.5, details=details).text(60)
        assert text.startswith("0.5"), details
        assert max(map(len, text.splitlines())) <= 60, details
        assert "".join(text.splitlines()).isprintable(), details


def test_a_score_with_its_evidence() -> None:
    score = Score(
        0.5,
        passing=False,
        reason="half of it",
        label="misled",
        details={"verdicts": [CLAIM, OLD], "windows": 2},
        metric="faithfulness",
        scale=(0, 1),
    )
    assert score.text(contexts=["First.", "Second\x1b[2J " + "long " * 40]) == (
        "faithfulness: 0.5 (scale 0 to 1, not passed, label misled)\n"
        "  half of it\n"
        "  claims:\n"
        "  ✔ A.\n"
        "      supported by passage 2, contradicted by passage 1: r\n"
        '      passage 2: "Second\\x1b[2J long long long long long long long long long\n'
        "        long long long long long long long long long long long long long long\n"
        '        long long long long long lon..."\n'
        '      passage 1: "First."\n'
        "  ✘ B.\n"
        "      not supported\n"
        "  windows 2"
    )


def test_scores_without_a_value() -> None:
    assert Score.unscored("the response makes no claims").text() == "unscored\n  the response makes no claims"
    failed = Score.failed(BadReply("no\x07 verdict", ["raw"])).made_by("m", (0, 1))
    assert failed.text() == "m: failed\n  BadReply: no\\x07 verdict"


def test_ratings_have_a_mark_of_their_own() -> None:
    assert Score(0.5, details={"ratings": [2, 1], "reasons": ["all", ""]}).text() == (
        "0.5\n  ratings:\n  • rating 1\n      2: all\n  • rating 2\n      1"
    )
