"""No code of ours reads what the openai package keeps to itself: its private names change without notice."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

import ragmetrics_core
from ragmetrics_core.llms._openai._clients import can_be_rebuilt, rebuilt, settings_of

ROOT = Path(ragmetrics_core.__file__).parent
FILES = sorted([*(ROOT / "llms").rglob("*.py"), *(ROOT / "embeddings").rglob("*.py")])


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def own_names(tree: ast.AST) -> set[str]:
    """The names that a module gives to what is its own: functions, fields of classes, attributes set on ``self``."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.ClassDef):
            given = [target for item in node.body if isinstance(item, ast.Assign) for target in item.targets]
            names.update(target.id for target in given if isinstance(target, ast.Name))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            names.add(node.attr)
    return names


OURS = {name for file in FILES for name in own_names(ast.parse(file.read_text(encoding="utf-8")))}
"""What a class may inherit from one in another module."""


def private_reads(source: str) -> Iterator[str]:
    """Private attributes that are read, with a dot or by name, and are neither the module's own nor inherited."""
    tree = ast.parse(source)
    own = own_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=value, attr=name) if name not in (OURS if is_self(value) else own):
                pass
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
                pass
            case _:
                continue
        if is_private(name):
            yield f"line {node.lineno}: {name}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_private_name_of_another_is_read(file: Path) -> None:
    assert list(private_reads(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source", ["def f(client): return client._client", "x = getattr(client, '_custom_headers', None)", "y = self._gone"]
)
def test_such_a_read_is_found(source: str) -> None:
    assert len(list(private_reads(source))) == 1


SETTINGS: dict[str, Any] = {
    "organization": "org-1",
    "project": "proj-1",
    "timeout": 12.5,
    "max_retries": 7,
    "default_headers": {"X-Team": "search"},
    "default_query": {"version": "3"},
}
AZURE = {"azure_endpoint": "https://a.example", "api_version": "2024-10-21", "azure_ad_token": "azure-token-123"}


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        (openai.OpenAI, {"api_key": "key-4711"}),
        (openai.AsyncOpenAI, {"api_key": "key-4711"}),
        (openai.AzureOpenAI, AZURE),
        (openai.AsyncAzureOpenAI, AZURE),
    ],
)
def test_the_settings_of_a_client_are_those_it_was_made_with(kind: Any, own: dict[str, Any]) -> None:
    client = kind(**SETTINGS, **own)
    found = settings_of(client)
    given = {**SETTINGS, **own}
    given.pop("azure_endpoint", None)  # a part of base_url
    query = {**given.pop("default_query"), **({"api-version": own["api_version"]} if own is AZURE else {})}
    assert {name: found[name] for name in given} == given
    assert (found["default_query"], found["base_url"]) == (query, client.base_url)
    assert not client.is_closed()
    for asynchronous in (False, True):
        assert can_be_rebuilt(client, found, asynchronous=asynchronous)
    other = rebuilt(client, found, asynchronous=not isinstance(client, openai.AsyncOpenAI))
    again = settings_of(other)
    given.pop("default_headers")
    assert {name: again[name] for name in given} == given
    for each in (client, other):
        asyncio.run(each.close()) if isinstance(each, openai.AsyncOpenAI) else each.close()


def test_what_only_one_kind_can_use_is_not_rebuilt_as_the_other() -> None:
    async def fetched() -> str:
        return "key-4711"

    clients: list[Any] = [
        openai.AsyncOpenAI(api_key=fetched),
        openai.AsyncAzureOpenAI(
            azure_endpoint="https://a.example", api_version="2024-10-21", azure_ad_token_provider=fetched
        ),
        openai.AsyncOpenAI(api_key="x", http_client=openai.DefaultAsyncHttpxClient()),
        type("Mine", (openai.AsyncOpenAI,), {})(api_key="x"),
    ]
    found = [
        [can_be_rebuilt(client, settings_of(client), asynchronous=way) for way in (False, True)] for client in clients
    ]
    assert found == [[False, True], [False, True], [False, False], [False, False]]
    for client in clients:
        asyncio.run(client.close())
