"""A judge that answers from the truth of a corpus: found by the texts that it is asked about, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.metrics.claim_calls import sides
from core.metrics.test_answer_or_abstain import abstention_reply as abstention
from ragmetrics_core import Ask

__all__ = ["CORPORA", "TruthfulJudge", "asked", "corpus"]

CORPORA = Path(__file__).with_name("corpora")
FIELDS = ("user_input", "response", "reference", "retrieved_contexts")


def corpus(name: str) -> list[dict[str, Any]]:
    """The rows of a corpus."""
    with (CORPORA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def asked(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a metric sees of a row."""
    return {name: row[name] for name in FIELDS if name in row}


class TruthfulJudge:
    """Knows the claims of every text, what every text says of every claim, and what every response does; it knows no labels.

    What a text says of a claim is a sign: ``+`` supports it, ``-`` contradicts it, and nothing where it is silent.
    """

    instant = True

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self.claims: dict[str, list[str]] = {}
        self.signs: dict[tuple[str, str], str] = {}
        self.abstentions: dict[tuple[str, tuple[str, ...], str], tuple[str, str]] = {}
        for row in rows:
            self._learn(row)

    def generate(self, ask: Ask) -> str:
        if ask.prompt.name == "judge_abstention":
            question, contexts, response = (ask.inputs[name] for name in ("question", "contexts", "response"))
            return abstention(*self.abstention(question, contexts, response))
        if ask.prompt.name == "extract_claims":
            return json.dumps({"claims": self.claims[ask.inputs["answer"]]})
        found = [self.signs_of(claim, ask.inputs["contexts"]) for claim in ask.inputs["claims"]]
        at = {sign: [[n for n, each in enumerate(row, 1) if each == sign] for row in found] for sign in "+-"}
        return sides(*at["+"], against=dict(enumerate(at["-"], 1)))

    def signs_of(self, claim: str, contexts: Sequence[str]) -> list[str]:
        """What each of the contexts says of the claim."""
        return [self.signs.get((claim, text), "") for text in contexts]

    def abstention(self, question: str, contexts: Sequence[str], response: str) -> tuple[str, str]:
        """Whether the contexts suffice, and whether the response declines."""
        return self.abstentions[question, tuple(contexts), response]

    def _learn(self, row: Mapping[str, Any]) -> None:
        key = row["user_input"], tuple(row["retrieved_contexts"]), row["response"]
        self.abstentions[key] = row["contexts_suffice"], row["response_declines"]
        for text, other in (("response", "reference"), ("reference", "response")):
            if f"{text}_claims" in row:
                self._learn_claims(row, text, other)

    def _learn_claims(self, row: Mapping[str, Any], text: str, other: str) -> None:
        truths = row[f"{text}_claims"]
        self.claims[row[text]] = [truth["text"] for truth in truths]
        for truth in truths:
            self.signs[truth["text"], row[other]] = {"supports": "+", "contradicts": "-", "silent": ""}[
                truth[f"by_{other}"]
            ]
            for sign, name in (("+", "supported_by"), ("-", "contradicted_by")):
                for number in truth[name]:
                    self.signs[truth["text"], row["retrieved_contexts"][number - 1]] = sign
