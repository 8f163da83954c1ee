"""LlamaIndex' own client of OpenAI, answered oddly: each answer costs its own row and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loopback import OpenAIServer
from odd_calls import assert_each_row_fails_alone
from ragmetrics_llama_index import LlamaIndexLLM


@pytest.mark.slow
def test_of_a_chat_model(server: OpenAIServer, llm: Any, tmp_path: Path) -> None:
    assert_each_row_fails_alone(server, LlamaIndexLLM(llm), tmp_path / "run")
