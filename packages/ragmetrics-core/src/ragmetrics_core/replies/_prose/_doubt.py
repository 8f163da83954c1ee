"""Whether a tag or token of a reply is the model's own, and whether what it cuts off may be the answer all the same."""

from __future__ import annotations

import re
from bisect import bisect_right

from ..._kernel._wording import Asked
from .._json_text._find import decode
from .._json_text._scan import Found
from ._clean import without_tokens
from ._whose import declines, is_quoted, speaks_of_another

SHORT = 80
"""Characters of a line that can be an answer."""
_JSON = re.compile(r"\{|\[\s*[\"'“]")


def is_genuine(match: re.Match[str], asked: Asked) -> bool:
    """Whether a tag or token counts, for it can be no quotation."""
    return not is_quoted(match.string, *match.span()) and not asked.holds_mark(match.group())


class JsonSpans:
    """The complete JSON values of a text, asked which positions they cover."""

    def __init__(self, found: list[Found], shift: int = 0) -> None:
        whole = [item for item in found if item.state == "whole"]
        self.starts = [item.start + shift for item in whole]
        self.ends = [item.end + shift for item in whole]

    def cover(self, position: int) -> bool:
        """Whether a position lies inside one of them."""
        index = bisect_right(self.starts, position) - 1
        return index >= 0 and position < self.ends[index]


def unless_clear(kept: str, left_out: str, doubted: list[str]) -> None:
    """Doubt what is left out, unless what was kept before it is an answer and nothing else, or nothing."""
    bare = without_tokens(kept).strip()
    if not bare or decode(bare) is not None or (_ends_with_answer(bare) and not _JSON.search(left_out)):
        return
    doubted.append(left_out)


def _ends_with_answer(bare: str) -> bool:
    """Whether a text in words ends with a line that can be its answer, and nobody else is said to speak."""
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    if _JSON.search(bare) or not lines or len(lines[-1]) > SHORT or lines[-1].startswith(">") or declines(bare):
        return False
    return not speaks_of_another(lines[-1]) and not (len(lines) > 1 and lines[-2].endswith((":", "：")))
