"""The page of several runs: their best runs and means, then the metrics and slices of each pair. It has no rows and no script; the
page of a comparison of two of the runs has the rows side by side.
"""

from __future__ import annotations

import os
from pathlib import Path

from .._compare._blocks import warning_head
from .._compare._several import ComparedSeveral, several_blocks, several_in_words, several_sentence
from .._gate._results import Decision
from .._show._blocks import Details, Items, Table, as_html
from .._values._layout import printable
from .._values._tags import Html, element, joined
from ._comparison_page import comparison_metrics, reasons, slice_section
from ._page import COMPARISON, caveat_section, framed, notice, section
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
            comparison_metrics(pair, f"pair-{at}", name, reasons(pair)),
            slice_section(pair, f"slices-{at}", f"{name}: slices by "),
        ]
    sections = [
        section("best", "Best runs", as_html([best]), element("div", as_html([means]), class_="scroll")),
        caveat_section(found.caveats),
        gate_list(decision),
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
        ]
    )
