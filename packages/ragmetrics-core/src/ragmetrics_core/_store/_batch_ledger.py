"""The ledger of the batches of a run: what was sent to a provider, on disk before it is sent, so that no line is paid for twice.

The folder ``batches`` of a run directory has the file ``ledger.json`` with all submissions, and beside it the input files of the
open ones. The ledger is replaced, and flushed to the disk, whenever a submission has a new state:

    waiting     the input file is complete on the disk, and there is certainly no batch of it
    creating    the call that creates the batch, and the only one that costs money, is about to be made
    created     the id of the batch is known
    completed, failed, expired, cancelled   the batch ended like this, and every reply that it delivered is in the journal
    lost        the provider does not know the batch, and the user has decided to ask its questions again
    split       two smaller submissions take its place

After a kill, only ``creating`` leaves a doubt: the batch is then looked for before it is created again. Questions whose input file
was not complete are simply collected again.

Errors with which a question was answered have no place in the journal. They are kept here until the run is finished; then the
questions may be asked again.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from .._values._batches import FINAL
from .._values._errors import BadReply, InvalidInput, ModelError
from ._files import ANOTHER, explain_errors, make_directory, replace_file, sync_directory, sync_to_disk

FOLDER, LEDGER = "batches", "ledger.json"

CLOSED = FINAL | {"lost", "split"}
"""The states after which a submission does not change any more."""

BYTES_PER_TOKEN = 4

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
        lines, size: the number of questions and bytes of the input file.
        tokens, written: the estimated prompt and completion tokens of all questions.
        wave: the number of the wave, from 1 in each run; 0 in runs that have ended.
        state: see the module.
        at: the time of the last change, in seconds since 1970.
        mark: the random text in the metadata of the batch, new for each attempt at creating it.
        file, batch: the provider's ids.
        answered: the number of questions that were answered, with a reply or an error.
        prompt_tokens, completion_tokens: what the replies cost.
        message: why the batch failed or is lost.
    """

    name: str
    model: str
    called: str
    base_url: str
    lines: int = 0
    size: int = 0
    tokens: int = 0
    written: int = 0
    wave: int = 0
    state: str = "waiting"
    at: float = 0.0
    mark: str = ""
    file: str = ""
    batch: str = ""
    answered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    message: str = ""


KINDS = {name: type(value) for name, value in vars(Submission("", "", "", "")).items()}
"""The type of each attribute."""


class Ledger:
    """The submissions of a run directory, in the order in which they were made. Nothing is written before the first of them.

    Args:
        run_dir: the run directory.

    Attributes:
        submissions: the submissions whose input file is complete.
        errors: the errors with which questions were answered, by key, since the run was last finished.

    Raises:
        InvalidInput: the ledger is damaged, so that it is not known what was paid.
        RagmetricsError: (later) it cannot be written.
    """

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / FOLDER
        self._path = self._folder / LEDGER
        self._inputs: dict[str, IO[bytes]] = {}
        self.submissions: list[Submission] = []
        self.errors: dict[bytes, ModelError] = {}
        if self._path.exists():
            self._read()

    @property
    def open(self) -> list[Submission]:
        """The submissions to which replies may still come."""
        return [item for item in self.submissions if item.state not in CLOSED]

    def remove_leftovers(self) -> None:
        """Remove what a kill has left: input files that are not complete, downloads. Only for the one writer of a directory."""
        kept = {LEDGER, *(self.input(item).name for item in self.open)}
        for path in self._folder.glob("*.json*"):
            if path.name not in kept:
                path.unlink()

    def begin(self, model: str, called: str, base_url: str, wave: int) -> Submission:
        """Begin a new input file."""
        make_directory(self._folder)
        submission = Submission(secrets.token_hex(8), model, called, base_url, wave=wave)
        with explain_errors(self.input(submission)):
            self._inputs[submission.name] = self.input(submission).open("wb")
        return submission

    def add(self, submission: Submission, line: bytes) -> None:
        """Write the line of one question into an input file that was begun."""
        with explain_errors(self.input(submission)):
            self._inputs[submission.name].write(line)
        submission.lines += 1
        submission.size += len(line)
        submission.tokens += len(line) // BYTES_PER_TOKEN

    def complete(self, *submissions: Submission, instead_of: Submission | None = None) -> None:
        """Complete input files, which may take the place of another one."""
        for submission in submissions:
            with explain_errors(self.input(submission)), self._inputs.pop(submission.name) as file:
                sync_to_disk(file)
            submission.at = time.time()
        self.submissions += submissions
        if instead_of is None:
            self._save()
        else:
            self.note(instead_of, "split")

    def note(self, submission: Submission, state: str, **changes: Any) -> None:
        """Note a new state of a submission, with the attributes that change."""
        vars(submission).update(state=state, at=time.time(), **changes)
        self._save()
        if state in CLOSED:
            self.input(submission).unlink(missing_ok=True)

    def answers(self, models: Container[str]) -> list[int]:
        """Return the number of answers of these models, by digest, in each wave since the waves were last forgotten."""
        waves = Counter[int]()
        for item in self.submissions:
            if item.model in models:
                waves[item.wave] += item.answered
        return [waves[wave] for wave in sorted(waves) if wave]

    def forget_waves(self) -> None:
        """Count waves from 1 again."""
        if any(item.wave for item in self.submissions):
            for item in self.submissions:
                item.wave = 0
            self._save()

    def finish(self) -> None:
        """Note that the run is finished. Errors are forgotten, so that a later run asks again."""
        if self.errors:
            self.errors.clear()
            self._save()
        self.forget_waves()

    def close(self) -> None:
        """Close the input files that are not complete: their questions will be asked again."""
        for file in self._inputs.values():
            file.close()

    def input(self, submission: Submission) -> Path:
        """The path of an input file."""
        return self._folder / f"{submission.name}.input.jsonl"

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

    def _save(self) -> None:
        errors = [
            (key.hex(), str(error), list(error.raw) if isinstance(error, BadReply) else None)
            for key, error in self.errors.items()
        ]
        content = {"submissions": list(map(asdict, self.submissions)), "errors": errors}
        with replace_file(self._path) as file:
            file.write(json.dumps(content).encode())
        sync_directory(self._folder)

    def _read(self) -> None:
        try:
            content = json.loads(self._path.read_bytes())
            self.submissions = [Submission(**item) for item in content["submissions"]]
            if any(type(value) is not KINDS[name] for item in self.submissions for name, value in vars(item).items()):
                raise TypeError
            for key, said, raw in content["errors"]:
                self.errors[bytes.fromhex(key)] = ModelError(said) if raw is None else BadReply(said, raw)
        except (AttributeError, LookupError, OSError, TypeError, ValueError):
            raise InvalidInput(f"{self._path} is damaged, so it is not known what was paid: ", *ANOTHER) from None
