"""The rows that ``row_cost.py`` and ``ratchet.py`` score, and a model that answers them at once.

It imports nothing that only newer versions of the library have, so that earlier commits can be measured with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from prose import prose

CLAIMS = 6
CONTEXTS = 5
WORDS_PER_SENTENCE = 16


def sentences(count: int, start: int, mark: Callable[[int], str]) -> str:
    """So many words in sentences; each ends in its mark and names the row, so that no two rows are the same."""
    made = []
    for number, first in enumerate(range(0, count, WORDS_PER_SENTENCE)):
        length = min(WORDS_PER_SENTENCE, count - first)
        made.append(f"{prose(length - 1, start + first).capitalize()} {mark(number)}.")
    return " ".join(made)


def row(number: int) -> dict[str, Any]:
    """The data of a row."""
    return {
        "user_input": f"When was the old harbour {number} of the town rebuilt, and which boats can land there?",
        "response": sentences(80, 3, lambda place: f"harbour-{number}-{place} [{place % CONTEXTS + 1}]"),
        "reference": sentences(80, 11, lambda place: f"pier-{number}-{place} [{place % CONTEXTS + 1}]"),
        "retrieved_contexts": [
            sentences(150, 7 * index, lambda place, at=index: f"quay-{number}-{at}-{place}")  # type: ignore[misc]
            for index in range(CONTEXTS)
        ],
    }


def claims_of(text: str) -> list[str]:
    """Six claims: the sentences of a text in other words."""
    parts = [part.split(" [")[0] for part in text.split(". ")]
    return [f"It is said that {parts[index % len(parts)]}, in part {index}." for index in range(CLAIMS)]


REASON = prose(12, 2)


def verdicts(count: int, contexts: int) -> str:
    """Two of three claims are supported, by one passage or two; the third is not stated."""
    found = []
    for number in range(1, count + 1):
        by = sorted({number % contexts + 1, (2 * number) % contexts + 1}) if number % 3 else []
        found.append({"number": number, "reason": f"{REASON} {number}", "for": by, "against": []})
    return json.dumps({"verdicts": found})


def flags(count: int) -> str:
    """The same in the form of the first prompts."""
    rows = [
        {"number": number, "reason": f"{REASON} {number}", "supported": number % 3 > 0}
        for number in range(1, count + 1)
    ]
    return json.dumps({"verdicts": rows})


ABSTENTION = json.dumps({"reason": REASON, "contexts_suffice": "yes", "response_declines": "no"})


class Double:
    """Answers each question of the rows at once; what it says is made before."""

    instant = True

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        from ragmetrics_core import Ask, Reply

        self.calls = 0
        self._reply = Reply
        texts = [item[name] for item in rows for name in ("response", "reference")]
        self._claims = {text: json.dumps({"claims": claims_of(text)}) for text in texts}
        self._verdicts = {
            (count, contexts): verdicts(count, contexts) for count in range(1, 10) for contexts in (1, CONTEXTS)
        }
        self.asked: list[Ask] | None = None

    @property
    def identity(self) -> str:
        return "double"

    def generate(self, ask: Any) -> Any:
        self.calls += 1
        if self.asked is not None:
            self.asked.append(ask)
        inputs: Mapping[str, Any] = ask.inputs
        if ask.prompt.name == "verify_claims" and ask.prompt.version in {"1", "2"}:  # which asked for another form
            return self._reply(flags(len(inputs["claims"])))
        if "answer" in inputs:
            return self._reply(self._claims[inputs["answer"]])
        if "claims" in inputs:
            return self._reply(self._verdicts[len(inputs["claims"]), len(inputs["contexts"])])
        return self._reply(ABSTENTION)
