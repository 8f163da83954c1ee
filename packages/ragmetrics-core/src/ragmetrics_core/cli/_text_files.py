"""What a command shows, as files beside the terminal: JSON for programs, Markdown for people, either of them to stdout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

from .._kernel._errors import InvalidInput
from ._output import say
from ._written import check_place, put_file, to_stdout

FILES_OF_A_RUN = ("run.json", "scores.jsonl", "journal.sqlite")


def check_files(files: dict[str, Path | None], runs: Sequence[Path], called: str) -> None:
    """Refuse before any work what could not be written, or would harm a run.

    Args:
        files: by option, the files to write.
        runs: the runs, and other files, that are read.
        called: what their files are, for the message.

    Raises:
        InvalidInput: two of them go to stdout, or to one file; or one cannot be written, or is a file of a run.
    """
    given = {option: path for option, path in files.items() if path is not None}
    for (one, path), (other, there) in combinations(given.items(), 2):
        if path.absolute() == there.absolute():
            raise InvalidInput(f"{one} and {other} name the same place, {path}: give each its own")
    for option, path in given.items():
        if to_stdout(path):
            continue
        parts = [run / name for run in runs for name in FILES_OF_A_RUN if run.is_dir()]
        if path.exists() and any(part.exists() and path.samefile(part) for part in (*parts, *runs)):
            raise InvalidInput(f"{option}: {path} is {called}: give another path")
        check_place(path, option)


def put_texts(
    texts: Mapping[str, str | Callable[[Path], None]],
    files: Mapping[str, Path | None],
    shown: str,
    *,
    err: bool = False,
) -> None:
    """Write the files, and print what is shown: to stderr where one of the files goes to stdout.

    Args:
        texts: by option, what its file holds, or what writes a file that cannot go to stdout.
        files: by option, where it goes; None where it is not asked for.
        shown: the text for people.
        err: whether stdout is taken by something else already.
    """
    piped = err or any(to_stdout(path) for path in files.values())
    try:
        for option, path in files.items():
            if path is None:
                continue
            text = texts[option]
            if not isinstance(text, str):
                put_file(path, option, text)
            elif to_stdout(path):
                say(text.rstrip("\n"))
            else:
                put_file(path, option, partial(_write, text=text))
    finally:
        say(shown, err=piped)


def _write(path: Path, text: str) -> None:
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")
