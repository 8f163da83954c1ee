"""The file of rows as an argument, and what options say about it: ``--encoding``, ``--at``."""

from __future__ import annotations

from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .json, .csv, .tsv (.gz may follow), .xlsx or .parquet file; - reads standard input.",
    ),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of a text file that is not UTF-8: cp1252, latin-1, utf-16, ...")
]
At = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Where the rows are: the name of a sheet, or the path to a list in a JSON file, as in results.results.",
    ),
]
