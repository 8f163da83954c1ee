"""The interface between a run and the batch API of a provider: files of questions, answered within a day at half the price.

A model that has batches has a method ``batches()``, which returns its ``BatchApi``. Nothing here performs IO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ._errors import ModelError
from ._requests import Ask, Reply

FULL = "token_limit_exceeded"
"""The ``code`` of a batch that was refused because too many tokens of the account wait in batches."""

TOO_MANY = "too_many_tasks"
"""The ``code`` of a batch that was refused because it has too many lines."""

FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
"""The statuses that do not change any more."""


class LostBatch(ModelError):
    """The provider does not know a batch, or a file of it: it was deleted, or belongs to the project of another key."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as its provider describes it.

    Attributes:
        id: the provider's id of the batch.
        status: ``validating``, ``in_progress``, ``finalizing``, ``cancelling`` or one of ``FINAL``.
        input_file: the id of the file of questions.
        mark: the mark that was given when the batch was created; None if the provider dropped it.
        files: the ids of the files with answers and errors that exist.
        total, completed, failed: the provider's counts of lines.
        code, message: why the batch failed.
    """

    id: str
    status: str
    input_file: str | None = None
    mark: str | None = None
    files: tuple[str, ...] = ()
    total: int = 0
    completed: int = 0
    failed: int = 0
    code: str = ""
    message: str = ""

    @property
    def is_final(self) -> bool:
        """Whether the batch has ended."""
        return self.status in FINAL


class BatchApi(Protocol):
    """The batch API of one model. All calls block. A failed call is not retried, unless a retry costs nothing.

    Each method that calls the server may raise ``ModelError``, with ``transient`` if the same call may succeed later. ``retrieve``,
    ``download`` and ``cancel`` may raise ``LostBatch``.
    """

    @property
    def base_url(self) -> str:
        """The address of the server, without credentials."""
        ...

    def check(self) -> None:
        """Raise ``InvalidInput`` if the server has no batches."""
        ...

    def upload(self, path: Path) -> str:
        """Upload a file of questions, and return its id."""
        ...

    def create(self, file: str, mark: str) -> BatchState | None:
        """Create a batch of an uploaded file, in a single attempt; None: it is not known whether the batch was created.

        Raises:
            ModelError: the batch was certainly not created.
        """
        ...

    def retrieve(self, batch: str) -> BatchState:
        """Return the present state of a batch."""
        ...

    def list(self) -> Iterator[BatchState]:
        """Yield all batches of the account."""
        ...

    def download(self, file: str, path: Path) -> None:
        """Write a file of the provider to this path. An incomplete download is a transient ``ModelError``."""
        ...

    def cancel(self, batch: str) -> None:
        """Ask the provider to end a batch. The answers that it already has are delivered."""
        ...

    def line(self, ask: Ask, custom_id: str) -> bytes:
        """Return the line of an input file for a question, with the line end. It starts with the custom id.

        Raises:
            InvalidInput: a message cannot be sent as UTF-8.
        """
        ...

    def read(self, line: Mapping[str, Any]) -> Reply[str] | ModelError:
        """Read one line of a file of answers or errors: the reply, or the error with which the same question online would end.

        The error is transient if the question was not executed and can be asked again.
        """
        ...
