"""What an answer cost and why it ends, as the providers say it."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from ragmetrics_core import Usage
from ragmetrics_core.adapters import finish_reason_of, is_cut_off, usage_of


class FinishReason(Enum):
    MAX_TOKENS = 2


@pytest.mark.parametrize(
    ("places", "usage"),
    [
        ([{"prompt_tokens": 3, "completion_tokens": 4}], (3, 4)),
        ([None, {}, {"usage": {"input_tokens": 3, "output_tokens": 4}}], (3, 4)),
        ([SimpleNamespace(usage_metadata=SimpleNamespace(prompt_token_count=3, candidates_token_count=4))], (3, 4)),
        ([{"prompt_eval_count": 3}, {"eval_count": 4}], (3, 4)),
        ([{"prompt_tokens": 0}, {"prompt_tokens": 5}], (5, 0)),
        ([{"prompt_tokens": -1, "completion_tokens": "4"}, {"prompt_tokens": True}], (0, 0)),
        ([], (0, 0)),
    ],
    ids=str,
)
def test_what_an_answer_cost(places: list[Any], usage: tuple[int, int]) -> None:
    assert usage_of(*places) == Usage(1, *usage)


@pytest.mark.parametrize(
    ("places", "reason", "cut"),
    [
        ([{"finish_reason": "length"}], "length", True),
        ([{}, {"stop_reason": "max_tokens"}], "max_tokens", True),
        ([{"stopReason": "END_TURN"}], "end_turn", False),
        ([{"choices": [{"finish_reason": "stop"}, {"finish_reason": "length"}]}], "stop", False),
        ([{"candidates": [SimpleNamespace(finish_reason="FinishReason.MAX_TOKENS")]}], "max_tokens", True),
        ([{"finish_reason": FinishReason.MAX_TOKENS}], "max_tokens", True),
        ([{"choices": []}, None], None, False),
    ],
    ids=str,
)
def test_why_an_answer_ends(places: list[Any], reason: str | None, *, cut: bool) -> None:
    assert finish_reason_of(*places) == reason
    assert is_cut_off(reason) is cut
