"""One sentence for people from whatever evidence a score holds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from ragmetrics_core import BadReply, Document, Score
from ragmetrics_core.metrics import NDCG, ExactMatch, Recall, TokenF1

VERDICTS = [
    {"claim": "A is B.", "supported": True, "reason": "It is stated."},
    {"claim": "C is D.", "supported": False, "reason": "nothing about C"},
]

DETAILS: list[tuple[dict[str, Any], str]] = [
    ({"verdicts": VERDICTS}, "1 of 2 claims supported; not supported: 'C is D.' (nothing about C)"),
    ({"verdicts": VERDICTS[:1]}, "1 of 1 claims supported"),
    ({"verdicts": VERDICTS[:1], "prompts": {"verify_claims": "1"}, "raw": ["{}"]}, "1 of 1 claims supported"),
    (
        {"precision": 0.5, "response_claims": VERDICTS, "reference_claims": VERDICTS[:1]},
        (
            "precision 0.5; 1 of 2 response claims supported; not supported: 'C is D.' (nothing about C); "
            "1 of 1 reference claims supported"
        ),
    ),
    (
        {"verdicts": [{**VERDICTS[0], "contradicted": True, "old_source": True}, {**VERDICTS[1], "contradicted": True}]},
        (
            "1 of 2 claims supported; not supported: 'C is D.' (nothing about C); supported but contradicted: 'A is B.' "
            "(It is stated); supported but old source: 'A is B.' (It is stated)"
        ),
    ),
    (
        {"verdicts": [{"reason": "It gives the year.", "useful": True}, {"reason": "", "useful": False}]},
        "1 of 2 useful; not useful: no. 2",
    ),
    (
        {"verdicts": [{"claim": f"Claim {number}.", "supported": False} for number in range(5)]},
        "0 of 5 claims supported; not supported: 'Claim 0.', 'Claim 1.', 'Claim 2.' and 2 more",
    ),
    (
        {"statements": ["It is old.", "It is big."], "reasons": ["The year is given.", "No size."], "statement_scores": [1, 0]},
        "1 of 2 statements scored 1; scored 0: 'It is big.' (No size)",
    ),
    (
        {"verdicts": [{"reason": "It tells when.", "useful": False}], "reasons": ["It tells when."]},
        "0 of 1 useful; not useful: no. 1 (It tells when)",
    ),
    ({"points": 1, "reason": "The subject only.", "reasons": ["The subject only."]}, "points 1; The subject only."),
    ({"ratings": [2, 1], "reasons": ["All is there.", "A part."]}, "ratings 2 (All is there), 1 (A part)"),
    ({"ratings": [2, None], "reasons": ["All.", None]}, "ratings 2 (All), none"),
    ({"ratings": [4, 2]}, "ratings 4, 2"),
    (
        {"windows": 3, "answers": ["NO", "YES"], "reasons": ["Nothing.", "It is said there."]},
        "2 answers: 'NO' (Nothing), 'YES' (It is said there); windows 3",
    ),
    ({"relevant_statements": ["Adults pay 9 euros."]}, "1 relevant statement: 'Adults pay 9 euros.'"),
    ({"relevant_statements": []}, "no relevant statements"),
    (
        {"questions": ["When?", "At what time?"], "noncommittal": False, "similarities": [0.9571, 0.5]},
        "2 questions: 'When?', 'At what time?'; noncommittal: no; similarities 0.9571, 0.5",
    ),
    ({"reason": "", "score": 3}, "score 3"),
    ({"grade": 3.5, "why": "the year is wrong"}, "grade 3.5; the year is wrong"),
    ({"ratings": [{"score": 1.5, "reason": "half"}, {"score": 4, "reason": ""}]}, "ratings 1.5 (half), 4"),
    ({"ratings": [2], "unreadable": [{"reason": "no rating", "raw": ["x"]}]}, "ratings 2; 1 unreadable: no rating"),
    ({"outputs": {"tone": "calm", "marks": [1, 2], "empty": ""}}, "outputs: tone 'calm', marks (2 entries)"),
    ({"table": [[1, 2], [3]], "passed": [True, False]}, "table (2 entries), (1 entry); passed yes, no"),
    ({"digits": 10**6000, "ratio": 1 / 3}, "digits a huge number; ratio 0.3333"),
    ({f"k{number}": number for number in range(10)}, "k0 0; k1 1; k2 2; k3 3; k4 4; k5 5; k6 6; k7 7; and 2 more"),
    ({"reasons": ["a", "b"], "ratings": [1]}, "2 reasons: 'a', 'b'; ratings 1"),
]  # fmt: skip


@pytest.mark.parametrize(("details", "sentence"), DETAILS)
def test_what_the_evidence_says(details: dict[str, Any], sentence: str) -> None:
    assert Score(0.5, details=details).explain() == sentence


def test_a_reason_is_used_as_it_is() -> None:
    assert Score(0.5, reason="It is\nright.", details={"verdicts": VERDICTS}).explain() == "It is right."


def test_repeats_give_their_values() -> None:
    repeats = [{"value": 1.0, "reason": "x"}, {"value": 0.5}, {"value": None}]
    score = Score(0.75, reason="mean of 2 judgements; 1 of 3 gave no value", details={"repeats": repeats})
    assert score.explain() == "mean of 2 judgements; 1 of 3 gave no value: 1, 0.5, none"


def test_without_a_value() -> None:
    assert Score.unscored("the response makes no claims").explain() == "not scored: the response makes no claims"
    assert Score.failed(BadReply("no verdict", ["x"])).explain() == "failed: BadReply: no verdict"


def test_without_evidence() -> None:
    assert Score(0.25).explain() == "0.25"
    assert Score(4, scale=(1, 5), details={"prompts": {"p": "1"}}).explain() == "4 on a scale from 1 to 5"


def test_rankings() -> None:
    found = [Document("a", score=2.0), Document("b", score=1.0)]
    assert NDCG(k=5).score(retrieved_documents=["b", "x"], reference_documents=found).explain() == (
        "1 of 2 relevant documents found, at rank 1 of 2; k 5; grades 1"
    )
    assert Recall().score(retrieved_documents=["b", "x", "a"], reference_documents=found).explain() == (
        "2 of 2 relevant documents found, at ranks 1, 3 of 3"
    )
    assert Recall().score(retrieved_documents=["x"], reference_documents=["a"]).explain() == (
        "none of 1 relevant document found among 1 retrieved"
    )


def test_texts_and_words() -> None:
    assert ExactMatch().score(response="Paris", reference="Rome").explain() == "response 'Paris'; reference 'Rome'"
    assert TokenF1().score(response="in Paris", reference="Paris").explain() == (
        "response words 2; reference words 1; common words 1; precision 0.5; recall 1"
    )


def test_long_texts_are_shortened() -> None:
    verdict = {"claim": "word " * 100, "supported": False, "reason": "why\x1b[31m " * 100}
    sentence = Score(0.0, details={"verdicts": [verdict]}).explain()
    shown = f"'{('word ' * 30)[:117].rstrip()}...'"
    assert sentence.startswith(f"0 of 1 claims supported; not supported: {shown} (why\ufffd[31m why")
    assert len(sentence) < 400
    assert len(Score(0.0, reason="long " * 10**6).explain()) <= 2000


def any_value(random: Random, depth: int = 0) -> Any:
    kinds = ["none", "bool", "int", "float", "text"] + ["list", "mapping"] * (depth < 3)
    kind = random.choice(kinds)
    if kind == "list":
        return [any_value(random, depth + 1) for _ in range(random.randrange(4))]
    if kind == "mapping":
        keys = random.sample(["reason", "claim", "ok", "n", "value"], random.randrange(4))
        return {key: any_value(random, depth + 1) for key in keys}
    plain: dict[str, list[Any]] = {
        "none": [None],
        "bool": [True, False],
        "int": [0, 1, -3, 10**5000],
        "float": [0.5, -1e300],
        "text": ["", "word", "two\nlines", "\x00", "x" * 5000],
    }
    return random.choice(plain[kind])


NAMES = ["verdicts", "reasons", "ranks", "relevant", "retrieved", "repeats", "answers", "reason", ""]


def test_any_evidence_makes_one_line() -> None:
    random = Random(1)
    for _ in range(2000):
        details = {name: any_value(random) for name in random.sample(NAMES, random.randrange(6))}
        sentence = Score(0.5, details=details).explain()
        assert sentence, details
        assert len(sentence) <= 2000, details
        assert sentence.isprintable(), details
