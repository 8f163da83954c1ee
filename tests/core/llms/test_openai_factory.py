"""llm_factory: every setting is used or refused, and nothing goes to OpenAI by mistake."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.llms import LexicalJudge, OpenAILLM, llm_factory


@pytest.mark.parametrize("model", ["lexcial", "lexica", "Lexical", " lexical", "lexical-"])
def test_a_misspelt_offline_judge_is_not_sought_at_openai(model: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        llm_factory(model)
    assert str(caught.value) == f"there is no model {model!r}: did you mean 'lexical'?"


def test_a_server_of_ones_own_may_have_a_model_of_such_a_name() -> None:
    assert isinstance(llm_factory("lexica", base_url="http://localhost:8000/v1"), OpenAILLM)
    assert isinstance(llm_factory("gpt-4o"), OpenAILLM)
    assert isinstance(llm_factory("lexical"), LexicalJudge)


def test_azure_needs_an_address() -> None:
    with pytest.raises(InvalidInput) as caught:
        llm_factory("gpt-4o", provider="azure", api_key="azure-key")
    assert str(caught.value) == (
        "the provider 'azure' needs an address (set the environment variable AZURE_OPENAI_ENDPOINT, or give base_url=...)"
    )
    assert isinstance(llm_factory("dep", "azure", base_url="https://a.example/openai/v1", api_key="k"), OpenAILLM)
    with openai.AzureOpenAI(api_key="k", azure_endpoint="https://a.example", api_version="2024-10-21") as client:
        assert isinstance(llm_factory("dep", "azure", client), OpenAILLM)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"http_client": object()}, "http_client is not a parameter of the chat protocol. "),
        ({"tempreature": 0}, "tempreature is not a parameter of the chat protocol: did you mean 'temperature'? "),
        ({"stream": True}, "stream cannot be set here: "),
        ({"provider": "lexical", "base_url": "http://h/v1"}, "the lexical judge runs offline and takes no base_url"),
    ],
)
def test_unknown_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        llm_factory("gpt-4o", **settings)
    assert str(caught.value).startswith(message)
