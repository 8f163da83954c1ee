"""The account of a run, to the letter."""

from __future__ import annotations

import pytest

from core.evaluate.doubles import AsyncModel, InstantModel, Length, Rated, questions
from ragmetrics_core import Metric, ModelError, Score, evaluate
from ragmetrics_core._summary import MetricSummary, Reason, Summary


def test_a_table_with_all_states() -> None:
    rows = [
        {"id": "a", "user_input": "1", "response": "xxxxx"},
        {"id": "b", "user_input": "0.5", "response": "?"},
        {"user_input": "0.5", "response": "?"},
        {"id": "d", "user_input": "busy", "response": 7},
        {"id": "e", "question": "x", "user_input": "y"},
        {"user_input": "busy"},
    ]
    model = AsyncModel(lambda text: ModelError("the server is busy") if text == "busy" else text)
    assert str(evaluate(rows, [Rated(), Length()], llm=model).summary()) == (
        "6 rows, 2 metrics\n"
        "\n"
        "metric   mean   scale  scored  unscored  failed  calls  cached  prompt tokens  completion tokens\n"
        "rated   0.667  0 to 1       3         0       3      3       0             30                  6\n"
        "length  0.500  0 to 1       1         2       3      0       0              0                  0\n"
        "\n"
        "unscored:\n"
        "  2 of length: the response is a question mark (b, row 3)\n"
        "\n"
        "failed:\n"
        "  2 of rated: ModelError: the server is busy (d, row 6)\n"
        "  2 of rated, length: InvalidInput: the columns 'question' and 'user_input' both mean 'user_input' but differ: "
        "keep one of them (e)\n"
        "  1 of length: InvalidInput: response must be a str, got int (d)\n"
        "  1 of length: MissingInput: needs 'response', which is missing: "
        "give response=... or leave the metric out for this sample (row 6)"
    )


def test_a_file_is_named_and_the_caveat_of_the_model_that_was_asked(tmp_path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"user_input": "0.25"}\n')
    unused = InstantModel()
    unused.caveat = "never said"
    metrics = [Rated(), Rated(name="again"), Length(llm=unused)]
    assert str(evaluate(path, metrics, llm=InstantModel(lambda text: text)).summary()) == (
        "q.jsonl: 1 row, 3 metrics\n"
        "\n"
        "metric   mean   scale  scored  unscored  failed  calls  cached  prompt tokens  completion tokens\n"
        "rated   0.250  0 to 1       1         0       0      1       0             10                  2\n"
        "again   0.250  0 to 1       1         0       0      1       1              0                  0\n"
        "length      -  0 to 1       0         0       1      0       0              0                  0\n"
        "\n"
        "failed:\n"
        "  1 of length: MissingInput: needs 'response', which is missing: "
        "give response=... or leave the metric out for this sample (line 1)\n"
        "\n"
        "note: these scores are guesses"
    )


def test_tokens_that_the_server_does_not_report_are_unknown() -> None:
    class Silent:
        async def agenerate(self, ask: object) -> str:
            return "1"

    lines = str(evaluate(questions(2), [Rated(), Rated(name="b")], llm=Silent()).summary()).splitlines()
    assert lines[3].split() == ["rated", "1.000", "0", "to", "1", "2", "0", "0", "2", "0", "-", "-"]
    assert lines[4].split() == ["b", "1.000", "0", "to", "1", "2", "0", "0", "2", "2", "0", "0"]


def test_many_reasons_and_many_rows_are_cut_and_counted() -> None:
    rows = [{"id": f"q{number}", "user_input": str(number)} for number in range(12)]
    model = AsyncModel(lambda text: ModelError("busy" if int(text) < 7 else f"odd\n{text} " + "x" * 300))
    lines = str(evaluate(rows, Rated(), llm=model).summary()).splitlines()
    assert lines[5:] == [
        "failed:",
        "  7 of rated: ModelError: busy (q0, q1, q2, q3, q4 and 2 more)",
        *(f"  1 of rated: {f'ModelError: odd {number} ' + 'x' * 300:.237}... (q{number})" for number in (7, 8, 9)),
        "  and 2 more reasons",
    ]


def test_one_hidden_reason() -> None:
    reasons = tuple(Reason("unscored", f"reason {number}", ("m",), ("r",), 1) for number in range(5))
    assert str(Summary("t", (), reasons)).endswith("  1 of m: reason 3 (r)\n  and 1 more reason")


def test_scales_are_shown() -> None:
    scores = [Score(4.5), Score(3.5)]
    summary = Summary("t", (MetricSummary.of("a", (1.0, 5.0), scores), MetricSummary.of("b", None, scores)))
    assert [line.split()[:5] for line in str(summary).splitlines()[3:]] == [
        ["a", "4.000", "1", "to", "5"],
        ["b", "4.000", "-", "2", "0"],
    ]


def test_means_of_equal_values_are_exact() -> None:
    assert MetricSummary.of("a", None, [Score(1.0)] * 7).mean == 1.0
    assert MetricSummary.of("a", None, [Score(0.1)] * 10).mean == 0.1
    assert MetricSummary.of("a", None, []).mean is None


def test_entries_by_name_and_as_json() -> None:
    rows = [{"id": 5, "response": "?"}, {"response": "abcde"}]
    summary = evaluate(rows, Length()).summary()
    assert summary["length"].mean == 0.5
    with pytest.raises(KeyError, match="no metric 'rated'; there are length"):
        summary["rated"]
    assert summary.to_dict() == {
        "title": "2 rows, 1 metric",
        "metrics": {
            "length": {
                "mean": 0.5,
                "scale": [0.0, 1.0],
                "scored": 1,
                "unscored": 1,
                "failed": 0,
                "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_calls": 0},
            }
        },
        "reasons": [
            {
                "state": "unscored",
                "text": "the response is a question mark",
                "metrics": ["length"],
                "rows": ["5"],
                "count": 1,
            }
        ],
        "caveats": [],
    }
    scale_free = type("Free", (Metric,), {"measure": lambda self, response: Score(1), "scale": None})()
    assert evaluate(rows, scale_free).summary().to_dict()["metrics"]["free"]["scale"] is None


def test_a_model_error_that_quotes_a_place_keeps_it() -> None:
    model = AsyncModel(lambda text: ModelError("row 1: is what the server said"))
    (reason,) = evaluate(questions(1), Rated(), llm=model).summary().reasons
    assert reason.text == "ModelError: row 1: is what the server said"


def test_one_missing_column_is_one_reason_for_all_metrics_and_long_ids_are_cut() -> None:
    rows = [{"id": "i" * 50}, {"id": "b"}]
    (reason,) = evaluate(rows, [Length(), Length(name="b")]).summary().reasons
    assert str(reason) == (
        "4 of length, b: MissingInput: needs 'response', which is missing: "
        f"give response=... or leave the metric out for this sample ({'i' * 37}..., b)"
    )
    assert reason.rows == ("i" * 50, "b")
