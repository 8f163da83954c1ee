"""Lists in which a judge writes that there is nothing."""

from __future__ import annotations

import pytest

from ragmetrics_core.replies import real_items

REMARKS = """None|N/A|n/a.|—|[]|(none)|"None"|null|Nothing|not applicable|No claims|no claims.|There are no claims in the answer.
The answer makes no claims.|No factual claims can be extracted.|No claims were made in the response|No relevant statements found.
No statements that help to answer the question.|There is no relevant information in the contexts.|None of the contexts are relevant.
Keine|keine Aussagen gefunden|Aucune affirmation|ninguna|nessuno|nenhuma|geen|нет|无|没有|なし|該当なし|해당 없음"""

ITEMS = """None of the crew survived.|There are no bridges over the Tay.|No passengers were hurt.|No.|No one knows.|The answer is 5.
There is no answer to the question of life.|Nothing Else Matters was released in 1992.|The contract contains no claims clause.
No facts are known about the crew.|The text has no author.|Keine Frage ist dumm.|Nr. 5|Noon|Nonet"""


def listed(texts: str) -> list[str]:
    return texts.replace("\n", "|").split("|")


@pytest.mark.parametrize("remark", listed(REMARKS))
def test_a_remark_that_there_is_nothing_is_no_item(remark: str) -> None:
    assert real_items([remark]) == []
    assert real_items([" ", remark, "none"]) == []


@pytest.mark.parametrize("item", listed(ITEMS))
def test_a_sentence_about_something_is_an_item(item: str) -> None:
    assert real_items([item]) == [item]


def test_only_a_whole_list_says_that_there_is_nothing() -> None:
    assert real_items([]) == []
    assert real_items(["The ferry leaves at nine.", "", "None"]) == ["The ferry leaves at nine.", "None"]
    assert real_items(["no claims " * 20]) == ["no claims " * 20]
