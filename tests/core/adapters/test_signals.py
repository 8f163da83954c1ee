"""SIGTERM: what is pending is judged before a program ends by it."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from ragmetrics_core import InvalidInput
from ragmetrics_core.adapters import LiveEvaluation, drain_on_sigterm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a program could handle")

PROGRAM = """
import asyncio, logging, os, signal, sys, threading, time
from ragmetrics_core import Score
from ragmetrics_core.adapters import LiveEvaluation, drain_on_sigterm

class Call:
    is_complete = True
    def judgements(self):
        return {{"m": lambda: time.sleep({seconds}) or Score(1.0)}}
    def identity(self, name):
        return None
    def judged(self, outcomes):
        return outcomes["m"].result().value

class Watching(LiveEvaluation):
    def hear(self):
        self._judge(Call())

def say(text):
    os.write(1, text.encode() + b"\\n")

live = Watching(logging.getLogger("app"), lambda score: score.error, on_result=lambda value: say(f"judged {{value}}"))
{before}
drain_on_sigterm(live, timeout={timeout})
for _ in range({calls}):
    live.hear()
say("ready")
{wait}
"""


def ended(signals: int = 1, **settings: Any) -> tuple[int, list[str], str]:
    """The exit status, what was judged and said, and what was logged."""
    program = PROGRAM.format(
        **{"before": "", "timeout": 60, "calls": 8, "wait": "while True: time.sleep(0.01)", **settings}
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        while "ready" not in said:
            said.append(process.stdout.readline().strip())
        for _ in range(signals):
            process.send_signal(signal.SIGTERM)
            if signals > 1:  # the first one was handled when the process still answers to the second one
                threading.Event().wait(0.5)
        out, log = process.communicate(timeout=300)
    return process.returncode, [*said, *out.splitlines()], log


def test_what_is_pending_is_judged() -> None:
    status, said, log = ended(seconds=0.1)
    assert (status, log) == (-signal.SIGTERM, "")
    assert sorted(said) == ["judged 1.0"] * 8 + ["ready"]


def test_the_handler_that_was_there_before_is_called_in_the_end() -> None:
    before = 'signal.signal(signal.SIGTERM, lambda number, frame: say(f"before {number}"))'
    status, said, _ = ended(seconds=0.01, before=before)
    assert (status, said[-1]) == (-signal.SIGTERM, f"before {int(signal.SIGTERM)}")
    assert said.count("judged 1.0") == 8


def test_a_handler_that_ends_the_program_has_its_way() -> None:
    assert ended(seconds=0.01, before="signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))")[0] == 7


def test_a_judge_that_hangs_holds_the_program_for_so_long_only() -> None:
    status, said, log = ended(seconds=1000, timeout=0.2, calls=3)
    assert (status, said) == (-signal.SIGTERM, ["ready"])
    assert log.startswith("3 of 3 evaluations not judged: 0 dropped, 3 pending, after 0.2 seconds")


def test_a_second_signal_ends_it_at_once() -> None:
    status, said, _ = ended(signals=2, seconds=1000, timeout=250)
    assert (status, said) == (-signal.SIGTERM, ["ready"])


TO_ANOTHER = "threading.Timer(0.3, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM)).start()"


@pytest.mark.parametrize("waits", ["time.sleep(1000)", "threading.Lock().acquire() and threading.Event().wait()"])
def test_a_signal_that_another_thread_gets_while_the_main_thread_waits(waits: str) -> None:
    status, said, log = ended(signals=0, seconds=0.1, wait=f"{TO_ANOTHER}\n{waits}")
    assert (status, log) == (-signal.SIGTERM, "")
    assert sorted(said) == ["judged 1.0"] * 8 + ["ready"]


LOOP = """
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, print)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


def test_an_event_loop_that_handles_signals() -> None:
    status, said, log = ended(seconds=0.1, wait=LOOP)
    assert (status, log) == (-signal.SIGTERM, "")
    assert sorted(said) == ["judged 1.0"] * 8 + ["ready"]


FORK = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
reads, writes = os.pipe()
child = os.fork()
if child == 0:
    os.write(writes, b"+")
    time.sleep(1000)
os.read(reads, 1)
os.kill(child, signal.SIGTERM)
status = os.waitpid(child, 0)[1]
time.sleep(0.2)
say(f"child ended by {os.WTERMSIG(status)}")
"""


def test_the_end_of_a_child_is_not_that_of_its_parent() -> None:
    status, said, log = ended(signals=0, seconds=0, calls=0, wait=FORK)
    assert (status, said, log) == (0, ["ready", f"child ended by {int(signal.SIGTERM)}"], "")


def test_in_another_thread() -> None:
    live: LiveEvaluation[Any, Any] = LiveEvaluation(logging.getLogger("tests"), lambda _: None)
    caught: list[BaseException] = []

    def use() -> None:
        try:
            drain_on_sigterm(live)
        except InvalidInput as error:
            caught.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert str(caught[0]) == "drain_on_sigterm must be called in the main thread: other threads cannot handle signals"
