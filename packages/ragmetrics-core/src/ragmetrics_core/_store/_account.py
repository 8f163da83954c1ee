"""``run.json``: what a run was and what became of it, besides its scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .._kernel._errors import InvalidInput
from ._files import replaced
from ._prices import ModelUsage
from ._run_settings import RunSettings
from ._seal import Seal

ACCOUNT = "run.json"
VERSION = 1
UNFINISHED = "the run has not come to its end"
Fault = Literal["damaged", "unverified"]
UNVERIFIED = (
    "this run is unverified: an earlier version of ragmetrics wrote it, which kept no digest of scores.jsonl, so it is not known "
    "whether rows are missing or have changed"
)


@dataclass(frozen=True)
class RunAccount:
    """What became of a run, besides its scores.

    Attributes:
        source: name of the file that was read, or "".
        seconds: wall time of the run; None if it is not known.
        models: what every model was asked.
        earlier: what every model was asked in earlier parts of the run, before this one went on with it.
        caveats: what must be known about the models that were asked, and about scores that were there before.
        waited: by metric, the seconds that its rows have waited for models, summed over the rows.
        stopped: why the run ended before its last row, or that its scores are damaged; None where neither is so.
        fault: ``damaged``: its scores are not those that it ended with; ``unverified``: an earlier version wrote it, so that cannot
            be known; None: neither. It follows from the files, and is not written.
    """

    source: str = ""
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    earlier: tuple[ModelUsage, ...] = ()
    caveats: tuple[str, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)
    stopped: str | None = None
    fault: Fault | None = None

    def begun(self) -> dict[str, Any]:
        """What ``run.json`` holds of a run that goes on."""
        return {"source": self.source, "earlier": _with_seconds(self.earlier)}

    def to_dict(self) -> dict[str, Any]:
        """What ``run.json`` holds of a run that is over."""
        return {
            **self.begun(),
            "caveats": list(self.caveats),
            "seconds": self.seconds,
            "models": _with_seconds(self.models),
            "stopped": self.stopped,
            "waited": dict(self.waited),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunAccount:
        """What ``run.json`` holds, of a run that is over or goes on.

        Raises:
            AttributeError, LookupError, OverflowError, TypeError, ValueError: it has another shape.
        """
        seconds = data.get("seconds")
        stopped = data.get("stopped", UNFINISHED)
        account = cls(
            source=data.get("source", ""),
            seconds=None if seconds is None else float(seconds),
            models=tuple(map(ModelUsage.from_dict, data.get("models", ()))),
            earlier=tuple(map(ModelUsage.from_dict, data.get("earlier", ()))),
            caveats=tuple(data.get("caveats", ())),
            waited={name: float(value) for name, value in data.get("waited", {}).items()},
            stopped=stopped,
        )
        texts = (account.source, *account.caveats, *([] if stopped is None else [stopped]))
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a text has another type")
        usages = [item.usage for item in (*account.models, *account.earlier)]
        sum(usage.calls + usage.prompt_tokens + usage.completion_tokens for usage in usages)  # numbers, or a TypeError
        return account


def _with_seconds(models: Iterable[ModelUsage]) -> list[dict[str, Any]]:
    return [{**item.to_dict(), "seconds": item.seconds} for item in models]


@dataclass(frozen=True)
class StoredRun:
    """A run as ``run.json`` describes it.

    Attributes:
        settings: what decides about its scores; None where ``run.json`` is damaged.
        account: what became of it.
        seal: its scores when it ended; None while it goes on, and where an earlier version wrote it.
    """

    settings: RunSettings | None
    account: RunAccount
    seal: Seal | None = None


def write_account(path: Path, settings: RunSettings, account: RunAccount, seal: Seal | None = None) -> None:
    """Write ``run.json`` into the directory of its run.

    Args:
        path: the directory.
        settings: what decides about its scores.
        account: what became of it.
        seal: its scores, which stand in their place already; None as long as the run goes on.

    Raises:
        RagmetricsError: it cannot be written.
    """
    state = account.begun() if seal is None else {**account.to_dict(), "scores": seal.to_dict()}
    content = {"version": VERSION, **settings.to_dict(), **state}
    with replaced(path / ACCOUNT) as file:
        file.write((json.dumps(content, ensure_ascii=True, indent=1) + "\n").encode())


def read_account(path: Path, cure: str = "give another run_dir") -> StoredRun | None:
    """The run in this directory; None where there is none.

    Args:
        path: the directory.
        cure: what helps where ``run.json`` is not ours, for the message.

    Raises:
        InvalidInput: ``run.json`` belongs to something else, or to another version.
    """
    file = path / ACCOUNT
    if not file.exists():
        return None
    if not file.is_file():
        raise InvalidInput(f"{file} is not that of a run, for it is no regular file: give another run_dir")
    damaged = StoredRun(None, RunAccount(stopped=UNFINISHED))
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return damaged
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    ours = isinstance(content, dict) and isinstance(content.get("metrics"), list) and "settings" in content
    if not ours or content.get("version") != VERSION:
        raise InvalidInput(f"{file} was not written by this version of ragmetrics: {cure}")
    try:
        seal = Seal.from_dict(content.get("scores"))
        return StoredRun(RunSettings.from_dict(content), RunAccount.from_dict(content), seal)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError):  # it has another shape
        return damaged
