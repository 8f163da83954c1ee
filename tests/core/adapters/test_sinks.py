"""``JsonlSink`` and other sinks: the file can be read as scores, one that fails harms nothing."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation, InvalidInput, Score, Usage
from ragmetrics_core.adapters import JsonlSink, Observer, in_span, observe
from ragmetrics_core.llms import OpenAILLM
from ragmetrics_core.metrics import ExactMatch
from ragmetrics_core.testing import ScriptedLLM
from sink_records import SPAN, TRACE, Judged


def hear(observer: Observer, *answers: str) -> None:
    for answer in answers:
        with observer as record:
            record.update(id=answer, question="Who built it?", answer=answer, reference="Eiffel", lang="en")
    assert observer.flush(60)


def test_the_file_is_a_file_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    hear(observe(ExactMatch(), workers=1, max_concurrency=1, sinks=[JsonlSink(path)]), "Eiffel", "Sauvestre")
    hear(observe(ExactMatch(), sinks=[JsonlSink(path)]), "Eiffel")
    run = Evaluation.load(path)
    assert [score.value for score in run.scores["exact_match"]] == [1.0, 0.0, 1.0]
    assert [record.sample.metadata for record in run.records] == [{"lang": "en"}] * 3
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["row"], line["place"]) for line in lines] == [(n, f"live.jsonl, line {n}") for n in (1, 2, 3)]
    assert all(line["timestamp"].endswith("+00:00") and line["error"] is None for line in lines)
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600


def line_of(sink: JsonlSink, path: Path, record: Any) -> dict[str, Any]:
    sink(record)
    found: dict[str, Any] = json.loads(path.read_text().splitlines()[-1])
    return found


def test_a_line_has_what_is_known_of_a_call(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    scores = {
        "a": Score(1.0, usage=Usage(2, 1000, 200, seconds=1.5)),
        "b": Score(None, error="BadReply: no", usage=Usage(1, 500, 100, seconds=2.5)),
    }
    sink = JsonlSink(path)
    line = line_of(sink, path, Judged(scores, {"thread_id": 7, "trace_id": TRACE, "span_id": SPAN}))
    assert {name: line[name] for name in ("span", "session_id", "seconds", "tokens")} == {
        "span": {"trace_id": TRACE, "span_id": SPAN},
        "session_id": 7,
        "seconds": 2.5,
        "tokens": 1800,
    }
    assert line["timestamp"].endswith("+00:00")
    with in_span(("1" * 32, "2" * 16)):
        line = line_of(sink, path, Judged(scores, {"session_id": "s", "thread_id": 7}))
    assert (line["span"], line["session_id"]) == ({"trace_id": "1" * 32, "span_id": "2" * 16}, "s")


def test_dollars(tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    path = tmp_path / "live.jsonl"
    scores = {"a": Score(1.0, usage=Usage(2, 1000, 200)), "b": Score(0.0, usage=Usage(1, 500, 100))}
    judge = OpenAILLM("gpt-4o-mini", api_key="sk-4711")  # $0.15 and $0.60 for a million tokens
    line = line_of(JsonlSink(path, llm=judge), path, Judged(scores))
    assert line["dollars"] == pytest.approx((1500 * 0.15 + 300 * 0.6) / 1e6)
    assert "dollars" not in line_of(JsonlSink(path, llm=ScriptedLLM(["1"])), path, Judged(scores))


def test_a_line_has_nothing_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    line = line_of(JsonlSink(path), path, Judged({"a": Score(1.0)}, {}))
    assert sorted(line) == ["place", "row", "sample", "timestamp"]


def test_old_files_are_kept_and_then_dropped(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    sink = JsonlSink(path, max_bytes=1, backups=2)
    observer = observe(ExactMatch(), workers=1, max_concurrency=1, sinks=[sink])
    for answer in "abcd":
        hear(observer, answer)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["live.jsonl", "live.jsonl.1", "live.jsonl.2"]
    found = [json.loads(Path(f"{path}{end}").read_text()) for end in ("", ".1", ".2")]
    assert [(line["row"], line["sample"]["response"]) for line in found] == [(1, "d"), (1, "c"), (1, "b")]


def test_lines_of_many_threads_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    observer = observe(ExactMatch(), sinks=[JsonlSink(path)])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: hear(observer, str(number) * 2000), range(60)))
    assert sorted(line.index for line in Evaluation.load(path).records) == list(range(60))


def test_a_line_that_was_cut_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    hear(observe(ExactMatch(), sinks=[JsonlSink(path)]), "a")
    path.write_text(path.read_text()[:-30])
    hear(observe(ExactMatch(), sinks=[JsonlSink(path)]), "b")
    cut, whole = path.read_text().splitlines()
    assert json.loads(whole)["row"] == 2
    assert not cut.endswith("}")


def test_what_was_not_judged_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    observer = observe(ExactMatch(), sinks=[JsonlSink(path)])
    with observer as record:
        record.update(answer="a", response="b")
    assert observer.flush(60)
    assert len(observer.results) == 1
    assert not path.exists()


def test_a_sink_that_fails_costs_one_line_and_harms_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    received: list[Any] = []

    def broken(record: Any) -> None:
        raise OSError("the disk is full")

    observer = observe(ExactMatch(), on_result=received.append, sinks=[broken, received.append])
    hear(observer, "Eiffel", "Sauvestre", "Koechlin")
    assert len(received) == 6
    failures = [line.getMessage() for line in caplog.records if "failed" in line.getMessage()]
    assert failures == ["sinks[0] (function) failed: the disk is full; further failures are not logged"]
    assert all(found.error == "sinks[0] (function) raised OSError: the disk is full" for found in observer.results)


def test_a_sink_whose_folder_is_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    observer = observe(ExactMatch(), sinks=[JsonlSink(tmp_path / "no" / "live.jsonl")])
    hear(observer, "Eiffel")
    assert "sinks[0] (JsonlSink) failed: " in caplog.text
    assert observer.results[0].scores["exact_match"].value == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: observe(ExactMatch(), sinks=["a.jsonl"]),
            "sinks[0] (str) must be a function of an Observation, got 'a.jsonl'",
        ),
        (lambda: JsonlSink("a.jsonl", max_bytes=0), "max_bytes must be a whole number from 1, got 0"),
        (lambda: JsonlSink("a.jsonl", backups=0), "backups must be a whole number from 1, got 0"),
    ],
)
def test_mistakes(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == message
