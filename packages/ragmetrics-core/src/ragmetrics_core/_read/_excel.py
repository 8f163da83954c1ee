"""Reads Excel. A sheet is read as the CSV that Excel would save it as, so both give the same rows.

Every cell becomes a text: a number without its format, a date as 2026-05-31, a truth value as TRUE or FALSE. A row with a cell
whose formula failed is a bad row, because the cell has no intended text. The first row that is not empty names the columns. If
several sheets are not empty, the user chooses one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from typing import Any
from zipfile import BadZipFile

from .._values._errors import InvalidInput, MissingExtra, Setting
from ._csv import cells_row, header_of, no_name
from ._input_file import InputFile, RawRow

MOST_ROWS = 1_048_576
"""The number of rows of a sheet in Excel. Reading goes through all rows up to the last row number, so a file with a row number
of a billion would take forever.
"""

BROKEN = (BadZipFile, KeyError, OSError, SyntaxError, ValueError, zlib.error)
"""Errors that a damaged file raises. Errors of XML are subclasses of Python's ``SyntaxError``."""


def excel_rows(file: InputFile, at: str | None) -> Iterator[RawRow]:
    """Yield every row that is not empty and that is below the row with the column names.

    Args:
        file: the workbook.
        at: the name of the sheet; None: the only sheet that is not empty.

    Raises:
        InvalidInput: the workbook cannot be read, several sheets could be meant, or two columns have the same name.
        MissingExtra: openpyxl is not installed.
    """
    header: list[str] = []
    top = number = 0
    with open_sheet(file, at) as sheet:
        try:
            for number, row in enumerate(sheet.iter_rows(), 1):
                if number > MOST_ROWS:
                    raise InvalidInput(f"{file.name} has more rows than Excel allows, {MOST_ROWS:,}: save it again")
                cells = list(row)
                while cells and _is_empty(cells[-1]):
                    cells.pop()
                place = f"{file.name}, row {number}"
                if cells and header:
                    yield place, _row(header, cells, top)
                elif cells:
                    header, top = header_of([_text(cell) for cell in cells], place), number
        except InvalidInput:  # InvalidInput is a ValueError, as some errors in BROKEN are
            raise
        except BROKEN as error:
            raise InvalidInput(f"{file.name}, after row {number}: the file is damaged ({error})") from None


@contextmanager
def open_sheet(file: InputFile, at: str | None) -> Iterator[Any]:
    """Open the sheet to read. ``excel_rows`` explains the arguments."""
    with file.open() as opened:
        book = _workbook(opened, file.name)
        try:
            sheet = _choose_sheet(book, at, file.name)
            sheet.reset_dimensions()  # some programs write wrong dimensions
            yield sheet
        finally:
            book.close()


def _workbook(file: Any, name: str) -> Any:
    try:
        from openpyxl import load_workbook  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f'reading {name} needs openpyxl: pip install "ragmetrics-core[excel]"') from None
    try:
        return load_workbook(file, read_only=True, data_only=True)
    except BROKEN as error:
        cure = "if it has a password or is an old .xls, save it without, as .xlsx"
        raise InvalidInput(f"{name} is not an Excel workbook that can be read ({error}): {cure}") from None


def _choose_sheet(book: Any, at: str | None, name: str) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if at is not None:
        if at not in sheets:
            raise InvalidInput(f"{name} has no sheet {at!r}; it has {', '.join(map(repr, sheets))}")
        return sheets[at]
    full = [sheet for sheet in sheets.values() if sheet.sheet_state == "visible" and _holds_something(sheet)]
    if len(full) > 1:
        names = [sheet.title for sheet in full]
        raise InvalidInput(f"{name} has several sheets, {', '.join(map(repr, names))}: give ", Setting("at", names[0]))
    return full[0] if full else next(iter(sheets.values()))


def _holds_something(sheet: Any) -> bool:
    sheet.reset_dimensions()
    try:
        return any(not _is_empty(cell) for row in islice(sheet.iter_rows(), MOST_ROWS) for cell in row)
    except BROKEN:  # reported when the rows are read
        return True


def _row(header: list[str], cells: list[Any], top: int) -> Any:
    texts = []
    for index, cell in enumerate(cells):
        heading = header[index] if index < len(header) else ""
        if cell.data_type == "e":
            return InvalidInput(f"the cell {cell.coordinate} holds the error {cell.value}: correct its formula")
        if heading:
            texts.append(_text(cell))
        elif not _is_empty(cell):
            return no_name(f"cell {cell.coordinate}", f"row {top}")
    names = [heading for heading in header if heading]
    return cells_row(names, [*texts, *[""] * (len(names) - len(texts))])


def _is_empty(cell: Any) -> bool:
    return cell.value is None or (isinstance(cell.value, str) and not cell.value.strip())


def _text(cell: Any) -> str:
    """Return the value of a cell as a text."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)
