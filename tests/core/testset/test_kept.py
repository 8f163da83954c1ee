"""The directory of a run that writes a test set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Ask, Document, InvalidInput, ModelError, RagmetricsError, Reply, Testset, generate_testset


class Stable:
    """A model that says what it is, so that its replies can be kept, and counts its calls."""

    instant = True
    identity = {"model": "stable"}  # noqa: RUF012  read only

    def __init__(self, otherwise: Callable[[Ask], str | None] = lambda _: None) -> None:
        self.calls = 0
        self.otherwise = otherwise

    def generate(self, ask: Ask) -> Reply[str]:
        self.calls += 1
        return Reply(self.otherwise(ask) or self.reply(ask))

    @staticmethod
    def reply(ask: Ask) -> str:
        inputs: Any = ask.inputs
        if ask.prompt.name == "write_questions":
            return f"1. What is {inputs['document'].split()[0]}?"
        if ask.prompt.name == "answer_from_document":
            return '{"evidence": "", "answer": "fine"}'
        return '{"stands_alone": true, "supported": true}'


TEXTS = ["Lyon is fine.", "Nice is fine.", "Rome is fine."]


def lines(run_dir: Path, name: str = "testset.jsonl") -> list[str]:
    return [str(sample.user_input) for sample in Testset.load(run_dir / name)]


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    llm = Stable()
    first = generate_testset(TEXTS, llm, n=3, run_dir=tmp_path / "run")
    again = generate_testset(TEXTS, llm, n=3, run_dir=tmp_path / "run")
    assert (llm.calls, first.usage.calls, again.usage.calls) == (9, 9, 0)
    assert again.samples == first.samples
    assert lines(tmp_path / "run") == ["What is Lyon?", "What is Nice?", "What is Rome?"]


def test_more_questions_ask_only_what_is_new(tmp_path: Path) -> None:
    llm = Stable()
    generate_testset(TEXTS, llm, n=2, run_dir=tmp_path)
    assert len(generate_testset(TEXTS, llm, n=3, run_dir=tmp_path)) == 3
    assert llm.calls == 9
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".jsonl") == ["testset.jsonl"]


def test_per_document_it_is_kept_too(tmp_path: Path) -> None:
    llm = Stable()
    for _ in range(2):
        generate_testset(TEXTS, llm, 1, run_dir=tmp_path)
    assert (llm.calls, lines(tmp_path)) == (6, ["What is Lyon?", "What is Nice?", "What is Rome?"])


@pytest.mark.parametrize("arguments", [{"n": 3}, {"questions_per_document": 1}])
@pytest.mark.parametrize("name", ["write_questions", "answer_from_document", "check_question"])
def test_what_could_not_be_read_is_asked_again(tmp_path: Path, arguments: dict[str, Any], name: str) -> None:
    def broken(ask: Ask) -> str | None:
        return "{" if ask.prompt.name == name and "Nice" in str(ask.inputs) else None

    made = generate_testset(TEXTS, Stable(broken), run_dir=tmp_path, **arguments)
    mended = generate_testset(TEXTS, Stable(), run_dir=tmp_path, **arguments)
    asked = name != "check_question" or "n" in arguments
    assert (len(made), len(mended)) == ((2, 3) if asked else (3, 3))
    assert lines(tmp_path) == ["What is Lyon?", "What is Nice?", "What is Rome?"]


def test_questions_are_there_as_they_come_when_the_run_dies(tmp_path: Path) -> None:
    def dying(ask: Ask) -> str | None:
        if ask.prompt.name == "check_question" and "Rome" in str(ask.inputs):
            assert lines(tmp_path)
            raise ModelError("wrong key", fatal=True)
        return None

    with pytest.raises(ModelError, match="wrong key"):
        generate_testset(TEXTS, Stable(dying), n=3, seed=7, run_dir=tmp_path, max_concurrency=1)
    assert lines(tmp_path) == ["What is Nice?", "What is Lyon?"]
    generate_testset(TEXTS, Stable(), n=3, seed=7, run_dir=tmp_path)
    assert lines(tmp_path) == ["What is Lyon?", "What is Nice?", "What is Rome?"]
    assert not (tmp_path / "testset.1.jsonl").exists()


class TestFile:
    def make(self, run_dir: Path, *cities: str, otherwise: Callable[[Ask], str | None] = lambda _: None) -> None:
        documents = [Document(f"{city} is\u2028fine.", city) for city in cities]
        generate_testset(documents, Stable(otherwise), n=len(cities), run_dir=run_dir)

    def test_none(self, tmp_path: Path) -> None:
        self.make(tmp_path, "Lyon", otherwise=lambda _: "[]")
        assert not (tmp_path / "testset.jsonl").exists()

    def test_another_test_set_is_set_aside(self, tmp_path: Path) -> None:
        self.make(tmp_path, "Lyon")
        self.make(tmp_path, "Nice")
        assert (lines(tmp_path, "testset.1.jsonl"), lines(tmp_path)) == (["What is Lyon?"], ["What is Nice?"])

    def test_so_is_one_that_only_begins_alike(self, tmp_path: Path) -> None:
        self.make(tmp_path, "Lyon", "Nice")
        self.make(tmp_path, "Lyon", "Rome")
        assert lines(tmp_path) == ["What is Lyon?", "What is Rome?"]
        assert "What is Nice?" in lines(tmp_path, "testset.1.jsonl")

    def test_a_torn_line_is_set_aside(self, tmp_path: Path) -> None:
        self.make(tmp_path, "Lyon")
        with (tmp_path / "testset.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"user_inp')
        self.make(tmp_path, "Lyon", "Nice")
        assert lines(tmp_path) == ["What is Lyon?", "What is Nice?"]
        assert (tmp_path / "testset.1.jsonl").exists()

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "run").write_text("x")
        with pytest.raises(InvalidInput, match="cannot be made a directory"):
            generate_testset(TEXTS, Stable(), n=1, run_dir=tmp_path / "run")

    def test_it_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "testset.jsonl").mkdir()
        with pytest.raises(RagmetricsError, match=r"testset\.jsonl cannot be written: Is a directory"):
            self.make(tmp_path, "Lyon")
