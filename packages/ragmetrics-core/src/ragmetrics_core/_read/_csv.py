"""CSV: texts become what the sample fields need, and whatever can only be guessed is refused.

The separator of a .tsv file is the tab, that of a .csv file the comma, semicolon or tab, whichever its header uses most outside
quotes. An empty cell is a missing value. A cell of a list column is a JSON list or a Python literal list if it starts with
``[``, else a list of one. A row with too many or too few cells, or with stray quotes, is an error: read leniently, it would put
texts under the wrong names. Broken quotes and broken text end the reading, for nobody can tell where the next row starts; the
message says how far it went.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import tokenize
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import ALIASES
from ._text import BadShape, RawRow, lines_of

__all__ = ["csv_rows"]

LISTS = frozenset({"retrieved_contexts", "reference_contexts", "retrieved_documents", "reference_documents"})
OBJECTS = frozenset({"rubric", "metadata"})


def csv_rows(path: Path) -> Iterator[RawRow]:
    """Every row; its place is the line that the row starts on.

    Raises:
        InvalidInput: the quotes are broken, the file is not UTF-8 text, or two columns have the same name.
    """
    lines = _text_lines(path)
    header: list[str] = []
    line, rows = 1, 0
    try:
        start = list(_until_header(lines))
        separator = "\t" if ".tsv" in _suffixes(path) else _separator("".join(start))
        reader = csv.reader(chain(start, lines), delimiter=separator, strict=True)
        for cells in reader:
            place = f"{path.name}, line {line}"
            line = reader.line_num + 1
            if not header:
                header = _header(cells, place)
            elif any(cells):
                rows += 1
                yield place, _row(header, cells)
    except csv.Error as error:
        raise InvalidInput(f"{path.name}, line {line}: {_explain(error)}{_so_far(rows)}") from None
    except InvalidInput as error:
        raise InvalidInput(f"{error}{_so_far(rows)}") from None


def _text_lines(path: Path) -> Iterator[str]:
    for number, line in lines_of(path):
        if "\0" in line:  # Python 3.11 and later would read on
            raise InvalidInput(
                f"{path.name}, line {number}: holds a NUL character, which no text has: save the file anew, as UTF-8"
            )
        yield line


def _until_header(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line.strip():
            return


def _suffixes(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes[-2:]]


def _separator(header: str) -> str:
    # of the pieces between quotes every second one was inside them, also where a quote is doubled
    outside = "".join(header.split('"')[::2])
    return max(",;\t", key=outside.count)


def _so_far(rows: int) -> str:
    return f" (the file was read up to there: {rows} row{'s' * (rows != 1)})" if rows else ""


def _header(cells: list[str], place: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"{place}: two columns are named {name!r}: rename one of them")
    return names


def _row(header: list[str], cells: list[str]) -> Any:
    if len(cells) != len(header):
        return BadShape(
            f"the header names {len(header)} columns, this row has {len(cells)}: put texts that hold separators in double quotes"
        )
    try:
        return {column: _value(column, cell) for column, cell in zip(header, cells, strict=True)}
    except InvalidInput as error:
        return error


def _value(column: str, cell: str) -> Any:
    if not cell.strip():
        return None
    name = ALIASES.get(column, column)
    if name in LISTS:
        return _literal(column, cell, list) if cell.lstrip().startswith("[") else [cell]
    if name in OBJECTS:
        return _literal(column, cell, dict)
    return cell


def _literal(column: str, cell: str, kind: type) -> Any:
    """The list or dict that the cell spells in JSON or in Python."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            value = None if _joins_texts(cell) else ast.literal_eval(cell.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
            value = None
    if isinstance(value, kind):
        return value
    what, form = ("list", '["first text", "second text"]') if kind is list else ("object", '{"key": "text"}')
    begin = "starts with '[' but is" if kind is list else "is"
    raise InvalidInput(f"{column}: the cell {begin} neither a JSON nor a Python {what}: write {form}")


def _joins_texts(cell: str) -> bool:
    """Whether two texts stand side by side, which Python would join into one: ``['a' 'b']`` is how numpy prints an array."""
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(cell.strip()).readline)]
    solid = [kind for kind in kinds if kind not in (tokenize.NL, tokenize.NEWLINE)]
    return any(left == right == tokenize.STRING for left, right in pairwise(solid))


def _explain(error: csv.Error) -> str:
    if "field larger" in str(error):
        return (
            f"a cell is longer than {csv.field_size_limit():,} characters, the most CSV allows: save the data as JSONL"
        )
    if "new-line character" in str(error):
        return "a line ends in a lone carriage return, as on old Macs: save the file with the line ends of today (LF or CRLF)"
    return f"the quotes do not match ({error}): double the quotes inside of a quoted cell"
