"""The page of several runs: their best runs and means, then the metrics and slices of each pair. It has no rows and no script; the
page of a comparison of two of the runs has the rows side by side.
"""

from __future__ import annotations

import os
from pathlib import Path

from .._compare._blocks import pairs_in_words, warning_head
from .._compare._several import ComparedSeveral, several_blocks, several_in_words, several_sentence
from .._gate._results import Decision
from .._show._blocks import Details, Items, Table, as_html
from .._values._layout import printable
from .._values._tags import Html, element, joined
from ._comparison_page import cards, slice_section
from ._page import COMPARISON, framed, notice, section
from ._run_page import gate_list


def write_several(found: ComparedSeveral, path: str | os.PathLike[str], decision: Decision | None = None) -> None:
    """Write the page of several runs, with the results of their gates."""
    blocks = several_blocks(found)
    best = next(each for each in blocks if isinstance(each, Items))
    means = next(each for each in blocks if isinstance(each, Table))
    *_, rests = (each for each in blocks if isinstance(each, Details))
    pairs = []
    for at, pair in enumerate(found.pairs):
        name = printable(f"{pair.before} \u2192 {pair.after}")
        pairs += [
            section(f"pair-{at}", name, element("p", pairs_in_words(pair), class_="lead"), cards(pair)),
            slice_section(pair, f"slices-{at}", f"{name}: slices by "),
        ]
    sections = [
        gate_list(decision),
        section("best", "Best runs", as_html([best]), element("div", as_html([means]), class_="scroll")),
        *pairs,
        section("rests", rests.title, as_html([rests])),
    ]
    title = f"{several_in_words(found)} \u2013 ragmetrics comparison"
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(framed(title, {"header": _header(found), "overview": joined(sections)}, COMPARISON))


def _header(found: ComparedSeveral) -> Html:
    """Return the head of the page."""
    warnings = [f"{pair.before}, {pair.after}: {text}" for pair in found.pairs for text in pair.warnings]
    return joined(
        [
            element("p", "ragmetrics comparison", class_="kicker"),
            element("h1", f"{len(found.names)} runs compared with {printable(found.names[0])}", dir="auto"),
            element("p", several_sentence(found), class_="sentence", dir="auto"),
            notice(warning_head(found.pairs[0]), "", "caveat bad", warnings) if warnings else None,
            *(notice("Read this first", text) for text in found.caveats),
            element("p", f"{several_in_words(found)}. Differences are after minus before.", class_="lead"),
        ]
    )
