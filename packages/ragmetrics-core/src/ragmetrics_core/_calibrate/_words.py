"""What a calibration says in words and numbers, for all pictures of it; plain sentences, which may quote data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .._kernel._counts import count_of
from ..statistics import METHODS, Interval, Measure

if TYPE_CHECKING:
    from ._calibration import Calibration, MetricCalibration, SliceCalibration


class Number(NamedTuple):
    """A line of a table: what it is called, and the number."""

    name: str
    measure: Measure


SLICE_HEADINGS = ("slice", "labels", "error", "95 % interval", "elsewhere", "difference", "worse")


def title(calibration: Calibration) -> str:
    """What was held against what."""
    counts = ", ".join(_labelled(item) for item in calibration.metrics)
    return f"{calibration.run}, beside people: {counts}"


def _labelled(item: MetricCalibration) -> str:
    parts = []
    if item.lines or item.claims is None:
        parts.append(count_of(item.labels, "labelled row"))
    if item.claims is not None:
        parts.append(count_of(item.claims.claims, "labelled claim"))
    people = f" by {count_of(item.annotators, 'annotator')}" if item.annotators > 1 else ""
    return f"{' and '.join(parts)}{people} for {item.name}"


def headline(item: MetricCalibration) -> str:
    """The corrected score, or why there is none."""
    if item.corrected is None:
        return f"{item.name}: no corrected score: {item.problem or 'only claims have labels'}"
    found = item.corrected
    said = f"pass {found.mean:.3f} of its {item.rows:,} rows" if item.verdicts else f"give {found.mean:.3f} on average"
    interval = f", 95 % interval {found.interval}" if found.interval else ""
    return f"{item.name}: people would {said}{interval}"


def summary_words(item: MetricCalibration) -> Iterator[str]:
    """The corrected score in one line, and a line for each reason to doubt it; of a metric that has one."""
    found = item.corrected
    assert found is not None
    rows = f"the {item.rows:,} rows with a score" if item.without_score else "the rows"
    said = f"pass {found.mean:.3f} of {rows}" if item.verdicts else f"give {found.mean:.3f} on average"
    interval = f", 95 % interval {found.interval}" if found.interval else ""
    alone = " alone" if found.interval == found.label_interval else ""
    yield f"people would {said}{interval}, from {count_of(found.labels, 'label')}{alone}"
    yield from (f"WARNING: {text}" for text in item.warnings)


def corrected_words(item: MetricCalibration) -> Iterator[str]:
    """How the corrected score came about, and what it is worth."""
    found = item.corrected
    if found is None:
        return
    alone = f"the labels alone: {found.label_mean:.3f}" + (f", {found.label_interval}" if found.label_interval else "")
    used = found.interval is not None and found.interval != found.label_interval
    if used:
        yield f"from {found.labels:,} labels and {found.rows:,} judgements ({METHODS[found.method]}); {alone}"
    else:
        yield f"from {found.labels:,} labels alone ({METHODS[found.method]})"
    if found.note is not None:
        yield found.note
    elif found.worth_labels is not None:
        yield (
            f"the judge helps: the interval is {100 * (found.gain or 0.0):.0f} % narrower than that of the labels alone; about "
            f"{found.worth_labels:.0f} labels alone would make as narrow an interval"
        )
    if item.judge_mean is not None:
        yield f"the judge's own mean: {item.judge_mean:.3f}" + _not_a_rate(item)
    if item.without_score:
        yield f"of the run's {item.rows + item.without_score:,} rows, {item.without_score:,} without a score: not counted here"


def _not_a_rate(item: MetricCalibration) -> str:
    """A mean of scores is no share of rows that pass."""
    return " (of scores, which are no passes and fails)" if item.verdicts and item.agreement and _scores(item) else ""


def _scores(item: MetricCalibration) -> bool:
    return item.agreement is not None and item.agreement.auroc.value is not None


def numbers(item: MetricCalibration) -> list[Number]:
    """Agreement over rows, and the ceiling."""
    found = item.agreement
    lines: list[Number] = []
    if found is not None and item.verdicts:
        lines += [
            Number("Cohen's kappa", found.kappa),
            Number("Gwet's AC1", found.ac1),
            Number("sensitivity", found.sensitivity),
            Number("specificity", found.specificity),
        ]
        if found.auroc.value is not None:  # of verdicts there is none, and sensitivity and specificity say it all
            lines.append(Number("AUROC", found.auroc))
    elif found is not None:
        lines += [Number("Spearman's rank correlation", found.spearman), Number("judge minus people", found.difference)]
    if item.ceiling.value is not None:
        lines.append(Number("between annotators: alpha", item.ceiling))
    return lines


def claim_title(item: MetricCalibration) -> str:
    """What the numbers about claims are about."""
    found = item.claims
    assert found is not None
    if found.problem is not None:
        return f"claims: {found.problem}"
    return f"claim by claim: {count_of(found.claims, 'claim')} of {count_of(found.rows, 'row')}"


def claim_numbers(item: MetricCalibration) -> list[Number]:
    """Agreement over claims, and the ceiling."""
    if item.claims is None or item.claims.agreement is None:
        return []
    found = item.claims.agreement
    lines = [
        Number("Cohen's kappa", found.kappa),
        Number("Gwet's AC1", found.ac1),
        Number("sensitivity", found.sensitivity),
        Number("specificity", found.specificity),
    ]
    if item.claims.ceiling.value is not None:
        lines.append(Number("between annotators: alpha", item.claims.ceiling))
    return lines


def missing(lines: Sequence[Number]) -> Iterator[str]:
    """Why numbers or their intervals are missing; one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if line.measure.problem is not None:
            reasons.setdefault(line.measure.problem, []).append(line.name)
    yield from (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def threshold_words(item: MetricCalibration) -> str | None:
    """From which score on a row passes, and what errors that makes; None where there is no threshold."""
    found, value = item.agreement and item.agreement.threshold, item.threshold
    if not found or value is None:
        return None
    side = "up to" if item.lower_is_better else "from"
    return (
        f"best threshold: a row passes {side} {value:g} on; of the rows that pass people fail {_share(found.wrong_passes)}, of "
        f"those that fail people pass {_share(found.wrong_fails)} (on rows that did not choose the threshold)"
    ).replace("up to " + f"{value:g} on", "up to " + f"{value:g}")


def _share(measure: Measure) -> str:
    if measure.value is None:
        return f"an unknown share ({measure.problem})"
    return f"{measure.value:.3f}" + (f" ({measure.interval})" if measure.interval else "")


def slice_cells(item: SliceCalibration) -> tuple[str, ...]:
    """A line of the table of slices."""
    verdict = "yes" if item.worse else "not shown" if item.difference.interval else "cannot say"
    return (
        item.name,
        f"{item.labels:,}",
        number(item.error),
        interval_text(item.error.interval),
        number(item.rest),
        f"{item.difference.value:+.3f}" if item.difference.value is not None else "-",
        verdict,
    )


def number(measure: Measure) -> str:
    """A number for a table."""
    return "-" if measure.value is None else f"{measure.value:.3f}"


def interval_text(interval: Interval | None) -> str:
    """An interval for a table."""
    return str(interval) if interval else "-"


def remarks(calibration: Calibration) -> Iterator[str]:
    """What the numbers rest on."""
    yield from filter(None, [calibration.doubt, *calibration.notes])
    for item in calibration.metrics:
        if item.unscored:
            yield f"{item.name}: {count_of(item.unscored, 'labelled row')} without a score, left out"
        if item.split:
            yield (
                f"{item.name}: on {count_of(item.split, 'row')} annotators are split: left out of the agreement, and half a pass "
                "in the corrected score"
            )
        if item.claims is not None and item.claims.split:
            yield f"{item.name}: on {count_of(item.claims.split, 'claim')} annotators are split: left out"
        if calibration.by is not None and not item.slices and item.problem is None:
            why = (
                "only claims have labels"
                if item.corrected is None
                else "nothing tells from which score on a row passes"
            )
            yield f"{item.name}: no errors by {calibration.by}, as {why}: label more rows"
    found = [item for item in calibration.metrics if item.corrected is not None]
    if any(item.corrected is not None and item.labels < item.rows for item in found):
        yield (
            "the corrected score is that of all rows with a score if the rows with a label were drawn at random, or have the "
            "weights that --suggest gives; labels of rows that somebody picked make it wrong"
        )
    if any(item.verdicts and item.agreement is not None for item in found):
        yield "sensitivity: of the rows that people pass the share that the judge passes; specificity: the same of fails"
        yield "kappa, AC1, alpha: 1 is full agreement, 0 as much as by chance"
    if any(item.claims is not None and item.claims.agreement is not None for item in calibration.metrics):
        yield "claims of one row are alike: their intervals count with that"
    if any(item.slices for item in calibration.metrics):
        yield (
            "slices: error is the share on which judge and people differ, of grades their mean distance; worse: it is larger "
            "than in all other rows, for all slices together with 95 % certainty"
        )
    if calibration.cluster is not None:
        yield f"clusters: rows with the same {calibration.cluster} are not independent"
