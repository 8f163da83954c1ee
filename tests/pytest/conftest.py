"""Sessions of pytest inside of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopback import OpenAIServer, judge
from ragmetrics_core import evaluate
from ragmetrics_core.llms import OpenAILLM

KEY = "sk-secret-4711-abcdefghijklmnop"

ROWS = """
ROWS = [
    {"id": "tall", "question": "How tall is it?", "answer": "It is 330 metres tall.", "contexts": ["It is 330 metres tall."]},
    {"id": "wrong", "question": "How tall is it?", "answer": "It is 450 metres tall.", "contexts": ["It is 330 metres tall."]},
    {"id": "where", "question": "Where is it?", "answer": "It stands in Paris.", "contexts": ["It stands in Paris."]},
]
"""
"""Three rows; the offline judge gives them 1, 0 and 1 for faithfulness."""


class Suite:
    """A folder with tests, and sessions in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.ini(ragmetrics_llm="lexical")

    def ini(self, **values: str) -> None:
        """Write the configuration; of a gate on each line."""
        usual = {"asyncio_mode": "auto", "asyncio_default_fixture_loop_scope": "function"}
        lines = [f"{name} = {value}" for name, value in {**usual, **values}.items()]
        self.pytester.makefile(".ini", pytest="\n".join(["[pytest]", *lines]))

    def tests(self, text: str, name: str = "test_rag", rows: str = ROWS) -> None:
        """Write a file of tests, which know the rows and ``assert_score``."""
        head = "import pytest\nfrom ragmetrics_core import assert_score\n"
        (self.path / f"{name}.py").write_text(head + rows + text, encoding="utf-8")

    def run(self, *options: str) -> pytest.RunResult:
        """A session in this process."""
        return self.pytester.runpytest_inprocess("-p", "no:randomly", *options)

    def processes(self, *options: str) -> pytest.RunResult:
        """A session in separate processes."""
        return self.pytester.runpytest_subprocess(*options)


@pytest.fixture(scope="session", autouse=True)
def loaded() -> None:
    """A judge has answered in this process. Else each session would load the client anew, as it leaves no module behind."""
    row = {"question": "Where is it?", "answer": "It stands in Paris.", "contexts": ["It stands in Paris."]}
    with OpenAIServer(judge, api_key=KEY) as running:
        llm = OpenAILLM("judge", base_url=running.base_url, api_key=KEY)
        assert evaluate([row], "faithfulness", llm=llm, progress=False)["faithfulness"] == [1.0]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    return Suite(pytester)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that the judge of the environment is at."""
    with OpenAIServer(judge, api_key=KEY) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("RAGMETRICS_LLM", "openai:gpt-4o-mini")
        yield running


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "CI",
        "RAGMETRICS_LLM",
        "RAGMETRICS_EMBEDDINGS",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(
        "PYTEST_ADDOPTS", "-p no:langsmith_plugin"
    )  # of no use to sessions in sessions, and slow to load
