"""Files that the command writes: refused before any work where that cannot be done, put in place only when they are whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from .._kernel._errors import InvalidInput


def to_stdout(path: Path | None) -> bool:
    """Whether what is written goes to stdout: the file is named ``-``."""
    return str(path) == "-"


def check_place(path: Path, option: str) -> None:
    """Refuse a path where no file could be written.

    Raises:
        InvalidInput: it is a directory, or in none, or must not be written to; the message names the option.
    """
    if path.is_dir():
        raise InvalidInput(f"{option}: {path} is a directory: give the path of a file")
    if not path.parent.is_dir():
        raise InvalidInput(f"{option}: there is no directory {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInput(f"{option}: {path} cannot be written: Permission denied")


def put_file(path: Path, option: str, fill: Callable[[Path], None]) -> None:
    """Have a file written under another name, and rename it when it is whole.

    Args:
        path: where it goes.
        option: the option that named it.
        fill: writes it to the path that it is given.

    Raises:
        InvalidInput: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    in_place = (target.exists() and not target.is_file()) or not os.access(target.parent, os.W_OK)
    part = target if in_place else target.with_name(f".ragmetrics-{os.getpid()}.part")
    try:
        try:
            fill(part)
            if part != target and target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        finally:
            if part != target:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{option}: {path} cannot be written: {error.strerror}") from None
