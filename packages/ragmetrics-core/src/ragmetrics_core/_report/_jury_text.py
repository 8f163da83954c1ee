"""What a summary says about the jurors of a jury, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._kernel._layout import printable
from ._jury import JurorSummary, JurySummary
from ._reasons import LONGEST_ROW
from ._table import cut_middle, hanging, wrapped, wrapped_items

if TYPE_CHECKING:
    from ._summary import Summary

LONGEST_NAME, LONGEST_ERROR = 60, 120


def jury_lines(summary: Summary, width: int) -> list[str]:
    """For each jury how far its jurors agree, what each of them did, and the rows on which they differ most."""
    return [line for item in summary.metrics if item.jury for line in _lines(item.name, item.jury, width)]


def _lines(name: str, jury: JurySummary, width: int) -> Iterator[str]:
    yield from hanging(f"jury {name}: {agreement_in_words(jury)}", width)
    for juror in jury.jurors:
        yield from wrapped(juror_in_words(juror), width, indent="  ")
    rows = [f"{cut_middle(label, LONGEST_ROW)} ({difference:.3g})" for label, difference in jury.disputed]
    if rows:
        yield from wrapped_items("they differ most on:", rows, width, indent="  ")


def agreement_in_words(jury: JurySummary) -> str:
    """Krippendorff's alpha, and rows that were tied or judged by fewer jurors."""
    number, alpha = len(jury.jurors), jury.alpha
    if alpha.value is None:
        said = f"how far its {number} jurors agree is not known: {alpha.problem}"
    else:
        limits = f", 95 % interval {alpha.interval}" if alpha.interval else ""
        said = f"its {number} jurors agree with Krippendorff's alpha {alpha.value:.3f}{limits}"
    for count, what in ((jury.tied, "tied"), (jury.incomplete, "scored by fewer of them")):
        if count:
            said += f"; {count} of {jury.rows} row{'s' * (jury.rows != 1)} {what}"
    return said


def juror_in_words(juror: JurorSummary) -> str:
    """What one juror did, and what its calls cost."""
    name = cut_middle(juror.name, LONGEST_NAME)
    model = (
        f" by {cut_middle(juror.model, LONGEST_NAME)}" if juror.model and f"({juror.model})" not in juror.name else ""
    )
    mean = "-" if juror.mean is None else f"{juror.mean:.3f}"
    said = f"{name}{model}: mean {mean}, {juror.scored} scored, {juror.unscored} unscored, {juror.failed} failed"
    usage = juror.usage
    if usage.calls:
        cached = f" ({usage.cached_calls} cached)" if usage.cached_calls else ""
        said += f"; {usage.calls} call{'s' * (usage.calls != 1)}{cached}"
    if usage.prompt_tokens or usage.completion_tokens:
        said += f", {usage.prompt_tokens} tokens in, {usage.completion_tokens} tokens out"
    if juror.errors:
        said += f"; failed most often by {printable(cut_middle(juror.errors[0][0], LONGEST_ERROR))}"
    return said
