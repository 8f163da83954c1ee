"""How many rows a text file holds, without reading the rows: whoever watches a run wants to know how much is left.

The numbers are for a progress bar. Lines are looked at, not parsed, so a file is counted in a small part of the time that reading
it takes. A file that cannot be counted has no number, and what is wrong with it is reported when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from .._kernel._errors import InvalidInput
from ._csv import separator_told
from ._input_file import InputFile
from ._text import raw_lines

BLANK = b",;\t \r\n"


def count_lines(file: InputFile, most: int | None) -> int | None:
    """Lines that are not blank, as JSONL has one row in each; counted up to ``most``."""
    return _counted(file, (True for _, line in raw_lines(file) if not line.isspace()), most)


def count_csv(file: InputFile, most: int | None) -> int | None:
    """Rows besides the header; a line that ends inside quotes goes on in the next one."""
    found = _counted(file, _rows(file), None if most is None else most + 1)
    return found and found - 1


def _rows(file: InputFile) -> Iterator[bool]:
    quoted = False
    for number, line in raw_lines(file):
        if number == 1 and separator_told(line.decode("ascii", "replace")):
            continue
        if not quoted and line.strip(BLANK):
            yield True
        quoted ^= bool(line.count(b'"') & 1)


def _counted(file: InputFile, rows: Iterator[bool], most: int | None) -> int | None:
    if not file.path.is_file():  # a pipe can be read only once
        return None
    try:
        return sum(islice(rows, most))
    except InvalidInput:
        return None
