"""Data frames: every column has one type, evidence comes along, and Parquet takes all of it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Length
from ragmetrics_core import Document, Evaluation, Metric, Score, evaluate

pd = pytest.importorskip("pandas")

VERDICTS = [
    {"claim": "A.", "supported": True, "reason": "said", "verdict": "supported", "supported_by": [1, 2], "contradicted_by": []},
    {"claim": "B.", "supported": False, "reason": "", "verdict": "contradicted", "supported_by": [], "contradicted_by": [2]},
]  # fmt: skip


def judged(details: dict[str, Any], rows: list[dict[str, Any]] | None = None) -> Evaluation:
    """Rows whose first one has this evidence."""
    first = {"response": "first"}
    judge = type(
        "Judge",
        (Metric,),
        {"measure": lambda self, response: Score(0.5, details=details if response == "first" else {})},
    )()
    return evaluate([first, *(rows or [])], judge)


def roundtrip(frame: Any, tmp_path: Path) -> Any:
    pytest.importorskip("pyarrow")
    path = tmp_path / "scores.parquet"
    frame.to_parquet(path)
    return pd.read_parquet(path)


def test_metadata_has_a_column_per_key_and_keeps_its_type() -> None:
    rows = [
        {"response": "a", "page": 3, "new": True, "weight": 1, "source": {"page": 1}, "mixed": 1, "day": dt.date(2026, 1, 2)},
        {"response": "b", "page": None, "new": False, "weight": 0.5, "source": "page 2", "mixed": "one", "large": 2**70},
    ]  # fmt: skip
    frame = evaluate(rows, Length()).to_pandas()
    assert list(frame.columns)[:8] == [
        "response",
        "metadata.page",
        "metadata.new",
        "metadata.weight",
        "metadata.source",
        "metadata.mixed",
        "metadata.day",
        "metadata.large",
    ]
    assert [str(frame[f"metadata.{name}"].dtype) for name in ("page", "new", "weight")] == [
        "Int64",
        "boolean",
        "float64",
    ]
    assert (frame["metadata.page"][0], frame["metadata.page"].isna().tolist()) == (3, [False, True])
    assert frame["metadata.source"].tolist() == ['{"page": 1}', "page 2"]
    assert frame["metadata.mixed"].tolist() == ["1", "one"]
    assert (frame["metadata.day"][0], frame["metadata.large"][1]) == ("2026-01-02", str(2**70))


def test_whatever_the_rows_are_like_parquet_takes_the_frame(tmp_path: Path) -> None:
    rows = [
        {"response": "abc", "retrieved_documents": [Document(id="d1", score=0.5), "text"], "rubric": {1: "bad", 2: "good"}},
        {"response": 5, "contexts": 6, "id": 7, "tags": ["a", 1]},
        {"response": "half \ud800", "contexts": ["one", 2], "id": "seven", "tags": float("nan"), "nothing": None},
        {"response": "?", "contexts": [], "retrieved_documents": ["d2"], "key\ud800": "x"},
    ]  # fmt: skip
    frame = roundtrip(evaluate(rows, Length()).to_pandas(evidence=True), tmp_path)
    assert frame["response"].tolist() == ["abc", "5", "half \ufffd", "?"]
    assert [None if cell is None else list(cell) for cell in frame["retrieved_contexts"]] == [
        None,
        ["6"],
        ["one", "2"],
        [],
    ]
    assert list(frame["retrieved_documents"][0]) == ['{"id": "d1", "score": 0.5}', "text"]
    assert frame["rubric"][0] == '{"1": "bad", "2": "good"}'
    assert frame["id"].tolist()[1:3] == ["7", "seven"]
    assert frame["metadata.tags"].tolist()[1] == '["a", 1]'
    assert frame["metadata.key\ufffd"].tolist()[3] == "x"
    assert frame["length_state"].tolist() == ["scored", "failed", "scored", "unscored"]


def test_evidence_as_columns_of_lists(tmp_path: Path) -> None:
    frame = roundtrip(
        judged({"verdicts": VERDICTS, "window": 1}, [{"response": "b"}]).to_pandas(evidence=True), tmp_path
    )
    names = ["claims", "parts", "verdicts", "passages", "against", "reasons"]
    assert [name for name in frame.columns if name.startswith("judge_")] == [
        "judge_state",
        "judge_note",
        *(f"judge_{name}" for name in names),
        "judge_details",
    ]
    cells = {name: list(frame[f"judge_{name}"][0]) for name in names}
    assert [list(numbers) for numbers in cells.pop("passages")] == [[1, 2], []]
    assert [list(numbers) for numbers in cells.pop("against")] == [[], [2]]
    assert cells == {
        "claims": ["A.", "B."],
        "parts": ["claims", "claims"],
        "verdicts": ["supported", "contradicted"],
        "reasons": ["said", ""],
    }
    assert [len(frame[f"judge_{name}"][1]) for name in names] == [0] * 6
    assert json.loads(frame["judge_details"][0]) == {"verdicts": VERDICTS, "window": 1}


def test_evidence_becomes_a_row_per_claim() -> None:
    frame = judged({"verdicts": VERDICTS}, [{"response": "b"}]).to_pandas(evidence=True)
    columns = ["judge_claims", "judge_verdicts", "judge_reasons"]
    exploded = frame.explode(columns)[["response", *columns]]
    assert exploded[:2].to_numpy().tolist() == [
        ["first", "A.", "supported", "said"],
        ["first", "B.", "contradicted", ""],
    ]
    assert exploded["judge_claims"].isna().tolist() == [False, False, True]


def test_without_evidence_there_are_no_columns_of_it() -> None:
    assert list(judged({"verdicts": VERDICTS}).to_pandas().columns) == [
        "response",
        "judge",
        "judge_state",
        "judge_note",
    ]
    scored = evaluate([{"response": "abc"}], Length()).to_pandas(evidence=True)
    assert list(scored.columns) == ["response", "length", "length_state", "length_note", "length_details"]
    assert scored["length_details"][0] == "{}"


def test_the_pass_rate_is_the_mean_of_the_column(tmp_path: Path) -> None:
    verdict = type("Verdict", (Metric,), {"measure": lambda self, response: Score(0.5, passing=response == "a")})()
    result = evaluate([{"response": text} for text in ("a", "b", "a", None)], verdict)
    frame = roundtrip(result.to_pandas(), tmp_path)
    assert frame["verdict_passing"].mean() == result.summary()["verdict"].pass_rate == pytest.approx(2 / 3)


def test_no_column_hides_another() -> None:
    """Metrics may be called as fields, as keys of the metadata, or as columns of other metrics are."""

    def measure(self: object, response: str) -> Score:
        return Score(len(response) / 10, label="x")

    kind = type("Kind", (Metric,), {"measure": measure})
    names = ["response", "a", "a_label", "metadata.lang", "x\ud800", "x\ud801"]
    rows = [{"response": "ab", "lang": "en"}]
    frame = evaluate(rows, [kind(name=name) for name in names]).to_pandas()
    assert len(frame.columns) == 2 + 4 * len(names)
    assert frame.columns.is_unique
    values = [
        "response",
        "response_2",
        "a_label",
        "a_label_2",
        "metadata.lang",
        "metadata.lang_2",
        "x\ufffd",
        "x\ufffd_2",
    ]
    assert frame[values].iloc[0].tolist() == ["ab", 0.2, "x", 0.2, "en", 0.2, 0.2, 0.2]
