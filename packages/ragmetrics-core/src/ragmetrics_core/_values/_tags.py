"""HTML out of Python values: every text is escaped, and only what was built here counts as markup.

Text under judgement is hostile. So markup has its own type, ``Html``, which only this module makes. Every plain ``str`` is a text
and is escaped, so no page can forget to escape one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML has no place for, and halves of characters, which no file can hold."""

VOID = frozenset({"br", "hr", "meta"})
"""Elements that are written without an end."""


class Html(str):
    """Markup that was built by ``element`` or ``joined``; it is not escaped again."""

    __slots__ = ()


EMPTY = Html("")


def shown(text: str) -> Html:
    """The text as markup that shows it, character by character."""
    return Html(escape(UNPRINTABLE.sub("\ufffd", text)))


def joined(parts: Iterable[str | None]) -> Html:
    """The parts, one behind the other; texts are escaped, None is left out."""
    return Html("".join(part if isinstance(part, Html) else shown(part) for part in parts if part is not None))


def element(name: str, *children: str | None, **attributes: object) -> Html:
    """An element: ``element("td", "text", class_="number", aria_label="mean")``.

    Attributes that are None or False are left out, those that are True have no value; a ``_`` in a name stands for ``-``.
    """
    given = (
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{shown(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    start = f"<{name}{''.join(given)}>"
    return Html(start if name in VOID and not children else f"{start}{joined(children)}</{name}>")
