"""``assert_score``: what passes, what fails, and what the message says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import BadReply, InvalidInput, ModelError, Score, assert_score
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness, Recall

VERDICTS = [
    {"claim": "It stands in Paris", "supported": True, "reason": "stated"},
    {"claim": "It is 450 metres tall", "supported": False, "reason": "the contexts do not mention 450"},
]


def scored(value: float, **other: Any) -> Score:
    return Score(value, metric="faithfulness", scale=(0.0, 1.0), **other)


def message_of(score: Score, **bounds: float) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_score(score, **bounds)
    return str(raised.value)


def test_the_message_shows_the_evidence() -> None:
    """As the documentation has it, to the letter."""
    assert message_of(scored(0.5, details={"verdicts": VERDICTS}), at_least=0.8) == (
        "faithfulness 0.50 < 0.8; not supported: 'It is 450 metres tall' (the contexts do not mention 450)"
    )


def test_a_score_that_is_too_high_is_explained_as_it_is() -> None:
    score = Score(0.5, metric="hallucination", scale=(0, 1), details={"verdicts": VERDICTS})
    assert message_of(score, at_most=0.1) == (
        "hallucination 0.50 > 0.1; 1 of 2 claims supported; not supported: 'It is 450 metres tall' (the contexts do not "
        "mention 450)"
    )


def test_a_real_metric() -> None:
    score = Faithfulness(llm=LexicalJudge()).score(
        user_input="How tall is it?", response="It is 450 metres tall.", retrieved_contexts=["It is 330 metres tall."]
    )
    assert message_of(score, at_least=0.8).startswith(
        "faithfulness 0.00 < 0.8; not supported: 'It is 450 metres tall.' (the contexts do not mention 450)"
    )
    found = Recall().score(retrieved_documents=["x"], reference_documents=["a"])
    assert message_of(found, at_least=0.5) == ("recall 0.00 < 0.5; none of 1 relevant document found among 1 retrieved")


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (scored(0.5), "faithfulness 0.50 < 0.8"),
        (scored(0.5, details={"prompts": {"verify_claims": "4"}}), "faithfulness 0.50 < 0.8"),
        (scored(0.797), "faithfulness 0.797 < 0.8"),
        (scored(0.799999), "faithfulness 0.799999 < 0.8"),
        (scored(0.5, reason="half of it\nis right"), "faithfulness 0.50 < 0.8; half of it is right"),
        (Score(0.5), "the score 0.50 < 0.8"),
        (Score(-3), "the score -3.00 < 0.8"),
    ],
)
def test_the_value_never_looks_like_the_bound(score: Score, text: str) -> None:
    assert message_of(score, at_least=0.8) == text


@pytest.mark.parametrize(
    ("score", "bounds", "text"),
    [
        (
            Score.unscored("the response makes no claims").made_by("faithfulness", (0, 1)),
            {"at_least": 0.8},
            "faithfulness was not scored: the response makes no claims; it should be at least 0.8",
        ),
        (
            Score.failed(ModelError("no connection")).made_by("faithfulness", (0, 1)),
            {"at_least": 0.8},
            "faithfulness failed: ModelError: no connection; it should be at least 0.8",
        ),
        (
            Score.failed(BadReply("no verdict", ["x"])),
            {"at_least": 0.2, "at_most": 0.4},
            "the score failed: BadReply: no verdict; it should be at least 0.2 and at most 0.4",
        ),
    ],
)
def test_without_a_value_it_says_why(score: Score, bounds: dict[str, float], text: str) -> None:
    assert message_of(score, **bounds) == text


def test_what_passes() -> None:
    assert_score(scored(0.8), at_least=0.8)
    assert_score(scored(0.8), at_most=0.8)
    assert_score(scored(0.3), at_least=0.3, at_most=0.3)
    assert_score(scored(0.1 + 0.2), at_most=0.3)  # 0.30000000000000004
    assert_score(scored(0.7 + 0.1), at_least=0.8)  # 0.7999999999999999
    assert_score(scored(0.0), at_most=0.0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_it_is_the_comparison_of_numbers(value: float, bound: float) -> None:
    """Away from the bound itself; and the message names the value as lower than the bound, in its digits too."""
    if abs(value - bound) <= 1e-9:
        return
    if value > bound:
        assert_score(scored(value), at_least=bound)
        return
    text = message_of(scored(value), at_least=bound)
    shown, sign, limit = text.removeprefix("faithfulness ").split()
    assert sign == "<"
    assert float(limit) == pytest.approx(bound, rel=1e-11)
    assert float(shown) != float(limit)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({}, "assert_score needs a bound: write at_least=0.8, or at_most=0.1 where low values are good"),
        ({"at_least": 80}, "at_least: faithfulness goes from 0 to 1, so 80 cannot be a bound"),
        ({"at_most": -0.5}, "at_most: faithfulness goes from 0 to 1, so -0.5 cannot be a bound"),
        ({"at_least": float("nan")}, "at_least must be a finite number, got nan"),
        ({"at_least": True}, "at_least must be a finite number, got True"),
        ({"at_least": "0.8"}, "at_least must be a finite number, got '0.8'"),
        ({"at_least": 0.5, "at_most": 0.4}, "at_least=0.5 is above at_most=0.4, so no score could pass"),
    ],
)
def test_bounds_that_are_none(bounds: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        assert_score(scored(0.5), **bounds)
    assert str(raised.value) == text


@pytest.mark.parametrize("given", [0.5, None, "0.5", [Score(1.0)]])
def test_only_scores(given: Any) -> None:
    with pytest.raises(TypeError) as raised:
        assert_score(given, at_least=0.5)
    assert str(raised.value) == (
        f"assert_score takes the Score that a metric returns, got {type(given).__name__}: pass the whole score, not its value; "
        'from a row, pass the score of one metric, such as row["faithfulness"]'
    )


def test_judged_text_cannot_rule_the_terminal() -> None:
    verdict = {"claim": "\x1b[2J\x1b[31mFORGED\nPASSED", "supported": False, "reason": "\x07"}
    text = message_of(Score(0.0, metric="m\x1b[1m", details={"verdicts": [verdict]}), at_least=0.5)
    assert text.isprintable()


def test_unittest_alone(tmp_path: Path) -> None:
    """A run without pytest: one test fails with the message, none is an error, and pytest is not even loaded."""
    (tmp_path / "test_it.py").write_text(
        "import sys, unittest\n"
        "from ragmetrics_core import Score, assert_score\n"
        "class TestIt(unittest.TestCase):\n"
        "    def test_low(self):\n"
        "        assert 'pytest' not in sys.modules\n"
        "        assert_score(Score(0.5, metric='recall'), at_least=0.8)\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "test_it"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "AssertionError: recall 0.50 < 0.8" in done.stderr
    assert "FAILED (failures=1)" in done.stderr
