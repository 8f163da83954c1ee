"""CSV: texts become what the sample fields need, and whatever can only be guessed is refused.

The separator is the one among comma, semicolon and tab that the header uses most. An empty cell is a missing value. A cell
of a list column is a JSON list or a Python literal list if it starts with ``[``, else a list of one. A row with too many
or too few cells, or with stray quotes, is an error: read leniently, it would put texts under the wrong names.
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

from .._errors import InvalidInput
from .._sample import ALIASES
from ._text import BadShape, Record, lines_of

__all__ = ["csv_records"]

LISTS = frozenset({"retrieved_contexts", "reference_contexts", "retrieved_documents", "reference_documents"})
OBJECTS = frozenset({"rubric", "metadata"})


def csv_records(path: Path) -> Iterator[Record]:
    """One record per row; its place is the line that the row starts on.

    Raises:
        InvalidInput: the quotes are broken, or two columns have one name.
    """
    lines = (line for _, line in lines_of(path))
    header_line = next(lines, "")
    reader = csv.reader(chain([header_line], lines), delimiter=max(",;\t", key=header_line.count), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            place = f"{path.name}, line {line}"
            line = reader.line_num + 1
            if not header:
                header = _header(cells, place)
            elif any(cells):
                yield place, _row(header, cells)
    except csv.Error as error:
        raise InvalidInput(f"{path.name}, line {line}: {_explain(error)}") from None


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
    return f"the quotes do not match ({error}): double the quotes inside of a quoted cell"
