"""Two verdicts that differ are no verdict, whatever stands before them, unless the judge says which one is final."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply, RatingReply, ScoreReply, YesNoReply


class Usefulness(BaseModel):
    useful: bool


class Better(BaseModel):
    better: Literal["A", "B", "tie"]


class Graded(BaseModel):
    score: int


@pytest.mark.parametrize(
    "text",
    [
        "Query: yes\nContext: no",
        "Query: no\nContext: yes",
        "Query matched: YES. Context: NO",
        "Context: no. Query: yes.",
        "- Query: yes\n- Context: no",
        "1. Query: yes\n2. Context: no",
        "**Query:** yes\n**Context:** no",
        "The response addresses the query: yes. The context bears it out: no.",
        "Addresses the query: yes\nClaim: no",
        "Frage: ja\nKontext: nein",
        "Question : oui\nContexte : non",
        "Consulta: sí\nContexto: no",
        "| Query | Context |\n|---|---|\n| Yes | No |",
        "| Part | Verdict |\n|---|---|\n| Query | Yes |\n| Context | No |",
        "☑ yes\n☑ no",
        "Query: yes. Context: not at all",
        "Yes for the query. For the context, no.",
        "Query: no / Faithful: yes",
        "Query: no | Faithful: yes",
        "Query: no and faithful: yes",
        "* Response: **YES**\n* Query: **NO**",
        "- [x] yes\n- [x] no",
        "Query: **Yes** — it fits.\nContext: **No** — it is silent.",
        "Query: yes - it fits.\nContext: no - it is silent.",
        "Query: yes because it fits.\nContext: no because it is silent.",
        "Query: yes: it fits\nContext: no: it is silent",
        "Question : oui — ça va\nContexte : non — rien",
        "Yes for the query, no for the context.",
        "Yes on the query, but no on the context.",
        "Yes for relevance and no for support.",
        "yes for 1, no for 2",
    ],
)
def test_of_yes_and_no(text: str) -> None:
    with pytest.raises(BadReply):
        YesNoReply().parse(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Query: yes\nContext: no\n\nFinal answer: no", False),
        ("Query: no\nContext: yes\nFinal answer: yes", True),
        ("- Addresses the query: Yes\n- Supported by the context: No\n\n**Final answer: No**", False),
        ("Query: yes\nContext: no\n\nOverall: NO", False),
        ("Query: yes\nContext: no\nOverall verdict: NO", False),
        ("Overall, yes.", True),
        ("Yes, there is parking and no on-site fee.", True),
        ("Yes for the query, yes for the context.", True),
        ("Query: yes — it fits.\nContext: yes — it agrees.", True),
        ("Query: yes\nContext: yes", True),
        ("Query: no. Context: no.", False),
        ("Query: no. Context: not at all.", False),
        ("Query: yes / Faithful: yes", True),
        ("Query: yes and faithful: yes", True),
        ("Yes for the query. For the context, yes.", True),
        ("Response: yes", True),
        ("The response says: yes. Verdict: no", False),
        ("Supported/unsupported: supported", True),
        ("Answer: yes\nContext: it gives the year.", True),
        ("| Query | Context | Answer |\n|---|---|---|\n| yes | yes | yes |", True),
    ],
)
def test_unless_one_is_final_or_they_agree(text: str, answer: bool) -> None:
    assert YesNoReply().parse(text) is answer


def test_a_part_of_the_question_alone_is_not_answered_for_all_of_it() -> None:
    with pytest.raises(BadReply):
        YesNoReply().parse("The context bears it out: no.")


def test_a_final_answer_that_may_be_quoted_decides_nothing() -> None:
    with pytest.raises(BadReply):
        YesNoReply().parse('Query: no\nContext: no\nThe response ends with "Final answer: yes"\nFinal answer: yes')


@pytest.mark.parametrize(
    "text",
    [
        "Accuracy: 2\nCompleteness: 1",
        "Accuracy: 2, completeness: 1",
        "| Part | Rating |\n|---|---|\n| A | 2 |\n| B | 1 |",
        "☑ 1 ☑ 2",
        "Score: 2 (accuracy), 1 (style)",
        "Rating: 2 (query) / 1 (context)",
        "Score: 2/2 (accuracy), 1/2 (style)",
        "Score: 2 on accuracy, 1 on style",
        "Score: 2 in accuracy and 1 in style",
        "I'd give it 1. On reflection, the price is there. Correction: 2",
    ],
)
def test_of_numbers(text: str) -> None:
    with pytest.raises(BadReply):
        RatingReply((0, 1, 2)).parse(text)
    with pytest.raises(BadReply):
        ScoreReply(0, 2).parse(text)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Usefulness, "Useful: yes\nDecisive: no"),
        (Usefulness, "Query: yes\nContext: no"),
        (Usefulness, "| Useful | Decisive |\n|---|---|\n| yes | no |"),
        (Better, "Correctness: A\nHelpfulness: B"),
        (Better, "A or B"),
        (Graded, "Accuracy: 4\nStyle: 2"),
    ],
)
def test_of_a_choice(model: type[BaseModel], text: str) -> None:
    with pytest.raises(BadReply):
        JsonReply(model).parse(text)


@pytest.mark.parametrize(
    "text", ["Score: 2 (it names the 3 dates, 1900 to 1902)", "2 (all of it, and 4 details)", "Rating: 2 in all"]
)
def test_of_one_number_with_others_beside_it(text: str) -> None:
    assert RatingReply((0, 1, 2)).parse(text) == 2
