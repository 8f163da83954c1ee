"""The ledger of the batches of a run: what was sent to a provider, on disk before it is sent, so that no line is paid for twice.

The folder ``batches`` of a run directory has the file ``ledger.jsonl``, which only grows, and beside it the input files. Each line
of the ledger changes one submission and is flushed to the disk before the next step:

    intent      the input file is complete on the disk
    uploaded    the provider has the input file
    creating    the call that creates the batch, and the only one that costs money, is about to be made
    created     the id of the batch is known
    collected   every reply is in the journal; or failed, expired, cancelled: the batch ended like this, and what it delivered is
                in the journal

After a kill, only ``creating`` leaves a doubt: the batch is then looked for before it is created again. Questions whose input file
was not complete are simply collected again.

Errors with which a question was answered have no place in the journal. They are kept here until the run is finished; then the
questions may be asked again.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from .._values._batches import BatchState
from .._values._errors import BadReply, InvalidInput, ModelError
from ._files import ANOTHER, explain_errors, make_directory, sync_to_disk

FOLDER, LEDGER, INPUT = "batches", "ledger.jsonl", ".input.jsonl"

CLOSED = frozenset({"collected", "failed", "expired", "cancelled"})
"""The states after which a submission does not change any more."""

START = len('{"custom_id":"')
KEY = slice(START, START + 32)
"""Where a line of an input file has its key, in hexadecimal digits."""


@dataclass
class Submission:
    """An input file, and the batch that was made of it.

    Attributes:
        name: a random name, also of the input file.
        model: the digest of the identity of the model.
        called, base_url: the name and the address of the model, for people.
        lines, size, tokens: the number of questions, bytes and estimated prompt tokens of the input file.
        state: see the module.
        at: the time of the last change, in seconds since 1970.
        mark: the random text in the metadata of the batch, new for each attempt at creating it.
        file, batch: the provider's ids.
        answered: the number of replies that came.
        prompt_tokens, completion_tokens: what the replies cost.
        message: why the batch failed.
        seen: the provider's last description of the batch; not written.
    """

    name: str
    model: str
    called: str
    base_url: str
    lines: int = 0
    size: int = 0
    tokens: int = 0
    state: str = "intent"
    at: float = 0.0
    mark: str = ""
    file: str = ""
    batch: str = ""
    answered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    message: str = ""
    seen: BatchState | None = field(default=None, compare=False)

    @property
    def is_open(self) -> bool:
        """Whether replies may still come."""
        return self.state not in CLOSED


class InputFile:
    """An input file that is being written.

    Args:
        path: the file.
        submission: what will become of it.
    """

    def __init__(self, path: Path, submission: Submission) -> None:
        self.submission = submission
        self._path = path
        with explain_errors(path):
            self._file: IO[bytes] = path.open("wb")

    def add(self, line: bytes, tokens: int) -> None:
        """Write the line of one question."""
        with explain_errors(self._path):
            self._file.write(line)
        self.submission.lines += 1
        self.submission.size += len(line)
        self.submission.tokens += tokens

    def close(self) -> None:
        """Flush the file to the disk."""
        with explain_errors(self._path), self._file:
            sync_to_disk(self._file)


class Ledger:
    """The submissions of a run directory, in the order in which they were made. Nothing is written before the first of them.

    Args:
        run_dir: the run directory.

    Attributes:
        submissions: the submissions by name.
        errors: the errors with which questions were answered, by key, since the run was last finished.

    Raises:
        InvalidInput: the ledger is damaged, so that it is not known what was paid.
        RagmetricsError: (later) it cannot be written.
    """

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / FOLDER
        self._path = self._folder / LEDGER
        self._file: IO[bytes] | None = None
        self.submissions: dict[str, Submission] = {}
        self.errors: dict[bytes, ModelError] = {}
        if self._path.exists():
            self._read()

    @property
    def open(self) -> list[Submission]:
        """The submissions to which replies may still come."""
        return [item for item in self.submissions.values() if item.is_open]

    def begin(self, model: str, called: str, base_url: str) -> InputFile:
        """Begin a new input file. Input files that a kill left incomplete are removed before the first one."""
        self._writable()
        submission = Submission(secrets.token_hex(8), model, called, base_url)
        return InputFile(self.input(submission), submission)

    def submit(self, file: InputFile) -> Submission:
        """Complete an input file, and note the intent to send it."""
        file.close()
        submission = self.submissions[file.submission.name] = file.submission
        submission.at = time.time()
        self._append({name: value for name, value in asdict(submission).items() if name != "seen"})
        return submission

    def note(self, submission: Submission, state: str, **changes: Any) -> None:
        """Note a new state of a submission, with the attributes that change."""
        changed = replace(submission, state=state, at=time.time(), **changes)
        known = {"state": state, "at": changed.at, **changes}
        self._append({"name": submission.name, **known})
        vars(submission).update(known)
        if not submission.is_open:
            self.input(submission).unlink(missing_ok=True)

    def note_error(self, key: bytes, error: ModelError) -> None:
        """Keep the error with which a question was answered. It is on the disk with the next state."""
        self.errors[key] = error
        raw = list(error.raw) if isinstance(error, BadReply) else None
        self._write({"error": key.hex(), "said": str(error), "raw": raw})

    def finish(self) -> None:
        """Note that the run is finished. Errors are forgotten, so that a later run asks again."""
        if self.errors:
            self.errors.clear()
            self._append({"finished": True})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def input(self, submission: Submission) -> Path:
        """The path of an input file."""
        return self._folder / f"{submission.name}{INPUT}"

    def output(self, submission: Submission) -> Path:
        """The path to which a file of the provider is downloaded. Such a file may be overwritten."""
        return self._folder / f"{submission.name}.output.jsonl"

    def keys(self, submission: Submission) -> Iterator[tuple[bytes, int]]:
        """Yield the key of each line of an input file, with the position of the line.

        Raises:
            InvalidInput: the file is missing or damaged.
        """
        path, start = self.input(submission), 0
        try:
            with path.open("rb") as file:
                for line in file:
                    yield bytes.fromhex(line[KEY].decode()), start
                    start += len(line)
        except (OSError, ValueError):
            start = -1
        if start != submission.size:
            raise InvalidInput(f"{path} is missing or damaged, and its questions may be paid for: ", *ANOTHER)

    def _append(self, values: Mapping[str, Any]) -> None:
        self._write(values)
        assert self._file is not None
        with explain_errors(self._path):
            sync_to_disk(self._file)

    def _write(self, values: Mapping[str, Any]) -> None:
        file = self._writable()
        with explain_errors(self._path):
            file.write(json.dumps(values).encode() + b"\n")

    def _writable(self) -> IO[bytes]:
        if self._file is None:
            make_directory(self._folder)
            kept = {f"{item.name}{INPUT}" for item in self.open}
            for path in self._folder.iterdir():
                if path.name not in kept | {LEDGER}:
                    path.unlink(missing_ok=True)
            with explain_errors(self._path):
                self._file = self._path.open("a+b")
                end = self._file.seek(0, os.SEEK_END)
                self._file.seek(max(0, end - 1))
                if self._file.read() not in (b"", b"\n"):
                    self._file.write(b"\n")  # a kill has cut the last line short
        return self._file

    def _read(self) -> None:
        with explain_errors(self._path, InvalidInput):
            lines = self._path.read_bytes().splitlines()
        for line in lines:
            try:
                self._take(json.loads(line))
            except ValueError:  # noqa: PERF203  a line is one step
                continue  # a kill has cut it short: the step that it announces was not made
            except (AttributeError, LookupError, TypeError):
                raise InvalidInput(f"{self._path} is damaged, so it is not known what was paid: ", *ANOTHER) from None

    def _take(self, values: dict[str, Any]) -> None:
        if "finished" in values:
            self.errors.clear()
        elif "error" in values:
            said, raw = values["said"], values["raw"]
            self.errors[bytes.fromhex(values["error"])] = ModelError(said) if raw is None else BadReply(said, raw)
        elif "model" in values:
            self.submissions[values["name"]] = Submission(**values)
        else:
            known = self.submissions[values.pop("name")]
            vars(known).update(asdict(replace(known, **values)) | {"seen": None})
