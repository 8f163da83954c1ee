"""The commands of docs/models.md, one section per server, run against a server of this machine that replaces it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.calling import call
from loopback import OpenAIServer, Response, dialects, judge
from pages import Block, blocks, server_rows, shows
from source_tree import ROOT

pytest.importorskip("openai")

PAGE = ROOT / "docs" / "models.md"
STARTS = re.compile(r"ollama pull |vllm serve |llama-server |lms server start$")
"""What starts a server, which none of these tests does."""

LINES = [block for block in blocks(PAGE) if block.language == "bash"]
EVALUATE = [block for block in LINES if "ragmetrics evaluate" in block.text]


def variable_of(name: str) -> str:
    """The environment variable that holds the address of a server."""
    return next(row for row in server_rows() if row.name == name).url_variables[0]


def server_of(block: Block) -> str:
    found = re.search(r"--llm (\w+):", block.text)
    assert found is not None
    return found[1]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(judge) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


def run(block: Block, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the lines of a block; an address of the world becomes that of the server."""
    name = server_of(block)
    monkeypatch.setenv(variable_of(name), server.origin)
    output = ""
    for line in block.text.splitlines():
        command, *words = shlex.split(line)
        if command == "export":
            for variable, _, value in (word.partition("=") for word in words):
                monkeypatch.setenv(variable, server.origin if "://" in value else value)
        elif command == "ragmetrics":
            result = call(*words)
            assert result.exit_code == 0, result.output
            output += result.stdout
        else:
            assert STARTS.match(line), line
    return output


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("block", EVALUATE, ids=server_of)
def test_the_line_of_each_server_works(block: Block, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    name = server_of(block)
    if name == "azure":
        server.refusal_of = lambda got: dialects.azure(got.path, got.headers, {"DEPLOYMENT"}, "KEY")
    assert "faithfulness" in run(block, server, monkeypatch)
    key = "KEY" if name in ("azure", "openrouter", "litellm") else "no-key"
    assert {item.headers["authorization"] for item in server.requests} == {f"Bearer {key}"}
    paths = {"azure": "/openai/v1", "openrouter": "/api/v1"}
    assert {item.path for item in server.requests} == {f"{paths.get(name, '/v1')}/chat/completions"}


def test_every_server_has_its_line_and_its_row() -> None:
    """Services that need nothing but a key have a row only. What the rows say is compared with the servers in
    ``llms/test_named_servers.py``.
    """
    shown = [row.name for row in server_rows() if not row.url.startswith("https://") or row.name == "openrouter"]
    assert sorted(server_of(block) for block in EVALUATE) == sorted(shown)


def test_what_the_doctor_prints(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = [block for block in LINES if block.text.startswith("ragmetrics doctor")]
    verdicts = [
        {"number": 1, "reason": "At nine.", "supported": True},
        {"number": 2, "reason": "No.", "supported": False},
    ]
    usage = {"prompt_tokens": 512, "completion_tokens": 64}
    server.responder = lambda body: Response({"verdicts": verdicts}, usage=usage)
    printed = run(block, server, monkeypatch).replace(server.base_url, "http://localhost:11434/v1")
    assert block.output is not None
    assert shows(block.output, printed), printed
