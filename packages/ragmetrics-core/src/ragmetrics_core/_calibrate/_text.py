"""A calibration as text, for people: per metric the corrected score, the agreement, the threshold, claims and slices.

Whatever comes from the data is shown with control characters as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .._kernel._layout import printable
from .._show._tables import hanging, table, wrapped
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


def calibration_text(calibration: Calibration, width: int) -> str:
    """The whole account."""
    parts = [wrapped(printable(title(calibration)), width)]
    for item in calibration.metrics:
        parts += _metric(item, width)
    parts.append([line for text in remarks(calibration) for line in hanging(printable(text), width)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _metric(item: MetricCalibration, width: int) -> Iterator[list[str]]:
    words = [line for text in corrected_words(item) for line in wrapped(printable(text), width, indent="  ")]
    yield [*wrapped(printable(headline(item)), width), *words]
    yield [line for text in item.warnings for line in hanging(printable(f"WARNING: {text}"), width)]
    yield _numbers(numbers(item), width)
    threshold = threshold_words(item)
    yield hanging(threshold, width) if threshold else []
    if item.claims is not None:
        yield [printable(claim_title(item)), *_numbers(claim_numbers(item), width)]
    if item.slices:
        yield [table(SLICE_HEADINGS, [slice_cells(part) for part in item.slices], width)]


def _numbers(lines: Sequence[Number], width: int) -> list[str]:
    if not lines:
        return []
    rows = [(line.name, number(line.measure), interval_text(line.measure.interval)) for line in lines]
    reasons = [line for text in missing(lines) for line in hanging(text, width)]
    return [table(("agreement", "value", "95 % interval"), rows, width), *reasons]
