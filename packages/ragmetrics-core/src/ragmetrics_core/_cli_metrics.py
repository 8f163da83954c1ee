"""Metrics as words on a command line: ``faithfulness``, ``ndcg(k=3)``, ``mymodule:MyMetric(strict=True)``.

A built-in metric goes by its name or its class name, a user's own by module and class; settings are written as a call with
literals. Nothing is executed to read them: the call is parsed, and its values are literals or an error.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragmetrics_core import InvalidInput, Metric, Sample

from ._settings import metric_class
from .metrics import catalogue

__all__ = ["fitting_metrics", "parse_metrics"]


def parse_metrics(texts: Iterable[str]) -> list[Metric]:
    """The metrics that the texts name, each text one or several with commas between.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be read or do not fit.
    """
    return [_metric(spec) for text in texts for spec in split(text)]


def fitting_metrics(sample: Sample) -> list[str]:
    """Names of the built-in metrics whose inputs the sample has, and which work without settings."""
    fitting = []
    for entry in catalogue():
        required = [item.name for item in entry.inputs if item.required]
        # what requires no input takes its bearings from settings
        if required and all(sample.get(name) is not None for name in required) and not _unset(entry.cls, {}):
            fitting.append(entry.name)
    return fitting


def split(text: str) -> list[str]:
    """The parts between the commas that stand outside of brackets and quotes."""
    cuts = [-1, *_commas(text), len(text)]
    parts = [text[start + 1 : end].strip() for start, end in pairwise(cuts)]
    return [part for part in parts if part]


def _commas(text: str) -> Iterator[int]:
    depth, quote, escaped = 0, "", False
    for position, char in enumerate(text):
        if quote:
            if not escaped and char == quote:
                quote = ""
            escaped = not escaped and char == "\\"
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            yield position


def _metric(spec: str) -> Metric:
    path, bracket, rest = spec.partition("(")
    cls = _class(path.strip())
    settings = _settings(spec, f"({rest}") if bracket else {}
    missing = _unset(cls, settings)
    if missing:
        given = ", ".join(f"{name}=..." for name in (*settings, *missing))
        raise InvalidInput(f"{path} needs {' and '.join(map(repr, missing))}: write {path}({given})")
    if not settings:
        return cls()
    name = path if ":" in path else cls.__name__
    return Metric.from_dict({"metric": name, "settings": settings})


def _class(path: str) -> type[Metric]:
    if ":" in path:
        # as python -m does, so that a metric in the current directory is found
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        return metric_class(path, Metric)
    known = {name: entry.cls for entry in catalogue() for name in (entry.cls.__name__, entry.name)}
    if path not in known:
        close = difflib.get_close_matches(path, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"there is no metric {path!r}{hint} (`ragmetrics metrics` lists them; your own is written module:Class)"
        )
    return known[path]


def _settings(spec: str, call: str) -> dict[str, Any]:
    try:
        node = ast.parse(f"metric{call}", mode="eval").body
    except SyntaxError:
        node = None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise InvalidInput(f"the metric {spec!r} cannot be read: write name(setting=value, ...)")
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise InvalidInput(f"the metric {spec!r} has a setting without a name: write name(setting=value, ...)")
    return {str(keyword.arg): _literal(spec, keyword) for keyword in node.keywords}


def _literal(spec: str, keyword: ast.keyword) -> Any:
    try:
        return ast.literal_eval(keyword.value)
    except ValueError:
        raise InvalidInput(
            f"the setting {keyword.arg!r} of {spec!r} must be a number, a quoted text, True, False, None, or a list or "
            "dict of these"
        ) from None


def _unset(cls: type[Metric], settings: dict[str, Any]) -> list[str]:
    """Settings that have no default and are not given."""
    return [
        item.name
        for item in fields(cls)
        if item.init and item.name not in settings and item.default is MISSING and item.default_factory is MISSING
    ]
