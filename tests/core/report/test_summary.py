"""The account of a run, to the letter."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace

import pytest

from core.evaluate.doubles import AsyncModel, InstantModel, Length, Rated, questions
from core.report.comparing import Reason, Summary, by_id, summed_up, text_at
from ragmetrics_core import Evaluation, Metric, ModelError, Score, Usage, evaluate
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.statistics import rate_interval
from ragmetrics_core.testing import ScriptedLLM


def shown(evaluation: Evaluation) -> str:
    """The text without the wall time, which is another one every time."""
    return str(replace(evaluation.summary(), seconds=None, waited={}))


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
    assert shown(evaluate(rows, [Rated(), Length()], llm=model)) == (
        "Rated is 0.67 (0.14 to 0.96) and length 0.50 (1 of 6 rows) on 3 of 6 rows.\n"
        "Scoring failed on 3 rows (rated and length).\n"
        "\n"
        "6 rows, 2 metrics\n"
        "\n"
        "metric   mean  scored   95 % interval  unscored  failed   scale\n"
        "rated   0.667  3 of 6  0.140 to 0.961         0       3  0 to 1\n"
        "length  0.500  1 of 6               -         2       3  0 to 1\n"
        "\n"
        "metric  calls  cached  tokens in  tokens out\n"
        "rated       3       1         20           4\n"
        "length      0       0          0           0\n"
        "\n"
        "95 % interval: Wilson with Student's t\n"
        "cost AsyncModel: unknown (the model does not say where it is called)\n"
        "\n"
        "unscored:\n"
        "  2 rows in length: the response is a question mark (b, row 3)\n"
        "\n"
        "failed:\n"
        "  2 rows in rated: ModelError: the server is busy (d, row 6)\n"
        "  1 row in each of rated, length: InvalidInput: the columns 'question' and\n"
        "      'user_input' both mean 'user_input' but differ: keep one of them, or\n"
        "      choose: columns={'user_input': 'question'} (e)\n"
        "  1 row in length: InvalidInput: response must be a str, got int (d)\n"
        "  1 row in length: MissingInput: needs 'response', which is missing: add it to\n"
        "      the data as a column 'response', or leave the metric out (row 6)"
    )


def test_a_file_is_named_and_the_caveat_of_the_model_that_was_asked(tmp_path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"user_input": "0.25"}\n')
    unused = InstantModel()
    unused.caveat = "never said"
    metrics = [Rated(), Rated(name="again"), Length(llm=unused)]
    assert shown(evaluate(path, metrics, llm=InstantModel(lambda text: text))) == (
        "Rated is 0.25 and again 0.25 on 1 row. Length failed on every row.\n"
        "\n"
        "q.jsonl: 1 row, 3 metrics\n"
        "\n"
        "metric   mean  scored  95 % interval  unscored  failed   scale\n"
        "rated   0.250  1 of 1              -         0       0  0 to 1\n"
        "again   0.250  1 of 1              -         0       0  0 to 1\n"
        "length      -  0 of 1              -         0       1  0 to 1\n"
        "\n"
        "metric  calls  cached  tokens in  tokens out\n"
        "rated       1       0         10           2\n"
        "again       1       1          0           0\n"
        "length      0       0          0           0\n"
        "\n"
        "failed:\n"
        "  1 row in length: MissingInput: needs 'response', which is missing: add it to\n"
        "      the data as a column 'response', or leave the metric out (line 1)\n"
        "\n"
        "note: these scores are guesses"
    )


def test_tokens_that_the_server_does_not_report_are_unknown() -> None:
    class Silent:
        async def agenerate(self, ask: object) -> str:
            return "1"

    lines = str(evaluate(questions(2), [Rated(), Rated(name="b")], llm=Silent()).summary()).splitlines()
    assert [line.split() for line in lines[9:11]] == [["rated", "2", "0", "-", "-"], ["b", "2", "2", "0", "0"]]


def test_many_reasons_and_many_rows_are_cut_and_counted() -> None:
    rows = [{"id": f"q{number}", "user_input": str(number)} for number in range(12)]
    model = AsyncModel(lambda text: ModelError("busy" if int(text) < 7 else f"odd\n{text} " + "x" * 300))
    summary = evaluate(rows, Rated(), llm=model).summary()
    lines = shown(evaluate(rows, Rated(), llm=model)).splitlines()
    assert lines[lines.index("failed:") + 1] == "  7 rows in rated: ModelError: busy (q0, q1, q2, q3, q4 and 2 more)"
    assert lines[-1] == "  and 2 more reasons"
    assert [str(reason) for reason in summary.reasons[1:4]] == [
        f"1 row in rated: {f'ModelError: odd {number} ' + 'x' * 300:.237}... (q{number})" for number in (7, 8, 9)
    ]


def test_one_hidden_reason() -> None:
    reasons = tuple(Reason("unscored", f"reason {number}", ("m",), ("r",), (1,)) for number in range(5))
    assert str(Summary("t", (), reasons)).endswith("  1 row in m: reason 3 (r)\n  and 1 more reason")


def test_scales_are_shown() -> None:
    scores = [Score(4.5), Score(3.5)]
    summary = Summary("t", (summed_up("a", (1.0, 5.0), scores), summed_up("b", None, scores)))
    assert [re.split("  +", line) for line in str(summary).splitlines()[5:7]] == [
        ["a", "4.000", "2 of 2", "1.156 to 4.982", "0", "0", "1 to 5"],
        ["b", "4.000", "2 of 2", "-2.353 to 10.353", "0", "0", "-"],
    ]


def test_a_scale_that_all_scores_state_is_the_scale() -> None:
    one, other = Score(1, scale=(1, 3)), Score(3, scale=(1, 3))
    item = summed_up("a", None, [one, other, Score.unscored("nothing")])
    assert (item.scale, item.interval and item.interval.method) == ((1.0, 3.0), "wilson")
    item = summed_up("a", None, [one, Score(3, scale=(1, 5))])
    assert (item.scale, item.interval and item.interval.method) == (None, "t")


def test_how_the_intervals_were_made() -> None:
    half = [Score(0.5)] * 3
    columns = {f"m{number}": [Score(0.5), Score(0.75)] for number in range(7)}
    columns |= {"w": [Score(0), Score(1)], "e": half, "t": [Score(3), Score(4)], "none": half}
    scales = dict.fromkeys(columns, (0.0, 1.0)) | {"t": None, "none": None}
    items = tuple(summed_up(name, scales[name], scores) for name, scores in columns.items())
    assert str(Summary("t", items)).splitlines()[-2:] == [
        "95 % interval: Wilson with Student's t for m0, m1, m2, m3, m4 and 2 more;",
        "      Wilson for w; worst case of equal values for e; Student's t for t",
    ]
    assert str(Summary("t", items[-1:])).splitlines()[-1].split()[:6] == ["none", "0.500", "3", "of", "3", "-"]


def test_pass_rates() -> None:
    graded = [Score(4.5, passing=True), Score(2, passing=False), Score(4, passing=True), Score(3), Score.failed("x")]
    plain = [Score(1, passing=True), Score(0, passing=False)]
    one = summed_up("graded", (1.0, 5.0), graded)
    assert (one.passed, one.pass_rate) == (2, 2 / 3)
    assert one.pass_interval == rate_interval(2, 3)
    assert one.to_dict()["pass_interval"] == pytest.approx([0.2077, 0.9385], abs=1e-4)
    assert one.to_dict()["interval_method"] == "wilson-t"
    other = summed_up("plain", (0.0, 1.0), plain)
    assert (other.passed, other.pass_rate, other.pass_interval) == (1, 0.5, other.interval)
    single = summed_up("single", (1.0, 5.0), graded[:1])
    assert str(Summary("t", (one, other, single))).splitlines()[-2:] == [
        "passed graded: 2 (0.667, 95 % interval 0.208 to 0.939)",
        "passed single: 1 (1.000)",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0234, "0.02 s"), (9.994, "9.99 s"), (12.34, "12.3 s"), (99.9, "99.9 s"), (86400.4, "86400 s")],
)
def test_the_wall_time_is_in_the_head(seconds: float, text: str) -> None:
    summary = replace(evaluate(questions(1), Length()), seconds=seconds).summary()
    assert str(summary).splitlines()[2] == f"1 row, 1 metric, {text}"
    assert summary.to_dict()["seconds"] == seconds


def test_the_built_in_metrics_fit_80_columns_and_stand_on_one_line_where_there_is_room() -> None:
    usage = Usage(calls=12345, prompt_tokens=123456789, completion_tokens=12345678, cached_calls=1234)
    scores = [replace(Score(value), usage=usage) for value in (0.25, 0.5)] + [Score.failed("x")] * 997
    items = tuple(summed_up(entry.name, (0.0, 1.0), scores) for entry in catalogue())
    first, second = text_at(80, Summary("t", items)).split("\n\n")[2:4]
    assert first.startswith("metric ")
    assert second.startswith("metric ")
    assert max(map(len, (first + "\n" + second).splitlines())) <= 80
    head, *lines = text_at(140, Summary("t", items)).split("\n\n")[2].splitlines()
    assert head.split("  ")[-1].strip() == "tokens out"
    assert all(" 2 of 999 " in line and line.endswith("24691356") for line in lines)


def test_no_value_is_cut_or_parted_from_its_row_however_narrow_the_room() -> None:
    labels = [f"mtrag-{'ca6f0197d2c0c4d6' * 3}-{letter}" for letter in "abcde"]
    scores = [Score(value / 7, scale=(0.0, 1.0)) for value in range(5)]
    name = "faithfulness_of_the_answers_of_the_second_model_by_the_third_judge"
    summary = Summary("t", (summed_up(name, (0.0, 1.0), scores, labels),))
    for width in (40, 60, 80, 200):
        text = text_at(width, summary)
        assert "faithfulness_of_the...by_the_third_judge" in text
        assert "mtrag-ca6f0197d2c0c...ca6f0197d2c0c4d6-a (0)" in text
        assert "mtrag-ca6f0197d2c0c...ca6f0197d2c0c4d6-c (0.286)" in text
        assert "5 of 5" in text
        assert str(summary.metrics[0].interval) in text
    assert max(map(len, text_at(80, summary).splitlines())) <= 80


def test_a_metric_without_any_score_comes_first() -> None:
    items = [summed_up(name, None, [score] * 3) for name, score in (("a", Score(1)), ("b", Score.failed("x")))]
    nothing = summed_up("c", None, [Score.unscored("x"), Score.failed("x")])
    text = str(Summary("3 rows", (*items, replace(items[1], name="d"), nothing)))
    assert text.startswith(
        "A is 1.00 on 3 rows. B and d failed on every row. C was scored on no row.\n\n3 rows\n\nmetric "
    )
    assert [item.failed_everywhere for item in (*items, nothing)] == [False, True, False]
    assert not summed_up("empty", None, []).failed_everywhere


def test_the_room_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    run = by_id([0.5, 0.25], name=" ".join("x" * (1 + number % 7) for number in range(100)))
    comparison = run.compare(run)
    for columns, width in (("132", 132), ("7", 40), (None, 80)):
        if columns is None:
            monkeypatch.delenv("COLUMNS")
            monkeypatch.setattr(sys, "__stdout__", io.StringIO())
        else:
            monkeypatch.setenv("COLUMNS", columns)
        assert str(comparison) == comparison.text(width)
        assert str(comparison) not in (comparison.text(width - 1), comparison.text(width + 1)), (
            "one column more or less shows"
        )


def test_means_of_equal_values_are_exact() -> None:
    assert summed_up("a", None, [Score(1.0)] * 7).mean == 1.0
    assert summed_up("a", None, [Score(0.1)] * 10).mean == 0.1
    assert summed_up("a", None, []).mean is None


def test_entries_by_name_and_as_json() -> None:
    rows = [{"id": 5, "response": "?"}, {"response": "abcde"}]
    summary = evaluate(rows, Length()).summary()
    assert summary["length"].mean == 0.5
    with pytest.raises(KeyError, match="no metric 'rated'; there are length"):
        summary["rated"]
    assert replace(summary, seconds=1.5).to_dict() == {
        "title": "2 rows, 1 metric",
        "seconds": 1.5,
        "metrics": {
            "length": {
                "mean": 0.5,
                "interval": None,
                "interval_method": None,
                "scale": [0.0, 1.0],
                "scored": 1,
                "unscored": 1,
                "failed": 0,
                "passed": None,
                "pass_rate": None,
                "pass_interval": None,
                "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_calls": 0},
                "lowest": [],
                "highest": [],
                "spread": None,
                "unsteady": 0,
                "labels": {},
                "silent": 0,
                "label_rates": {},
            }
        },
        "reasons": [
            {
                "state": "unscored",
                "text": "the response is a question mark",
                "metrics": ["length"],
                "rows": ["5"],
                "counts": [1],
                "count": 1,
            }
        ],
        "contradicting": 0,
        "caveats": [],
        "models": [],
        "earlier": [],
        "waited": {},
        "stopped": None,
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
        "2 rows in each of length, b: MissingInput: needs 'response', which is missing: "
        f"add it to the data as a column 'response', or leave the metric out ({'i' * 19}...{'i' * 18}, b)"
    )
    assert (reason.counts, reason.count) == ((2, 2), 4)
    assert reason.rows == ("i" * 50, "b")


def test_the_rows_to_look_at_first() -> None:
    scores = [Score(value, scale=(0.0, 1.0)) for value in (1.0, 0.5, 0.25, 0.75, 0.5)] + [Score.unscored("nothing")]
    summary = summed_up("m", (0.0, 1.0), scores, list("abcdef"))
    assert summary.lowest == (("c", 0.25), ("b", 0.5), ("e", 0.5))
    assert "lowest:\n  m: c (0.25), b (0.5), e (0.5)\n" in f"{Summary('t', (summary,), caveats=('x',))}"
    perfect = summed_up("m", (0.0, 1.0), [Score(1.0)] * 5, list("abcde"))
    assert perfect.lowest == ()
    assert summed_up("m", None, [Score(float(value)) for value in range(5)], list("abcde")).lowest[0] == (
        "a",
        0.0,
    )


def test_what_a_terminal_would_obey_is_shown_as_what_it_is() -> None:
    reason = Reason("failed", "a\x1b[31mb", ("m",), ("\x07row\u202e",), (1,))
    assert str(reason) == r"1 row in m: a\x1b[31mb (\x07row\u202e)"


def test_reasons_count_rows_and_never_add_up_those_of_several_metrics() -> None:
    assert str(Reason("failed", "x", ("a", "b"), ("r",), (300, 300))) == "300 rows in each of a, b: x (r)"
    assert str(Reason("failed", "x", ("a", "b"), ("r",), (300, 1))) == "300 rows in a, 1 in b: x (r)"


def test_the_cost_of_unfinished_rows_is_shown() -> None:
    rows = [{"user_input": str(number / 10), "response": "x"} for number in range(1, 5)]
    result = evaluate(rows, [Rated(), Length()], llm=AsyncModel(lambda text: text), repeats=2, budget={"calls": 3})
    summary = result.summary()
    asked = summary.models[0].usage
    finished = sum(item.usage.calls - item.usage.cached_calls for item in summary.metrics)
    assert asked.calls == 3
    assert finished < 3, "or the run has no unfinished row"
    note = f"asked altogether: 3 calls ({asked.prompt_tokens} tokens in, {asked.completion_tokens} tokens out), "
    assert f"{note}{3 - finished} of them for rows that were not finished" in " ".join(str(summary).split())
    assert "asked altogether" not in str(evaluate(rows, Rated(), llm=AsyncModel(lambda text: text)).summary())


def test_a_notebook_shows_the_table() -> None:
    class Printer:
        shown = ""

        def text(self, text: str) -> None:
            self.shown += text

    printer = Printer()
    summary = evaluate([{"user_input": "1", "response": "x"}], Length()).summary()
    summary._repr_pretty_(printer, cycle=False)
    assert printer.shown == str(summary)


def test_unreadable_replies_can_be_found() -> None:
    rows = [{"user_input": "1", "response": "x", "retrieved_contexts": ["x"]}]
    note = "replies that could not be read: details['raw'] of these scores, also in the file of --out"
    unread = evaluate(rows, "faithfulness", llm=ScriptedLLM(["no idea", "none"]))
    assert note in " ".join(str(unread.summary()).split())
    assert unread.scores["faithfulness"][0].details["raw"] == ["no idea", "none"]
    refused = evaluate(rows, Rated(), llm=AsyncModel(lambda text: ModelError("the server is busy")))
    assert "details['raw']" not in str(refused.summary())


def test_one_cause_of_metrics_with_hostile_names_is_one_reason() -> None:
    """Errors show control characters of names and places as escapes; they are one cause all the same."""
    metrics = [Length(name="one\x1b[31m"), Length(name="two\x1b[31m")]
    (reason,) = evaluate([{"id": "a"}], metrics, progress=False).summary().reasons
    assert reason.text.startswith("MissingInput: needs 'response'")
    assert (reason.metrics, reason.counts) == (("one\x1b[31m", "two\x1b[31m"), (1, 1))
