"""Short answers with something around them: symbols, roles, list markers, open tags, emphasis, a sentence that grants them."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from ragmetrics_core import BadReply
from ragmetrics_core.replies import JsonReply, RatingReply, ScoreReply, YesNoReply

YES = """
✅ Yes|👍 yes|✔ yes|✔️ Yes|Yes ✅|Yes! 🎉|YES ✅✅|👍🏽 Yes|yes 👍🏽|🟢 Yes|🟩 Yes|✅ Yes, the date agrees.|**✅ Yes**|✅ **Yes**
Answer: ✅ Yes|Verdict: Yes ✅|✅ Ja|✅ Oui, c'est écrit.|✅ はい|✅ 是的|✅ Да|Antwort: ✅ Ja|Respuesta: ✅ sí|👉 Yes|➡️ Yes
✅ Supported|✓ Correct|✅ true|✅ Final answer: yes|Yes 🙂, the date agrees.|✅ The claim is supported by the context.
Assistant: Yes|AI: yes|Response: Yes|Output: yes|Model: yes|assistant: yes, the date agrees.|Assistant: ¶Yes|**Assistant:** Yes
Judge: yes|Bot: yes|AI Assistant: Ja|Assistant： はい
[RESULT] yes|[ANSWER]: yes|[[VERDICT]] yes|Feedback: it fits. [RESULT] yes|[Verdict] Yes, it does.|[回答] はい|[Final Answer] oui
- Yes|* Yes|• Yes|1. Yes|1) Yes|1. はい|(a) yes|A) Yes|a. Sí
<verdict>yes|<answer>Yes|<reason>fits</reason><verdict>yes|<reason>fits</reason> ¶<verdict>Yes.|It fits. ¶<verdict>oui
"""
NO = """
❌ No, other year.|No 👎|👎 no|❌ No|✗ no|No ❌.|🚫 No|🔴 No|🟥 no|❌ Nein|❌ いいえ|❌ 不是|❌ Нет, год другой.|❌ Not supported
❌ The claim is not supported.|❌ Verdict: no|Réponse: ❌ non
☐ Yes ☑ No|AI: no|Response: No|Assistant: No, the year differs.|Output: no.|Reply: não
[ANSWER]: no|[RESULT] no|[Result]: No.|[판정] 아니요|Feedback: no date. [RESULT] no
1. No|1. No, the year differs.|(b) no|B) No|B. No|- No|1) Nein
<verdict>no|<reason>x</reason><verdict>no
The date isn't correct.|The figures aren't supported.
"""
NEITHER = """
✅ Yes and no|Yes / No ✔|Yes/No ❌|Response: No. Verdict yes
✅ Yes and no, really|Assistant: I think|Yes/No|✅ No|❌ Yes|Yes ❌|Yes 👎|Verdict: ✅ No|❌ The claim is supported.
❌ Final answer: yes|✅/❌|✅ ❌|✅ or ❌|✅❌|✅ Partially|❌ Nobody|✅ No evidence was found|🤔 Yes?|🤔 Yes|🤷|🟡 Yes|⭐
👍 if yes, 👎 if no|✅ = yes, ❌ = no|👍 yes 👎 no|✅ Yes ❌ No|✅ Yes ¶❌ No|Yes ✅ No ❌|☑ Yes ☑ No|☐ Yes ☐ No|🔘 Yes ⚪ No
✅ Names the year ¶❌ Names the date
[RESULT] yes or no|[RESULT] (yes/no)|[RESULT] yes/no|[ANSWER] maybe|[RESULT]|[Response] yes|[RESULT] yes [RESULT] no
1. Yes ¶2. No|1. Yes 2. No|A. Yes ¶B. No|a) yes b) no|(a) yes (b) no|1. No evidence was found|1 - No|0. Yes|1. None of it
(a) no fee is named|B. No fee
Response: Yes ¶Reference: No|Response: Yes, but the reference says no|Model: Yes, Reference: No|Assistant: Norway
Response: None|User: Yes|User response: yes|The response: Yes|Assistant: Yes. No.|Candidate: yes
<verdict>|<verdict>y or n|<verdict>yes</verdict><verdict>no|<verdict>not|<reason>no|<answer>no one|<verdict>yes or no
The date isn't fully correct.|The date isn't unsupported.|The date isn't correct, but the year is.|{"answer" "yes"}
"""
FOUR = """
**Rating:** **4**/5|**Score**: **4** / 5|*Rating*: __4__|**4**/5|__4__|_4_|<b>4</b>/5|Score: **4/5**|Score: <b>4</b>/5
Rating: `4`/5|**Note :** **4** / 5|**评分**：**4**/5|***4***/5
I would set the rating at 4.|I'd rate this a 4|I give it a 4|My rating is 4|This deserves a 4|I would set the score to 4.
I'd put the score at 4.|I'd go with a 4.|I'd settle on 4.|I'd call it a 4.|I'd say it's a 4.|I assign a 4.
I would assign a score of 4 to it.
The answer misses a date. I would set the rating at 4.|I rate this 4 because 3 of 4 facts are right.
Ich würde 4 geben.|Ich gebe eine 4.|Ich vergebe 4 Punkte.|Je lui donne un 4.|Je donne 4/5.|Le doy un 4.|Le daría un 4.
Do un 4.|Dou um 4.|Я ставлю 4.|Я ставлю 4 балла.|Ik geef een 4.|我给4分。
If it named the date, I'd give it a 5. As it stands, I give it a 4.
Three facts were right and one had no date, so I give it a 4.|The reader asked for the year, so the rating is 4.
Yo le daría un 4.|[RESULT] 4|Assistant: 4|AI: 4/5|Response: 4|Assistant: Score: 4|✅ 4|4/5 ✅|Rating: 4/5 👍|Score: 4 🎉
{"scores": {"overall": 4}}|{"scores": {"overall": 4, "accuracy": 2}}|{"reason": "ok", "scores": {"final_score": 4}}
"""
NONE = """
rating between 2 and 3|I would set the rating at 7|I would set the rating at 2 or 3.|I would set the rating at 3, or even 4.
I would set the rating at 4 if the date were there.|I would set the rating at 4, if the date were there.
If the date were there, I would set the rating at 4.|If the date were there, I'd give it a 4.|I would not set the rating at 4.
Had it named the date, I'd give it a 4.|I'd have given it a 4.|Otherwise I'd give it a 4.|I'd never give it a 4.
I'd go with a 3 or 4.|I'd go with 4 errors.|I would set the rating at 4 points below.|I was told to set the rating at 4.
I hesitate to set the rating at 4.|I would set the rating higher than 4.|I would set the maximum rating at 4.
Others would set the rating at 4.|Should I set the rating at 4?|I set the alarm at 4.|I gave the previous answer a 4.
I rate it 4. No, I rate it 3.|I give it a 4 for style, a 2 for facts.|I would set the rating at 4. I give it a 3.
Ich würde 3 oder 4 geben.|Ich gebe 4 Beispiele.|Ich gebe nicht 4.|Je lui donne entre 3 et 4.|Je donne 4 exemples.
Je lui donne un 4, ou un 5.
Le doy un 4 o un 5.|No le doy un 4.|Я не ставлю 4.|Wenn das Datum stimmte, ich gebe eine 4.
**3**/**10**|**3**-**4**|**3** or **4**|**4**.**5**|4⅓|Score: 4⅓|Score: 4²|Score: 4 1/2|5½|½
{"scores": {"accuracy": 4}}|{"scores": {"overall": 7}}|{"scores": {"overall": "good"}}|{"score" "N/A"}|{"score" 7}
Assistant: I'd give it 3 of 4|I'd go with a 4, maybe a 5.|Je mets 4, puis 3.|Ich gebe 4, nein, 3.|Score: **4** **5**|{"max_score" 5}
I set the rating at 4 and then lowered it to 3.|I'd give it 4. On reflection, I'd give it a 3.
El usuario le daría un 4.|Ich gebe eine 4/10.|Ich gebe eine 7.|Assistant: 4 errors|User: 4|Assistant: 4 or 5|❌ 3 ¶✅ 4|⭐⭐⭐⭐
"""


def cases(table: str) -> list[str]:
    return [case.replace(" ¶", "\n") for line in table.strip("\n").split("\n") for case in line.split("|")]


@pytest.mark.parametrize("text", cases(YES))
def test_yes(text: str) -> None:
    assert YesNoReply().parse(text) is True


@pytest.mark.parametrize("text", cases(NO))
def test_no(text: str) -> None:
    assert YesNoReply().parse(text) is False


@pytest.mark.parametrize("text", cases(NEITHER))
def test_neither(text: str) -> None:
    with pytest.raises(BadReply):
        YesNoReply().parse(text)


@pytest.mark.parametrize("text", cases(FOUR))
def test_four_of_five(text: str) -> None:
    assert ScoreReply(1, 5).parse(text)[0] == 4.0
    assert RatingReply([1, 2, 3, 4, 5]).parse(text) == 4


@pytest.mark.parametrize("text", cases(NONE))
def test_no_score(text: str) -> None:
    with pytest.raises(BadReply):
        ScoreReply(1, 5).parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "4½",
        "4 ½",
        "Score: 4½",
        "**4½**/5",
        "I'd give it a 4½.",
        '{"score": "4½"}',
        "４½",
        "Note : 4½/5",
        "Ich gebe eine 4,5.",
        "It deserves a 4,5.",
    ],
)
def test_a_half_in_one_sign(text: str) -> None:
    assert ScoreReply(1, 5, halves=True).parse(text)[0] == 4.5
    with pytest.raises(BadReply):
        RatingReply([1, 2, 3, 4, 5]).parse(text)


@pytest.mark.parametrize("text", ["Score: 4⅓", "Score: 4²", "4²", "4⅓", "Score: 4 1/2"])
def test_small_figures_are_not_digits_of_the_number(text: str) -> None:
    with pytest.raises(BadReply):
        ScoreReply(0, 100).parse(text)


@pytest.mark.parametrize("text", ["I would set the rating at 7.", "I'd rate this a 3.", "1½", "*Rating*: __3__"])
def test_numbers_off_the_menu(text: str) -> None:
    with pytest.raises(BadReply):
        RatingReply([0, 1, 2]).parse(text)


class Claims(BaseModel):
    statements: list[str]


@pytest.mark.parametrize(
    "intro",
    [
        "The braces {like this are left open. Result:\n",
        "Die Klammer {hier bleibt offen. Ergebnis: ",
        "A stray { in prose.\n",
        "Sets such as {a, b are odd. ",
        "Use {curly braces: as here.\n",
    ],
)
@pytest.mark.parametrize("answer", ['["Pier 3.", "Ten minutes."]', '{"statements": ["Pier 3.", "Ten minutes."]}'])
def test_a_brace_that_prose_leaves_open(intro: str, answer: str) -> None:
    assert JsonReply(Claims).parse(intro + answer).statements == ["Pier 3.", "Ten minutes."]
