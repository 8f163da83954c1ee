"""Which rows of an earlier run are the rows of this one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.evaluate.doubles import Rated
from core.store.kept import Model
from ragmetrics_core import InvalidInput, Sample, evaluate
from ragmetrics_core._store._run_dir import changed_fields


class TestRowsOfATimeWhenFewerColumnsWereUnderstood:
    OLD = Sample(user_input="1", metadata={"context_1": "a", "context_2": "b"})

    def test_are_the_same_rows(self) -> None:
        assert changed_fields(self.OLD, Sample(user_input="1", retrieved_contexts=["a", "b"])) == ""

    def test_are_others_where_anything_else_differs(self) -> None:
        assert changed_fields(self.OLD, Sample(user_input="1", retrieved_contexts=["b", "a"])) == "retrieved_contexts"
        assert changed_fields(self.OLD, Sample(user_input="2", retrieved_contexts=["a", "b"])) == "user_input"

    def test_that_cannot_be_read_today_are_others(self) -> None:
        old = Sample(user_input="1", metadata={"context_1": "a", "passage_1": "b"})
        assert changed_fields(old, old) == ""
        assert changed_fields(old, Sample(user_input="1")) == "metadata"

    def test_their_runs_go_on_without_a_call(self, tmp_path: Path) -> None:
        row: dict[str, Any] = {"user_input": "1", "context_1": "a"}
        evaluate([row], Rated(), llm=Model(), run_dir=tmp_path)
        scores = tmp_path / "scores.jsonl"
        record = json.loads(scores.read_text())
        assert record["sample"] == {"user_input": "1", "retrieved_contexts": ["a"]}
        record["sample"] = {"user_input": "1", "metadata": {"context_1": "a"}}
        scores.write_text(json.dumps(record) + "\n")
        model = Model()
        again = evaluate([row], Rated(), llm=model, run_dir=tmp_path)
        assert again.summary()["rated"].usage.calls == again.summary()["rated"].usage.cached_calls == 1
        with pytest.raises(
            InvalidInput, match="of another row than row 1: the reference_contexts, retrieved_contexts differs"
        ):
            evaluate([row], Rated(), llm=Model(), run_dir=tmp_path, columns={"reference_contexts": "context_1"})
