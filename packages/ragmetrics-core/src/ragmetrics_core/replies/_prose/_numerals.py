"""Roman numerals before the lines of a list, written as numbers.

"I." may also be an initial ("I. Newton wrote it."), so a numeral counts only where all of them count up from I, and a lone one
only before a question.
"""

from __future__ import annotations

import re

ASKS = ("?", "？", "؟")

_NUMERAL = re.compile(r"(?P<lead>\W{0,9})(?P<numeral>[IVX]{1,5})(?P<mark>[.)]\**\s)")
_TENS = ("", "X")
_UNITS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
_NUMERALS = tuple(tens + units for tens in _TENS for units in _UNITS)


def arabic(lines: list[str]) -> list[str]:
    """Lines numbered I, II, III as 1, 2, 3; any other lines as they are."""
    found = [(line, _NUMERAL.match(line)) for line in lines]
    numbered = [(line, match["numeral"]) for line, match in found if match]
    if not numbered or tuple(numeral for _, numeral in numbered) != _NUMERALS[: len(numbered)]:
        return lines
    if len(numbered) == 1 and not numbered[0][0].endswith(ASKS):
        return lines
    return [
        f"{match['lead']}{_NUMERALS.index(match['numeral']) + 1}{match['mark']}{line[match.end() :]}" if match else line
        for line, match in found
    ]
