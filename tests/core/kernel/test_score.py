"""The three states of a score, and everything a value type should be able to do."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import re
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragmetrics_core import BadReply, Details, Document, MissingInput, ModelError, Score, Usage


def test_scored() -> None:
    score = Score(0.5, details={"verdicts": (True, False)})
    assert (score.state, score.value, score.details) == ("scored", 0.5, {"verdicts": [True, False]})


def test_unscored() -> None:
    score = Score.unscored("no claims", details={"claims": []})
    assert (score.state, score.value, score.reason, score.error) == ("unscored", None, "no claims", None)
    assert score.details == {"claims": []}


def test_failed_keeps_the_raw_texts_of_a_bad_reply() -> None:
    score = Score.failed(BadReply("no verdict", ["a", "b"]), details={"n": 1})
    assert (score.state, score.error) == ("failed", "BadReply: no verdict")
    assert score.details == {"n": 1, "raw": ["a", "b"]}


def test_failed_takes_the_usage_of_the_error() -> None:
    error = ModelError("down")
    error.usage = Usage(calls=2)
    assert Score.failed(error).usage == Usage(calls=2)
    assert Score.failed("no reason").usage == Usage()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.nan])
def test_a_value_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="a score must be a finite number, got"):
        Score(value)


@pytest.mark.parametrize("value", ["0.5", b"1", [1.0], object()])
def test_a_value_is_a_number(value: object) -> None:
    with pytest.raises(TypeError, match="a score must be a number, got"):
        Score(value)  # type: ignore[arg-type]


def test_a_value_lies_inside_the_scale() -> None:
    with pytest.raises(ValueError, match=r"m: 1.5 is outside the scale \(0.0, 1.0\); set `scale` of the metric$"):
        Score(1.5, metric="m", scale=(0.0, 1.0))


@pytest.mark.parametrize(
    "scale",
    [(0.0, math.inf), (math.nan, 1.0), (1.0, 0.0), (-1e308, 1e308), (0.0,), (0.0, 1.0, 2.0), "01x", 3, ("a", "b")],
)
def test_a_scale_has_two_finite_ends(scale: Any) -> None:
    message = f"a scale must be two finite numbers, the lower first, got {scale!r}: use None if unknown"
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        Score(0.5, scale=scale)
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        Score.from_dict({"value": None, "reason": "none", "scale": scale})


def test_states_cannot_be_mixed() -> None:
    with pytest.raises(ValueError, match=r"a failed score has no value, got 1.0"):
        Score(1.0, error="down")
    with pytest.raises(ValueError, match="a score without a value needs a reason"):
        Score(None)


@pytest.mark.parametrize("value", [True, 1, np.float32(1), np.int64(1), np.float64(1)])
def test_a_value_is_always_a_plain_float(value: object) -> None:
    assert type(Score(value).value) is float  # type: ignore[arg-type]


class Verdict(BaseModel):
    supported: bool


def test_details_become_plain_json_values() -> None:
    details = {"a": Verdict(supported=True), 1: [Document("x")], "n": np.float64(0.5), "v": np.array([1, 2])}
    score = Score(1, details=details)  # type: ignore[arg-type]
    assert score.details == {
        "a": {"supported": True},
        "1": [{"content": "x", "id": None, "score": None, "meta": {}}],
        "n": 0.5,
        "v": [1, 2],
    }
    json.dumps(score.to_dict())


def test_details_refuse_what_json_cannot_hold() -> None:
    with pytest.raises(TypeError, match="details must consist of plain JSON values, got object"):
        Score(1, details={"x": object()})


@pytest.mark.parametrize(
    "score",
    [
        Score(
            0.25, passing=False, reason="r", details={"a": [1]}, usage=Usage(2, 30, 4, 1), metric="m", scale=(0.0, 1.0)
        ),
        Score.unscored("nothing"),
        Score.failed("down"),
    ],
    ids=lambda score: score.state,
)
def test_value_semantics(score: Score) -> None:
    again = Score.from_dict(json.loads(json.dumps(score.to_dict())))
    for twin in (copy.copy(score), copy.deepcopy(score), pickle.loads(pickle.dumps(score)), again):
        assert twin == score
        assert hash(twin) == hash(score)


def test_str_format_float() -> None:
    score = Score(2 / 3, metric="faithfulness")
    assert str(score) == f"{score}" == "faithfulness: 0.6667"
    assert (f"{score:.2f}", float(score)) == ("0.67", 2 / 3)
    unscored = Score.unscored("no claims")
    assert (str(unscored), f"{unscored:.2f}") == ("unscored (no claims)", "unscored")
    with pytest.raises(ValueError, match="unscored: no claims"):
        float(unscored)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_score_is_ever_nan(value: float) -> None:
    try:
        score = Score(value)
    except ValueError:
        assert not math.isfinite(value)
    else:
        assert score.value == value


def test_errors_pickle_and_print() -> None:
    bad = BadReply("no verdict", "raw")
    twin = pickle.loads(pickle.dumps(bad))
    assert (str(twin), twin.raw) == ("no verdict", ("raw",))
    missing = pickle.loads(pickle.dumps(MissingInput("faithfulness", "response")))
    assert str(missing) == (
        "faithfulness needs 'response', which is missing: give response=... or leave the metric out for this sample"
    )
    assert isinstance(missing, ValueError)


def test_numpy_values_become_plain_everywhere() -> None:
    score = Score(1.0, passing=np.True_, details={"a": np.float64(0.5), "b": np.str_("x")}, scale=[0, 1])  # type: ignore[arg-type]
    assert (type(score.passing), type(score.details["a"]), type(score.details["b"])) == (bool, float, str)
    assert score.scale == (0.0, 1.0)
    hash(score)
    json.dumps(score.to_dict())


def test_a_score_without_a_value_neither_passes_nor_fails() -> None:
    with pytest.raises(ValueError, match="a score without a value neither passes nor fails, got passing=True"):
        Score(None, passing=True, reason="x")
    with pytest.raises(ValueError, match="a score without a value needs a reason"):
        Score.failed("")


def test_a_retried_error_keeps_what_it_knows() -> None:
    error = BadReply("no verdict", "raw")
    error.retry_after = 2.0
    assert pickle.loads(pickle.dumps(error)).retry_after == 2.0


def test_plain_details_are_copied() -> None:
    details = {"a": [1]}
    score = Score(1.0, details=details)
    details["a"].append(2)

    assert score.details == {"a": [1]}


def test_a_score_cannot_be_changed() -> None:
    score = Score(0.5)
    for name in ("value", "details", "usage", "new"):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(score, name, 1)
    assert replace(score, value=1).value == 1.0
    with pytest.raises(ValueError, match="finite"):
        replace(score, value=math.inf)


def test_an_origin_makes_a_new_score_and_leaves_the_old_one() -> None:
    @dataclass(frozen=True)
    class Noted(Score):
        pass

    for score in (Score(0.5, reason="r", details={"a": 1}), Noted(0.5)):
        made = score.made_by("m", (0.0, 1.0), Usage(calls=1), {"p": "1"})

        assert (score.metric, score.scale, score.usage) == (None, None, Usage())
        assert (made.metric, made.scale, made.usage, made.reason) == ("m", (0.0, 1.0), Usage(calls=1), score.reason)
        assert made.details == {**score.details, "prompts": {"p": "1"}}
        assert type(made) is type(score)
    with pytest.raises(ValueError, match=r"m: 5.0 is outside the scale \(0.0, 1.0\)"):
        Score(5.0).made_by("m", (0.0, 1.0))


def test_a_score_can_be_taken_apart_as_any_dataclass() -> None:
    """Web frameworks make JSON of what a route returns in this way."""
    score = Score(0.5, details={"verdicts": [{"claim": "a", "supported": True}]})
    parts = dataclasses.asdict(score)
    assert (parts["value"], parts["details"]) == (0.5, {"verdicts": [{"claim": "a", "supported": True}]})
    assert Details([("ranks", [1])], relevant=2) == {"ranks": [1], "relevant": 2}
