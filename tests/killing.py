"""Processes that are started on a run directory and killed, while a loopback server says which calls they made."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from loopback import OpenAIServer

__all__ = ["KilledRun", "kept_replies"]

TESTS = Path(__file__).resolve().parent


@dataclass
class KilledRun:
    """One run: a server with its log, a directory, processes that are started and killed.

    Args:
        server: answers the calls.
        run_dir: where the run is kept.
        module: what a process runs, with the server's address, the directory and ``arguments``.
        arguments: further arguments of the module.
    """

    server: OpenAIServer
    run_dir: Path
    module: str
    arguments: tuple[str, ...]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", self.module, self.server.base_url, str(self.run_dir), *self.arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))},
        )

    def kill_after(self, seconds: float, *, calls: int) -> tuple[int, int]:
        """Start a process and kill it; how many calls were made by then and how many are in the journal.

        Args:
            seconds: how long it lives.
            calls: from so many of its own calls on; 0: from its start.
        """
        before = len(self.server.requests)
        process = self.start()
        while len(self.server.requests) < before + calls and process.poll() is None:
            time.sleep(0.002)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=300)
        assert process.returncode in (-signal.SIGKILL, 0), errors
        while self.server.in_flight:
            time.sleep(0.002)
        return len(self.server.requests), self.kept()

    def kept(self) -> int:
        """The number of replies in the journal, which is whole."""
        return kept_replies(self.run_dir)


def kept_replies(run_dir: Path) -> int:
    """The number of replies in the journal of a run, which is whole."""
    file = run_dir / "journal.sqlite"
    if not file.exists():
        return 0
    journal = sqlite3.connect(file)
    try:
        assert journal.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not journal.execute("SELECT 1 FROM sqlite_master WHERE name = 'replies'").fetchone():
            return 0
        return int(journal.execute("SELECT count(*) FROM replies").fetchone()[0])
    finally:
        journal.close()
