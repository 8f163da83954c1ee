"""What the metrics of a row share is done once: replies read, claims placed, citations found.

Counts, not seconds: they are the same on every machine.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from core.metrics.of_eight_calls import EVERYTHING
from ragmetrics_core import Ask, BadReply, Metric, Prompt, Reply, Score, Steps, evaluate
from ragmetrics_core.metrics import (
    AnswerOrAbstain,
    CitationPrecision,
    CitationRecall,
    Diagnosis,
    Faithfulness,
    Misattribution,
    citation_metric,
    claim_origin,
)
from ragmetrics_core.replies import JsonReply
from ragmetrics_core.testing import ScriptedLLM

ROW: dict[str, Any] = {
    "user_input": "How old is the tower?",
    "response": "It was built in 1889 [1]. It is red [3].",
    "reference": "The tower was built in 1889.",
    "retrieved_contexts": ["The tower was built in 1889.", "The tower is 330 m high."],
}
CLAIMS = {
    "It was built in 1889 [1]. It is red [3].": ["The tower was built in 1889.", "The tower is red."],
    "The tower was built in 1889.": ["The tower was built in 1889."],
}
ASKED = {"extract_claims": 2, "verify_claims": 5, "judge_abstention": 1}
"""Of a row of everything: two texts are taken apart; claims of each by the contexts and by the other text, and statements."""


def reply_to(inputs: Mapping[str, Any]) -> Any:
    """The first of several claims is supported by the first context."""
    if "answer" in inputs:
        return {"claims": CLAIMS[inputs["answer"]]}
    if "claims" not in inputs:
        return {"reason": "It is there.", "contexts_suffice": "yes", "response_declines": "no"}
    rows = [
        {"number": number, "reason": "r", "for": by, "against": []}
        for number, by in enumerate([[1], *([[]] * (len(inputs["claims"]) - 1))], 1)
    ]
    return {"verdicts": rows}


@dataclass
class Judge:
    """Answers at once, or after the others had their turn; the first reply to a prompt may be no JSON."""

    instant: bool = True
    unreadable: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    identity: str = "judge"

    def generate(self, ask: Ask) -> Reply[str]:
        self.asked[ask.prompt.name] += 1
        if ask.prompt.name in self.unreadable:
            self.unreadable.remove(ask.prompt.name)
            return Reply("What?")
        return Reply(json.dumps(reply_to(ask.inputs)))

    async def agenerate(self, ask: Ask) -> Reply[str]:
        await asyncio.sleep(0)
        return self.generate(ask)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each thing is done."""
    counted: Counter[str] = Counter()

    def count(owner: Any, name: str, key: Callable[..., str]) -> None:
        original = getattr(owner, name)

        def counting(*arguments: Any) -> Any:
            counted[key(*arguments)] += 1
            return original(*arguments)

        monkeypatch.setattr(owner, name, counting)

    count(Prompt, "read", lambda prompt, *_: f"{prompt.name} read")
    count(claim_origin, "spans_of", lambda *_: "placed")
    count(citation_metric, "statements", lambda *_: "citations found")
    return counted


JUDGES = [True, False]


@pytest.mark.parametrize("instant", JUDGES)
@pytest.mark.parametrize("stored", [False, True])
def test_everything_is_done_once(instant: bool, stored: bool, done: Counter[str], tmp_path: Path) -> None:
    judge = Judge(instant)
    result = evaluate([ROW], EVERYTHING, llm=judge, progress=False, run_dir=tmp_path if stored else None)
    assert not [score.error for scores in result.scores.values() for score in scores if score.error]
    assert judge.asked == ASKED
    once = {**{f"{name} read": count for name, count in ASKED.items()}, "citations found": 1}
    # where claims stand in the texts is looked up only when evidence is read, and storing a row reads it
    assert done == ({**once, "placed": 2} if stored else once)
    details = {name: json.dumps(scores[0].details) for name, scores in result.scores.items()}
    unplaced = {"answer_or_abstain", "fabricated_citations", "uncited_claims"}  # these have no claims
    assert {name for name, text in details.items() if '"span"' not in text} == unplaced
    assert done == {**once, "placed": 2}


def test_citations_by_id_are_found_once_as_well(done: Counter[str]) -> None:
    row = {**ROW, "retrieved_documents": [{"id": "doc-a", "content": "a"}, {"id": "doc-b", "content": "b"}]}
    result = evaluate([row], [CitationRecall(), CitationPrecision(), Misattribution()], llm=Judge(), progress=False)
    result.raise_for_errors()
    assert done == {"verify_claims read": 1, "citations found": 1}


@pytest.mark.parametrize("instant", JUDGES)
def test_an_unreadable_reply_is_read_by_each_metric(instant: bool, done: Counter[str]) -> None:
    """Every metric reads it itself, and asks again; the second reply is read once for all of them."""
    judge = Judge(instant, unreadable={"judge_abstention"})
    result = evaluate([ROW], [Diagnosis(), AnswerOrAbstain()], llm=judge, progress=False)
    assert [scores[0].value for scores in result.scores.values()] == [1.0, 1.0]
    assert judge.asked["judge_abstention"] == 2
    assert done["judge_abstention read"] == 3
    usages = [scores[0].usage for scores in result.scores.values()]
    assert [usage.calls for usage in usages] == [8, 2]
    assert sum(usage.cached_calls for usage in usages) == 2


@pytest.mark.parametrize("instant", JUDGES)
def test_a_score_does_not_depend_on_what_runs_beside_it(instant: bool) -> None:
    together = evaluate([ROW], EVERYTHING, llm=Judge(instant), progress=False)
    for metric in EVERYTHING:
        alone = evaluate([ROW], metric, llm=Judge(instant), progress=False).scores[metric.name][0]
        beside = together.scores[metric.name][0]
        assert json.dumps({**beside.to_dict(), "usage": None}) == json.dumps({**alone.to_dict(), "usage": None})


def test_no_metric_spoils_the_evidence_of_another() -> None:
    scores = evaluate([ROW], EVERYTHING, llm=Judge(), progress=False).scores
    one, two = scores["faithfulness"][0], scores["hallucination"][0]
    assert one.details["verdicts"] == two.details["verdicts"]
    one.details["verdicts"][0]["supported_by"].append(2)
    one.details["verdicts"].pop()
    again = evaluate([ROW], Faithfulness(), llm=Judge(), progress=False).scores["faithfulness"][0]
    assert two.details["verdicts"] == again.details["verdicts"] != one.details["verdicts"]


class WordList(BaseModel):
    words: list[str]


WORDS: Prompt[WordList] = Prompt("Which words?", JsonReply(WordList), name="words")


@dataclass(frozen=True)
class Changing(Metric):
    """Changes its inputs, and the reply."""

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        first = yield from WORDS.ask(texts=retrieved_contexts)
        retrieved_contexts.append("more")
        first.words.append("own")
        second = yield from WORDS.ask(texts=retrieved_contexts)
        return Score(1.0, details={"told": [first.words, second.words]})


def test_lists_that_a_metric_changes_are_its_own() -> None:
    asked: list[Any] = []

    def reply(ask: Ask) -> str:
        asked.append(json.loads(ask.messages[1].content))
        return json.dumps({"words": ["a"]})

    metrics = [Changing(name="one"), Changing(name="two")]
    scores = evaluate([ROW], metrics, llm=ScriptedLLM(reply), progress=False).scores
    contexts = ROW["retrieved_contexts"]
    assert asked == [{"texts": contexts}, {"texts": [*contexts, "more"]}]
    assert [scores[name][0].details["told"] for name in ("one", "two")] == [[["a", "own"], ["a"]]] * 2
    assert len(contexts) == 2


def counted(reply: WordList, inputs: Mapping[str, Any], least: int) -> int:
    return max(least, len(reply.words) + len(inputs["texts"]))


@dataclass(frozen=True)
class Counting(Metric):
    least: int = 0
    prompt: Prompt[WordList] = WORDS

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        number = yield from self.prompt.ask_for(counted, self.least, texts=retrieved_contexts)
        return Score(number / 10)


def test_what_is_made_of_a_reply_is_made_once_of_the_same(done: Counter[str]) -> None:
    """By one prompt with the same further arguments; a prompt with other checks reads for itself."""

    def refuse(reply: WordList, _: Mapping[str, Any]) -> None:
        raise BadReply(f"{len(reply.words)} words")

    strict = WORDS.replace(name="strict", check=refuse)
    metrics = [
        Counting(name="one"),
        Counting(name="two"),
        Counting(5, name="three"),
        Counting(prompt=strict, name="four"),
    ]
    llm = ScriptedLLM(lambda _: json.dumps({"words": ["a"]}))
    scores = {name: found[0] for name, found in evaluate([ROW], metrics, llm=llm, progress=False).scores.items()}
    assert [scores[name].value for name in ("one", "two", "three", "four")] == [0.3, 0.3, 0.5, None]
    assert scores["four"].error == "BadReply: the model's reply to the prompt 'strict' is unreadable, twice: 1 words"
    assert llm.calls == 2  # the first question is the same for all
    assert done == {"words read": 2, "strict read": 2}


@pytest.mark.parametrize("instant", JUDGES)
def test_prompts_of_the_same_words_ask_once(instant: bool) -> None:
    """Another name or version is nothing that a model reads; another form of reply is."""
    named = WORDS.replace(name="other", version="7")
    longer = WORDS.replace(instructions="Which words? All of them.")

    class Longer(WordList):
        why: str = ""

    formed = WORDS.replace(reply=JsonReply(Longer))
    prompts = [WORDS, named, longer, formed]
    metrics = [Counting(prompt=prompt, name=f"m{number}") for number, prompt in enumerate(prompts)]
    asked: list[str] = []

    @dataclass
    class Words(Judge):
        def generate(self, ask: Ask) -> Reply[str]:
            asked.append(ask.messages[0].content)
            return Reply(json.dumps({"words": ["a"]}))

    scores = evaluate([ROW], metrics, llm=Words(instant), progress=False).scores
    assert asked == [WORDS.system, longer.system, formed.system]
    assert [scores[metric.name][0].usage.cached_calls for metric in metrics] == [0, 1, 0, 0]


@dataclass(frozen=True)
class Showing(Metric):
    prompt: Prompt[WordList] = WORDS

    def measure(self, user_input: str, retrieved_contexts: list[str]) -> Steps[Score]:
        yield from self.prompt.ask(question=user_input, texts=retrieved_contexts, more=["x"], none=None)
        return Score(1.0)


AWKWARD = {"user_input": 'Why "\ud800"?', "retrieved_contexts": ["Größe\n\\", "\udc00 {}", "", "☃\u2028"]}


@pytest.mark.parametrize("row", [ROW, {**ROW, **AWKWARD}])
def test_what_is_written_out_once_is_what_would_be_written_each_time(row: dict[str, Any]) -> None:
    """Contexts are shared, numbered and plain; their prompts are not."""
    prompts = [
        WORDS,
        WORDS.replace(instructions="Number."),
        WORDS.replace(instructions="All.", numbered=("texts", "more")),
    ]
    metrics = [Showing(prompt, name=f"m{number}") for number, prompt in enumerate([*prompts, *prompts])]
    llm = ScriptedLLM(lambda _: json.dumps({"words": []}))
    evaluate([row], metrics, llm=llm, progress=False).raise_for_errors()
    texts = row["retrieved_contexts"]
    plain = {"question": row["user_input"], "texts": texts, "more": ["x"], "none": None}
    numbered = {**plain, "texts": dict(enumerate(texts, 1)), "more": {1: "x"}}
    assert [json.loads(ask.messages[1].content) for ask in llm.asks] == json.loads(json.dumps([plain, plain, numbered]))
    for ask, prompt, data in zip(llm.asks, prompts, [plain, plain, numbered], strict=True):
        assert ask.messages[1].content == prompt.replace(numbered=()).data(data)
        ask.messages[1].content.encode()


def test_equal_inputs_that_look_different_are_two_questions() -> None:
    @dataclass(frozen=True)
    class Asking(Metric):
        shown: Any = None

        def measure(self, response: str) -> Steps[Score]:
            yield from WORDS.ask(texts=self.shown)
            return Score(1.0)

    metrics = [Asking(shown, name=f"m{number}") for number, shown in enumerate((1, True, 1.0, ["1"], ("1",), "1"))]
    llm = ScriptedLLM(lambda _: json.dumps({"words": []}))
    evaluate([ROW], metrics, llm=llm, progress=False).raise_for_errors()
    shown = [ask.messages[1].content for ask in llm.asks]
    assert shown == ['{"texts": 1}', '{"texts": true}', '{"texts": 1.0}', '{"texts": ["1"]}', '{"texts": "1"}']
