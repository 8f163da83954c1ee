"""The forms in which models give verdicts on numbered claims, beside the one that was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragmetrics_core import BadReply, Reply
from ragmetrics_core.metrics.claims import VERIFY_CLAIMS
from ragmetrics_core.replies import RatingReply, YesNoReply

INPUTS = {"question": "When?", "contexts": ["one", "two", "three"], "claims": ["first", "second"]}
FIRST: dict[str, Any] = {"number": 1, "reason": "Stated.", "for": [1], "against": []}
SECOND: dict[str, Any] = {"number": 2, "reason": "Another year.", "for": [], "against": [2, 3]}
ROWS = [json.dumps(FIRST), json.dumps(SECOND)]


def bare(verdict: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in verdict.items() if key != "number"} | changes


def named(name: str) -> str:
    return json.dumps({"verdicts": [{name: item["number"], **bare(item)} for item in (FIRST, SECOND)]})


def lists(*forms: tuple[Any, Any]) -> str:
    verdicts = [{"number": number, "for": by, "against": against} for number, (by, against) in enumerate(forms, 1)]
    return json.dumps({"verdicts": verdicts})


def read(text: str) -> list[tuple[list[int], list[int]]]:
    verdicts = VERIFY_CLAIMS.read(Reply(text), INPUTS).verdicts
    return [(item.supported_by, item.contradicted_by) for item in sorted(verdicts, key=lambda item: item.number)]


FORMS = {
    "the form asked for": json.dumps({"verdicts": [FIRST, SECOND]}),
    "null": lists(([1], None), (None, [2, 3])),
    "words before numbers": lists((["context 1"], []), ([], ["Context 2", "context 3"])),
    "texts": lists(("1", ""), ("none", "2, 3")),
    "one text": lists((["1"], []), ([], ["contexts 2 and 3"])),
    "by number": json.dumps({"verdicts": {"1": bare(FIRST), "2": bare(SECOND)}}),
    "by number alone": json.dumps({"1": bare(FIRST), "2": bare(SECOND)}),
    "by name": json.dumps({"claim_2": bare(SECOND), "claim_1": bare(FIRST)}),
    "by number, with it": json.dumps({"1": FIRST, "2": SECOND}),
    "id": named("id"),
    "claim": named("claim"),
    "claim_id": named("claim_id"),
    "a word with the number": json.dumps({"verdicts": [{**FIRST, "number": "claim 1"}, {**SECOND, "number": "#2"}]}),
    "id beside the claim": json.dumps([bare(FIRST, id=1, claim="in 1889"), bare(SECOND, id=2, claim="b")]),
    "one per line": "\n".join(ROWS),
    "one per line, in a fence": "```json\n" + "\n".join(ROWS) + "\n```",
    "one per item": f"1. {ROWS[0]}\n2. {ROWS[1]}",
    "one per heading": f"**Claim 1:**\n```json\n{ROWS[0]}\n```\n\n**Claim 2:**\n```json\n{ROWS[1]}\n```",
    "bullets before it": "- The first is stated.\n- The second is not.\n\n" + json.dumps({"verdicts": [FIRST, SECOND]}),
    "an analysis before it": "Claim 1: Context 1 says so.\nClaim 2: None of the contexts names it.\n\n"
    + json.dumps({"verdicts": [FIRST, SECOND]}),
    "supports and contradicts": lists(([1], []), ([], [2, 3])).replace("for", "supports").replace("against", "contradicts"),
    "a heading before it": "## Verdicts\n\n" + json.dumps([FIRST, SECOND]),
    "an introduction before it": "Here are my verdicts, one per line:\n\n" + "\n".join(ROWS),
    "a table": "| number | reason | for | against |\n|---|---|---|---|\n| 1 | stated | 1 | |\n| 2 | other | | 2, 3 |",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_read(text: str) -> None:
    assert read(text) == [([1], []), ([], [2, 3])]


REFUSED = {
    "a context that was not sent": lists((["context 7"], []), ([], [])),
    "words": lists((["the first context"], []), ([], [])),
    "a blank": lists(("...", []), ([], [])),
    "no list": lists(("yes", []), ([], [])),
    "a range": lists(("1-3", []), ([], [])),
    "a claim left out": ROWS[0],
    "a claim twice": "\n".join([ROWS[0], ROWS[1], json.dumps({**SECOND, "for": [1]})]),
    "two numbers for one": json.dumps({"1": {**FIRST, "number": 2}, "2": {**SECOND, "number": 1}}),
    "two keys for the number": json.dumps([bare(FIRST, id=1, index=2), bare(SECOND, id=2, index=1)]),
    "the claim as text": json.dumps([bare(FIRST, claim="in 1889"), bare(SECOND, claim="in 1890")]),
    "all lines twice, and not the same": "\n".join([*ROWS, "", ROWS[0], json.dumps({**SECOND, "for": [1]})]),
    "for and against": lists(([1], [1]), ([], [])),
}  # fmt: skip


@pytest.mark.parametrize(
    "introduction",
    [
        "Here is my evaluation of the response:\n\n",
        "Here's the assessment of this answer:\n",
        "The answer is a refusal and contains no facts.\n\n",
        "My rating of the given answer: ",
    ],
)
def test_an_introduction_of_the_judges_own_words(introduction: str) -> None:
    assert RatingReply((0, 2, 4)).parse(introduction + '{"reason": "It is short.", "rating": 4}') == 4


@pytest.mark.parametrize("introduction", ["The response says:\n\n", "The verdict of the response:\n", "It ends with: "])
def test_an_introduction_of_anothers_words(introduction: str) -> None:
    with pytest.raises(BadReply, match="announced as another's"):
        RatingReply((0, 2, 4)).parse(introduction + '{"reason": "It is short.", "rating": 4}')


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str) -> None:
    with pytest.raises(BadReply):
        read(text)


def test_boxes() -> None:
    for text in ("- [x] no", "- [ ] yes\n- [x] no", "☐ yes ☑ no", "[ ] YES  [X] NO"):
        assert YesNoReply().parse(text) is False
    for text in ("☑ yes ☐ no", "- [X] Ja\n- [ ] Nein"):
        assert YesNoReply().parse(text) is True
    for text in ("☐ yes ☐ no", "☑ yes ☑ no", "- [x] Names the year\n- [ ] Names the date"):
        with pytest.raises(BadReply):
            YesNoReply().parse(text)
    assert RatingReply((0, 1, 2)).parse("☐ 0 ☐ 1 ☑ 2") == 2
