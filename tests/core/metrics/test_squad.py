"""SQuAD's normalisation, to the letter for ASCII, and the words of other scripts."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.metrics.squad import normalise, words

ascii_text = st.text(st.characters(max_codepoint=127)) | st.lists(
    st.sampled_from(
        ["the", "The", "a", "An", "an", "cat", "cats", "U.S.", "a-n", "'s", "...", "(the)", "3,000", "_a_", "\t"]
    )
).map(" ".join)


def official(text: str) -> str:
    """The four steps of the official script, in its order: lower case, punctuation, articles, white space."""
    text = text.lower()
    text = "".join(character for character in text if character not in set(string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text, flags=re.UNICODE)
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Cat, a dog & an  owl!", "cat dog owl"),
        ("U.S.A.", "usa"),
        ("state-of-the-art", "stateoftheart"),  # punctuation goes first, so no article is left to see
        ("(The) theatre", "theatre"),
        ("a", ""),
        ("...", ""),
        ("3,000.5", "30005"),
        ("“Paris”", "“paris”"),  # the official script knows ASCII punctuation only
    ],
)
def test_normalise_by_hand(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text() | ascii_text)
def test_normalise_is_the_official_rule(text: str) -> None:
    assert normalise(text) == official(text)


@given(ascii_text)
def test_words_of_ascii_text_are_the_official_ones(text: str) -> None:
    assert words(text) == official(text).split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Paris”, naïve—œuvre…", ["paris", "naïveœuvre"]),  # all punctuation is removed as ASCII punctuation is
        ("¿Dónde está el café?", ["dónde", "está", "el", "café"]),
        ("cafe\u0301", ["café"]),  # e + combining accent is é
        ("ﬁnal １２", ["final", "12"]),
        ("Straße", ["strasse"]),
        ("ΣΟΦΟΣ σοφός", ["σοφοσ", "σοφόσ"]),
        ("soft\u00adhyphen \u200fright", ["softhyphen", "right"]),
        ("北京是中国的首都。", ["北", "京", "是", "中", "国", "的", "首", "都"]),
        ("GDP、CPI和2024年", ["gdp", "cpi", "和", "2024", "年"]),
        ("在the公司", ["在", "公", "司"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("서울에 있다", ["서", "울", "에", "있", "다"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("الجواب، نعم؟", ["الجواب", "نعم"]),
        ("5 € 🙂", ["5", "€", "🙂"]),
        ("。！？", []),
    ],
)
def test_words_of_other_scripts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_hold_no_space_and_no_punctuation(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(character.isspace() or character in string.punctuation for character in word)


@given(st.text(), st.text())
def test_words_of_two_lines_are_those_of_each(left: str, right: str) -> None:
    # a letter on each side of the break, so that composing across it cannot happen
    assert words(f"{left} x\nx {right}") == words(f"{left} x") + words(f"x {right}")
