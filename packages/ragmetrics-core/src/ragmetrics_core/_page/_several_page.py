"""The page of several runs: their best runs and means, then the metrics and slices of each pair. It has no rows and no script; the
page of a comparison of two of the runs has the rows side by side.
"""

from __future__ import annotations

import os
from pathlib import Path

from .._compare._blocks import pairs_in_words
from .._compare._several import ComparedSeveral, several_blocks, several_in_words
from .._gate._results import Decision
from .._show._blocks import Details, Heading, as_html
from .._values._tags import element, joined, shown
from ._comparison_page import cards
from ._page import COMPARISON, filled, policy, section, source, style_of
from ._run_page import gate_list


def write_several(found: ComparedSeveral, path: str | os.PathLike[str], decision: Decision | None = None) -> None:
    """Write the page of several runs, with the results of their gates."""
    style, head = style_of(COMPARISON), several_in_words(found)
    blocks = [each for each in several_blocks(found) if not isinstance(each, Heading)]
    _, slices, rests = (each for each in blocks if isinstance(each, Details))  # cards show the reasons
    best = element("div", as_html([each for each in blocks if not isinstance(each, Details)]), class_="scroll")
    pairs = [(f"{pair.before} \u2192 {pair.after}", pairs_in_words(pair), cards(pair)) for pair in found.pairs]
    sections = [
        gate_list(decision),
        section("best", "Best runs", best),
        *(section(f"pair-{at}", names, element("p", rows), own) for at, (names, rows, own) in enumerate(pairs)),
        section("slices", slices.title, as_html([slices])),
        section("rests", rests.title, as_html([rests])),
    ]
    parts = {
        "title": shown(f"{head} \u2013 ragmetrics comparison"),
        "policy": shown(policy(style, "")),
        "style": style,
        "header": element("h1", head, dir="auto"),
        "main": joined(sections),
    }
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(filled(source("several.html"), parts))
