"""A page joined from its sources: one file, which loads nothing and runs nothing but its own script.

Strategy. The sources are plain HTML, CSS and JavaScript in the folder `page`, small files that are read as they are; whoever
changes one needs no tool but an editor. They are joined when a page is written. The policy of the page names its script and its
style by their digests: whatever else might get into the file could neither run, nor be loaded, nor send anything anywhere.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from .._kernel._tags import Html, shown

__all__ = ["joined_page", "policy", "source"]

SCRIPTS = ("dom", "unpack", "rows", "filters", "table", "slices", "claims", "marks", "evidence", "row", "main")
"""The parts of the script, in the order in which they are joined."""

STYLES = ("base", "table", "row", "print")

PLACE = re.compile(r"\{\{(\w+)\}\}")


@lru_cache(maxsize=32)
def source(name: str) -> str:
    """A source of the page, by the name of its file."""
    text = (files(__package__) / "page" / name).read_text(encoding="utf-8")
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


def joined_page(title: str, **parts: Html) -> str:
    """The page with these parts in their places.

    Args:
        title: what the tab of the browser shows.
        parts: markup by the name of its place in ``page.html``.

    Raises:
        KeyError: a place has no part.
    """
    style = "".join(source(f"{name}.css") for name in STYLES)
    script = "".join(["'use strict';\n(() => {\n", *(source(f"{name}.js") for name in SCRIPTS), "})();\n"])
    given = {
        **parts,
        "title": shown(title),
        "policy": shown(policy(style, script)),
        "style": style,
        "script": script,
    }
    return PLACE.sub(
        lambda match: given[match[1]], source("page.html")
    )  # one pass: what is filled in is not read again
