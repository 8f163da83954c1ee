"""Guessed numbers of tokens, against those of OpenAI's vocabulary o200k_base, which were counted once and written down here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.estimating import all_tokens_in, tokens_in

COUNTED = {
    "The retrieved passages are judged one by one; a claim counts as supported if any of them states it, however it is worded.": 27,
    "Die Bibliothek ist von Dienstag bis Samstag geöffnet, und für Einwohner der Stadt kostet der Ausweis nichts.": 21,
    "Les livres sont prêtés pour vingt-huit jours, et un prêt peut être prolongé deux fois si personne ne l'attend.": 27,
    "Библиотека открыта со вторника по субботу с девяти до девятнадцати часов, а в понедельник закрыта.": 32,
    "图书馆从星期二到星期六开放，星期一闭馆。彩色打印每页四十分，扫描免费。": 27,
    "図書館は火曜日から土曜日まで開いています。カードは市民なら無料です。": 22,
    "도서관은 화요일부터 토요일까지 문을 열고 월요일에는 쉽니다. 카드는 시민에게 무료입니다.": 27,
    "المكتبة مفتوحة من الثلاثاء إلى السبت، وتغلق أبوابها يوم الاثنين. البطاقة مجانية لسكان المدينة.": 26,
    "पुस्तकालय मंगलवार से शनिवार तक खुला रहता है और सोमवार को बंद रहता है।": 20,
    '{"verdicts": [{"number": 1, "reason": "The first passage says so.", "contradicted": false, "supported": true}]}': 34,
    "In 2024 the fee rose from 1,250.75 to 13,000 euros (about 940 %), see tables 3.1 to 3.14.": 38,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items(), ids=str)
def test_one_sentence_in_many_languages(text: str, tokens: int) -> None:
    assert tokens_in(text, 100) == pytest.approx(tokens, rel=0.2)


def test_together_they_are_nearly_right() -> None:
    assert sum(all_tokens_in(COUNTED, 100)) == pytest.approx(sum(COUNTED.values()), rel=0.03)


def test_by_hand() -> None:
    assert tokens_in("") == 0
    assert tokens_in(" \t ") == 0
    assert tokens_in("one two") == pytest.approx(2 * 0.89)
    assert tokens_in("libraries") == pytest.approx(0.89 + 3 * 0.244)
    assert tokens_in("é") == pytest.approx(0.89 + 0.75)
    assert tokens_in("1234") == pytest.approx(2 * 1.58)
    assert tokens_in('"}]') == pytest.approx(2 * 0.9)
    assert tokens_in("a\n\nb") == pytest.approx(2 * 0.89 + 1.99)
    assert tokens_in("\U0001f600") == pytest.approx(0.9)
    assert tokens_in("\U00010280") == pytest.approx(1.64), "a script without a weight in the table"


# an answer with the name of the prompt's field, "text", counts as an echo of it and asked for again
TEXTS = st.text().filter(lambda text: "text" not in text.lower())


@given(TEXTS, TEXTS)
def test_more_text_has_more_tokens(first: str, second: str) -> None:
    both, one, other = all_tokens_in([f"{first} {second}", first, second], 100)
    assert both == pytest.approx(one + other, abs=0.015), "no part of a text weighs so little"
    assert 0 <= both <= 3 * len(first + second)
