"""Show the runs in DIR in a browser: their means over time, every row with its evidence, two of them side by side.

\b
Examples:
  ragmetrics view runs
  ragmetrics view runs --open
  RAGMETRICS_VIEW_TOKEN=... ragmetrics view runs --host 0.0.0.0

Only this machine can reach it, unless --host is given; then a token in RAGMETRICS_VIEW_TOKEN is needed, which visitors add to the
address once (?token=...). Nothing in DIR is changed but labels, and nothing outside it is shown.

Exit status: 2 it cannot listen or there is no such folder; 70 a bug; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import webbrowser
from importlib.util import find_spec
from pathlib import Path

from .._values._errors import MissingExtra
from ._options import argument, flag, option
from ._output import clear_errors, say, stop

DIR = argument("DIR", "A folder of runs, or the directory of one run.", Path())
HOST = option("ADDRESS", "Listen at this address or name instead of 127.0.0.1; needs RAGMETRICS_VIEW_TOKEN.")
PORT = option("NUMBER", "The port; 0 takes any free one.", default=8642, least=0)
OPEN = flag("--open", "Open the browser.")


def view(folder: Path = DIR, *, host: str | None = HOST, port: int = PORT, opened: bool = OPEN) -> None:
    """Serve until Ctrl-C."""
    with clear_errors():
        for package in ("starlette", "uvicorn"):
            if find_spec(package) is None:
                raise MissingExtra(f'ragmetrics view needs {package}: pip install "ragmetrics-core[view]"')
        from .._view._serve import serve  # noqa: PLC0415  needed by few

        try:
            serve(folder, host, port, lambda text: say(text, err=True), webbrowser.open if opened else None)
        except KeyboardInterrupt:
            stop("stopped", 130)
