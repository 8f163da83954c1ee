"""An error says whether nothing but a key is missing: who has one would get further."""

from __future__ import annotations

import pytest

from loopback import OpenAIServer, error
from ragmetrics_core import RagmetricsError, evaluate

ROW = {"question": "When?", "answer": "At nine.", "contexts": ["It opens at nine."]}


@pytest.mark.parametrize(
    ("llm", "variable"),
    [
        ("openai:gpt-4o-mini", "OPENAI_API_KEY"),
        ("openrouter:a/b", "OPENROUTER_API_KEY"),
        ("azure:deployment", "AZURE_OPENAI_API_KEY"),
    ],
)
def test_a_key_is_missing(llm: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENROUTER_API_KEY",
        "AZURE_OPENAI_API_KEY",
        "AZURE_OPENAI_AD_TOKEN",
    ):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RagmetricsError, match=variable) as raised:
        evaluate([ROW], "faithfulness", llm=llm, progress=False)
    assert raised.value.needs_key


def test_a_key_that_is_refused_is_another_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer() as server:
        server.responder = lambda _: error(401, "bad key")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with pytest.raises(RagmetricsError) as raised:
            evaluate([ROW], "faithfulness", llm="openai:gpt-4o-mini", progress=False)
    assert not raised.value.needs_key
