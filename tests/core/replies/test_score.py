"""Scores and ratings: the ways of writing a number on a scale, and what is not one."""

from __future__ import annotations

import pytest

from ragmetrics_core import BadReply, InvalidInput
from ragmetrics_core.replies import RatingReply, ScoreReply

FOUR = """
4|4.0| 4 |4.|**4**|`4`|"4"|(4)|[4]|[[4]]|4/5|4 / 5|4 out of 5|4 von 5|4 sur 5|4 of 5|4/5.|4 stars|4 points|4分|4点|4점
４|四|four|Four.|vier
Score: 4|score = 4|Score:4|SCORE: 4|Score is 4|The score is 4.|**Score**: 4|**Score: 4**|Score: **4**|Score → 4
Score - 4|Score – 4|Score: 4/5|Score: four
Score: 4 - good|Score: 4, good|Score: 4 stars|Rating: 4|My rating: 4|I would rate this 4 out of 5.|I'd give it a 4.
I give this answer a score of 4.|Overall: 4
Final rating: 4/5|Grade: 4|Punktzahl: 4|Bewertung: 4/5|Note : 4/5|Puntuación: 4|Punteggio: 4|Nota: 4|Оценка: 4|评分：4
得分：4分|評価：４|スコア：4|점수: 4점|총점: 4/5
Confidence: 5 ¶Score: 4|Max score: 5 ¶Score: 4|Score (1 to 5): 4|Score [1-5]: 4|Score (out of 5): 4
Scale: 1-5 ¶Score: 4|Rating (1 = worst, 5 = best): 4
Feedback: no 2 criteria met [RESULT] 4|It has no answer to part 2 [RESULT] 4|It is not the user's [RESULT] 4
Not 2 of 3 points, so the score is 3 [RESULT] 4|I would not give 2 points here. [RESULT] 4
<score>4</score>|[RESULT] 4|[RESULT]: 4|Feedback: Clear. [RESULT] (4)|\\boxed{4}|$\\boxed{4}$|Score: \\boxed{4}
[[Rating: [[4]]]]|[[rating]]: 4|[[Rating]]: [[4]]
Relevance score: 3 ¶Accuracy score: 5 ¶Overall score: 4
Score: 4 (would be 5 with the date)|### Score ¶4|Score: ¶4|- Score: 4 ¶- Reason: x
4 ¶The answer is good. 3 facts are right.|The answer is good. ¶4|4 because it is right
4.0. It is right.|```json ¶4.0 ¶It is right. ¶```|In 2019 the rule changed in 5 states. ¶Final score: 4
Word count: 3. Score: 4.|Relevance: 4
This answer deserves a 4.|The answer is rated as a 4.|The text says "Score: 1" itself. ¶Score: 4
Score: 4 ¶[User Question] ¶next ¶Score: 1|User rating: n/a ¶Rating: 4
{"score": "4 out of 5"}|{"score": {"value": 4}}|{"score": "four"}|{"value": 4}|{"score": 4, "max_score": 5}|{score: 4}
{{"score": 4}}|{"score": "Score: 4"}
{"overall_score": 4, "accuracy_score": 2}|{"score": [4]}|{"score": "4 - good"}|{"Score (1-5)": "4"}
{"score": 4, "confidence": 5}
{"score": 4, "rating": 3}|{"rating": 3, "score": 4}|{"score": 4, "total": 10}|{"correctness": 4, "reason": "x"}
{"score": 4; "reason": "ok"}|{"score" = 4}|{"score": 04}|{"score": 4 /* good */}
{"reason": "He said "3" twice", "score": 4}|score: 4 ¶reason: x
<think>Score: 2</think>Score: 4|So 2? No. </think> 4|{"evaluation": {"score": 4}}|{"score": 0.4e1}|"score": 4
Draft: {"score": 2} Final answer: {"score": 4}
"""
NONE = """
 |0|6|-1|10|4/10|80%|Score: 80%|Score: 6|Score: 0|Score: -4|3-4|3 – 4|3~4|3 to 4|3 or 4|between 3 and 4|Score: 3-4
Score: between 3 and 4|Score: 4 or maybe 5
3/4|nan|NaN|inf|null|None|N/A|Score: N/A|1-5|1 to 5|(1-5)|Score (1-5)|Score:|Score: X|Score: <score>|[score]
4. It is good.|4.0. 3 facts are right|4 because 3 of 5 or 4|1, 2, 3, 4, 5|1/2/3/4/5|1_0|4th|4x|Score: 4k
HTTP 429|Error code: 4|429 Too Many Requests|[4, 3]|4, 3|4 3|4 ¶3|Score: 4 ¶Score: 3|Score: 4, 3
[RESULT] 4 ¶[RESULT] 3|Final score: 3 [RESULT] 4|[RESULT] 4 or 5
Score: 2 ¶Corrected score: 4|Score: 2 ¶Final score: 4|Accuracy: 4 ¶Fluency: 3|Word count: 4|There are 4 errors in the answer.
1. It is good. ¶2. It is bad.|As shown in [4], it holds.|Confidence: 4|Score: 4444|0.8|5.5|5.01|Score: 45|4e9
Rating: [[4], [3]]|Rating: [[4, 3]]|[[rating]]|[[N/A]]
Version 4.5.1|The score could be 4.|It would be a 4 if the date were given.|not a 4|A score of 4 requires all facts.
Score: 4 for A, 3 for B|4+|>4|~4|≥4|$4|#4|1,234
Score: 4 if lenient, 3 if strict|Score: 4 -> 3|Score: 4, revised to 3|1: bad ¶2: poor ¶3: ok|Rate from 1 to 5
at least 4|4 tokens|I'd say 3 or 4.|Score: one to five
4/5 of the claims|4 out of 5 claims are supported.|The reference scored 4.|return 4|I cannot help with that.|<think>4
{"score": "4/10"}|{"score": "80%"}|{"score": 0.8}|{"score": "3-4"}|{"score": null}|{"score": "N/A"}|{"score": NaN}
{"score": "NaN"}|{"score": Infinity}|{"score": true}
{"score": "yes"}|{"score": []}|{"score": {}}|{"score": [4, 3]}|{"score": "good"}|{"score": 4, "score": 3}
{"score": 4}{"score": 3}|{"grade": 4, "rating": 3}|{"score": 4, "Score": 3}|{"id": 4}
{"accuracy": 4, "fluency": 3}|{"score": -4}|{"score": 1e3}|{"error": {"code": 4, "message": "x"}}|{"status": 4}
{"score": <number>}|{"score": "1 or 2 or 3"}
{"reason": "score: 4"}|{"reason": "x", "score"|{"score": 4, "reason": "The an|{"criteria_scores": {"a": 4, "b": 2}}
{"score": 99999999999999999999}|[4, {"score": 4}, 3]
"""


def cases(table: str) -> list[str]:
    return [case.replace(" ¶", "\n") for line in table.strip("\n").split("\n") for case in line.split("|")]


def bad(reply: ScoreReply | RatingReply, text: str) -> str:
    with pytest.raises(BadReply) as caught:
        reply.parse(text)
    assert caught.value.raw == (text,)
    return caught.value.reason


@pytest.mark.parametrize("text", cases(FOUR.replace("\\\\", "\\")))
def test_four_of_five(text: str) -> None:
    assert ScoreReply(1, 5).parse(text)[0] == 4.0


@pytest.mark.parametrize("text", cases(NONE))
def test_no_score(text: str) -> None:
    assert bad(ScoreReply(1, 5), text)


@pytest.mark.parametrize(
    "text",
    ["4.5", "4,5", "4.5/5", "Score: 4.5", "４．５", "4.5 - nearly perfect", '{"score": "4,5"}', '{"score": 4.5}'],
)
def test_halves(text: str) -> None:
    assert ScoreReply(1, 5, halves=True).parse(text)[0] == 4.5


def test_other_ranges() -> None:
    assert ScoreReply(0, 100).parse("80%") == (80.0, "")
    assert ScoreReply(0, 1).parse('{"score": "0.8", "reason": ["grounded", "one gap"]}') == (0.8, "grounded; one gap")
    assert ScoreReply(1, 10).parse("Rating: [[10]]")[0] == 10.0
    assert bad(ScoreReply(0, 1), "[[90]]")


def test_the_reason_comes_along() -> None:
    reply = ScoreReply(1, 5)
    assert reply.parse('{"reason": " Two gaps. ", "score": 3}') == (3.0, "Two gaps.")
    assert reply.parse("3\nTwo gaps.\nNo more.") == (3.0, "Two gaps.\nNo more.")
    assert reply.parse("Score: 3\nReason: two gaps") == (3.0, "two gaps")
    assert reply.parse("Two gaps, so the score is 3.") == (3.0, "Two gaps, so the score is 3.")
    assert reply.parse("3") == (3.0, "")
    assert reply.parse("```\n4.0\nThe answer is right.\n```") == (4.0, "The answer is right.")
    assert reply.parse("```text\n4.0\n\nThe answer is right.\n```\n") == (4.0, "The answer is right.")
    assert reply.parse("4.0 because it is right") == (4.0, "4.0 because it is right")
    assert reply.parse("4.0. The answer is right") == (4.0, "4.0. The answer is right")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("6", "6 is not on the scale; give a number from 1 to 5"),
        ("4/10", "the score is on another scale; give a number from 1 to 5"),
        ("Score: 3-4", "the reply gives a range or a list, not one score; give a number from 1 to 5"),
        ("Score: 3\nScore: 4", "the reply gives several scores; give one, a number from 1 to 5"),
        ("It is fine.", "the reply gives no score; give a number from 1 to 5"),
        ('{"score": null}', "'score': the score is null; give a number from 1 to 5"),
        ('{"score": true}', "'score': the score is true; give a number from 1 to 5"),
        ('{"score": NaN}', "'score': the score is not a number; give a number from 1 to 5"),
        ('{"score": 3} {"score": 4}', "the reply gives two different answers; give one"),
        ('{"score": "good"}', "'score': 'good' is no score; give a number from 1 to 5"),
        (
            " ".join(f"Score: {n % 5 + 1}." for n in range(900)),
            "the reply gives very many scores; give one, a number from 1 to 5",
        ),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    assert bad(ScoreReply(1, 5), text) == reason


TWO = """
2|2 - fully|Rating: 2|[[2]]|2.|2.0|Rating: **2**|rating: 2/2
Rating (0-2): 2|Rating (0, 1 or 2): 2|two|The rating is 2.|{"rating": 2, "max_rating": 2}
{"reason": "r", "score": 1, "rating": 2}|Relevance: 2
"""
OFF = """
3|1.5|0.5|0, 1, 2|0/1/2|0-2|0 or 1|1 or 2|-1|2.5|Rating: 3
2/5|half|0 or 1 or 2|Rating: 0/1/2|{"rating": 1.5}|{"rating": true}|{"rating": "high"}|true|yes|[0, 1]
"""


@pytest.mark.parametrize("text", cases(TWO))
def test_rating(text: str) -> None:
    rating = RatingReply([0, 1, 2]).parse(text)
    assert rating == 2
    assert type(rating) is int


@pytest.mark.parametrize("text", cases(OFF))
def test_off_the_menu(text: str) -> None:
    assert bad(RatingReply([0, 1, 2]), text)


def test_a_menu_with_gaps() -> None:
    reply = RatingReply([4, 0, 2])
    assert [
        reply.parse(text) for text in ("Rating scale 0, 2, 4. Rating: 4", "0", "four", "Rating (0/2/4): 2", "2/4")
    ] == [4, 0, 4, 2, 2]
    assert bad(reply, "3") == "3 is not on the scale; give one of 0, 2, 4"
    assert bad(reply, "0/2/4")


@pytest.mark.parametrize("arguments", [(5, 1), (1, 1), (float("nan"), 5), (1, float("inf"))])
def test_impossible_ranges(arguments: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="ScoreReply: low="):
        ScoreReply(*arguments)


@pytest.mark.parametrize("choices", [[], [1], [1, 1], [0.5, 1], [True, False], ["1", "2"]])
def test_impossible_menus(choices: list[int]) -> None:
    with pytest.raises(InvalidInput, match="at least two different integers"):
        RatingReply(choices)


def test_an_item_of_a_list_is_no_score_and_another_reviews_score_is_not_this_one() -> None:
    reply = ScoreReply(1, 5)
    assert reply.parse("1. It is relevant.\n2. It is short.\nScore: 4")[0] == 4
    assert reply.parse("- The third review is rated as 3.\n\nRating: [[5]]")[0] == 5
    assert reply.parse("Yes, that is what the text says. Score: 4")[0] == 4
