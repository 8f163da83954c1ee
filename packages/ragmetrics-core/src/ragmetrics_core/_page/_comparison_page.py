"""The page of a comparison: two runs side by side as one HTML file, which opens without a network and escapes all texts.

As in the text of a comparison, what forbids to credit the system comes before any number. The header says which runs are compared
and who scored them, a card for each metric what became of it, then come slices, gates, rows without a pair or a value, and what the
numbers rest on; all of that is markup that needs no script. The rows, which the script shows, are columns with two sides each.

A row of the page is a pair, or a row that only one run has; it is known by its position in ``Pairing.units``. Values are those that
the comparison counts: repeats of a row count once, with their mean. Texts are those of the first of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._compare._blocks import NUMBERS, pairs_in_words, remarks, telling, verdict_in_words, warning_head
from .._compare._comparison import ComparedRuns, MetricComparison
from .._compare._pairs import Pairing
from .._compare._row_changes import claim_changes
from .._compare._verdicts import Verdict, signed
from .._gate._evidence import about
from .._gate._results import Decision
from .._run._columns import Run
from .._run._slices import METADATA, slice_name
from .._store._records import Record, json_value, record_dict
from .._store._run_dir import SCORES
from .._summary._tally import summary_of
from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._score import NOT_ASKED
from .._values._tags import EMPTY, Html, element, joined
from ._difference_chart import difference_chart, widest
from ._page import COMPARISON, LARGEST, Content, bytes_of, fitted_page, put_page
from ._rows import LONGEST_ANSWER, LONGEST_NOTE, LONGEST_QUESTION, MetadataColumns, beginning, short
from ._run_page import PROMPTS, Origin, facts, gate_list, notice, scored_at

ABSENT, SCORED, UNSCORED, FAILED, UNASKED = "-", "s", "u", "f", "n"
"""What became of a row by a metric in one run; ``ABSENT``: that run does not have it."""


class Side:
    """One of the runs.

    Attributes:
        run: the run.
        positions: by row of the page, its position in the run; None where the run does not have it.
    """

    def __init__(self, run: Run, positions: Sequence[int | None], metrics: Sequence[str]) -> None:
        self.run = run
        self.positions = positions
        self._metrics = metrics
        count = len(run.rows)
        self._questions, self._answers = [""] * count, [""] * count
        self._metadata: list[Mapping[str, Any]] = [{}] * count
        self._notes: list[list[str | None]] = [[]] * count
        firsts = {row.records[0]: position for position, row in enumerate(run.rows)}
        for index, record in enumerate(run.evaluation.records):
            if index in firsts:
                self._take(firsts[index], record)

    def _take(self, position: int, record: Record) -> None:
        sample = record.sample
        self._questions[position] = beginning(sample.user_input, LONGEST_QUESTION)
        self._answers[position] = beginning(sample.response, LONGEST_ANSWER)
        self._metadata[position] = sample.metadata
        scores = (record.scores[name] for name in self._metrics)
        self._notes[position] = [beginning(score.error or score.reason, LONGEST_NOTE) or None for score in scores]

    def question(self, row: int) -> str:
        """The beginning of the question; "" where there is none."""
        return self._at(row, self._questions, "")

    def answer(self, row: int) -> str:
        """The beginning of the answer; "" where there is none."""
        return self._at(row, self._answers, "")

    def metadata(self, row: int) -> Mapping[str, Any]:
        """The metadata; empty where the run does not have the row."""
        return self._at(row, self._metadata, {})

    def note(self, row: int, metric: int) -> str | None:
        """Why there is no value, or what the judge said."""
        return self._at(row, self._notes, [None] * len(self._metrics))[metric]

    def value(self, row: int, metric: str) -> float | None:
        """The value by a metric; None where there is none."""
        return self._at(row, self.run.columns[metric].values, None)

    def label(self, row: int, metric: str) -> str | None:
        """The label by a metric; None where there is none."""
        return self._at(row, self.run.columns[metric].labels, None)

    def slice(self, row: int) -> str | None:
        """The value of the column that the comparison is sliced by."""
        return None if self.run.slices is None else self._at(row, self.run.slices, None)

    def state(self, row: int, metric: str) -> str:
        """What became of the row, in one letter."""
        position = self.positions[row]
        if position is None:
            return ABSENT
        column = self.run.columns[metric]
        if column.labels[position] == NOT_ASKED:
            return UNASKED
        if column.values[position] is not None:
            return SCORED
        return FAILED if column.failed[position] else UNSCORED

    def records(self, row: int) -> list[Record]:
        """The records of the row: one, several where it is repeated, none where the run does not have it."""
        position = self.positions[row]
        if position is None:
            return []
        return [self.run.evaluation.records[index] for index in self.run.rows[position].records]

    def _at(self, row: int, column: Sequence[Any], without: Any) -> Any:
        position = self.positions[row]
        return without if position is None else column[position]


ROUNDING = 1e-9
"""Values that differ by no more are the same."""

ONE_SIDED, SAME, ALONE = 0.0, -1.0, -2.0
"""Where rows without a size of change stand, behind those with one: a value on one side only; the same; in one run only."""


class PairedRows:
    """The columns of all rows of two runs, and the evidence of each row.

    Attributes:
        sides: the first run and the second one.
    """

    def __init__(self, pairing: Pairing, metrics: Sequence[MetricComparison]) -> None:
        names = [item.name for item in metrics]
        units = pairing.units()
        self._count = len(units)
        self._metrics = metrics
        self.sides = (
            Side(pairing.before, [before for before, _ in units], names),
            Side(pairing.after, [after for _, after in units], names),
        )

    def __len__(self) -> int:
        return self._count

    def name(self, row: int) -> str:
        """What people call a row: its id, or where it stood in its input."""
        side = self._known(row)
        return side.run.rows[self._position(row)].name

    def states(self, metric: str) -> list[str]:
        """For either run, what became of each row, in a letter each."""
        return ["".join(side.state(row, metric) for row in range(len(self))) for side in self.sides]

    def order(self) -> list[int]:
        """The rows that changed most first, by the largest change of any metric as a share of its scale.

        Then come rows with a value on one side only, then those that are the same, then those that only one run has.
        """
        sizes = [self._size(row) for row in range(len(self))]
        return sorted(range(len(self)), key=lambda row: -sizes[row])

    def to_dict(self, without_evidence: Iterable[int], by: str | None) -> dict[str, Any]:
        """As the page reads it; rows without evidence keep their notes here."""
        rows = range(len(self))
        names = [item.name for item in self._metrics]
        return {
            "ids": [self._known(row).run.rows[self._position(row)].id for row in rows],
            "names": [self.name(row) for row in rows],
            "places": [self._places(row) for row in rows],
            "questions": [self._known(row).question(row) for row in rows],
            "answers": [[side.answer(row) for row in rows] for side in self.sides],
            "values": [[[short(side.value(row, name)) for row in rows] for side in self.sides] for name in names],
            "states": [self.states(name) for name in names],
            "labels": [[self._labels(side, name) for side in self.sides] for name in names],
            "metadata": self._slices(by),
            "notes": {
                row: [[side.note(row, at) for side in self.sides] for at in range(len(names))]
                for row in sorted(without_evidence)
            },
            "order": self.order(),
        }

    def evidence(self, row: int) -> dict[str, Any]:
        """Everything about a row in both runs, and the claims whose support differs, by metric."""
        before, after = (side.records(row) for side in self.sides)
        names = [item.name for item in self._metrics]
        claims = {
            name: [item.to_dict() for item in claim_changes(_scores(before, name), _scores(after, name))]
            for name in names
            if before and after
        }
        return {
            "sides": [[_evidence(record, names) for record in records] for records in (before, after)],
            "claims": claims,
        }

    def _known(self, row: int) -> Side:
        """The run that tells what a row is called: the first, where it has the row."""
        return self.sides[0] if self.sides[0].positions[row] is not None else self.sides[1]

    def _position(self, row: int) -> int:
        position = self._known(row).positions[row]
        assert position is not None
        return position

    def _places(self, row: int) -> str:
        found = ((side, side.positions[row]) for side in self.sides)
        return " and ".join(dict.fromkeys(side.run.rows[at].place for side, at in found if at is not None))

    def _labels(self, side: Side, name: str) -> list[str | None] | None:
        found = [side.label(row, name) for row in range(len(self))]
        return found if any(found) else None

    def _slices(self, by: str | None) -> dict[str, list[str | None]]:
        """The columns that make groups of rows; what a pair has is what the first run says."""
        columns = MetadataColumns()
        for row in range(len(self)):
            columns.add(self._known(row).metadata(row))
        found = columns.slices()
        name = None if by is None else by.removeprefix(METADATA)
        if name is not None and name not in found:
            found[name] = [self._slice(row, name) for row in range(len(self))]
        return found

    def _slice(self, row: int, by: str) -> str | None:
        """What the first run says; where it says nothing, what the second one does, but for labels of a metric."""
        before, after = (side.slice(row) for side in self.sides)
        by_label = by in self.sides[0].run.columns and self.sides[0].positions[row] is not None
        return before if by_label or before is not None else after

    def _size(self, row: int) -> float:
        """How much a row changed by the metrics whose difference is shown."""
        if any(side.positions[row] is None for side in self.sides):
            return ALONE
        shown = [item for item in self._metrics if item.credited]
        size = max((self._change(item, row) for item in shown), default=0.0)
        if size > ROUNDING:
            return size
        states = ({side.state(row, item.name) == SCORED for side in self.sides} for item in shown)
        return ONE_SIDED if any(len(found) == 2 for found in states) else SAME

    def _change(self, item: MetricComparison, row: int) -> float:
        """By one metric, as a share of its scale; 0 without a value on both sides."""
        old, new = (side.value(row, item.name) for side in self.sides)
        low, high = item.scale or (0.0, 1.0)
        width = high - low if math.isfinite(high - low) and high > low else 1.0
        return 0.0 if old is None or new is None else abs(new - old) / width


def _scores(records: Sequence[Record], metric: str) -> list[Any]:
    return [record.scores[metric] for record in records]


def _evidence(record: Record, metrics: Sequence[str]) -> dict[str, Any]:
    """Everything about a row in one run, by the metrics of both, as plain JSON values that are finite."""
    found: dict[str, Any] = json_value(record_dict(record))
    return {**found, "scores": {name: found["scores"][name] for name in metrics}}


def comparison_header(comparison: ComparedRuns, rows: PairedRows) -> Html:
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
            *(notice("Read this first", text, "caveat") for text in comparison.caveats),
            *(notice("Read this first", text, "caveat") for text in comparison.incomplete),
            element("p", f"{pairs_in_words(comparison)}. Differences are after minus before.", class_="lead"),
            *(element("p", str(item), class_="lead", dir="auto") for item in comparison.corrected),
            _runs(rows),
        ]
    )


def _warnings(comparison: ComparedRuns) -> Html | None:
    """What differs in who scored, before everything else."""
    if not comparison.warnings:
        return None
    sign = element("span", "!", class_="sign", aria_hidden="true")
    items = (element("li", text, dir="auto") for text in comparison.warnings)
    head = element("p", sign, element("b", f"{warning_head(comparison)}:"))
    return element("div", head, element("ul", *items), class_="caveat bad", role="note")


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
    return facts(summary_of(evaluation), origin)


MARKS: dict[Verdict, tuple[str, str]] = {
    "better": ("\u2714", "good"),
    "worse": ("\u2718", "bad"),
    "no difference larger than the margin": ("=", "same"),
    "cannot say": ("?", "open"),
}
"""The sign of a verdict, and what kind it is of."""

ARROW = " \u2192 "


def difference_cards(comparison: ComparedRuns) -> Html:
    """The cards of all metrics, in their order, on axes that can be compared."""
    share = widest(comparison.metrics)
    people = {item.metric: str(item) for item in comparison.corrected}
    cards = (_card(item, share, people.get(item.name)) for item in comparison.metrics)
    return element("ul", *cards, class_="cards differences")


def verdict_mark(item: MetricComparison) -> Html:
    """A verdict with its sign."""
    mark, kind = MARKS[item.verdict]
    sign = element("span", mark, class_="sign", aria_hidden="true")
    return element("span", sign, verdict_in_words(item), class_=f"verdict {kind}")


def _card(item: MetricComparison, share: float, people: str | None) -> Html:
    """The card of a metric; ``people`` is the difference that people would see, in words, where labels tell it."""
    return element(
        "li",
        element("h3", item.name, dir="auto"),
        element("p", _direction(item), class_="direction"),
        element("p", verdict_mark(item), class_="verdict-line"),
        _means(item),
        difference_chart(item, share),
        element("p", sentence(item.why), class_="why", dir="auto"),
        element("p", f"{people}.", class_="corrected", dir="auto") if people else None,
        _numbers(item),
        class_=f"card {MARKS[item.verdict][1]}",
    )


def sentence(text: str) -> str:
    """The words as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def _direction(item: MetricComparison) -> str:
    words = {
        True: "higher is better",
        False: "lower is better",
        None: "which end is better is not known, or neither is",
    }
    better = words[item.higher_is_better]
    return f"{better}, {item.scale[0]:g} to {item.scale[1]:g}" if item.scale else better


def _means(item: MetricComparison) -> Html:
    if item.before is None or item.after is None:
        return element("p", element("span", "no row has a value in both runs"), class_="mean-line")
    change = "not compared" if item.difference is None else signed(item.difference)
    return element(
        "p",
        element("span", f"{item.before:.3f}", class_="mean-value before"),
        element("span", "\u2192", aria_hidden="true"),
        element("span", " to ", class_="aside"),
        element("span", f"{item.after:.3f}", class_="mean-value"),
        element("span", change, class_="told"),
        class_="mean-line",
    )


def _numbers(item: MetricComparison) -> Html:
    """What the verdict rests on, as pairs of a word and a number."""
    counts = (f"{found.scored:,} of {found.rows:,}" for found in (item.rows_before, item.rows_after))
    scored, shares = ARROW.join(counts), NUMBERS["coverage"](item).replace(", ", ARROW)
    facts = [
        ("95 % interval", NUMBERS["95 % interval"](item)),
        ("p", NUMBERS["p"](item)),
        ("adjusted p", NUMBERS["adjusted p"](item)),
        ("pairs", f"{item.pairs:,}" + (f", {NUMBERS['changed'](item)} changed" if item.credited else "")),
        ("rows with a value", f"{scored} ({shares})"),
        (f"rows to show {item.margin:.3g}", _rows_needed(item)),
    ]
    if item.clusters is not None:
        facts.append(("clusters", f"{item.clusters:,}"))
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in facts), class_="numbers"
    )


def _rows_needed(item: MetricComparison) -> str:
    return "not known" if item.rows_needed is None else f"about {about(item.rows_needed):,}"


def difference_slices(comparison: ComparedRuns) -> Html:
    """Each metric in each slice, and the reasons that must be read; nothing where rows are not sliced."""
    if not comparison.slices or comparison.by is None:
        return EMPTY
    share = widest(comparison.slices)
    words = (element("th", name, scope="col") for name in ("slice", "metric", "verdict"))
    picture = element("th", "difference", scope="col", colspan=2)
    numbers = (element("th", name, scope="col", class_="number") for name in SLICE_CELLS)
    order = {item.label: at for at, item in reversed(list(enumerate(comparison.slices)))}
    rows = sorted(comparison.slices, key=lambda item: order[item.label])  # the metrics of a slice below each other
    reasons = [
        element("li", element("b", f"{item.name}, {item.slice}: ", dir="auto"), f"{item.why}.")
        for item in telling(rows)
    ]
    table = element(
        "table",
        element("thead", element("tr", *words, picture, *numbers)),
        element("tbody", *(_slice_row(item, comparison.by, share) for item in rows)),
        class_="slices",
    )
    return element(
        "section",
        element("h2", f"Slices by {comparison.by.removeprefix(METADATA)}", id="slices-title", dir="auto"),
        element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of slices"),
        element("ul", *reasons, class_="told") if reasons else None,
        id="slices",
        aria_labelledby="slices-title",
    )


SLICE_CELLS: dict[str, Callable[[MetricComparison], str]] = {
    "95 % interval": NUMBERS["95 % interval"],
    "adjusted p": NUMBERS["adjusted p"],
    "means": lambda item: f"{NUMBERS['before'](item)}{ARROW}{NUMBERS['after'](item)}",
    "pairs": lambda item: f"{NUMBERS['pairs'](item)}, {NUMBERS['changed'](item)} changed",
    "coverage": lambda item: NUMBERS["coverage"](item).replace(", ", ARROW),
}
"""The numbers of a slice that stand behind its picture."""


def _slice_row(item: MetricComparison, by: str, share: float) -> Html:
    cells = (element("td", cell(item), class_="number", data_name=name) for name, cell in SLICE_CELLS.items())
    path = by.removeprefix(METADATA)
    return element(
        "tr",
        element("th", slice_name(by, item.label), scope="row", dir="auto", data_slice=path, data_value=item.label),
        element("td", element("bdi", item.name), data_name="metric", class_="metric"),
        element("td", verdict_mark(item), data_name="verdict"),
        element("td", NUMBERS["difference"](item), class_="number", data_name="difference"),
        element("td", difference_chart(item, share, ends=False), class_="picture"),
        *cells,
    )


MOST_NAMES = 200
"""Rows of a list that are named; the rest is counted, and in the table."""

WORDS = {UNSCORED: "unscored", FAILED: "failed"}
SIGNS = {UNSCORED: "\u2013", FAILED: "\u2718"}


def left_over(comparison: ComparedRuns, rows: PairedRows) -> Html:
    """The rows that no difference rests on, counted and listed; nothing where there are none."""
    lists = [*_alone(rows), *_without_value(comparison, rows)]
    others = list(_other_metrics(comparison))
    if not lists and not others:
        return EMPTY
    return element(
        "section",
        element("h2", "Rows without a pair or a value", id="left-title"),
        *lists,
        *(element("p", text, class_="remark", dir="auto") for text in others),
        class_="left-over",
        aria_labelledby="left-title",
    )


def _alone(rows: PairedRows) -> Iterator[Html]:
    for side, other in (rows.sides, rows.sides[::-1]):
        found = [row for row in range(len(rows)) if other.positions[row] is None]
        yield from _list(("only in ", side.run.name), "", found, rows)


def _without_value(comparison: ComparedRuns, rows: PairedRows) -> Iterator[Html]:
    for item in comparison.metrics:
        states = rows.states(item.name)
        for at, side in enumerate(rows.sides):
            for state, word in WORDS.items():
                found = [row for row, letter in enumerate(states[at]) if letter == state]
                lost = sum(states[1 - at][row] == SCORED for row in found)
                other = rows.sides[1 - at].run.name
                remark = f"; {lost:,} of them with a value in {other}" if lost else ""
                head = (SIGNS[state], f" {word} by ", item.name, " in ", side.run.name)
                yield from _list(head, f" of {_asked(states[at]):,}{remark}", found, rows)


def _asked(states: str) -> int:
    return sum(letter in (SCORED, UNSCORED, FAILED) for letter in states)


def _list(head: Sequence[str], remark: str, found: Sequence[int], rows: PairedRows) -> Iterator[Html]:
    """A list of rows to unfold, if there are any."""
    if not found:
        return
    names = [
        element("li", element("a", rows.name(row), href=f"#n={row + 1}", dir="auto")) for row in found[:MOST_NAMES]
    ]
    if len(found) > MOST_NAMES:
        names.append(element("li", f"and {len(found) - MOST_NAMES:,} more, which the table shows"))
    count = f": {len(found):,}{remark}" if remark else f": {count_of(len(found), 'row')}"
    title = element("summary", *(element("bdi", part) for part in head), count)
    yield element("details", title, element("ul", *names, class_="names"))


def _other_metrics(comparison: ComparedRuns) -> Iterator[str]:
    pairs = (
        (comparison.before, comparison.metrics_only_before),
        (comparison.after, comparison.metrics_only_after),
    )
    for name, metrics in pairs:
        if metrics:
            yield f"Only in {name}, and not compared: {', '.join(metrics)}"


def rests_on(comparison: ComparedRuns) -> Html:
    """How the numbers were made, what is not known, and what else must be known."""
    items = (element("li", text, dir="auto") for text in remarks(comparison))
    return element(
        "section",
        element("h2", "What the numbers rest on", id="rests-title"),
        element("ul", *items),
        class_="rests",
        aria_labelledby="rests-title",
    )


def write_comparison(
    comparison: ComparedRuns,
    path: str | os.PathLike[str],
    max_megabytes: float = LARGEST,
    decision: Decision | None = None,
) -> None:
    """Write the page of a comparison, with what became of gates; ``Comparison.to_html`` tells the rest.

    Raises:
        InvalidInput: the size is not above 0, the path is that of a run's scores, or the comparison does not know its rows.
    """
    pairing = comparison.pairing
    if pairing is None:
        raise InvalidInput("this comparison does not know its rows: have it made by Evaluation.compare")
    for run in (pairing.before, pairing.after):
        folder = run.evaluation.run_dir
        if folder is not None and Path(path).resolve() == (folder / SCORES).resolve():
            raise InvalidInput(f"{path} holds the scores of a run that is compared: give another path")
    most = bytes_of(max_megabytes)
    put_page(path, fitted_page(_content(comparison, pairing, decision), most))


def _content(comparison: ComparedRuns, pairing: Pairing, decision: Decision | None) -> Content:
    rows = PairedRows(pairing, comparison.metrics)
    return Content(
        title=f"{comparison.before} \u2192 {comparison.after} \u2013 ragmetrics comparison",
        kind=COMPARISON,
        parts={
            "header": comparison_header(comparison, rows),
            "gates": gate_list(decision),
            "cards": difference_cards(comparison),
            "slices": difference_slices(comparison),
            "left_over": left_over(comparison, rows),
            "rests_on": rests_on(comparison),
        },
        data={
            "metrics": [_metric(item) for item in comparison.metrics],
            "names": [comparison.before, comparison.after],
        },
        rows=lambda without: rows.to_dict(without, comparison.by),
        order=rows.order(),
        evidence=rows.evidence,
    )


def _metric(item: MetricComparison) -> dict[str, Any]:
    """What the script knows of a metric; ``total``: the sum of the sizes of all changes."""
    values = item.values
    return {
        "name": item.name,
        "scale": list(item.scale) if item.scale else None,
        "better": item.higher_is_better,
        "credited": item.credited,
        "why": item.why,
        "total": math.fsum(abs(new - old) for old, new in zip(values.before, values.after, strict=True)),
    }
