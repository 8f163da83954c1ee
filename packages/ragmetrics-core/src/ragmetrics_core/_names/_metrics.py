"""Metrics by name, for ``evaluate`` and the command line: ``faithfulness``, ``ndcg(k=3)``, ``mymodule:MyMetric(strict=True)``.

A built-in metric is named by its name or its class, a user's own by module and class; settings are written as a call with
literals. Nothing is executed to read them: the call is parsed, and its values are literals or an error.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from itertools import pairwise
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._kernel._saved_settings import named_metric
from .._support._other_names import where_it_is


def metrics_named(texts: Iterable[str]) -> list[Metric]:
    """The metrics that the texts name; each text names one, or several with commas between them.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be read or do not fit.
    """
    return [_metric(spec) for text in texts for spec in split(text)]


def split(text: str) -> list[str]:
    """The parts between those commas that stand outside brackets and quotes."""
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
    path = path.strip()
    cls = named_metric(path, Metric) if ":" in path else _class(path)
    if isinstance(cls, Metric):
        if bracket:
            raise InvalidInput(f"{path} is a metric that has its settings already: leave ({rest} out")
        return cls
    settings = _settings(spec, f"({rest}") if bracket else {}
    missing = unset(cls, settings)
    if missing:
        given = ", ".join(f"{name}=..." for name in (*settings, *missing))
        raise InvalidInput(f"{path} needs {' and '.join(map(repr, missing))}: write {path}({given})")
    if not settings:
        return cls()
    name = path if ":" in path else cls.__name__
    return Metric.from_dict({"metric": name, "settings": settings})


def _class(path: str) -> type[Metric]:
    from ..metrics import catalogue  # noqa: PLC0415  loads every metric

    entries = catalogue()
    known: dict[str, type[Metric]] = {name: entry.cls for entry in entries for name in (entry.cls.__name__, entry.name)}
    if path not in known:
        if advice := where_it_is(path):
            raise InvalidInput(f"there is no metric {path!r}: {advice}")
        close = difflib.get_close_matches(path, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"there is no metric {path!r}{hint} (`ragmetrics metrics` lists them; your own is written module:NAME)"
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


def unset(cls: type[Metric], settings: dict[str, Any]) -> list[str]:
    """Settings that have no default and are not given."""
    return [
        item.name
        for item in fields(cls)
        if item.init and item.name not in settings and item.default is MISSING and item.default_factory is MISSING
    ]
