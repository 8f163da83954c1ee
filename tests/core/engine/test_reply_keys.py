"""What can change a reply changes its key, and nothing else does: no wrong hits, no needless misses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluate.doubles import RATE, AsyncModel, Rated
from examples import examples
from ragmetrics_core import Ask, Compare, Embed, InvalidInput, Message, Metric, Prompt, evaluate
from ragmetrics_core._engine._reply_keys import MOST_FORMS, Keys
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
from ragmetrics_core.replies import JsonReply, LinesReply, RatingReply, ScoreReply, YesNoReply

IDENTITY = {
    "provider": "openai",
    "model": "m",
    "base_url": "https://one.example/v1",
    "parameters": {"temperature": 0.0, "seed": 1, "stop": ["a", "b"]},
}
"""Nested, as those of real models are."""

INPUTS = {"question": "who?", "contexts": ["one", "two"], "limit": 3}


def ask(prompt: Prompt[Any] = RATE, **inputs: Any) -> Ask:
    return Ask(prompt.messages(inputs), prompt.reply, prompt, inputs)


def changed_identities() -> list[Any]:
    parameters = IDENTITY["parameters"]
    assert isinstance(parameters, dict)
    changed: list[Any] = [{**IDENTITY, name: "other"} for name in IDENTITY]
    changed += [{name: value for name, value in IDENTITY.items() if name != gone} for gone in IDENTITY]
    changed += [{**IDENTITY, "new": None}, "m"]
    others = [{"temperature": 0.1}, {"seed": 2}, {"seed": "1"}, {"stop": ["b", "a"]}, {"stop": "ab"}, {"top_p": 1}]
    return changed + [{**IDENTITY, "parameters": {**parameters, **other}} for other in others]


def changed_asks() -> list[Ask]:
    base = ask(**INPUTS)
    system, user = base.messages
    asked = [
        ask(**{**INPUTS, **change}) for change in ({"question": "who"}, {"contexts": ["two", "one"]}, {"limit": 4})
    ]
    asked += [
        ask(**{**INPUTS, "contexts": texts}) for texts in ([], ["onetwo"], ["one", "two", ""], ["one\ud800", "two"])
    ]
    asked += [ask(RATE.replace(instructions="Rate it."), **INPUTS), ask(RATE.replace(notice="Data."), **INPUTS)]
    messages = [
        (user, system),
        (system,),
        (system, user, Message("assistant", "?")),
        (system, Message("assistant", user.content)),
        (Message("system", system.content + user.content), Message("user", "")),
        (Message("system", system.content + user.content[0]), Message("user", user.content[1:])),
    ]
    return asked + [replace(base, messages=changed) for changed in messages]


class TestMutations:
    def test_no_two_of_all_that_differ_share_a_key(self) -> None:
        base = ask(**INPUTS)
        keys = [Keys(identity).key(base, 0) for identity in (IDENTITY, *changed_identities())]
        here = Keys(IDENTITY)
        keys += [here.key(item, 0) for item in changed_asks()]
        keys += [here.key(base, repeat) for repeat in (1, 2, 10, 11)]
        replies = [YesNoReply(), ScoreReply(0, 1), ScoreReply(0, 10), RatingReply((1, 2)), LinesReply()]
        schemas = {str(reply.schema): reply for reply in replies if reply.schema is not None}
        assert len(schemas) >= 3
        keys += [here.key(replace(base, reply=reply), 0) for reply in schemas.values()]
        keys += [
            here.key(Embed(texts), 0) for texts in ((), ("",), ("", ""), ("a", "b"), ("b", "a"), ("ab",), ("1:a",))
        ]
        keys += [here.key(Compare(pairs), 0) for pairs in ((), (("a", "b"),), (("b", "a"),), (("a", "b"), ("", "")))]
        assert len(keys) > 45
        assert len(set(keys)) == len(keys)
        assert {len(key) for key in keys} == {16}

    def test_what_is_equal_shares_a_key(self) -> None:
        same = dict(reversed(IDENTITY.items()))
        expected = Keys(IDENTITY).key(ask(**INPUTS), 3)
        assert Keys(same).key(ask(**INPUTS), 3) == expected, "the order of settings is no setting"
        renamed = RATE.replace(name="another", version="9")
        assert Keys(IDENTITY).key(ask(renamed, **INPUTS), 3) == expected, "a name is not sent"

    def test_a_schema_is_known_by_what_it_says(self) -> None:
        from pydantic import BaseModel

        class Verdict(BaseModel):
            reason: str
            supported: bool

        here, base = Keys(IDENTITY), ask(**INPUTS)
        key = here.key(replace(base, reply=JsonReply(Verdict)), 0)
        assert here.key(replace(base, reply=JsonReply(Verdict)), 0) == key
        # new formats for every question: what was remembered makes room, and the key stays
        for _ in range(3 * MOST_FORMS):
            here.key(replace(base, reply=JsonReply(Verdict)), 0)
        assert len(here._forms) <= MOST_FORMS
        assert Keys(IDENTITY).key(replace(base, reply=JsonReply(Verdict)), 0) == key

    def test_an_identity_that_is_no_json(self) -> None:
        with pytest.raises(InvalidInput, match="a model's identity must be a mapping of JSON values, got .*object"):
            Keys({"model": object()})


text = st.text(st.characters(codec=None, categories=None), max_size=8)
messages = st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), text), max_size=4).map(tuple)
asks = st.builds(lambda found: replace(ask(**INPUTS), messages=found), messages)
embeds = st.lists(text, max_size=4).map(lambda texts: Embed(tuple(texts)))
compares = st.lists(st.tuples(text, text), max_size=3).map(lambda pairs: Compare(tuple(pairs)))
identities = st.one_of(
    text, st.dictionaries(text, st.one_of(st.none(), st.booleans(), st.integers(), text), max_size=3)
)
questions = st.tuples(identities, st.one_of(asks, embeds, compares), st.integers(0, 3))


@examples(300)
@given(questions, questions)
def test_keys_are_equal_exactly_where_the_questions_are(one: tuple[Any, Any, int], other: tuple[Any, Any, int]) -> None:
    def parts(question: tuple[Any, Any, int]) -> tuple[Any, ...]:
        identity, request, repeat = question
        settings = identity if isinstance(identity, str) else repr(sorted(identity.items(), key=repr))
        return (settings, type(identity), request, repeat if isinstance(request, Ask) else 0)

    keys = [Keys(identity).key(request, repeat) for identity, request, repeat in (one, other)]
    assert (keys[0] == keys[1]) == (parts(one) == parts(other))


class Named(AsyncModel):
    """A model that says what it is."""

    def __init__(self, **settings: Any) -> None:
        super().__init__("0.5")
        self.identity = {"model": "named", **settings}


class TestModels:
    """The identities of the real models, through whole runs: what was changed is asked, all else is replayed."""

    @pytest.mark.parametrize("name", ["user_input", "metric", "prompt", "model", "repeats"])
    def test_a_change_is_a_miss_and_everything_else_a_hit(self, tmp_path: Any, name: str) -> None:
        rows = [{"user_input": str(number)} for number in range(6)]
        metric: Metric = Rated()
        evaluate(rows, metric, llm=Named(), run_dir=tmp_path)
        model, repeats, expected = Named(), 1, 0
        if name == "user_input":
            rows[2] = {"user_input": "changed"}
            expected = 1
        elif name == "metric":
            metric = Rated(name="rated", prompt=RATE.replace(name="renamed", version="2"))
        elif name == "prompt":
            metric, expected = Rated(prompt=RATE.replace(instructions="Rate it well.")), 6
        elif name == "model":
            model, expected = Named(temperature=1), 6
        else:
            repeats, expected = 3, 12
        result = evaluate(rows, metric, llm=model, run_dir=tmp_path, repeats=repeats, replace=True)
        assert len(model.asked) == expected
        assert result.summary()["rated"].usage.calls == 6 * repeats
        assert result.summary()["rated"].usage.cached_calls == 6 * repeats - expected

    def test_identities_of_models_behind_a_server(self) -> None:
        at = {"base_url": "http://localhost:1/v1"}
        models = [
            OpenAILLM("m", **at),
            OpenAILLM("n", **at),
            OpenAILLM("m", base_url="http://localhost:2/v1"),
            OpenAILLM("m", temperature=0.0, **at),
            OpenAILLM("m", temperature=1.0, **at),
            OpenAILLM("m", seed=1, **at),
            OpenAILLM("m", structured="text", **at),
            OpenAIEmbeddings("m", **at),
            OpenAIEmbeddings("m", dimensions=8, **at),
        ]
        request = ask(**INPUTS)
        assert len({Keys(model.identity).key(request, 0) for model in models}) == len(models)
        # the way to a server, a key, and what is done about failures change no reply
        same = [
            OpenAILLM("m", api_key="sk-other", max_retries=7, timeout=3, **at),
            OpenAILLM("m", **at).without_retries(),
            OpenAIServerLLM(at["base_url"], "m", api_key="k"),
        ]
        assert {Keys(model.identity).key(request, 0) for model in same} == {Keys(models[0].identity).key(request, 0)}
