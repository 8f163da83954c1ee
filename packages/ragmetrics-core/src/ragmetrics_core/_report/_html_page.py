"""A page joined from its sources: one file, which loads nothing and runs nothing but its own script.

Strategy. The sources are plain HTML, CSS and JavaScript in the folder `page`, small files that are read as they are; whoever
changes one needs no tool but an editor. They are joined when a page is written. The policy of the page names its script and its
style by their digests: whatever else might get into the file could neither run, nor be loaded, nor send anything anywhere.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from .._kernel._tags import Html, shown

SCRIPTS = ("dom", "unpack", "rows", "filters", "table", "claims", "marks", "texts", "evidence", "row")
"""The parts of the script that all pages have, in the order in which they are joined; ``main``, which starts it, is the last."""

STYLES = ("base", "table", "row")


@dataclass(frozen=True)
class PageKind:
    """What one kind of page has that others have not.

    Attributes:
        name: its markup around the rows is in ``<name>.html``, the fields of its filters are in ``<name>-filters.html``.
        scripts: the parts of its script besides ``SCRIPTS``, which call them where a comment says so.
        styles: the parts of its style besides ``STYLES``.
    """

    name: str
    scripts: tuple[str, ...]
    styles: tuple[str, ...] = ()


LABELS = ("labels-kept", "labels-file", "labels-rows", "labels-view", "labels")
"""The parts of label mode, which is one of the pages of one run."""

REPORT = PageKind("report", ("scores", "slices", "record", *LABELS), ("labels",))
COMPARISON = PageKind("comparison", ("changes", "pair"), ("comparison",))

PLACE = re.compile(r"\{\{(\w+)\}\}")


@lru_cache(maxsize=32)
def source(name: str) -> str:
    """A source of the page, by the name of its file."""
    text = (files(__name__.rpartition(".")[0]) / "page" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # a browser reads it so, and the digest is of what it reads


def policy(style: str, script: str) -> str:
    """The content security policy that allows this style and this script, and nothing else."""
    rules = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def joined_page(title: str, parts: Mapping[str, Html], kind: PageKind = REPORT) -> str:
    """The page with these parts in their places.

    Args:
        title: what the tab of the browser shows.
        parts: markup by the name of its place in the sources.
        kind: what kind of page it is.

    Raises:
        KeyError: a place has no part.
    """
    style = "".join(source(f"{name}.css") for name in (*STYLES, *kind.styles, "print"))
    scripts = (source(f"{name}.js") for name in (*SCRIPTS, *kind.scripts, "main"))
    script = "".join(["'use strict';\n(() => {\n", *scripts, "})();\n"])
    rows = _filled(source("rows.html"), {"filters": source(f"{kind.name}-filters.html")})
    given = {
        **parts,
        "overview": _filled(source(f"{kind.name}.html"), {**parts, "rows": rows}),
        "title": shown(title),
        "policy": shown(policy(style, script)),
        "style": style,
        "script": script,
    }
    return _filled(source("page.html"), given)


def _filled(template: str, given: Mapping[str, str]) -> str:
    """The template with what is given in its places, in one pass: what is filled in is not read again."""
    return PLACE.sub(lambda match: given[match[1]], template)
