"""Reads CSV. Every row is a mapping from columns to texts. A file that could only be read by guessing is refused.

The separator of a .tsv file is the tab. The separator of a .csv file is the comma, semicolon, tab or bar, whichever occurs most
often in its header outside quotes. A first line such as ``sep=;``, which some programs write for Excel, overrides this. A cell of
backslash and N, as MySQL and Postgres write it, is a missing value. An empty cell, quoted or not, is a missing value too, except
in the column of the response, where it is an empty response (``EMPTY_CELL``). A row with too many or too few cells, or with stray
quotes, is an error: if it were read leniently, texts would get the wrong names. One column may have no name, such as the index of
pandas. If several columns have no name, as spreadsheets write them after the last used column, they must be empty. Broken quotes
and broken text end the reading, because nothing shows where the next row starts; the message says how far the reading went.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from .._values._counts import count_of
from .._values._errors import InvalidInput
from ._input_file import EMPTY_CELL, BadShape, InputFile, RawRow, first_double, lines_of

MISSING = r"\N"
"""The text that MySQL and the COPY of Postgres write for a missing value."""

HINT = re.compile(r"sep=([,;\t|])", re.IGNORECASE)


def csv_rows(file: InputFile, separator: str | None) -> Iterator[RawRow]:
    """Yield every row. The place of a row is the line on which it starts. If ``separator`` is None, the header decides.

    Raises:
        InvalidInput: the quotes are broken, the file is not text in its encoding, or two columns have the same name.
    """
    lines = _text_lines(file)
    header: list[str] = []
    top = ""
    rows, skipped = 0, 0
    line = 1
    try:
        start = list(_until_header(lines))
        if hint := separator_hint("".join(start)):
            separator, skipped, start = hint, len(start), []
            line = skipped + 1
            start += _until_header(lines)
        reader = csv.reader(chain(start, lines), delimiter=separator or _separator("".join(start)), strict=True)
        for cells in reader:
            place = f"{file.name}, line {line}"
            line = reader.line_num + skipped + 1
            if not any(map(str.strip, cells)):
                continue  # spreadsheets write an empty row as separators only
            if not header:
                header, top = header_of(cells, place), place.removeprefix(f"{file.name}, ")
            else:
                rows += 1
                yield place, _row(header, cells, top)
    except csv.Error as error:
        raise InvalidInput(f"{file.name}, line {line}: {_explain(error)}{_so_far(rows)}") from None
    except InvalidInput as error:
        raise InvalidInput(*error.args, _so_far(rows)) from None


def separator_of(file: InputFile) -> str:
    """Return the separator, which the header or a line before the header shows."""
    start = "".join(_until_header(_text_lines(file)))
    return separator_hint(start) or _separator(start)


def separator_hint(line: str) -> str:
    """Return the separator in a line such as ``sep=;``, which is meant for Excel; else an empty text."""
    found = HINT.fullmatch(line.strip("\r\n "))
    return found[1] if found else ""


def _text_lines(file: InputFile) -> Iterator[str]:
    for number, line in lines_of(file):
        if "\0" in line:  # Python 3.11 and later accept NUL characters
            raise InvalidInput(f"{file.name}, line {number}: holds a NUL character: save the file again, as UTF-8")
        yield line


def _until_header(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.strip():
            return


def _separator(header: str) -> str:
    # split at quotes, every second piece is inside them, even if quotes are doubled
    outside = "".join(header.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _so_far(rows: int) -> str:
    return f" (the file was read up to there: {rows} row{'s' * (rows != 1)})" if rows else ""


def header_of(cells: list[str], place: str) -> list[str]:
    """Return the names of the columns. Only empty names may be equal."""
    names = [cell.strip() for cell in cells]
    if (double := first_double(name for name in names if name)) is not None:
        raise InvalidInput(f"{place}: two columns are named {double!r}: rename one of them")
    return names


def _row(header: list[str], cells: list[str], top: str) -> Any:
    """Return the values of a row by column, or the ``InvalidInput`` that says why the row cannot be read."""
    if len(cells) != len(header):
        cure = "put texts that hold separators in double quotes (if the names stand further down, delete what is above)"
        return BadShape(f"{top} names {count_of(len(header), 'column')}, this row has {len(cells)}: {cure}")
    if header.count("") > 1:
        for number, (name, cell) in enumerate(zip(header, cells, strict=True), 1):
            if not name and cell.strip():
                return no_name(f"cell {number}", top)
    return cells_row(header, cells)


def cells_row(header: list[str], cells: list[str]) -> dict[str, str | None]:
    """Return the values of a row by column. A column without a name is kept if it is the only one."""
    with_lone = header.count("") == 1
    return {name: _value(cell) for name, cell in zip(header, cells, strict=True) if name or with_lone}


def _value(cell: str) -> str | None:
    text = cell.strip()
    if text == MISSING:
        return None
    return cell if text else EMPTY_CELL


def no_name(cell: str, top: str) -> BadShape:
    """Return the error about a cell of a column without a name. ``top`` is the place of the header."""
    cure = "must name all columns (if their names stand further down, delete what is above)"
    return BadShape(f"the {cell} holds something, but its column has no name: {top}, the first with text, {cure}")


def _explain(error: csv.Error) -> str:
    if "field larger" in str(error):
        return f"a cell is longer than {csv.field_size_limit():,} characters, the limit of CSV: save it as JSONL"
    if "new-line character" in str(error):
        return "a line ends in a lone carriage return, as on old Macs: save the file with the line ends of today (LF or CRLF)"
    return f"the quotes do not match ({error}): double the quotes inside of a quoted cell"
