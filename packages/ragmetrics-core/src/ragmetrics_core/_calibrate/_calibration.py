"""The results of a calibration: the numbers of every metric, and their words.

Sentences may quote data; renderers escape it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any

from .._lexical._judge import lexical_remark
from .._run._slices import slice_name
from .._show._bars import Bar
from .._show._blocks import Block, Details, Flat, Items, Note, Result, Sentence, Table, Text, as_text
from .._show._sentences import as_sentence, in_words, shares, spoken
from .._show._tables import first_of, number, or_dash, room
from .._values._counts import count_of, grouped
from .._values._errors import InvalidInput
from ..statistics import METHODS, Agreement, CorrectedMean, Interval, Measure
from ._rows import MetricLabels


@dataclass(frozen=True)
class ClaimCalibration:
    """The judge compared with people, claim by claim.

    Attributes:
        claims: number of claims with a label that most annotators share.
        rows: number of rows that these claims are in.
        split: number of claims on which annotators are split; they are left out.
        agreement: agreement over these claims, with rows as clusters; None if there are too few claims.
        ceiling: Krippendorff's alpha between annotators.
        problem: why there is no agreement; None if there is one.
    """

    claims: int
    rows: int
    split: int
    agreement: Agreement | None
    ceiling: Measure
    problem: str | None = None


@dataclass(frozen=True)
class SliceCalibration:
    """The error of the judge in the rows of one slice, compared with the other rows.

    Attributes:
        by: the path of the column.
        label: the value of the column in these rows; None for rows without a value.
        labels: number of these rows with a label.
        error: for pass or fail, the share of labelled rows on which judge and people differ, by the threshold that agrees best or
            by the metric's own verdicts; for grades, the mean distance between the judge's and people's grades. With its 95 %
            interval.
        rest: the error in all other rows.
        difference: ``error`` minus ``rest``, with an interval that is adjusted for the number of slices and metrics.
        worse: whether the judge is worse in this slice: the interval of ``difference`` lies above 0, and for pass or fail an exact
            test agrees. Over all slices and metrics together, this is said wrongly in about 5 % of cases or less.
    """

    by: str
    label: str | None
    labels: int
    error: Measure
    rest: Measure
    difference: Measure
    worse: bool

    @property
    def name(self) -> str:
        """The readable name: ``lang=de``, or ``without lang``."""
        return slice_name(self.by, self.label)


@dataclass(frozen=True)
class LabelledScore:
    """A row that both judge and people judged.

    Attributes:
        row: its index among the rows of the run.
        name: its name in labels.
        score: the value of the metric.
        label: what people said: 1 passes, 0 fails, 0.5 if they are split; or their mean grade.
        passes: whether the row passes by the metric's own verdict, or by the threshold that agrees best; None for grades, and if
            neither is known.
        error: how far judge and people differ: 1 or 0 if the labels are pass or fail (0.5 if people are split), otherwise the
            distance between the grades; None if it is not known whether the row passes.
    """

    row: int
    name: str
    score: float
    label: float
    passes: bool | None
    error: float | None


@dataclass(frozen=True)
class MetricCalibration:
    """One metric compared with people's labels.

    Attributes:
        name: name of the metric.
        verdicts: whether the labels are pass or fail; otherwise they are grades on the scale of the metric.
        lower_is_better: whether low values of the metric are good, so that low values pass.
        scale: the scale of the metric; None if it is not known.
        rows: number of rows with a score; the corrected score is about these rows.
        without_score: number of rows of the run without a score; the corrected score says nothing about them.
        labels: number of rows with a score and a label.
        lines: number of labels of rows, of all annotators.
        annotators: number of annotators.
        split: number of labelled rows on which annotators are split.
        unscored: number of labelled rows without a score. They show nothing about the judge, and are left out.
        judge_mean: mean of the metric's own values over ``rows``.
        corrected: the mean that people would give over ``rows``; for pass or fail, the share that they would pass.
        agreement: agreement of the judge with people over the rows that have a label.
        ceiling: Krippendorff's alpha between annotators. A judge cannot be expected to agree better with people than they agree.
        problem: why there is no corrected score and no agreement; None if there are.
        claims: the same comparison claim by claim, if claims have labels.
        slices: the error of the judge in each slice.
        warnings: why the numbers may be wrong.
        own: the labels themselves.
        beside: the labelled rows that have a score.
        kappas: Cohen's kappa by each possible threshold, over the rows with a label, with their weights; empty if the metric gives
            verdicts, or the labels are grades.
    """

    name: str
    verdicts: bool
    lower_is_better: bool
    scale: tuple[float, float] | None
    rows: int
    labels: int
    lines: int
    annotators: int
    split: int
    unscored: int
    judge_mean: float | None
    corrected: CorrectedMean | None
    agreement: Agreement | None
    ceiling: Measure
    problem: str | None = None
    claims: ClaimCalibration | None = None
    slices: tuple[SliceCalibration, ...] = ()
    warnings: tuple[str, ...] = ()
    without_score: int = 0
    own: MetricLabels | None = field(default=None, repr=False, compare=False)
    beside: tuple[LabelledScore, ...] = field(default=(), repr=False, compare=False)
    kappas: Mapping[float, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def threshold(self) -> float | None:
        """The lowest value that passes, or the highest that passes if low values are good; None if there is no threshold."""
        if self.agreement is None or self.agreement.threshold is None:
            return None
        return (
            turned(self.agreement.threshold.value, self.scale)
            if self.lower_is_better
            else self.agreement.threshold.value
        )

    @property
    def confusion(self) -> dict[tuple[bool, bool], int]:
        """The number of labelled rows by the judge's and people's verdicts (whether the row passes); empty if rows have no
        verdicts of both. Rows on which people are split are left out.
        """
        both = [
            (item.passes, item.label == 1) for item in self.beside if item.passes is not None and item.label in (0, 1)
        ]
        cells = ((judge, people) for judge in (True, False) for people in (True, False))
        return {cell: both.count(cell) for cell in cells} if both else {}

    @property
    def differing(self) -> list[LabelledScore]:
        """The labelled rows on which judge and people differ, those that differ most first."""
        return sorted((item for item in self.beside if item.error), key=lambda item: -(item.error or 0.0))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values, except those of single rows and thresholds."""
        values = {name: _plain(value) for name, value in vars(self).items() if name not in ("own", "beside", "kappas")}
        return {**values, "threshold": self.threshold}


def turned(value: float, scale: tuple[float, float] | None) -> float:
    """Return a value of a metric for which low is good, turned so that high is good; or such a value turned back."""
    return scale[0] + scale[1] - value if scale else -value


@dataclass(frozen=True)
class Calibration(Result):
    """Whether the judge of a run can be trusted; ``print`` shows it as text.

    Attributes:
        run: the name of the run.
        metrics: one entry for each metric that has labels.
        by: the path of the column that defines ``slices``; None if there are no slices.
        cluster: the path of the column that defines clusters; None if rows are taken to be independent.
        notes: which labels were left out, and what is unknown about the others.
        doubt: why the scores of the run may differ from those that it ended with; empty if they do not.
        caveats: what users must know about the models that were asked.
    """

    run: str
    metrics: tuple[MetricCalibration, ...]
    by: str | None = None
    cluster: str | None = None
    notes: tuple[str, ...] = ()
    doubt: str = ""
    caveats: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> MetricCalibration:
        for item in self.metrics:
            if item.name == name:
                return item
        raise KeyError(f"no labels of {name!r}; there are some of {', '.join(item.name for item in self.metrics)}")

    def __contains__(self, name: object) -> bool:
        return any(item.name == name for item in self.metrics)

    def __iter__(self) -> Iterator[MetricCalibration]:
        return iter(self.metrics)

    @property
    def sentence(self) -> str:
        """The result in a sentence or two, with which text, Markdown and notebook begin."""
        return " ".join(map(as_sentence, _sentences(self)))

    def text(self, width: int | None = None) -> str:
        """Return the calibration as text of ``width`` columns; None: as wide as the terminal, or 80 columns without a terminal."""
        return as_text(self._blocks(), width or room())

    def _blocks(self) -> list[Block]:
        """Return for each metric the corrected score, the agreement, the threshold, claims and slices; then notes on the
        numbers.
        """
        counts = ", ".join(_labelled(item) for item in self.metrics)
        return [
            Sentence(self.sentence),
            Text(f"{self.run}, beside people: {counts}"),
            *(each for item in self.metrics for each in _metric(item)),
            Details("What the numbers rest on", [Items(list(remarks_of(self)))]),
            *map(Note, self.caveats),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {
            "run": self.run,
            "by": self.by,
            "cluster": self.cluster,
            "notes": [*filter(None, [self.doubt]), *self.notes],
            "caveats": list(self.caveats),
            "metrics": {item.name: item.to_dict() for item in self.metrics},
        }

    def corrected_of(self, name: str, rows: int, mean: float | None) -> MetricCalibration | None:
        """Return the calibration of a metric of this run; None if it has no labels, or too few.

        Raises:
            InvalidInput: the rows and the mean belong to another run.
        """
        if name not in self:
            return None
        item = self[name]
        if item.rows != rows or item.judge_mean != mean:
            raise InvalidInput(
                f"calibration belongs to another run: it has {item.rows} scored rows of {name!r} with the mean "
                f"{item.judge_mean:g}, and this run has {rows} with the mean {mean:g}: calibrate this run"
            )
        return item if item.corrected is not None else None


def _plain(value: Any) -> Any:
    if isinstance(value, Interval):
        return value._asdict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {name: _plain(item) for name, item in vars(value).items()}
    return value


DIFFERENCE = "judge minus people"
SHARES = frozenset({"sensitivity", "specificity", "AUROC"})

MOST_METRICS = 2
"""The number of metrics that the first sentences name; the rest is counted."""


def _sentences(calibration: Calibration) -> Iterator[str]:
    yield from agreement_sentences(calibration.metrics)
    if worse := [f"{part.name} ({item.name})" for item in calibration.metrics for part in item.slices if part.worse]:
        yield f"the judge is worse in {count_of(len(worse), 'slice')}: {first_of(worse)}"
    if calibration.doubt:
        yield "the scores of the run may not be those that it ended with"
    yield from lexical_remark(calibration.caveats)


def agreement_sentences(items: Sequence[MetricCalibration]) -> Iterator[str]:
    """Say for each metric how well judge and people agree, and what people would have given all rows; also for runs with labels."""
    for item in items[:MOST_METRICS]:
        yield f"on {in_words(item.name)}, {_agreement_in_words(item)}{_corrected_in_short(item)}"
    if (more := len(items) - MOST_METRICS) > 0:
        yield f"{count_of(more, 'other metric')} {'has' if more == 1 else 'have'} labels"
    if any(item.warnings for item in items):
        yield "the labels may mislead: see the warnings"


def _agreement_in_words(item: MetricCalibration) -> str:
    """Compare the agreement of judge and people with chance, and with the agreement of people among each other if its interval is
    known.
    """
    by_claim = item.agreement is None and item.claims is not None
    agreement, ceiling = item.agreement, item.ceiling
    if by_claim and item.claims is not None:
        agreement, ceiling = item.claims.agreement, item.claims.ceiling
    if agreement is None:
        problem = item.claims.problem if by_claim and item.claims is not None else item.problem
        return f"it is not known whether judge and people agree: {problem}"
    graded = not (item.verdicts or by_claim)
    name, measure = ("rank correlation", agreement.spearman) if graded else ("kappa", agreement.kappa)
    if measure.value is None or measure.interval is None:
        return f"it is not known whether judge and people agree: {measure.problem or 'there is no interval'}"
    value, low, high = spoken(measure.value, *measure.interval[:2])
    numbers = f"{name} {value}, {low} to {high}{', claim by claim' if by_claim else ''}"
    if measure.interval.high < 0:
        return f"the judge contradicts people more often than chance would ({numbers})"
    if measure.interval.low <= 0:
        return f"it is not shown that the judge agrees with people beyond chance ({numbers})"
    if graded or ceiling.value is None or ceiling.interval is None:
        return f"the judge agrees with people beyond chance ({numbers})"
    numbers += f"; between people {spoken(ceiling.value)[0]}"
    if measure.interval.high < ceiling.interval.low:
        return f"the judge agrees with people, but less than they agree with each other ({numbers})"
    if measure.interval.low > ceiling.interval.high:
        return f"the judge agrees with people more than they agree with each other ({numbers})"
    return f"the judge agrees with people about as well as they agree with each other, as far as the labels show ({numbers})"


def _corrected_in_short(item: MetricCalibration) -> str:
    """Return what people would give, for the end of a sentence; empty without a corrected score that has an interval."""
    found = item.corrected
    if found is None or found.interval is None:
        return ""
    if item.verdicts:
        share, low, high = shares(found.mean, *found.interval[:2])
        return f"; people would pass {share} % of the rows ({low} to {high} %)"
    mean, low, high = spoken(found.mean, *found.interval[:2])
    return f"; people would give {mean} on average ({low} to {high})"


SLICE_HEADINGS = ("slice", "labels", "error", "95 % interval", "elsewhere", "difference", "worse")


def _metric(item: MetricCalibration) -> Iterator[Flat]:
    corrected = item.corrected
    headline = f"no corrected score: {item.problem or 'only claims have labels'}"
    if corrected is not None:
        headline = _people_would(item, corrected, f"its {item.rows:,} rows")
    headline = f"{item.name}: {headline}"
    yield Items(list(_how_corrected(item, corrected)), headline) if corrected else Text(headline)
    yield from (Note(text, "WARNING") for text in item.warnings)
    yield from agreement_table(item.agreement, item.ceiling, grades=not item.verdicts)
    yield Text(threshold_in_words(item))
    if item.claims is not None:
        claims = item.claims
        size = f"claim by claim: {count_of(claims.claims, 'claim')} of {count_of(claims.rows, 'row')}"
        yield Text(size if claims.problem is None else f"claims: {claims.problem}")
        if claims.agreement is not None:
            yield from agreement_table(claims.agreement, claims.ceiling)
    yield Table(SLICE_HEADINGS, [_slice_cells(part) for part in item.slices])


def _labelled(item: MetricCalibration) -> str:
    parts = []
    if item.lines or item.claims is None:
        parts.append(count_of(item.labels, "labelled row"))
    if item.claims is not None:
        parts.append(count_of(item.claims.claims, "labelled claim"))
    people = f" by {count_of(item.annotators, 'annotator')}" if item.annotators > 1 else ""
    return f"{' and '.join(parts)}{people} for {item.name}"


def _people_would(item: MetricCalibration, found: CorrectedMean, rows: str) -> str:
    said = f"pass {found.mean:.3f} of {rows}" if item.verdicts else f"give {found.mean:.3f} on average"
    return f"people would {said}" + (f", 95 % interval {found.interval}" if found.interval else "")


def corrected_in_words(item: MetricCalibration) -> Iterator[str]:
    """Return the corrected score in one line, and a line for each reason to doubt it; empty without a corrected score."""
    if (found := item.corrected) is not None:
        rows = f"the {item.rows:,} rows with a score" if item.without_score else "the rows"
        alone = " alone" if found.interval == found.label_interval else ""
        yield f"{_people_would(item, found, rows)}, from {count_of(found.labels, 'label')}{alone}"
        yield from (f"WARNING: {text}" for text in item.warnings)


def _how_corrected(item: MetricCalibration, found: CorrectedMean) -> Iterator[str]:
    """Say how the corrected score was computed, and how good it is."""
    if found.interval is not None and found.interval != found.label_interval:
        limits = f", {found.label_interval}" if found.label_interval else ""
        judged = f"from {found.labels:,} labels and {found.rows:,} judgements ({METHODS[found.method]})"
        yield f"{judged}; the labels alone: {found.label_mean:.3f}{limits}"
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
        scores = item.verdicts and item.agreement is not None and item.agreement.auroc.value is not None
        no_rate = " (of scores, which are not passes and fails)" if scores else ""
        yield f"the judge's own mean: {item.judge_mean:.3f}{no_rate}"
    if item.without_score:
        yield f"of the run's {item.rows + item.without_score:,} rows, {item.without_score:,} without a score: not counted here"


def agreement_table(found: Agreement | None, ceiling: Measure, *, grades: bool = False) -> Iterator[Flat]:
    """Return the agreement of judge and people, of people with each other, and why numbers or their intervals are missing."""
    lines: dict[str, Measure] = {}
    if found is not None and grades:
        lines = {"Spearman's rank correlation": found.spearman, DIFFERENCE: found.difference}
    elif found is not None:
        lines = {"Cohen's kappa": found.kappa, "Gwet's AC1": found.ac1}
        lines |= {"sensitivity": found.sensitivity, "specificity": found.specificity}
        if found.auroc.value is not None:  # verdicts have no AUROC; sensitivity and specificity are enough
            lines["AUROC"] = found.auroc
    if ceiling.value is not None:
        lines["between annotators: alpha"] = ceiling
    rows = [(name, number(measure.value), or_dash(measure.interval)) for name, measure in lines.items()]
    yield Table(
        ("agreement", "value", "95 % interval"), rows, names=False, bars=[_bar(*line) for line in lines.items()]
    )
    missing = grouped((measure.problem, name) for name, measure in lines.items() if measure.problem is not None)
    yield Items([f"{', '.join(names)}: {problem}" for problem, names in missing.items()])


def _bar(name: str, measure: Measure) -> Bar | None:
    """Return a measure with its interval, shares from 0 to 1 and agreement from -1 to 1; a difference of grades has no axis."""
    if measure.value is None or measure.interval is None or name == DIFFERENCE:
        return None
    return Bar(measure.value, measure.interval[:2], (0.0 if name in SHARES else -1.0, 1.0))


def threshold_in_words(item: MetricCalibration) -> str:
    """State the threshold from which rows pass, and its error rates; empty without a threshold."""
    found = item.agreement and item.agreement.threshold
    if not found or item.threshold is None:
        return ""
    side = f"up to {item.threshold:g}" if item.lower_is_better else f"from {item.threshold:g} on"
    return (
        f"best threshold: a row passes {side}; of the rows that pass people fail {_share(found.wrong_passes)}, of "
        f"those that fail people pass {_share(found.wrong_fails)} (on rows that did not choose the threshold)"
    )


def _share(measure: Measure) -> str:
    if measure.value is None:
        return f"an unknown share ({measure.problem})"
    return f"{measure.value:.3f}" + (f" ({measure.interval})" if measure.interval else "")


def _slice_cells(item: SliceCalibration) -> tuple[str, ...]:
    """Return a line of the table of slices."""
    error, rest, difference = item.error, item.rest, item.difference
    change = "-" if difference.value is None else f"{difference.value:+.3f}"
    worse = "yes" if item.worse else "not shown" if difference.interval else "cannot say"
    errors = number(error.value), or_dash(error.interval), number(rest.value)
    return item.name, f"{item.labels:,}", *errors, change, worse


def remarks_of(calibration: Calibration) -> Iterator[str]:
    """Return remarks on how the numbers were computed."""
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
            why = "it is not known from which score on a row passes" if item.corrected else "only claims have labels"
            yield f"{item.name}: no errors by {calibration.by}, as {why}: label more rows"
    corrected = [item for item in calibration.metrics if item.corrected is not None]
    if any(item.labels < item.rows for item in corrected):
        yield (
            "the corrected score holds for all rows with a score if the rows with a label were drawn at random, or have the "
            "weights that --suggest gives; labels of rows that were picked by hand make it wrong"
        )
    if any(item.verdicts and item.agreement is not None for item in corrected):
        yield "sensitivity: of the rows that people pass the share that the judge passes; specificity: the same of fails"
        yield "kappa, AC1, alpha: 1 is full agreement, 0 as much as by chance"
    if any(item.claims is not None and item.claims.agreement is not None for item in calibration.metrics):
        yield "claims of one row are alike: their intervals count with that"
    if any(item.slices for item in calibration.metrics):
        yield (
            "slices: error is the share on which judge and people differ, of grades their mean distance; worse: it is larger "
            "than in all other rows, for all slices and metrics together with 95 % certainty"
        )
    if calibration.cluster is not None:
        yield f"clusters: rows with the same {calibration.cluster} are not independent"
