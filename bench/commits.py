"""Sources of earlier commits, and processes that run them: what the benches that compare commits share."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("packages") / "ragmetrics-core" / "src"


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The tree of a commit, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def printed_by(tree: Path, worker: str, *arguments: object) -> object:
    """The JSON that a worker prints last: a script that runs with the sources of a tree and the modules of this folder.

    Args:
        worker: its text; its arguments are in ``sys.argv``, each as JSON.
    """
    path = os.pathsep.join([str(tree / SOURCE), str(ROOT / "bench")])
    command = [sys.executable, "-c", worker, *map(json.dumps, arguments)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
