"""Questions that refer to a text, recognized by their words."""

from __future__ import annotations

import json

import pytest

from ragmetrics_core import Ask, generate_testset
from ragmetrics_core.testing import ScriptedLLM


def objections(question: str) -> list[str]:
    """What is said of a question before a model checks it."""

    def reply(ask: Ask) -> str:
        if ask.prompt.name != "write_questions":
            return '{"answer": ""}'
        return "[]" if "already_asked" in ask.inputs else json.dumps([question])

    testset = generate_testset(["The library lends maps."], ScriptedLLM(reply), n=1)
    return [item.message for item in testset.dropped if item.message.startswith("it refers to a text its reader lacks")]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("According to the passage, who lends maps?", "According to the passage"),
        ("What does the author recommend?", "does the author"),
        ("Which dates are given in the text?", "in the text"),
        ("What is the topic of this\n document?", "this document"),
        ("Was steht im obigen Text zuerst?", "im obigen Text"),
        ("Wer verleiht laut Dokument Karten?", "laut Dokument"),
        ("Selon le texte, qui prête des cartes ?", "Selon le texte"),
        ("Quelles cartes dans l’extrait ?", "dans l’extrait"),
        ("¿Quién presta mapas según el texto?", "según el texto"),
        ("Chi presta le mappe secondo il brano?", "secondo il brano"),
        ("Quem empresta mapas de acordo com o texto?", "de acordo com o texto"),
        ("Wie leent kaarten volgens de tekst?", "volgens de tekst"),
        ("Кто выдаёт карты согласно тексту?", "согласно тексту"),
        ("Что советует читателю согласно автору глава?", "согласно автору"),
        ("根据文章，谁出借地图？", "根据文章"),
        ("この文書によると、誰が地図を貸しますか。", "この文書"),
        ("본문에서 지도를 빌려주는 곳은?", "본문"),
        ("من يعير الخرائط حسب النص؟", "حسب النص"),
    ],
)
def test_it_leans(question: str, words: str) -> None:
    assert objections(question) == [f"it refers to a text its reader lacks: {words!r}"]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the author of Dubliners?",
        "What is said in the document that ended the war?",
        "In the text of the constitution, what is a citizen?",
        "What does Article 5 of the treaty say?",
        "What was decided in the section 3 hearing?",
        "Wer ist der Autor von Effi Briest?",
        "Was steht im Artikel 5 des Grundgesetzes?",
        "Was steht im Text der Nationalhymne?",
        "Que dit le texte de la Constitution ?",
        "¿Qué dice el artículo 5?",
        "红楼梦的作者是谁？",
        "Кто автор романа «Идиот»?",
        "",
    ],
)
def test_it_names_another_text_or_none(question: str) -> None:
    assert objections(question) == []
