"""Where in a JSON file the rows are: what is found, what must be chosen, and every message about what is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from core.evaluate.doubles import Length
from core.read.reading import looked_at, read, write
from ragmetrics_core import InvalidInput, Sample, evaluate

ROWS = [{"question": "a"}, {"question": "b"}]


@pytest.mark.parametrize(
    ("data", "path", "place"),
    [
        (ROWS, "", "item 1"),
        ({"samples": ROWS, "others": [{"x": 1}]}, "samples", "item 1"),
        ({"examples": ROWS, "others": [{"x": 1}]}, "examples", "item 1"),
        ({"results": ROWS, "others": [{"x": 1}]}, "results", "item 1"),
        ({"results": {"results": ROWS, "prompts": [{"raw": "x"}]}}, "results.results", "results.results item 1"),
        ({"data": {"rows": ROWS}, "n": [1, 2]}, "data.rows", "data.rows item 1"),
        ({"rows": ROWS, "metadata": {"runs": [{"x": 1}]}, "empty": []}, "rows", "item 1"),
    ],
)
def test_found(tmp_path: Path, data: Any, path: str, place: str) -> None:
    file = write(tmp_path / "q.json", json.dumps(data))
    assert [(where, sample) for where, sample, _ in read(file)] == [
        (f"q.json, {place}", Sample(user_input="a")),
        (f"q.json, {place.replace('item 1', 'item 2')}", Sample(user_input="b")),
    ]
    assert looked_at(file)["form"] == f"JSON{path and f', rows at {path}'}, UTF-8"


def deep(levels: int) -> Any:
    return ROWS if levels == 0 else {"a": deep(levels - 1)}


def test_not_searched_without_end(tmp_path: Path) -> None:
    assert len(read(write(tmp_path / "q.json", json.dumps(deep(7))))) == 2
    with pytest.raises(InvalidInput, match=r"^q\.json must hold a list of rows"):
        read(write(tmp_path / "q.json", json.dumps(deep(8))))


NONE = 'q.json must hold a list of rows, or an object with such a list under "samples", "data", "examples" or "results"'


@pytest.mark.parametrize(
    ("data", "at", "message"),
    [
        (
            {"a": ROWS, "b": {"c": [*ROWS, {}]}},
            None,
            "lists that could be the rows: a (2), b.c (3): choose one, as in at='b.c'",
        ),
        (
            {f"list {number}": ROWS for number in range(10)},
            None,
            f"{', '.join(f'list {number} (2)' for number in range(8))} and 2 more: choose one, as in at='list 0'",
        ),
        ({"a": [1, 2], "b": "c"}, None, NONE),
        (
            {"question": "a", "retrieved_documents": [{"id": "d"}]},
            None,
            f"{NONE}: this one is a single row; put it into a list: [{{...}}]",
        ),
        (
            {"question": {"0": "a"}, "answer": {"0": "b"}},
            None,
            f'{NONE}: this one holds columns; with pandas, df.to_json(path, orient="records") writes rows',
        ),
        (
            {"columns": ["question", "answer"], "data": [["a", "b"]]},
            None,
            f'{NONE}: this one holds columns; with pandas, df.to_json(path, orient="records") writes rows',
        ),
        ({"a": ROWS}, "b", "q.json: at='b': there is no 'b' in the file, which has a"),
        ({"a": {"c": 1}}, "a.b", "q.json: at='a.b': there is no 'b' in a, which has c"),
        ({"a": ROWS}, "a.b", "q.json: at='a.b': there is no 'b' in a, which has no keys"),
        ({"a": {"b": 1}}, "a.b", "q.json: at='a.b' is not a list of rows"),
    ],
)
def test_not_found(tmp_path: Path, data: Any, at: str | None, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(write(tmp_path / "q.json", json.dumps(data)), Length(), at=at)
    assert str(caught.value).endswith(message)


def test_the_command_names_its_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "q.json", json.dumps({"a": ROWS, "my rows": ROWS * 2}))
    assert call("look", "q.json").stderr == (
        "ragmetrics: q.json holds several lists that could be the rows: a (2), my rows (4): choose one, as in --at 'my rows'\n"
    )
    assert call("look", "q.json", "--at", "my rows").stdout.startswith("q.json: JSON, rows at my rows, UTF-8: 4 rows\n")
    assert call("look", "q.json", "--at", "my").stderr == (
        "ragmetrics: q.json: --at my: there is no 'my' in the file, which has a, my rows\n"
    )
