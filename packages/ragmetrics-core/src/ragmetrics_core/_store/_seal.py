"""What a finished file of scores was when its run ended: how many rows it had, and a digest of its lines.

The digest is of the lines without their ends, so a copy whose line ends were changed on the way is still the same. It is there to
find damage, so a checksum is enough: a cryptographic hash protects nothing here, as the digest lies beside the file, and is slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32


@dataclass(frozen=True)
class Seal:
    """The lines of a file of scores.

    Attributes:
        rows: how many there are.
        digest: of all of them, in their order.
    """

    rows: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """As ``run.json`` holds it."""
        return {"rows": self.rows, "digest": self.digest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Seal | None:
        """What ``to_dict`` wrote; None where there is none.

        Raises:
            LookupError, TypeError: it has another shape.
        """
        if data is None:
            return None
        rows, digest = data["rows"], data["digest"]
        if type(rows) is not int or not isinstance(digest, str):
            raise TypeError("a seal needs a whole number and a text")
        return cls(rows, digest)


class Sealing:
    """A seal in the making, line by line."""

    def __init__(self) -> None:
        self._rows = 0
        self._checksum = 0

    def add(self, line: bytes) -> None:
        """Count one more line; a blank one is none."""
        text = line.rstrip()
        if text:
            self._rows += 1
            self._checksum = crc32(b"\n", crc32(text, self._checksum))

    def seal(self) -> Seal:
        """The seal of the lines so far."""
        return Seal(self._rows, f"{self._checksum:08x}")
