"""The scripted doubles say what their script says, and nothing else."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from ragmetrics_core import BadReply, ModelError, Models, Reply, Usage, arun, embed, run, together
from ragmetrics_core.testing import ScriptedEmbeddings, ScriptedLLM


def test_a_list_is_given_out_in_order(ask: Any) -> None:
    whole = Reply("two", Usage(1, 5, 2), truncated=True)
    llm = ScriptedLLM(["one", whole, ModelError("three")])
    assert llm.generate(ask("a")) == Reply("one")
    assert asyncio.run(llm.agenerate(ask("b"))) is whole
    with pytest.raises(ModelError, match="three"):
        llm.generate(ask("c"))
    assert [question.inputs["text"] for question in llm.asks] == ["a", "b", "c"]
    assert llm.messages == [question.messages for question in llm.asks]
    assert repr(llm) == "<ScriptedLLM, asked 3 times>"
    assert llm.identity is None
    assert copy.deepcopy(llm) is llm


def test_the_end_of_the_script_is_no_model_error(ask: Any) -> None:
    """So that a test fails, where a ModelError would become a failed score."""
    with pytest.raises(AssertionError) as caught:
        run(ask("x" * 400).prompt.ask(text="x" * 400), Models(llm=ScriptedLLM([])))
    assert str(caught.value) == f'ScriptedLLM has no reply left; question 1 was: {{"text": "{"x" * 290} ...'


def test_prompts_have_scripts_of_their_own(ask: Any) -> None:
    llm = ScriptedLLM({"extract": ["e1", "e2"], "verify": "always", "broken": BadReply("no", "raw")})
    extract, verify = ask(name="extract").prompt, ask(name="verify").prompt
    program = together(verify.ask(text="a"), extract.ask(text="b"), verify.ask(text="c"), extract.ask(text="d"))
    assert asyncio.run(arun(program, Models(llm=llm))) == ["always", "e1", "always", "e2"]
    with pytest.raises(AssertionError, match="no reply left for the prompt 'extract'; question 5 was"):
        llm.generate(ask(name="extract"))
    with pytest.raises(AssertionError, match="has no script for the prompt 'other'; it has: broken, extract, verify"):
        llm.generate(ask(name="other"))
    with pytest.raises(BadReply):
        llm.generate(ask(name="broken"))


def test_a_function_answers(ask: Any) -> None:
    llm = ScriptedLLM(lambda question: question.inputs["text"].upper())
    assert llm.generate(ask("loud")).value == "LOUD"
    with pytest.raises(AssertionError, match="a reply must be a str, a Reply or a ModelError, got int"):
        ScriptedLLM(lambda question: 3).generate(ask())  # type: ignore[arg-type,return-value]


def test_replies_may_be_arguments(ask: Any) -> None:
    llm = ScriptedLLM("yes", Reply("no"))
    assert [llm.generate(ask(text)).value for text in "ab"] == ["yes", "no"]
    assert llm.calls == 2
    with pytest.raises(AssertionError, match="ScriptedLLM has no reply left"):
        llm.generate(ask("c"))


def test_scripted_embeddings() -> None:
    model = ScriptedEmbeddings({"a": [1.0, 0.0], "b": (0.0, 1.0)})
    assert run(embed(["b", "a"]), Models(embeddings=model)) == [[0.0, 1.0], [1.0, 0.0]]
    assert asyncio.run(model.aembed(["a"])).value == [[1.0, 0.0]]
    assert model.requests == [("b", "a"), ("a",)]
    assert repr(model) == "<ScriptedEmbeddings, asked 2 times>"
    assert model.identity is None
    assert copy.deepcopy(model) is model
    with pytest.raises(AssertionError, match="has no vector for 'c'; it has: 'a', 'b'"):
        model.embed(["c"])
    with pytest.raises(TypeError, match="takes a list of texts, got one str"):
        model.embed("a")
    assert ScriptedEmbeddings(lambda text: [float(len(text))]).embed(["abc"]).value == [[3.0]]
