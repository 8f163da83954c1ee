"""Evidence as a list of verdicts, and as text."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from core.kernel.test_explain import NAMES, any_value
from ragmetrics_core import BadReply, Score

CLAIM = {
    "claim": "A.",
    "supported": True,
    "reason": "r",
    "verdict": "supported",
    "supported_by": [2],
    "contradicted_by": [1],
}
OLD = {"claim": "B.", "supported": False, "reason": ""}

CASES: list[tuple[dict[str, Any], str]] = [
    (
        {"verdicts": [CLAIM]},
        ("  claims:\n  ✔ A.\n      supported by passage 2, contradicted by passage 1: r"),
    ),
    (
        {"verdicts": [OLD]},
        ("  claims:\n  ✘ B.\n      not supported"),
    ),
    (
        {"verdicts": [{**OLD, "contradicted": True}]},
        ("  claims:\n  ✘ B.\n      contradicted"),
    ),
    (
        {"verdicts": [{**OLD, "verdict": "not stated"}]},
        ("  claims:\n  – B.\n      not stated"),
    ),
    (
        {"verdicts": [OLD], "reference_verdicts": [CLAIM]},
        ("  claims:\n  ✘ B.\n      not supported\n  claims, compared with the reference:\n  ✔ A.\n      supported: r"),
    ),
    (
        {"response_claims": [CLAIM], "precision": 1.0},
        ("  response claims:\n  ✔ A.\n      supported: r\n  precision 1"),
    ),
    (
        {"verdicts": [OLD], "reference_claims": [CLAIM]},
        (
            "  claims:\n"
            "  ✘ B.\n"
            "      not supported\n"
            "  reference claims:\n"
            "  ✔ A.\n"
            "      supported by passage 2, contradicted by passage 1: r"
        ),
    ),
    (
        {"verdicts": [{"reason": "year", "useful": True}, {"reason": "", "useful": False}], "reasons": ["year", ""]},
        ("  passages:\n  ✔ passage 1\n      useful: year\n  ✘ passage 2\n      not useful"),
    ),
    (
        {"quotes": [{"quote": "a b", "passages": [3], "span": [0, 3]}, {"quote": "c", "passages": []}]},
        ("  quotes:\n  ✔ a b\n      found in passage 3\n  ✘ c\n      not found"),
    ),
    (
        {"statements": ["S.", "T."], "reasons": ["x", ""], "statement_scores": [1, 0]},
        ("  statements:\n  ✔ S.\n      scored 1: x\n  ✘ T.\n      scored 0"),
    ),
    (
        {"ratings": [2], "reasons": ["all"]},
        ("  ratings:\n  • rating 1\n      2: all"),
    ),
    (
        {"repeats": [{"value": 1.0, "reason": "", "details": {"verdicts": [OLD]}}, {"value": None, "error": "lost"}]},
        (
            "  judgements:\n"
            "  • judgement 1\n"
            "      1\n"
            "  judgement 1, claims:\n"
            "  ✘ B.\n"
            "      not supported\n"
            "  judgements:\n"
            "  • judgement 2\n"
            "      lost"
        ),
    ),
    (
        {"ranks": [2], "relevant": 1, "retrieved": 3, "prompts": {"p": "1"}},
        "  1 of 1 relevant document found, at rank 2 of 3",
    ),
    (
        {"verdicts": [{"claim": "A.", "supported": True, "supported_by": [True, "1", -1, 0, 10**30]}]},
        ("  claims:\n  ✔ A.\n      supported"),
    ),
]


@pytest.mark.parametrize(("details", "lines"), CASES)
def test_findings(details: dict[str, Any], lines: str) -> None:
    assert Score(0.5, details=details).text(200) == f"0.5\n{lines}"


def test_an_item_without_a_text_has_a_number() -> None:
    assert Score(0.5, details={"verdicts": [{"claim": " ", "supported": True}]}).text() == (
        "0.5\n  claims:\n  ✔ claim 1\n      supported"
    )
    assert Score(0.5, details={"verdicts": [{"supported": True}]}).text() == "0.5\n  ✔ no. 1\n      supported"


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
