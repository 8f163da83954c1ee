"""``--map`` and ``--separator``: columns as people have them, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.calling import call

CSV = """prompt,Answer,context_1,context_2,context_10,\"a,b\",lang
Capital?,Paris,Paris is one.,,[1] Ten,x || y,fr
"""


def samples(path: Path) -> list[dict[str, object]]:
    return [json.loads(line)["sample"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("options", "sample"),
    [
        (
            ["--map", "question=prompt,context_*=contexts"],
            {"user_input": "Capital?", "retrieved_contexts": ["Paris is one.", "[1] Ten"]},
        ),
        (
            ["--map", "question=prompt", "--map", "contexts = 'a,b'", "--separator", "||"],
            {"user_input": "Capital?", "retrieved_contexts": ["x", "y"]},
        ),
    ],
)
def test_fields_are_read_from_the_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], sample: dict[str, object]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(CSV, encoding="utf-8")
    result = call("evaluate", "rows.csv", "-m", "faithfulness", "--llm", "lexical", "--out", "out.jsonl", *options)
    assert result.exit_code == 0, result.stderr
    (found,) = samples(Path("out.jsonl"))
    del found["metadata"]
    assert found == {"response": "Paris", **sample}


def test_look_shows_what_the_option_does(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(CSV, encoding="utf-8")
    result = call("look", str(path), "--rows", "0", "--map", "question=prompt")
    assert result.exit_code == 0, result.stderr
    assert "user_input          1 of 1  prompt (as given)" in result.stdout
    assert "retrieved_contexts  1 of 1  context_1, context_2, context_10 (" in result.stdout


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "question=promt",
            (
                "--map question=promt reads 'user_input' from the column 'promt', which is in no row; did you mean 'prompt'? "
                "(there are: prompt, Answer, context_1, context_2, context_10, a,b, lang)"
            ),
        ),
        (
            "qestion=prompt",
            (
                "--map qestion=prompt: neither name is a field; did you mean 'question'? (the fields are history, id, "
                "metadata, reference, reference_contexts, reference_documents, response, retrieved_contexts, retrieved_documents, "
                "rubric, user_input)"
            ),
        ),
        ("question", "--map: 'question' is not a pair of names: write FIELD=COLUMN, such as question=prompt"),
        (
            "contexts=context_1,contexts=context_2",
            "--map: 'contexts' is given twice: name one column, or a pattern such as 'context_*'",
        ),
    ],
)
def test_one_line_and_status_2(tmp_path: Path, option: str, message: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(CSV, encoding="utf-8")
    result = call("evaluate", str(path), "-m", "faithfulness", "--llm", "lexical", "--map", option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"ragmetrics: {message}\n"
