"""The examples run, with real clients against the loopback server, and print what their docstrings say."""

from __future__ import annotations

import json
import runpy
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback import OpenAIServer, Response

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("langchain_*.py"))
ANSWER = "Ada Lovelace was born in London."


def respond(body: dict[str, Any]) -> Any:
    """Three roles in one: the judge, the agent that searches first, and the model that answers."""
    system = body["messages"][0]["content"] if body["messages"][0]["role"] == "system" else ""
    if "Split the answer into claims" in system:
        return json.dumps({"claims": [json.loads(body["messages"][1]["content"])["answer"]]})
    if "Which contexts support each claim" in system:
        data = json.loads(body["messages"][1]["content"])
        supported = any("born in London" in context for context in data["contexts"].values())
        return json.dumps({"verdicts": [{"number": 1, "reason": "stated", "supported": supported}]})
    if body.get("tools") and not any(message["role"] == "tool" for message in body["messages"]):
        call = {"name": "search", "arguments": json.dumps({"query": "where was Ada Lovelace born"})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": call}],
        }
        return Response(message=message, finish_reason="tool_calls")
    return ANSWER


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """What a reader has: a key, an address, and the folder of the examples."""
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.syspath_prepend(str(EXAMPLES[0].parent))
        yield server
    sys.modules.pop("langchain_callback", None)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, surroundings: OpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    namespace = runpy.run_path(str(example), run_name="__main__")
    shown = namespace["__doc__"].split("Prints:\n\n")[1]
    printed = "".join(
        line for line in capsys.readouterr().out.splitlines(keepends=True) if "experiment" not in line
    )  # LangSmith announces a random name
    assert textwrap.indent(printed, "    ").strip() == shown.strip()
    assert surroundings.chats, "a real client has asked the server"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_without_a_key_an_example_says_what_it_needs(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES[0].parent))
    sys.modules.pop("langchain_callback", None)
    with pytest.raises(SystemExit, match=r"^This example asks a model: set OPENAI_API_KEY \(any text"):
        runpy.run_path(str(example), run_name="__main__")


def test_there_is_an_example_of_each_kind() -> None:
    kinds = {"agent", "callback", "langsmith", "metric", "streaming"}
    assert {path.stem.removeprefix("langchain_") for path in EXAMPLES} == kinds
