"""The check of scores that are given in steps of half a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragmetrics_core import BadReply

__all__ = ["check_halves"]


def check_halves(reply: tuple[float, str], _: Mapping[str, Any]) -> None:
    """Whether the score of a reply is a multiple of 0.5.

    Raises:
        BadReply: it is not.
    """
    if not (2 * reply[0]).is_integer():
        raise BadReply(f"the score must be a multiple of 0.5, got {reply[0]:g}")
