"""A key that asks for the opposite of the question is never read as the answer: its yes means no."""

from __future__ import annotations

from typing import Any

import pytest

from ragmetrics_core import BadReply
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.replies import ReplyFormat, ScoreReply, YesNoReply
from ragmetrics_core.testing import ScriptedLLM

YES_NO = YesNoReply()
SCORE = ScoreReply(1, 5)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        *(
            (YES_NO, text)
            for text in (
                '{"unsupported": "yes"}',
                '{"irrelevant": true}',
                '{"isNotRelevant": 1}',
                '{"hallucinated": "yes", "reason": "nothing in the context"}',
                '{"result": {"not_supported": true}}',
                '{"unsupported": {"answer": "yes"}}',
                '{"negative_verdict": "yes"}',
                '{"contradiction_found": true}',
                "<unsupported>yes</unsupported>",
                "Unsupported: yes",
                "Hallucinated: no",
            )
        ),
        *(
            (SCORE, text)
            for text in (
                '{"penalty": 5}',
                '{"error_score": 5}',
                '{"number_of_claims": 4}',
                '{"sentences": 3, "reason": "x"}',
                "Error score: 5",
            )
        ),
    ],
)
def test_the_opposite_is_refused(reply: ReplyFormat[Any], text: str) -> None:
    with pytest.raises(BadReply):
        reply.parse(text)


def test_beside_the_answer_it_changes_nothing() -> None:
    assert YES_NO.parse('{"unsupported": true, "answer": "no"}') is False
    assert YES_NO.parse('{"errors": [], "verdict": "yes"}') is True
    assert SCORE.parse('{"penalty": 1, "score": 4}') == (4.0, "")
    assert SCORE.parse("No errors, score: 5")[0] == 5.0


@pytest.mark.parametrize("key", ["not_supported", "unsupported", "isNotSupported", "not-supported"])
def test_a_claim_that_is_not_supported_is_no_support(key: str) -> None:
    verdicts = f'{{"verdicts": [{{"number": 1, "reason": "", "{key}": true}}]}}'
    llm = ScriptedLLM(['{"claims": ["Paris is on Mars."]}', verdicts, verdicts])
    with pytest.raises(BadReply, match=r"verdicts\[0\]: value error, for is missing"):
        Faithfulness(llm=llm).score(
            user_input="Where is Paris?", response="On Mars.", retrieved_contexts=["In France."]
        )


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (
            '{"verdicts": [{"number": 1, "supported": true, "verdict": "not supported"}]}',
            r"verdicts\[0\]\.supported and 'verdict' say different things",
        ),
    ],
)
def test_what_is_taken_back_beside_it_is_no_verdict(verdicts: str, said: str) -> None:
    llm = ScriptedLLM(['{"claims": ["Paris is on Mars."]}', verdicts, verdicts])
    with pytest.raises(BadReply, match=said):
        Faithfulness(llm=llm).score(
            user_input="Where is Paris?", response="On Mars.", retrieved_contexts=["In France."]
        )


def test_what_says_the_same_beside_it_is_read() -> None:
    verdicts = (
        '{"verdicts": [{"number": 1, "supported": false, "verdict": "not supported", "result": "the text is silent"}]}'
    )
    llm = ScriptedLLM(['{"claims": ["Paris is on Mars."]}', verdicts])
    score = Faithfulness(llm=llm).score(user_input="Where is Paris?", response="On Mars.", retrieved_contexts=["Rome."])
    assert score.value == 0.0
