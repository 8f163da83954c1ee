"""Yes, no and related words, by language.

A word is listed only if it can be the whole answer to a yes/no question. Words that also have another use ("no evidence", "si" as
"if", "da" as "there") count only before a full stop, a comma or the end; the reader in ``_verdict`` checks that.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in a text. Long lists of words are easier to read as text."""
    return frozenset(text.split())


# language: (words for yes, words for no)
_BY_LANGUAGE: dict[str, tuple[str, str]] = {
    "ar": ("نعم|أجل|صحيح", "لا|كلا|خطأ"),
    "bg": ("да", "не"),
    "bn": ("হ্যাঁ|হ্যা", "না"),
    "cs": ("ano", "ne|nikoli"),
    "da": ("ja|sandt", "nej|falsk"),
    "de": ("ja|jawohl|wahr|richtig", "nein|falsch"),
    "el": ("ναι|σωστό", "όχι|οχι|λάθος"),
    "en": ("yes|yep|yeah|yup|yea|true|affirmative|aye", "no|nope|nah|nay|false|negative|not at all"),
    "es": ("sí|si|verdadero|cierto|correcto", "no|falso|incorrecto"),
    "et": ("jah", "ei"),
    "fa": ("بله|بلی|آری", "خیر|نه"),
    "fi": ("kyllä|joo|tosi", "ei"),
    "fr": ("oui|vrai|exact", "non|faux"),
    "he": ("כן", "לא"),
    "hi": ("हाँ|हां|जी हाँ|जी हां|सही", "नहीं|नही|जी नहीं|गलत"),
    "hr": ("da|točno", "ne|netočno"),
    "hu": ("igen|igaz", "nem|hamis"),
    "id": ("ya|iya|benar", "tidak|bukan|salah"),
    "it": ("sì|vero|corretto", "no|falso|sbagliato"),
    "lt": ("taip", "ne"),
    "lv": ("jā", "nē"),
    "nl": ("ja|waar|juist", "nee|neen|onwaar|onjuist"),
    "no": ("ja", "nei"),
    "pl": ("tak|prawda", "nie|fałsz"),
    "pt": ("sim|verdadeiro|correto", "não|nao|falso|incorreto"),
    "ro": ("da|adevărat", "nu|fals"),
    "ru": ("да|верно|правда|правильно", "нет|неверно|ложь|неправда|неправильно"),
    "sk": ("áno|ano", "nie"),
    "sv": ("ja|sant", "nej|falskt"),
    "sw": ("ndiyo", "hapana"),
    "ta": ("ஆம்", "இல்லை"),
    "tr": ("evet|doğru", "hayır|yanlış"),
    "uk": ("так|правда", "ні"),
    "ur": ("جی ہاں|ہاں", "نہیں|جی نہیں"),
    "vi": ("có|đúng|vâng", "không|sai"),
    "ko": (
        "예|네|맞습니다|맞음|맞아요|그렇습니다|참|예입니다|네입니다",
        "아니요|아니오|아뇨|아닙니다|거짓|틀림|틀렸습니다|아니요입니다",
    ),
}
# Scripts without spaces between words; the longest form comes first.
CJK_YES = "是的|是|对的|對的|对|對|正确|正確|有的|支持|はい|ええ|正しい|真|ใช่ครับ|ใช่ค่ะ|ใช่|จริง"
CJK_NO = (
    "不是的|不是|不对|不對|不正确|不正確|错误|錯誤|错|錯|没有|沒有|否|不支持|不|いいえ|いえ|いや|違います|間違い|誤り|偽|"
    "ไม่ใช่|ไม่จริง|เท็จ|ไม่"
)


def _gather(column: int) -> frozenset[str]:
    return frozenset(word for pair in _BY_LANGUAGE.values() for word in pair[column].split("|"))


YES = _gather(0) | {"✅", "✔", "✓", "☑", "👍"}
NO = _gather(1) | {"❌", "✗", "✘", "✖", "👎", "🚫"}

# Labels of two-valued scales. "not" before one of them reverses it; a hedge before it leaves no answer.
POSITIVE = word_set(
    "correct pass passed passes passing accept accepted accepts approve approved approves support supported supports "
    "valid relevant faithful entailed entailment entails grounded accurate right consistent acceptable attributable "
    "attributed positive useful helpful verified confirmed factual compliant agree agrees satisfied ok okay"
)
NEGATIVE = word_set(
    "incorrect fail failed fails failing reject rejected rejects unsupported invalid irrelevant unfaithful "
    "contradicted contradiction contradicts ungrounded inaccurate wrong inconsistent unacceptable unattributable "
    "useless unhelpful refuted refutes refute noncompliant disagree disagrees unsatisfied hallucinated hallucination"
)
# Hedges: a sentence with one of these words takes no side, or is about only a part of the question.
HEDGES = word_set(
    "partially partly mostly somewhat largely mainly nearly almost probably likely possibly maybe perhaps "
    "neither both unclear unknown unsure uncertain undetermined inconclusive arguably generally "
    "technically half borderline sometimes mixed either depends partial if whether unless cannot can't "
    "unable could might may would should hardly barely doubtful questionable insufficient impossible "
    "none nothing nobody few some most many several one first second third another other until once"
)
FINAL = (
    "final|finally|overall|correction|corrected|corrected answer|revised|updated|on reflection|upon reflection|in fact|"
    "i change my|最终|最終|最终的|终|최종|endgültig|endgültige|schluss|finale|définitive|definitiva|definitivo|итог|итоговый|"
    "окончательный|korrektur|korrigiert|修正|更正|訂正|정정|corrección|correzione|correção|исправление"
)
CONCLUSION = (
    "answer|verdict|judgement|judgment|decision|conclusion|result|label|rating|score|grade|classification|"
    "determination|ruling|"
    "antwort|urteil|ergebnis|fazit|réponse|reponse|verdikt|respuesta|veredicto|resultado|resposta|risposta|giudizio|verdetto|"
    "antwoord|oordeel|svar|odpowiedź|odpověď|ответ|вердикт|вывод|відповідь|cevap|yanıt|jawaban|câu trả lời|trả lời|"
    "回答|答案|结论|結論|判断|判定|答え|結果|结果|답변|답|판정|결론|정답|판단|उत्तर|जवाब|الإجابة|الجواب|תשובה"
)
REASON = (
    "reason|reasoning|rationale|explanation|justification|analysis|comment|feedback|note|because|thought|thoughts|evidence|"
    "question|confidence|example|caveat|context|claim|statement under test|begründung|grund|erklärung|raison|explication|razón|"
    "explicación|motivo|причина|обоснование|объяснение|理由|原因|解释|说明|説明|分析|이유|설명|근거"
)
