"""A run that writes a test set, to be killed; ``test_kills`` starts it as a separate process."""

from __future__ import annotations

import sys

from ragmetrics_core import Document, Testset, generate_testset
from ragmetrics_core.llms import OpenAIServerLLM

WINGS = [f"{first}{second}" for first in "abcdefgh" for second in "klmnop"]


def make(base_url: str, run_dir: str | None, questions: int) -> Testset:
    """The test set about the wings of a museum."""
    documents = [Document(f"The wing {wing} opens at nine. Maps hang in the wing {wing}.", wing) for wing in WINGS]
    llm = OpenAIServerLLM(base_url, "loopback", structured="text")
    shares = {"unanswerable": 0.2, "two_passages": 0.1}
    return generate_testset(documents, llm, n=questions, run_dir=run_dir, max_concurrency=8, **shares)  # type: ignore[arg-type]


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], int(sys.argv[3]))
