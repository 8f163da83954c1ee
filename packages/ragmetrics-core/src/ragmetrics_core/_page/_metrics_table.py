"""The table of metrics that every page begins with: a row per metric, in markup that needs no script.

The script makes its headings sort the rows, by the numbers in ``data-order``. A number that must not be read alone has a short
caveat beside it, as text; the section of caveats has it in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from .._values._counts import count_of
from .._values._tags import Html, element
from ._page import breakable

FEW = 30
"""Means of fewer rows than this have a caveat."""

LOW_COVERAGE = 0.9
"""If a smaller share of the rows has a value, the mean has a caveat."""


class Cell(NamedTuple):
    """A cell: what it shows, and the number or text that its column is sorted by; None is sorted last."""

    content: Html | str | None
    order: float | str | None = None


class Named(Protocol):
    """A metric of a run or of a comparison."""

    @property
    def name(self) -> str: ...

    @property
    def scale(self) -> tuple[float, float] | None: ...


Item = TypeVar("Item", bound=Named)


def metrics_table(
    items: Sequence[Item], columns: Mapping[str, Callable[[Item], Cell]], words: Callable[[Item], str]
) -> Html:
    """Return the table of metrics.

    Args:
        items: the metrics.
        columns: what makes the cells of each column after the name, by its heading.
        words: says which end of a metric's scale is better.
    """
    heads = [element("th", name, scope="col", class_=_kind(name)) for name in ("Metric", *columns)]
    body = (element("tr", *_cells(item, columns, words)) for item in items)
    return element("table", element("thead", element("tr", *heads)), element("tbody", *body), class_="metrics")


def _cells(item: Item, columns: Mapping[str, Callable[[Item], Cell]], words: Callable[[Item], str]) -> Iterator[Html]:
    name = element("span", breakable(item.name), class_="name", dir="auto")
    yield element("th", name, element("span", words(item), class_="direction"), scope="row", data_order=item.name)
    for heading, cell in columns.items():
        content, order = cell(item)
        yield element("td", content, class_=_kind(heading), data_name=heading, data_order=order)


def _kind(heading: str) -> str:
    return f"of-{heading.rsplit(maxsplit=1)[-1].lower()}"


def direction(better: bool | None, without: str, scale: tuple[float, float] | None) -> str:
    """Say which end of a scale is better, or why none is, and name both ends."""
    words = without if better is None else "higher is better" if better else "lower is better"
    return f"{words}, {scale[0]:g} to {scale[1]:g}" if scale else words


def doubts(scored: int, rows: int, failed: int, what: str = "row") -> Iterator[tuple[str, str]]:
    """Return the caveats of a mean of ``scored`` rows, each in short and in full."""
    if failed:
        yield f"{failed:,} failed", f"{failed:,} of {count_of(rows, 'row')} failed and are not in the mean"
    if scored < rows - failed and scored < LOW_COVERAGE * rows:
        share = f"{100 * scored / rows:.0f} %"
        yield (
            f"{share} scored",
            f"{scored:,} of {count_of(rows, 'row')} ({share}) have a value, and the mean is theirs alone",
        )
    if 0 < scored < FEW:
        few = count_of(scored, what)
        yield f"only {few}", f"the mean is of {few} only, so it says little about other rows"


def marked(texts: Sequence[str]) -> Html | None:
    """Return short caveats to stand beside a number; None if there are none."""
    sign = element("span", "!", class_="sign", aria_hidden="true")
    return element("span", *(element("span", sign, text) for text in texts), class_="doubts") if texts else None
