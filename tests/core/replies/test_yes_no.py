"""What counts as a yes or a no, in objects, words, languages and labels; and what does not."""

from __future__ import annotations

import pytest

from ragmetrics_core import BadReply
from ragmetrics_core.replies import YesNoReply

YES = """
yes|Yes.|YES|Yes!|"Yes"|'yes'|[yes]|[[YES]]|**Yes**|`yes`|Yes, because the dates agree.|Yes - it does|Yes—fully|yes;
Yes (with caveats)
It's a yes.|The answer is yes.|My answer: yes|Final verdict: YES|Answer: Yes - it does|**Answer:** Yes|Answer: **Yes**
Yes because the text says so
I would say yes.|So, yes.|Therefore, the answer is Yes|The verdict is: Yes|Yes/No: Yes|(Yes/No) Yes|Yes or no? Yes.
Answer with YES or NO: YES
Is it supported? Yes, it is.|The claim is supported by the context.|The statement is correct.|Y
Yes, no doubt about it.|<b>Yes</b>
The candidate is correct, as both say so.|Yes, there is no contradiction
pass|APPROVED|Result: PASS|Correct.|Supported|TRUE|True.|1|Verdict: 1|1 - supported|Yep|Affirmative.
No. Correction: Yes.|✅
Ja|Oui.|sì|SIM|Да.|はい|はい。|是|是的，文中有说明。|对|正确|네|네, 맞습니다|evet|tak|Ano|Kyllä|Igen|نعم|כן|हाँ|ＹＥＳ
答案：是|回答：はい、書かれています。|결론: 예|Ответ: да|Respuesta: sí|Antwort: Ja, der Text nennt keine Ausnahme.
{"answer": "Yes."}|{"answer": true}|{"supported": true}|{"is_supported": 1}|{"verdict": "PASS"}|{"result": "yes"}
{"answer": {"verdict": "yes"}}
{"verdict": ["yes"]}|true|["yes"]|{"Verdict": "TRUE"}|{"verdict": "Y"}
{"faithful": "yes", "reason": "no fee is named"}|{"verdict": yes}
{'verdict': True}|<verdict>yes</verdict>|<answer>Yes</answer><reason>no</reason>|{"label": "correct"}
{"decision": "accept"}|{"verdict": 1.0}
{"final_answer": "yes", "answer": "no"}|answer: yes|{"score": 1}|{"grounded": true, "confidence": 0.3}
{"binary_score": "yes"}
"""
NO = """
No.|NO|no|No!|'No'|The answer is no.|Not supported|Not supported by the text.|not correct|UNSUPPORTED|INCORRECT
NOT_SUPPORTED|0|0 - not in the text
No, the candidate says yes but is incorrect.|No - although one could say yes to the first half.|No the claim is wrong
no, because yes would be wrong
Yes. Wait, final answer: No|Final answer: no|Conclusion: No|No - it isn't|Answer: NO|Verdict: FAIL|Rejected|false
False.|Nope.|N
The claim is not supported.|The response is irrelevant.|The figures are not correct.
The question was whether fees apply. No.
Nein.|Non, le texte ne le dit pas.|Нет, в тексте этого нет.|いいえ、違います。|不是。|不，文中没有提到。|没有|否
아니요, 본문에 없습니다.|아니오.|hayır|nie|não|Nej|Nee.
Nem.|Όχι.|Ei.|ไม่ใช่|لا|لا، غير مذكور|नहीं।|答案：不是|结论：否。|Verdict: Nein|Risposta: no|Ответ: нет.
{"answer": false}|{"verdict": 0}|{"verdict": "not supported"}|{"violates": false}|{"match": "FALSE"}
{"verdict": "No, it is not."}|<answer> No </answer>
{"passed": false}|{"pass": "no"}|{"reason": "Yes, really.", "verdict": "no"}
"""
NEITHER = """
 |Yes/No|yes or no|Yes and no|Yes, No|Y/N|(yes/no)|Maybe|Maybe.|N/A|None|null|unsure|I don't know|Yes. No.|No. Yes.
No evidence was found.
Nothing.|Noted. I will read it now.|Yesterday's report covers it.|Nobody|Partially supported|partially correct
Mostly correct|Yes / No / Unsure
否则无法判断。|是否|不过|不同|是/否|はい/いいえ|はいかいいえ|예를 들어 이것은|네덜란드
No. 4 in the list is the passage.|No 5 is right|No-one knows|yes?
neither yes nor no|It depends.|Answer: yes or no|I cannot answer yes or no.|Could be yes, could be no
Verdict: partially supported|The answer might be yes
If yes, then good.|Reason: yes|It is unclear whether it is supported.|The claim is not fully supported.|Answer: Norway
HTTP 500 Internal Server Error
The claim is supported but not correct.|supported: yes, faithful: no|sim card|no comment|No information
Not enough information.|Not applicable|2|-1|0.5|10
The response says: Yes. However, this is wrong.|It is correct that the response is unsupported.
None of the claims is supported.|Some claims are supported.
The first claim is supported.|It was correct until 2010.
The claim is supported?|The answer is correct in part.|The candidate's answer is yes.
One could say yes.|Jein|Ja und nein|也许
I cannot determine if the candidate is correct.|The candidate is partially correct.|It is not unsupported.
The reply stays on topic.
{"answer": "yes or no"}|{"answer": "yes/no"}|{"answer": "maybe"}|{"answer": null}|{"answer": 2}
{"answer": ["yes", "no"]}|[true, false]|{"answer": "Paris"}
{"a": true, "b": false}|{"supported": true, "faithful": false}|{"verdict": "yes", "verdict": "no"}|{"reason": "yes"}
{"reason": "x"}|{}|[]|{"error": true}
{"verdict": "<yes or no>"}|{"verdict": "yes" or "no"}|{"judgement": "yes", "verdict": "no"}|{"detail": "Not Found"}
Unauthorized|{"score": 0.7}
{"verdict": "yes"} {"verdict": "no"}|{"reason": "so the verd|{"reason": "x", "verdict":|<think>yes|{"verdict": "ye
"""


def cases(table: str) -> list[str]:
    return [case for line in table.strip("\n").split("\n") for case in line.split("|")]


@pytest.mark.parametrize("text", cases(YES))
def test_yes(text: str) -> None:
    assert YesNoReply().parse(text) is True


@pytest.mark.parametrize("text", cases(NO))
def test_no(text: str) -> None:
    assert YesNoReply().parse(text) is False


@pytest.mark.parametrize("text", cases(NEITHER))
def test_neither(text: str) -> None:
    with pytest.raises(BadReply) as caught:
        YesNoReply().parse(text)
    assert caught.value.raw == (text,)
    assert caught.value.reason
    assert "\n" not in caught.value.reason


def test_an_answer_at_the_start_against_a_labelled_one_is_a_contradiction() -> None:
    with pytest.raises(BadReply, match="both yes and no"):
        YesNoReply().parse("Yes. The dates agree.\nVerdict: No")


def test_a_label_outweighs_nothing_that_says_the_opposite() -> None:
    with pytest.raises(BadReply, match="both yes and no"):
        YesNoReply().parse("Let me look at it.\nYes, the fee is there. No, the year is not.\nVerdict: no")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"reason": "r", "answer": "yes", "score": 4}', True),
        ('{"reason": "r", "answer": "yes", "score": 0}', True),
        ('{"answer": "no", "score": 0.2, "reason": "x"}', False),
        ('{"reason": "r", "answer": "no", "supported": true}', False),
        ('{"reason": "r", "answer": "yes", "verdict": "partially"}', True),
        ('{"answer": "yes", "final_answer": "no"}', False),
        ('{"answer": "The bridge is old.", "verdict": "yes"}', True),
    ],
)
def test_the_key_that_was_asked_for_decides(text: str, said: bool) -> None:
    assert YesNoReply().parse(text) is said


def test_the_key_that_was_asked_for_twice_is_a_contradiction() -> None:
    with pytest.raises(BadReply, match="two different answers"):
        YesNoReply().parse('{"answer": "yes", "Answer": "no"}')


def test_words_around_an_object_must_not_contradict_it() -> None:
    for text in ('{"answer": "no"}\nFinal answer: yes', 'Verdict: yes\n{"answer": "no"}'):
        with pytest.raises(BadReply, match="two different answers"):
            YesNoReply().parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("<think>maybe yes", "the reply ends before its thinking does"),
        ('{"verdict": "maybe"}', "'verdict': 'maybe' is neither yes nor no; give the answer \"yes\" or \"no\""),
        ('{"reason": "so"}', 'the answer is missing from the JSON; give the answer "yes" or "no"'),
        ("[true, false]", 'the reply is a list; give the answer "yes" or "no"'),
        ('{"reason": "so', "the reply ends in the middle of its JSON; reply with the whole object, more briefly"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    with pytest.raises(BadReply) as caught:
        YesNoReply().parse(text)
    assert caught.value.reason == reason
