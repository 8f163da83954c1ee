"""The head of the page of a comparison: which runs, what forbids to credit the system, and who scored each of them.

As in the text of a comparison, what forbids to credit the system comes before any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .._kernel._tags import Html, element, joined
from ._compared_rows import Run
from ._comparison_words import pairs_in_words, warning_head
from ._html_header import PROMPTS, Origin, facts, notice, scored_at
from ._html_paired_rows import PairedRows

if TYPE_CHECKING:
    from ._comparison import Comparison

BOTH = "both runs"


def comparison_header(comparison: Comparison, rows: PairedRows) -> Html:
    """The head of the page."""
    return joined(
        [
            element("p", "ragmetrics comparison", class_="kicker"),
            element(
                "h1",
                element("span", comparison.before, dir="auto"),
                element("span", " \u2192 ", aria_hidden="true", class_="arrow"),
                element("span", " compared with ", class_="aside"),
                element("span", comparison.after, dir="auto"),
            ),
            _warnings(comparison),
            *(notice("Read this first", text, "caveat") for text in _caveats(rows)),
            *(notice("Read this first", text, "caveat") for text in comparison.incomplete),
            element("p", f"{pairs_in_words(comparison)}. Differences are after minus before.", class_="lead"),
            *(element("p", str(item), class_="lead", dir="auto") for item in comparison.corrected),
            _runs(rows),
        ]
    )


def _warnings(comparison: Comparison) -> Html | None:
    """What differs in who scored, before everything else."""
    if not comparison.warnings:
        return None
    sign = element("span", "!", class_="sign", aria_hidden="true")
    items = (element("li", text, dir="auto") for text in comparison.warnings)
    head = element("p", sign, element("b", warning_head(comparison)))
    return element("div", head, element("ul", *items), class_="caveat bad", role="note")


def _caveats(rows: PairedRows) -> Iterator[str]:
    """What must be known about the models that were asked; once, where it is so in both runs."""
    found: dict[str, list[str]] = {}
    for side in rows.sides:
        for text in dict.fromkeys(side.run.evaluation.caveats):
            found.setdefault(text, []).append(side.run.name)
    for text, names in found.items():
        yield f"{BOTH if len(names) == len(rows.sides) else names[0]}: {text}"


def _runs(rows: PairedRows) -> Html:
    """Who scored each run, when, and what it cost; once, where it is the same in both."""
    before, after = (dict(_facts(side.run)) for side in rows.sides)
    names = dict.fromkeys([*before, *after])
    return element(
        "dl", *(_fact(name, before.get(name, NONE), after.get(name, NONE)) for name in names), class_="facts"
    )


def _fact(name: str, before: Sequence[str], after: Sequence[str]) -> Html:
    wide = "wide" if name == PROMPTS else None
    if list(before) == list(after):
        shown = (element("dd", text, dir="auto") for text in before)
        return element("div", element("dt", name), *shown, class_=wide)
    sign = element("span", " differs", class_="differs")
    lines = (
        element("dd", element("span", when, class_="when"), " ", element("bdi", text))
        for when, texts in (("before", before), ("after", after))
        for text in texts
    )
    return element("div", element("dt", name, sign if name in WHO else None), *lines, class_=wide)


NONE = ("none",)

WHO = frozenset({"Judge", "Embeddings", "Prompt versions"})
"""Facts that should be the same in both runs."""


def _facts(run: Run) -> Iterable[tuple[str, Sequence[str]]]:
    names = list(run.columns)
    complete = sum(all(run.columns[name].values[row] is not None for name in names) for row in range(len(run.rows)))
    prompts: dict[str, dict[str, None]] = {}
    for column in run.columns.values():
        for prompt, versions in column.prompts.items():
            prompts.setdefault(prompt, {}).update(dict.fromkeys(sorted(versions)))
    evaluation = run.evaluation
    origin = Origin(run.name, len(run.rows), complete, scored_at(evaluation), evaluation.settings, prompts)
    return facts(evaluation.summary(), origin)
