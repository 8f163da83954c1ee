"""SIGKILL in the middle, the same call again: the same test set, and no finished call is repeated."""

from __future__ import annotations

import json
import random
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.testset.killed import make
from killing import KilledRun
from loopback import OpenAIServer, Response
from ragmetrics_core import Testset

TESTS = Path(__file__).resolve().parents[2]
QUESTIONS = 40
KILLS = 4

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL"),
]


def data_of(body: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return data


def wings_of(*texts: str) -> list[str]:
    return [found for text in texts for found in re.findall(r"wing (\w\w)", text)[:1]]


def replied(body: dict[str, Any]) -> Response:
    """What nothing but the question decides about; some questions fall through a check."""
    data = data_of(body)
    said: Any
    if "first_passage" in data and "question" not in data:
        said = [f"What do the wings {' and '.join(wings_of(data['first_passage'], data['second_passage']))} share?"]
    elif "number_of_questions" in data and "passage" in data:
        said = [f"Who built the wing {wings_of(data['passage'])[0]}?"]
    elif "number_of_questions" in data:
        (wing,) = wings_of(data["document"])
        said = [f"When does the wing {wing} open?", f"What hangs in the wing {wing}?", "What does the text say?"]
    elif "first_passage" in data:
        words = {f"{name}_evidence": data[f"{name}_passage"].split(".")[0] for name in ("first", "second")}
        said = {**words, "answer": "The hours"}
    elif "document" in data and data["question"].startswith("What do the wings"):
        said = {"evidence": "", "answer": ""}
    elif "document" in data:
        made_up = data["question"].startswith("When") and wings_of(data["question"])[0][1] in "kl"
        said = {"evidence": "in the cellar" if made_up else data["document"].split(".")[0], "answer": "Of that"}
    elif "evidence" in data:
        said = {"reason": "yes", "stands_alone": True, "supported": True}
    else:
        said = {"reason": "no", "stands_alone": True, "answered_by": []}
    return Response(json.dumps(said), delay=0.01)


class Run(KilledRun):
    """A run that writes a test set."""

    def __init__(self, server: OpenAIServer, run_dir: Path) -> None:
        super().__init__(server, run_dir, "core.testset.killed", (str(QUESTIONS),))

    @property
    def asked(self) -> list[str]:
        return [json.dumps(body["messages"]) for body in self.server.chats]

    def kill(self, moment: random.Random) -> tuple[int, int]:
        return self.kill_after(moment.uniform(0, 0.01), calls=moment.randint(10, 25))  # 8 are in flight at once


@pytest.fixture(scope="module")
def undisturbed() -> tuple[Testset, int]:
    with OpenAIServer(replied) as server:
        testset = make(server.base_url, None, QUESTIONS)
    return testset, len(server.requests)


def test_an_undisturbed_run(undisturbed: tuple[Testset, int]) -> None:
    testset, calls = undisturbed
    assert Counter(sample.metadata["kind"] for sample in testset) == {
        "one_passage": 28,
        "unanswerable": 8,
        "two_passages": 4,
    }
    assert (testset.missing, testset.usage.calls) == ((), calls)
    assert {item.why.name for item in testset.dropped} == {"NOT_FOUND"}


def test_a_killed_run_ends_as_if_nothing_had_happened(tmp_path: Path, undisturbed: tuple[Testset, int]) -> None:
    expected, calls = undisturbed
    lines = {json.dumps(sample.to_dict()) for sample in expected}
    moment = random.Random(7)
    with OpenAIServer(replied) as server:
        run = Run(server, tmp_path / "run")
        kills = []
        for _ in range(KILLS):
            kills.append(run.kill(moment))
            written = run.run_dir / "testset.jsonl"
            if written.exists():
                assert {json.dumps(sample.to_dict()) for sample in Testset.load(written)} <= lines
        for _ in range(2):
            last = run.start()
            _, errors = last.communicate(timeout=300)
            assert last.returncode == 0, errors
        asked = run.asked
    assert list(Testset.load(run.run_dir / "testset.jsonl")) == list(expected)
    assert (run.kept(), len(set(asked))) == (calls, calls)
    for made, kept in kills:
        assert len(set(asked[made:])) == calls - kept, "what is in the journal is not asked again, all else is"
    assert any(0 < kept < calls for _, kept in kills)
    in_flight_again = len(asked) - calls
    assert in_flight_again <= 8 * KILLS, "only calls that were in flight at a kill were made twice"
