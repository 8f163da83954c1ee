"""Reads messages in the texts that Python writes for objects of LlamaIndex and Haystack.

Every text in quotation marks is read as a whole, so what a message says cannot pose as another message. A text that is cut off has
no closing quotation mark, and is left out.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from .._values._turns import SPEAKERS
from ._reading import Said

STRING = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""A text as Python shows it."""

PARTS = re.compile(rf"ChatMessage\(_?role=<\w+\.(\w+)|text={STRING}\)|{STRING}|(ToolCall(?:Block)?\()")


def text_shown(literal: str) -> str:
    """Return the text that a literal of Python stands for; "" if it is none, which Python did not write."""
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return ""


def messages_shown(shown: str) -> list[Said]:
    """Return the messages in a text that Python wrote."""
    found: list[Said] = []
    for part in PARTS.finditer(shown):
        role, text, _, calls = part.groups()
        if role:
            found.append(Said(SPEAKERS.get(role.lower(), "tool"), ""))
        elif found and text:
            found[-1] = replace(found[-1], content=found[-1].content + text_shown(text))
        elif found and calls:
            found[-1] = replace(found[-1], calls_tools=True)
    return found
