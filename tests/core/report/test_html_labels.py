"""What a page tells label mode: under which name a browser keeps labels, and what each metric asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragmetrics_core import Evaluation
from report_data import line, score, small, unpacked, written


def labelling_of(evaluation: Evaluation, folder: Path, **options: float) -> dict[str, Any]:
    evaluation.to_html(folder / "page.html", **options)
    found: dict[str, Any] = unpacked((folder / "page.html").read_text(encoding="utf-8"), "index")["labelling"]
    return found


def test_the_same_run_has_the_same_name_whatever_its_file_holds(tmp_path: Path) -> None:
    evaluation = small(tmp_path / "scores.jsonl")
    digest = labelling_of(evaluation, tmp_path)["digest"]
    assert len(digest) == 32
    assert labelling_of(evaluation, tmp_path, max_megabytes=0.001)["digest"] == digest
    lines = [json.loads(text) for text in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    lines[1]["scores"]["faithfulness"]["value"] = 0.5
    assert labelling_of(written(tmp_path / "other.jsonl", lines), tmp_path)["digest"] != digest


def test_built_in_metrics_say_what_they_ask(tmp_path: Path) -> None:
    sample = {"id": "q1", "user_input": "Where?", "response": "There.", "retrieved_contexts": ["It is there."]}
    scores = [score(name, 0.5) for name in ("faithfulness", "hallucination", "of_my_own")]
    evaluation = written(tmp_path / "scores.jsonl", [line(1, sample, *scores)])
    assert labelling_of(evaluation, tmp_path)["asks"] == [
        "Share of the response's claims that the retrieved contexts support.",
        "Share of the response's claims that neither a passage nor the reference supports. Low is good.",
        None,
    ]
