"""Columns as an option of a command: ``--map question=prompt,contexts='passage_*'``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from ragmetrics_core import InvalidInput

from .._names._metrics import split

SHORT = {"user_input": "question", "response": "answer", "retrieved_contexts": "contexts", "reference": "reference"}
"""What most metrics need, under the short names that --map takes too."""

Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN",
        help="The column that a field is read from: question=prompt,answer=outputs.text,contexts='passage_*'. Repeatable.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What stands between the texts of a list in one cell, such as '||'."),
]


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """What is named, in the form that ``evaluate`` takes as ``columns``; a name with a comma stands in quotes.

    Raises:
        InvalidInput: a part is no pair of names, or one name stands twice.
    """
    columns: dict[str, str] = {}
    for part in (part for text in texts for part in split(text)):
        first, equals, second = (_unquoted(name) for name in part.partition("="))
        if not (first and equals and second):
            raise InvalidInput(f"--map: {part!r} is no pair of names: write FIELD=COLUMN, such as question=prompt")
        if first in columns:
            raise InvalidInput(
                f"--map: {first!r} stands twice: name one column for it, or a pattern such as 'context_*'"
            )
        columns[first] = second
    return columns


def map_for(fields: Iterable[str]) -> str:
    """The option that names the columns of these fields, with a word in the place of each column."""
    return f"--map {','.join(f'{SHORT.get(field, field)}=COLUMN' for field in fields)}"


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name
