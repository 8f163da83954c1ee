"""The labels that a viewer saves: one line per label as it is given, appended and on the disk before the page is answered.

Nothing is ever changed in the file. A label that is given again, or taken away, is one more line; ``read_labels`` knows by the
time in ``given`` that the last line of a row, a claim and an annotator counts. A kill can cut the last line only, which was not
confirmed, so it is removed. One process writes, which holds the lock of the folder from its first label on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from threading import Lock
from typing import Any

from .._values._errors import InvalidInput
from ._files import explain_errors, sync_to_disk, write_all
from ._labels import COLUMNS, GIVEN, Scales, latest, quoted, read_labels
from ._lock import only_writer, open_no_link

FOLDER, NAME = "labels", "labels.jsonl"
LONGEST = {"id": 10_000, "claim": 50_000, "annotator": 200, "note": 10_000, "digest": 32}
"""The largest number of characters of each text."""

MOST_LINES = 500
"""The largest number of labels that are saved in one step."""


class LabelFile:
    """The labels of one run.

    Args:
        run: the directory of the run, or its file of scores, beside which the labels get a folder.
    """

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER if run.is_dir() else run.with_name(f"{run.name}.{FOLDER}")
        self.path = self._folder / NAME
        self._life = ExitStack()
        self._is_held: Callable[[], bool] = lambda: False
        self._lock = Lock()

    def lines(self) -> list[dict[str, Any]]:
        """Return the labels and notes in force.

        Raises:
            InvalidInput: a line is no label; the message has its number.
        """
        with self._lock:
            if self._folder.is_symlink() or self.path.is_symlink() or not self.path.is_file():
                return []
            data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace").split("\n")
        values = [("", _label(number, line)) for number, line in enumerate(whole, 1) if line.strip()]
        return [value for _, value in latest(values) if value["label"] is not None or value["note"] is not None]

    def add(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Save labels.

        Raises:
            InvalidInput: another process saves labels of this run, or the folder cannot be written.
            RagmetricsError: the file cannot be written.
        """
        now = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}"
        whole = [{**{name: line.get(name) for name in COLUMNS}, GIVEN: now} for line in lines]
        data = "".join(f"{json.dumps(line)}\n" for line in whole).encode()
        with self._lock, explain_errors(self.path):
            self._hold()
            if self.path.exists() and not self.path.is_file():  # a pipe, for example, which would be waited for
                raise InvalidInput(f"{self.path} is no file: labels cannot be saved")
            with open(self.path, "a+b", buffering=0, opener=open_no_link) as file:
                file.seek(0)
                whole_lines = file.read().rfind(b"\n") + 1
                file.truncate(whole_lines)  # a kill may have cut the last line
                try:
                    write_all(file, data)
                    sync_to_disk(file)
                except BaseException:  # the disk is full: what was not confirmed must not stay
                    file.truncate(whole_lines)
                    raise

    def _hold(self) -> None:
        """Become the only writer, until this process ends, or the folder is moved or replaced."""
        if self._folder.is_symlink():
            raise InvalidInput(f"{self._folder} is a link: labels are saved in the folder of the run only")
        if self._is_held():
            return
        self._life.close()
        self._is_held = lambda: False
        try:
            self._is_held = self._life.enter_context(only_writer(self._folder))
        except InvalidInput as error:
            raise InvalidInput(f"labels of this run cannot be saved: {error}") from None


def _label(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not {"id", "metric", "label"} <= value.keys():
        raise InvalidInput(
            f"{NAME}, line {number}, is no label: remove the line, or write it as the viewer writes labels"
        )
    return {"note": None, **value}


def checked_lines(given: Any, names: Collection[str], scales: Scales) -> list[dict[str, Any]]:
    """Check labels that a page has sent.

    Args:
        given: what it has sent.
        names: what labels call the rows of the run.
        scales: the metrics of the run, with their scales.

    Raises:
        InvalidInput: they are no labels of this run.
    """
    lines = given.get("labels") if isinstance(given, dict) and given.keys() == {"labels"} else None
    if not isinstance(lines, list) or not 1 <= len(lines) <= MOST_LINES:
        raise InvalidInput(f'labels must be sent as {{"labels": [...]}}, 1 to {MOST_LINES} of them')
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict) or not {"id", "metric", "label"} <= line.keys() <= set(COLUMNS):
            raise InvalidInput(
                f"label {number}: a label must have id, metric and label, and nothing but {', '.join(COLUMNS)}"
            )
        if not isinstance(line["id"], str) or line["id"] not in names:
            raise InvalidInput(f"label {number}: the run has no row {quoted(line['id'])}")
        for name, most in LONGEST.items():
            text = line.get(name)
            if text is not None and not (isinstance(text, str) and len(text) <= most):
                raise InvalidInput(f"label {number}: {name} must be a text of at most {most:,} characters")
        if not isinstance(line["label"], bool | int | float | None):
            raise InvalidInput(
                f"label {number}: the label {quoted(line['label'])} is neither a pass nor a fail nor a grade"
            )
        # a label that is taken away has the same other fields
        read_labels([{**line, "label": True if line["label"] is None else line["label"]}], None, scales)
    return lines
