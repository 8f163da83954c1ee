"""Taking results elsewhere: dicts, JSONL, data frames, exceptions; and the progress bar."""

from __future__ import annotations

import datetime as dt
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.evaluate.doubles import AsyncModel, Length, Rated, questions
from ragmetrics_core import Document, Evaluation, Metric, MissingExtra, RagmetricsError, Sample, Score, evaluate

LENGTH = {
    "metric": "length",
    "value": 0.3,
    "state": "scored",
    "passing": None,
    "label": None,
    "reason": None,
    "error": None,
    "scale": [0.0, 1.0],
    "details": {},
    "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_calls": 0},
}


def both(tmp_path: Path, evaluation: Evaluation) -> list[dict]:
    """The rows as ``to_dict`` gives them, after checking that ``to_jsonl`` writes the same."""
    path = tmp_path / "scores.jsonl"
    evaluation.to_jsonl(path)
    written = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert written == evaluation.to_dict()["rows"]
    return written


def test_rows_as_json(tmp_path: Path) -> None:
    sample = Sample(response="für", retrieved_documents=[Document(id="d1", score=0.5), "text"], id="q1")
    assert both(tmp_path, evaluate([sample], Length())) == [
        {
            "row": 1,
            "place": "row 1",
            "sample": {"response": "für", "retrieved_documents": [{"id": "d1", "score": 0.5}, "text"], "id": "q1"},
            "scores": {"length": LENGTH},
        }
    ]
    assert "für" in (tmp_path / "scores.jsonl").read_text(encoding="utf-8"), "text stays readable"


def test_metadata_that_json_has_no_form_for_loses_nothing_else(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    row = {
        "response": "abc\ud800",
        "retrieved_contexts": numpy.array(["a"]),
        "day": dt.date(2024, 5, 6),
        "deep": {1: (float("inf"), numpy.int64(3), numpy.float64(0.5))},
    }
    (written,) = both(tmp_path, evaluate([row], Length()))
    assert written["sample"] == {
        "response": "abc\ud800",
        "retrieved_contexts": ["a"],
        "metadata": {"day": "2024-05-06", "deep": {"1": [None, 3, 0.5]}},
    }


def test_a_row_of_wrong_types_is_written_as_it_came(tmp_path: Path) -> None:
    (written,) = both(tmp_path, evaluate([{"response": "abc", "retrieved_documents": 5, "contexts": 6}], Length()))
    assert written["sample"] == {"response": "abc", "retrieved_documents": 5, "retrieved_contexts": 6}


def test_whole_evaluation_as_json(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"response": "abc"}\n')
    result = evaluate(path, [Length(), Length(name="b")])
    data = result.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["source"], data["metrics"]) == ("q.jsonl", {"length": "Length()", "b": "Length(name='b')"})
    assert data["summary"] == result.summary().to_dict()
    assert data["rows"][0]["place"] == "q.jsonl, line 1"


def test_data_frame() -> None:
    pd = pytest.importorskip("pandas")
    rows = [{"id": "a", "response": "abc", "lang": "en"}, {"id": "b", "response": "?"}, {"id": "c"}]
    frame = evaluate(rows, Length()).to_pandas()
    assert list(frame.columns) == ["response", "id", "metadata.lang", "length", "length_state", "length_note"]
    assert frame["length"].dtype == float
    assert frame["length"][0] == 0.3
    assert frame["length"].isna().tolist() == [False, True, True]
    assert frame["length_state"].tolist() == ["scored", "unscored", "failed"]
    assert frame["length_note"][1] == "the response is a question mark"
    assert frame["length_note"][2].startswith("MissingInput: length needs 'response'")
    assert [frame["metadata.lang"][0], *frame["metadata.lang"].isna()] == ["en", False, True, True]
    assert isinstance(evaluate([], Length()).to_pandas(), pd.DataFrame)


def test_verdicts_have_a_column() -> None:
    pytest.importorskip("pandas")
    verdict = type("Verdict", (Metric,), {"measure": lambda self, response: Score(0.5, passing=response == "a")})()
    frame = evaluate([{"response": text} for text in ("a", "b", "a", None)], [verdict, Length()]).to_pandas()
    assert frame["verdict_passing"].tolist()[:3] == [True, False, True]
    assert frame["verdict_passing"].isna().tolist() == [False, False, False, True]
    assert frame["verdict_passing"].mean() == pytest.approx(2 / 3)
    assert "length_passing" not in frame


def test_data_frame_of_rows_that_hold_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    frame = evaluate([{"response": "abc", "contexts": numpy.array(["a", "b"])}], Length()).to_pandas()
    assert list(frame["retrieved_contexts"][0]) == ["a", "b"]


def test_data_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra) as caught:
        evaluate(questions(1), Length()).to_pandas()
    assert str(caught.value) == 'to_pandas() needs pandas: pip install "ragmetrics-core[pandas]"'


def test_raise_for_errors() -> None:
    evaluate([{"response": "?"}], Length()).raise_for_errors()
    result = evaluate([{"id": "a"}, {"id": "b"}, {"response": "abc"}], [Length(), Length(name="b")])
    with pytest.raises(RagmetricsError) as caught:
        result.raise_for_errors()
    assert str(caught.value) == (
        "4 of 6 scores failed:\n"
        "  2 rows in each of length, b: MissingInput: needs 'response', which is missing: "
        "add it to the data as a column 'response', or leave the metric out (a, b)"
    )


def test_the_wall_time_is_carried_through() -> None:
    result = replace(evaluate(questions(1), Length()), seconds=2.5)
    assert (result.seconds, result.summary().seconds, result.to_dict()["summary"]["seconds"]) == (2.5, 2.5, 2.5)


def test_repr_is_short() -> None:
    result = evaluate(questions(3), [Length(), Length(name="b")])
    assert repr(result) == "<Evaluation of 3 rows, 2 metrics: length, b>"
    assert repr(result.scores) == f"Scores({dict(result.scores)!r})"


def test_a_metric_gives_its_values_row_by_row() -> None:
    result = evaluate([{"response": "abc"}, {"id": "b"}, {"response": "abcdef"}], [Length(), Length(name="b")])
    assert result["length"] == [0.3, None, 0.6]
    assert result[Length(name="b")] == result["b"] == [score.value for score in result.scores["b"]]
    with pytest.raises(KeyError, match="no metric 'lenght'; there are length, b"):
        result["lenght"]


def test_an_evaluation_cannot_be_iterated() -> None:
    with pytest.raises(TypeError, match="^'Evaluation' object is not iterable$"):
        list(evaluate(questions(1), Length()))  # type: ignore[call-overload]


class TestProgress:
    @pytest.mark.parametrize("progress", [True, False])
    def test_silent_without_a_terminal(self, capsys: pytest.CaptureFixture[str], progress: bool) -> None:
        evaluate(questions(3), Length(), progress=progress)
        assert capsys.readouterr() == ("", "")

    def test_always(self, capsys: pytest.CaptureFixture[str]) -> None:
        evaluate(questions(3), Rated(), llm=AsyncModel("1"), progress="always")
        out, err = capsys.readouterr()
        assert out == ""
        assert "evaluate: 100%" in err
        assert "3/3" in err

    def test_a_terminal(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        evaluate(iter(questions(3)), Length(), progress=False)
        assert capsys.readouterr().err == ""
        evaluate(iter(questions(3)), Length())
        assert "3 rows" in capsys.readouterr().err
