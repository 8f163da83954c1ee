"""Build HTML from Python values; every text is escaped.

The texts that are judged may be hostile. So markup has its own type, ``Html``, which only this module creates. Every plain ``str``
counts as text and is escaped, so a page cannot forget it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML does not allow, and lone surrogates, which a file cannot contain."""

VOID = frozenset({"br", "hr", "input", "meta", "wbr"})
"""Elements that have no end tag."""


class Html(str):
    """Markup that was built by ``element`` or ``joined``; it is not escaped again."""

    __slots__ = ()


EMPTY = Html("")


def shown(text: str) -> Html:
    """Escape a text, and replace characters that HTML does not allow."""
    return Html(escape(UNPRINTABLE.sub("\ufffd", text)))


def joined(parts: Iterable[str | None]) -> Html:
    """Join parts; texts are escaped, and None is left out."""
    return Html("".join(part if isinstance(part, Html) else shown(part) for part in parts if part is not None))


def element(name: str, *children: str | None, **attributes: object) -> Html:
    """Build an element: ``element("td", "text", class_="number", aria_label="mean")``.

    Attributes that are None or False are left out; attributes that are True get no value. In names, ``_`` becomes ``-``, and a
    ``_`` at the end is dropped.
    """
    given = (
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{shown(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    start = f"<{name}{''.join(given)}>"
    return Html(start if name in VOID and not children else f"{start}{joined(children)}</{name}>")
