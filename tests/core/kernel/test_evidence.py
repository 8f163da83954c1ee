"""Evidence that many scores share: closed, and shown as lists and dicts of one's own to those who look."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

from ragmetrics_core import Details, Evidence, Score
from ragmetrics_core.adapters import in_order


@pytest.mark.parametrize("value", [math.nan, math.inf, [{"x": -math.inf}]])
def test_evidence_holds_finite_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="numbers in details must be finite, got"):
        Score(1.0, details={"a": value})


def test_evidence_is_checked_once_and_shared() -> None:
    ranks = [1, 2]
    evidence = Details(ranks=ranks, n=np.float64(0.5))
    one, other = Score(1.0, details=evidence), Score.unscored("none", details=evidence)
    ranks.append(3)

    assert one.details == other.details == {"ranks": [1, 2], "n": 0.5}
    assert one.details is other.details
    assert not hasattr(one, "evidence")  # a score's evidence is in its details
    assert json.dumps(one.details) == '{"ranks": [1, 2], "n": 0.5}'
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(ValueError, match="numbers in details must be finite"):
        Details(x=math.nan)


def test_closed_evidence_is_shown_as_lists_and_dicts_of_ones_own() -> None:
    rows = [{"claim": "a", "by": [1, 2], "marks": [{"at": [0, 1]}], 3: 0.5}]
    evidence = Evidence(rows)
    rows[0]["claim"] = "b"
    shown = [{"claim": "a", "by": [1, 2], "marks": [{"at": [0, 1]}], "3": 0.5}]

    one, two = (
        Score(0.5, details={"verdicts": evidence, "n": [1]}).made_by("m", None, prompts={"p": "1"}) for _ in "12"
    )
    assert json.dumps(one.to_dict()["details"]) == json.dumps({"verdicts": shown, "n": [1], "prompts": {"p": "1"}})
    for copied in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), Score.from_dict(one.to_dict())):
        assert copied == one
        assert type(copied.details) in (Details, dict)
    one.details["verdicts"][0]["marks"].append(1)
    assert two.details == {"verdicts": shown, "n": [1], "prompts": {"p": "1"}}
    assert Details(verdicts=evidence) == {"verdicts": shown}
    assert Evidence(evidence) == evidence
    assert copy.deepcopy(evidence) == pickle.loads(pickle.dumps(evidence)) == shown


def test_closed_evidence_cannot_be_changed() -> None:
    row: Any = Evidence([{"by": [1]}])[0]
    with pytest.raises(TypeError):
        row["by"] = [2]
    assert row["by"] == (1,)


def test_the_extras_of_evidence_are_in_the_details_only() -> None:
    looks = []

    def places() -> list[dict[str, Any]]:
        looks.append(1)
        return [{"span": (0, 1), "marks": [{"at": (2,)}]}, {}]

    evidence = Evidence([{"by": [1]}, {"by": []}], places)
    assert [dict(row) for row in evidence] == [{"by": (1,)}, {"by": ()}]
    one, two = (Score(0.5, details={"sides": held, "n": 1}).made_by("m", None) for held in (evidence, evidence))
    assert not looks
    shown = [{"by": [1], "span": [0, 1], "marks": [{"at": [2]}]}, {"by": []}]
    assert one.details == two.details == one.to_dict()["details"] == {"sides": shown, "n": 1}
    assert len(looks) == 2
    assert list(one.details["sides"][0]) == ["by", "span", "marks"]
    assert Details(inner=[evidence]) == {"inner": [shown]}
    for copied in (Evidence(evidence), copy.deepcopy(evidence), pickle.loads(pickle.dumps(evidence))):
        assert Details(sides=copied) == {"sides": shown}


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ([], ValueError, "argument 2 is shorter"),
        ([{}, {}], ValueError, "argument 2 is longer"),
        ([1], TypeError, "'int' object is not iterable"),
        (1, TypeError, "'int' object is not iterable"),
        ([{"by": [2]}], ValueError, r"extras\(\) adds the key 'by', which the item"),
        ([{"at": object()}], TypeError, "details must consist of plain JSON values"),
        ([{"at": math.inf}], ValueError, "numbers in details must be finite"),
        (None, TypeError, r"extras\(\) of the evidence failed: 'NoneType' object has no attribute 'places'"),
    ],
)
def test_the_extras_of_evidence_are_checked_when_they_are_read(more: Any, error: type[Exception], message: str) -> None:
    absent: Any = None

    def extras() -> Any:
        return absent.places() if more is None else more

    score = Score(0.5, details={"sides": Evidence([{"by": [1]}], extras)})
    for look in (lambda: score.details, lambda: hasattr(score, "details"), score.to_dict):
        with pytest.raises(error, match=message):
            look()


def test_evidence_is_shown_as_any_list_wherever_values_become_json() -> None:
    rows = [{"b": 1, "a": [2]}]
    assert in_order(Evidence(rows)) == in_order(rows) == [{"json_text": '{"b": 1, "a": [2]}'}]


@pytest.mark.parametrize("item", [{"a": math.nan}, {"a": [math.inf]}])
def test_closed_evidence_holds_finite_numbers(item: Any) -> None:
    with pytest.raises(ValueError, match="numbers in details must be finite, got"):
        Evidence([item])


def test_closed_evidence_holds_json_values() -> None:
    with pytest.raises(TypeError, match="details must consist of plain JSON values, got object"):
        Evidence([{"a": object()}])
    with pytest.raises(TypeError, match="an item of evidence must be a mapping, got list"):
        Evidence([[1]])  # type: ignore[list-item]
