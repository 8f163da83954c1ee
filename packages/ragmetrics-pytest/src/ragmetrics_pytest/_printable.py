"""Texts on their way to a terminal: names, rows and what servers say must not steer it."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with every character escaped that is neither printable nor the end of a line."""
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)
