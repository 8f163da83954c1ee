"""A calibration as Markdown. What comes from the data has no effect there, see `_markdown`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .._show._markdown import cut_lines, folded, prose, row
from ._words import (
    SLICE_HEADINGS,
    Number,
    claim_numbers,
    claim_title,
    corrected_words,
    headline,
    interval_text,
    missing,
    number,
    numbers,
    remarks,
    slice_cells,
    threshold_words,
    title,
)

if TYPE_CHECKING:
    from ._calibration import Calibration, MetricCalibration


def calibration_markdown(calibration: Calibration) -> str:
    """The whole page."""
    parts = [[f"### {prose(title(calibration))}"]]
    for item in calibration.metrics:
        parts += _metric(item)
    parts.append(folded("What the numbers rest on", [f"* {prose(text)}" for text in remarks(calibration)]))
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _metric(item: MetricCalibration) -> Iterator[list[str]]:
    yield [f"**{prose(headline(item))}**"]
    yield [f"* {prose(text)}" for text in corrected_words(item)]
    yield [f"> **Warning:** {prose(text)}" for text in item.warnings]
    yield from _numbers(numbers(item))
    threshold = threshold_words(item)
    yield [prose(threshold)] if threshold else []
    if item.claims is not None:
        yield [prose(claim_title(item))]
        yield from _numbers(claim_numbers(item))
    if item.slices:
        head = [row(SLICE_HEADINGS), row([":--", *("--:" for _ in SLICE_HEADINGS[1:])])]
        yield cut_lines([*head, *(row([prose(cell) for cell in slice_cells(part)]) for part in item.slices)])


def _numbers(lines: Sequence[Number]) -> Iterator[list[str]]:
    if not lines:
        return
    cells = [(line.name, number(line.measure), interval_text(line.measure.interval)) for line in lines]
    yield [
        row(("agreement", "value", "95 % interval")),
        row((":--", "--:", "--:")),
        *(row([prose(text) for text in line]) for line in cells),
    ]
    yield [f"* {prose(text)}" for text in missing(lines)]
