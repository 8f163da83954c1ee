"""Words and version of the prompts that write test sets change together, as those of metrics do."""

from __future__ import annotations

import hashlib
from typing import Any

from core.testset.test_total import Author
from ragmetrics_core import Prompt

WORDS = {
    "answer_from_document": {
        "1": "12faa414533cbcd0",
        "2": "f6867a81dfe2f1a6",
        "3": "38f59be31b89882b",
        "4": "5d30b97c09d0223d",
        "5": "dc2294f8a5e2f771",
    },
    "answer_from_passages": {"1": "1b00b5e9fcaf4002", "2": "8b7d5172e1ac8d00", "3": "6c3761028c73bb42"},
    "check_question": {"1": "5f1bd802c2d5504b", "2": "a185d92e3bbee968", "3": "d32597c6e1ae40ed"},
    "check_unanswered": {"1": "57df36d86ad00b7d", "2": "1aefa35ed6598354", "3": "89a21ecf020746bd"},
    "write_questions": {
        "1": "e4703c27e51b0c9a",
        "2": "e74de9c698b49851",
        "3": "5c2c3912e22a8bdc",
        "4": "b25f1166633d6ff9",
    },
    "write_two_passage_questions": {"1": "d9f60de7d444e352", "2": "3134ffbe99b13d39"},
    "write_unanswerable_questions": {"1": "67eaf2a712222b16", "2": "02d5d4e635e34cb6"},
}


def prompts() -> dict[str, Prompt[Any]]:
    """All prompts that are asked for a test set with questions of all kinds."""
    author = Author()
    author.make(6, 3, unanswerable=1 / 3, two_passages=1 / 3)
    return {ask.prompt.name: ask.prompt for ask in author.llm.asks}


def test_a_version_stands_for_the_same_words_for_ever() -> None:
    """To change the words, raise the version and add a line; a line that is there never changes."""
    asked = prompts()
    assert asked.keys() == WORDS.keys()
    for name, prompt in asked.items():
        versions = WORDS[name]
        assert versions.get(prompt.version) == hashlib.sha256(prompt.system.encode()).hexdigest()[:16]
        assert len(set(versions.values())) == len(versions)
