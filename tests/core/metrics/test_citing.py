"""Citations are read from responses: the forms of markers, whose sentence they belong to, and what is none."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.citation_lines import NAMED, NUMBERED, OTHER_LANGUAGES
from ragmetrics_core import Document, InvalidInput
from ragmetrics_core.metrics.citing import Citation, Statement, names_of, statements
from ragmetrics_core.metrics.sentences import sentences

NAMES = {
    "doc-1": (1,),
    "doc-2": (2,),
    "doc-3": (3,),
    "https://example.org/a": (1,),
    "http://example.org/b/": (2,),
    "guide.pdf": (2, 3),
}


def lines(block: str) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    found = []
    for line in block.strip().splitlines():
        text, _, wanted = line.partition(" =>")
        parts = [part.rpartition("|") for part in wanted.split(" ;;")]
        expected = [(said.strip(), cited.split()) for said, _, cited in parts if said.strip()]
        found.append((text.replace("\\n", "\n"), expected))
    return found


def read(text: str, names: dict[str, tuple[int, ...]] | None = None) -> list[tuple[str, list[str]]]:
    return [
        (said.text, [item.marker if item.passages else f"!{item.marker}" for item in said.citations])
        for said in statements(text, 5, names)
    ]


PLAIN, WITH_NAMES = lines(NUMBERED + OTHER_LANGUAGES.strip()), lines(NAMED)


def test_there_are_enough_lines() -> None:
    assert len(PLAIN) + len(WITH_NAMES) >= 150
    assert len({text for text, _ in PLAIN}) == len(PLAIN)


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_numbers(text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(("text", "expected"), WITH_NAMES)
def test_names(text: str, expected: list[tuple[str, list[str]]]) -> None:
    assert read(text, NAMES) == expected


def test_a_statement_tells_where_it_and_its_markers_stand() -> None:
    text = "- It is [red](https://example.org/a) [9]. [2] It is tall."
    first, second = statements(text, 2, {"https://example.org/a": (1,)})
    assert first == Statement(
        "It is red.",
        (
            Citation("https://example.org/a", (1,), (8, 36)),
            Citation("9", (), (37, 40)),
            Citation("2", (2,), (42, 45)),
        ),
        (2, 45),
    )
    assert (first.cited, first.fabricated) == ({1, 2}, ("9",))
    assert text[slice(*second.span)] == second.text == "It is tall."
    assert (second.cited, second.fabricated) == (frozenset(), ())


def test_a_pattern_takes_the_place_of_the_built_in_forms() -> None:
    text = "It is red {ref 1; 7}. It is tall [2] {ref a}{ref }."
    (red, tall) = statements(text, 3, {"a": (2, 3)}, r"\{ref ([^}]*)\}")
    assert (red.text, [(item.marker, item.passages) for item in red.citations]) == (
        "It is red.",
        [("1", (1,)), ("7", ())],
    )
    assert (tall.text, [(item.marker, item.passages) for item in tall.citations]) == (
        "It is tall [2]{ref }.",
        [("a", (2, 3))],
    )
    (made_up,) = statements("It is red <x>.", 3, None, "<(.)>")
    assert made_up.fabricated == ("x",)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "(",
            "the pattern for citations '(' is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        (r"\d", r"the pattern for citations '\\d' has 0 groups: put exactly one around the number or id, "),
        ("(a)(b)", "the pattern for citations '(a)(b)' has 2 groups: put exactly one around the number or id, "),
    ],
)
def test_a_pattern_has_one_group(pattern: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        statements("x", 1, None, pattern)


def test_names_come_from_ids_and_metadata() -> None:
    documents = [
        Document("one", id="a", meta={"source": "guide.pdf", "page": 1}),
        "two",
        Document("three", id=" ", meta={"source": "guide.pdf", "url": "https://example.org/a", "link": None}),
    ]
    assert names_of(documents, 3, "m") == {"a": (1,), "guide.pdf": (1, 3), "https://example.org/a": (3,)}
    assert names_of(None, 3, "m") == {}
    message = (
        "m: retrieved_documents has 3 items, but retrieved_contexts has 2: to tell what a citation by id or address means, give "
        "one document for each context, in the same order, or none at all"
    )
    with pytest.raises(InvalidInput, match=re.escape(message)):
        names_of(documents, 2, "m")


def test_ids_that_are_numbers_never_mean_two_things() -> None:
    """They count where no id could as well be the rank of another passage."""
    text = "It is red [2]. It is tall [481]. It is old [0]."
    far = [said.citations[0].passages for said in statements(text, 2, {"481": (1,), "482": (2,)})]
    assert far == [(2,), (1,), ()]
    from_zero = [said.citations[0].passages for said in statements(text, 2, {"0": (1,), "1": (2,)})]
    assert from_zero == [(2,), (), ()]


def test_what_holds_no_sentence_holds_no_statement() -> None:
    assert statements("", 3) == statements("\n \n", 3) == statements("[1] --- [2]", 3) == []


HOSTILE = [
    "[",
    "[1",
    "[1]",
    "(",
    "(a",
    "`",
    "` ",
    ".",
    "。",
    "*",
    "**a",
    "# ",
    "> ",
    "sources ",
    "\n[1]: ",
    "http://",
    "<",
    "[a](",
    "1,",
    "[1,",
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_others(piece: str) -> None:
    text = piece * (60_000 // len(piece)) + " end"
    started = time.process_time()
    for before in ("", "Sources:\n", "```", "Sources" + " " * 20_000):
        statements(before + text, 5, {"https://example.org/a": (1,), "doc-1": (2,)})
    assert time.process_time() - started < 8


@given(st.text(alphabet="ab .。?[]0129(),^-【】†`\n#*A!“”:-|", max_size=80))
def test_every_text_can_be_read(text: str) -> None:
    found = statements(text, 2)
    for said in found:
        assert said.text
        assert 0 <= said.span[0] < said.span[1] <= len(text)
        for item in said.citations:
            assert said.span[0] <= item.span[0] < item.span[1] <= said.span[1]
            assert item.marker in text
            assert set(item.passages) <= {1, 2}
    marks = [item.span for said in found for item in said.citations]
    assert marks == sorted(marks)
    places = sentences(text)
    assert places == sorted(places)
