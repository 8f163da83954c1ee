"""Passages of documents: what they hold, where they are cut, and how they are named."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from ragmetrics_core import Document, InvalidInput, generate_testset
from ragmetrics_core._testset._chunks import CHUNK_OVERLAP, CHUNK_SIZE, Chunk, check_sizes, chunks_of
from ragmetrics_core._testset._documents import GivenDocument
from ragmetrics_core.testing import ScriptedLLM

ASIAN = "東京は日本の首都です。"
PIECES = st.sampled_from(
    [" ", "  ", "\n", "\n\n", "\t", ". ", "? ", "! ", "… ", "a", "Dr. ", "e.g. ", "3.14", "12. ", "no", "A longer word",
     "unendurably" * 3, "。", "！", "東京", "、", "」", "é", "e\u0301", "か\u3099", "- item", "# ", "\r\n", "\u2028", "\ud800"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join)


def cut(text: str, size: int, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in chunks_of(GivenDocument("d", text), size, overlap)]


@examples(300)
@given(text=TEXTS, size=st.integers(1, 80), data=st.data())
def test_what_holds_of_all_chunks(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    chunks = chunks_of(GivenDocument("d", text), size, overlap)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == text[chunk.start : chunk.end] and chunk.text.strip() for chunk in chunks)
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert [at for at, char in enumerate(text) if not char.isspace() and at not in covered] == []
    for chunk in chunks:
        assert len(chunk.text) <= size or not re.search(r"\s", chunk.text)
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= overlap
    if len(chunks) > 1:
        assert all(chunk.text == chunk.text.strip() for chunk in chunks)
        edges = {edge for chunk in chunks for edge in (chunk.start, chunk.end)}
        assert [text[edge - 3 : edge + 3] for edge in edges if in_a_word(text, edge)] == []


def in_a_word(text: str, edge: int) -> bool:
    """Between two letters, where the writing has spaces between words."""
    around = text[max(0, edge - 1) : edge + 1]
    return len(around) == 2 and re.fullmatch(r"[A-Za-z0-9éç\u0301]{2}", around) is not None


@given(text=TEXTS)
def test_a_text_that_is_no_longer_than_a_chunk_stays_as_it_is(text: str) -> None:
    expected = [text] if text.strip() else []
    assert cut(text, max(len(text), 1)) == expected


def test_it_ends_where_sentences_end() -> None:
    text = "Dr. Ada wrote e.g. notes. Pi is 3.14 exactly. Am 3. Tag z. B. in Wien. See Sec. 3 for it. It ran. Then it stood."
    assert cut(text, 60) == [
        "Dr. Ada wrote e.g. notes. Pi is 3.14 exactly.",
        "Am 3. Tag z. B. in Wien. See Sec. 3 for it. It ran.",
        "Then it stood.",
    ]
    assert cut(text, 60, 30) == [
        "Dr. Ada wrote e.g. notes. Pi is 3.14 exactly.",
        "Pi is 3.14 exactly. Am 3. Tag z. B. in Wien.",
        "Am 3. Tag z. B. in Wien. See Sec. 3 for it. It ran.",
        "See Sec. 3 for it. It ran. Then it stood.",
    ]


def test_writing_without_spaces() -> None:
    assert cut("東京は日本の首都です。人口は約1400万人！大阪は？「はい。」と言う。", 16) == [
        "東京は日本の首都です。",
        "人口は約1400万人！大阪は？",
        "「はい。」と言う。",
    ]
    assert cut("東京は、日本の首都です", 4) == ["東京は、", "日本の首", "都です"]
    assert cut("東京は日、本の", 4) == ["東京は", "日、本の"]


@pytest.mark.parametrize(
    ("text", "size", "chunks"),
    [
        (
            "A title\n\nThe first. It is short.\n\nThe second.",
            40,
            ["A title\n\nThe first. It is short.", "The second."],
        ),
        ("One is here\n\nTwo is here\nand goes on", 20, ["One is here", "Two is here", "and goes on"]),
        ("We need:\n- apples\n- pears\n- 2 plums", 20, ["We need:\n- apples", "- pears\n- 2 plums"]),
        ("a verse of words\nanother verse of words", 30, ["a verse of words", "another verse of words"]),
        ("Hi. Then a sentence with no end in reach", 20, ["Hi. Then a sentence", "with no end in reach"]),
        ("unendurable word", 4, ["unendurable", "word"]),
        ("He said so. (It was late.) “Go!” she said.", 30, ["He said so. (It was late.)", "“Go!” she said."]),
        ("It is no. five of the list. More here.", 30, ["It is no. five of the list.", "More here."]),
    ],
)
def test_where_it_is_cut(text: str, size: int, chunks: list[str]) -> None:
    assert cut(text, size) == chunks


def test_the_overlap_of_a_sentence_without_end_is_words() -> None:
    assert cut("one two three four five six", 14, 6) == ["one two three", "three four", "four five six"]
    assert cut("one two threefourfivesix seven", 12, 8) == ["one two", "threefourfivesix", "seven"]


def test_a_heading_stands_with_its_text() -> None:
    text = "Intro\n\nIt begins here.\n\nFruit\n\nApples are red.\n\nPears\n\nThey are green."
    headings = tuple((text.index(words), level, words) for level, words in ((1, "Intro"), (1, "Fruit"), (2, "Pears")))
    chunks = chunks_of(GivenDocument("d", text, headings), 32, 0)
    assert [(chunk.text, chunk.headings) for chunk in chunks] == [
        ("Intro\n\nIt begins here.", ("Intro",)),
        ("Fruit\n\nApples are red.", ("Fruit",)),
        ("Pears\n\nThey are green.", ("Fruit", "Pears")),
    ]


def test_the_page_of_a_chunk_is_where_it_begins() -> None:
    text = "One is here. Two is\nhere. Three is here."
    chunks = chunks_of(GivenDocument("d.pdf", text, pages=(0, text.index("here. Three"))), 20, 0)
    assert [(chunk.text, chunk.page) for chunk in chunks] == [
        ("One is here.", 1),
        ("Two is\nhere.", 1),
        ("Three is here.", 2),
    ]
    assert chunks[2].to_document() == Document(
        "Three is here.", "d.pdf#3", meta={"source": "d.pdf", "start": 26, "end": 40, "page": 2}
    )


def test_one_chunk_is_the_document() -> None:
    (chunk,) = chunks_of(GivenDocument("d", " All of it.\n"))
    assert chunk == Chunk(" All of it.\n", "d", 0, 0, 12, only=True)
    assert (chunk.id, chunk.place, chunk.to_document()) == ("d", {}, Document(" All of it.\n", "d"))
    (chunk,) = chunks_of(GivenDocument("d", "All\n\nof it.", ((0, 1, "All"),)))
    assert chunk.place == {"source": "d", "start": 0, "end": 11, "headings": ["All"]}
    assert chunks_of(GivenDocument("d", " \n")) == []


def test_sizes() -> None:
    text = "It is a sentence of 31 letters. " * 100
    chunks = chunks_of(GivenDocument("d", text))
    assert (CHUNK_SIZE, CHUNK_OVERLAP) == (1000, 200)
    assert {len(chunk.text) for chunk in chunks[:-1]} == {31 * 32 - 1}
    assert {before.end - after.start for before, after in pairwise(chunks)} == {6 * 32 - 1}
    assert chunks[1].id == "d#2"


@pytest.mark.parametrize(
    ("size", "overlap", "message"),
    [
        (0, 0, "chunk_size must be a whole number from 1, got 0"),
        (10, -1, "chunk_overlap must be a whole number from 0, got -1"),
        (10, 10, "chunk_overlap must be less than chunk_size, got 10 and 10"),
    ],
)
def test_sizes_that_cannot_be(size: int, overlap: int, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_sizes(size, overlap)
    assert str(caught.value) == message


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [" \n" * 200_000 + "x" + " \n" * 200_000 + "x", "x" * 500_000, "、" * 300_000, ". " * 200_000]
)
def test_a_text_of_one_kind_takes_no_longer_than_another(text: str) -> None:
    """Each took minutes if the time grew with the square of the length."""
    chunks = chunks_of(GivenDocument("d", text))
    assert sum(len(chunk.text) for chunk in chunks) > 0


def asked_about(documents: Any, **arguments: Any) -> tuple[list[tuple[str, int]], Any]:
    """What each text was asked for, and the test set."""
    llm = ScriptedLLM(lambda ask: "1. Who?" if ask.prompt.name == "write_questions" else '{"answer": "Ada"}')
    testset = generate_testset(documents, llm, **arguments)
    asks = [dict(ask.inputs) for ask in llm.asks if ask.prompt.name == "write_questions"]
    return [(ask["document"], ask["number_of_questions"]) for ask in asks], testset


def test_the_questions_of_a_document_are_spread_over_its_passages(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One is here. Two is here. Three is here.")
    sizes = {"chunk_size": 15, "chunk_overlap": 0}
    asks, testset = asked_about(tmp_path, questions_per_document=2, **sizes)
    assert asks == [("One is here.", 1), ("Two is here.", 1)]
    asks, testset = asked_about(tmp_path, questions_per_document=4, **sizes)
    assert asks == [("One is here.", 2), ("Two is here.", 1), ("Three is here.", 1)]
    assert [sample.id for sample in testset] == ["a.txt#1-1", "a.txt#2-1", "a.txt#3-1"]
    assert [str(problem) for problem in testset.problems] == ["a.txt#1: 2 questions were asked for, 1 were written"]
    assert testset[1].reference_contexts == ["Two is here."]
    assert testset[1].reference_documents == [
        Document("Two is here.", "a.txt#2", meta={"source": "a.txt", "start": 13, "end": 25})
    ]
    assert testset[1].metadata == {"document_id": "a.txt"}


def test_what_is_given_one_by_one_stays_whole_unless_a_size_is_named(tmp_path: Path) -> None:
    text = "It is a sentence of 31 letters. " * 40
    (tmp_path / "a.txt").write_text(text)
    asks, _ = asked_about([text], questions_per_document=2)
    assert asks == [(text, 2)]
    for documents, arguments in ((tmp_path, {}), ([text], {"chunk_size": 1000})):
        asks, _ = asked_about(documents, questions_per_document=2, **arguments)
        assert [(len(asked), number) for asked, number in asks] == [(991, 1), (479, 1)]
    with pytest.raises(InvalidInput, match="^chunk_overlap must be less than chunk_size, got 1000 and 1000$"):
        generate_testset([text], ScriptedLLM([]), chunk_overlap=1000)
