"""JSONL, read line by line, and JSON, read whole because the format leaves no choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._errors import InvalidInput
from ._text import BadShape, Record, lines_of

__all__ = ["json_records", "jsonl_records"]


def jsonl_records(path: Path) -> Iterator[Record]:
    """One record per line that is not blank."""
    for number, line in lines_of(path):
        if line.strip():
            yield f"{path.name}, line {number}", _json_line(line.rstrip())


def _json_line(line: str) -> Any:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return BadShape(
            f"not JSON ({error.msg} at column {error.colno}): every line must hold one whole JSON object "
            "(a file with one JSON value over several lines is named .json)"
        )
    except (ValueError, RecursionError) as error:
        return BadShape(f"not JSON that can be read ({error})")
    return _object(value)


def json_records(path: Path) -> Iterator[Record]:
    """One record per item of the list that the file is, or holds under "samples" or "data".

    Raises:
        InvalidInput: the file is not JSON, or holds no such list.
    """
    text = "".join(line for _, line in lines_of(path))
    if not text.strip():
        return
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        cure = ": a file with one JSON object per line is named .jsonl" if error.msg == "Extra data" else ""
        raise InvalidInput(f"{path.name}, line {error.lineno}: not JSON ({error.msg}){cure}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path.name}: not JSON that can be read ({error})") from None
    if isinstance(data, dict):
        data = data.get("samples", data.get("data"))
    if not isinstance(data, list):
        raise InvalidInput(
            f'{path.name} must hold a list of rows, or an object with such a list under "samples" or "data"'
        )
    for number, item in enumerate(data, 1):
        yield f"{path.name}, item {number}", _object(item)


def _object(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    kind = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}.get(type(value), "a number")
    return BadShape(f'a row must be a JSON object such as {{"user_input": "..."}}, got {kind}')
