"""Words and version of the prompts that write test sets change together, as those of metrics do."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from ragmetrics_core import Prompt
from ragmetrics_core._testset._program import ANSWER_FROM_DOCUMENT, WRITE_QUESTIONS

WORDS = {
    "answer_from_document": {"1": "12faa414533cbcd0", "2": "f6867a81dfe2f1a6"},
    "write_questions": {"1": "e4703c27e51b0c9a", "2": "e74de9c698b49851"},
}


@pytest.mark.parametrize("prompt", [WRITE_QUESTIONS, ANSWER_FROM_DOCUMENT], ids=lambda prompt: prompt.name)
def test_a_version_stands_for_the_same_words_for_ever(prompt: Prompt[Any]) -> None:
    """To change the words, raise the version and add a line; a line that is there never changes."""
    versions = WORDS[prompt.name]
    assert versions.get(prompt.version) == hashlib.sha256(prompt.system.encode()).hexdigest()[:16]
    assert len(set(versions.values())) == len(versions)
