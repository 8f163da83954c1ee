"""Words and version of a built-in prompt change together: what a score was judged by is told by name and version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from exchanges import EXCHANGES, WITH_EMBEDDINGS, prompts_of
from ragmetrics_core import Prompt
from ragmetrics_core._testset._program import ANSWER_FROM_DOCUMENT, WRITE_QUESTIONS
from ragmetrics_core.metrics import CustomJudge

FILE = Path(__file__).with_name("prompt_versions.json")
VERSIONS: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))

BUILT_IN: dict[str, Prompt[Any]] = {
    prompt.name: prompt
    for prompt in (
        *(
            prompt
            for exchange in (*EXCHANGES, WITH_EMBEDDINGS)
            if not isinstance(exchange.metric, CustomJudge)  # its words are the user's
            for prompt in prompts_of(exchange.metric)
        ),
        WRITE_QUESTIONS,
        ANSWER_FROM_DOCUMENT,
    )
}


@pytest.mark.parametrize("prompt", BUILT_IN.values(), ids=BUILT_IN)
def test_a_version_stands_for_the_same_words_for_ever(prompt: Prompt[Any]) -> None:
    """To change the words, raise the version and add a line to the file; a line that is there never changes."""
    digest = hashlib.sha256(prompt.system.encode()).hexdigest()[:16]
    known = VERSIONS[prompt.name]
    assert known.get(prompt.version) == digest, (
        f"raise the version of {prompt.name}, and add it to {FILE.name}: {digest!r}"
    )


def test_every_version_has_words_of_its_own() -> None:
    assert VERSIONS.keys() == BUILT_IN.keys()
    assert all(len(set(versions.values())) == len(versions) for versions in VERSIONS.values())
