"""CustomJudge: its recorded exchange, and the words it asks with."""

from __future__ import annotations

from core.metrics.contract import MetricContract
from ragmetrics_core.metrics import CustomJudge
from recording import RESPONSE, SAMPLE, Call, Exchange, prompts_of

POLITE = CustomJudge(
    "Is the response polite, and does it use {{ braces }}?",
    ["response", ("tone", str)],
    ["reason", "score"],
    [{"inputs": {"response": "Please.", "tone": "formal"}, "outputs": {"reason": "it asks nicely", "score": 1}}],
    name="polite",
)

EXCHANGES = [
    Exchange(
        POLITE,
        [Call("polite", {"response": RESPONSE, "tone": "neutral"}, '{"reason": "no rude word", "score": "yes"}')],
        1.0,
        sample={**SAMPLE, "tone": "neutral"},
    ),
]


class TestCustomJudge(MetricContract):
    exchanges = EXCHANGES

    def test_a_version_stands_for_the_same_words_for_ever(self) -> None:
        """Its words are the user's: all of them are sent, as they are."""
        (prompt,) = prompts_of(POLITE)
        assert POLITE.instructions in prompt.system
