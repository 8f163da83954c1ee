"""The state of the plugin in one process: the session's name and directory, and what has been scored so far."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from ._options import RUN_DIR, SHARES, any_option, setting, settings

if TYPE_CHECKING:
    from ragmetrics_core import Scorer

    from ._marks import Registry
    from ._scoring import RowsOutcome
    from ._session import Outcome


PARTS = "parts"
PART = "part.json"
OWN = {".gitignore", "joining.sqlite", "lock.sqlite"}
"""The files that the plugin itself puts into the directory of a session before anything is scored."""


class State:
    """The state of the plugin in one process.

    Attributes:
        session: a name for the session, the same in all its processes.
        is_worker: whether this process is a worker of pytest-xdist.
        registry: the metrics and rows of all marked tests; None before the first marked test.
        rows: the result of scoring the rows of marked tests; None before they are scored.
        scorers: by the names of its metrics, each scorer that the fixture has used; it keeps what it learnt about the servers.
        claimed: the names of the parts that this session has scored, as far as this process knows.
        outcome: the result of the session; None before its end, and if nothing was scored.
    """

    KEY: ClassVar[pytest.StashKey[State]] = pytest.StashKey()

    def __init__(self, config: pytest.Config) -> None:
        worker_input: dict[str, Any] = getattr(config, "workerinput", {})
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.session: str = worker_input.get("ragmetrics_session") or uuid.uuid4().hex
        self.registry: Registry | None = None
        self.rows: RowsOutcome | None = None
        self.scorers: dict[tuple[str, ...], Scorer] = {}
        self.claimed: set[str] = set()
        self.outcome: Outcome | None = None

    @property
    def run_dir(self) -> Path:
        """The directory in which the session stores replies and scores."""
        return self.config.rootpath / (setting(self.config, "run_dir") or RUN_DIR)

    @property
    def parts(self) -> Path:
        """The directory of the parts; each part has its own directory in it."""
        return self.run_dir / PARTS

    def check(self) -> None:
        """Check, before anything is paid for, whether the gates can be decided at the end of the session.

        Raises:
            pytest.UsageError: a gate cannot be parsed or needs a baseline that is not given; the baseline does not exist, is
                damaged or would be overwritten; a setting has an impossible value; or, in continuous integration, pytest has not
                read the configuration file next to the tests.
        """
        if in_ci() and not self.is_worker and any_option(self.config):
            from ._options import problem_of_configuration  # noqa: PLC0415  used by few

            problem = problem_of_configuration(self.config)
            if problem is not None:
                raise pytest.UsageError(problem)
        undecided = setting(self.config, "undecided")
        if undecided not in (None, "warn", "fail"):
            raise pytest.UsageError(f"ragmetrics_undecided must be 'warn' or 'fail', got {undecided!r}")
        settings(self.config, *SHARES, "repeats", "max_concurrency")
        names = ("gates", "baseline", "by", "cluster", *SHARES)
        if not self.is_worker and any(setting(self.config, name) is not None for name in names):
            from ._session import check_settings  # noqa: PLC0415  loads the core

            check_settings(self)

    def asked_to_decide(self) -> bool:
        """Whether the command line gives a gate or a baseline, and tests are run: then a session without rows is reported as
        undecided.
        """
        option = self.config.getoption
        return any(option(f"ragmetrics_{name}") for name in ("gates", "baseline")) and not (
            option("collectonly") or option("setupplan", False)
        )

    def finished(self, part: Part, **noted: Any) -> None:
        """Record that this session has scored a part."""
        part.write(session=self.session, **noted)
        self.claimed.add(part.path.name)

    def parts_of_session(self) -> list[Part]:
        """Return the parts that the processes of this session have scored so far, the rows of marked tests first."""
        parts = [Part(path.parent) for path in sorted(self.parts.glob(f"*/{PART}"))]
        return [part for part in parts if part.read().get("session") == self.session]


class Part:
    """The directory of rows that were scored together: all rows of marked tests, or the rows of one call of
    ``ragmetrics_scorer``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        """Return the recorded facts about this part; an empty mapping if there are none, or if a killed process left an
        incomplete file.
        """
        try:
            noted = json.loads((self.path / PART).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def write(self, **noted: Any) -> None:
        """Record facts about this part atomically, because another process may read them."""
        temporary = self.path / f".{PART}.{os.getpid()}"
        temporary.write_text(json.dumps(noted), encoding="utf-8")
        temporary.replace(self.path / PART)

    def claim(self) -> None:
        """Make the directory of this part.

        Raises:
            pytest.fail.Exception: the directory above holds files that are not from sessions, which could be overwritten.
        """
        top = self.path.parent.parent
        foreign = {path.name for path in top.iterdir()} - OWN if top.exists() else set()
        if foreign and not self.path.parent.is_dir():
            raise pytest.fail.Exception(
                f"ragmetrics_run_dir {top} contains {min(foreign)}, which no pytest session has written: name another directory",
                pytrace=False,
            )
        self.path.mkdir(parents=True, exist_ok=True)
        ignore = top / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")  # the files contain questions and answers

    def clear(self) -> None:
        """Remove the scores of an earlier session. Its stored replies stay, so the same questions cost nothing."""
        for name in (PART, "run.json", "scores.jsonl"):
            (self.path / name).unlink(missing_ok=True)


def state_of(config: pytest.Config) -> State:
    """Return the state of the plugin."""
    return config.stash[State.KEY]


def in_ci() -> bool:
    """Whether this is continuous integration, where a session without a verdict must not pass."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false")
