"""Pages that a server sends: the pages of a run and of a comparison, without their data, which the page asks for as it needs it.

The code of the pages is that of the files. A page asks for the columns of its rows first (``index``), and for the evidence of
some rows when one of them is opened (``block-7``), which the lazy records of the run have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from .._calibrate._calibrate import calibrated
from .._compare._compare import compared
from .._compare._comparison import MARGIN
from .._run._scored_rows import ScoredRows
from .._show._sentences import as_sentence
from .._store._exchanges import Exchanges
from .._store._loaded_run import LoadedRun
from .._store._run_settings import MetricColumn
from .._summary._tally import summary_of
from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._tags import Html, element, joined
from ._calibration_view import calibration_remarks, calibration_section
from ._comparison_page import comparison_content
from ._page import REPORT, RUNS, SERVED_ROWS, Content, deflated, framed, notice, section, source
from ._rows import RunRows
from ._run_page import evidence_of, run_content

BACK = Html(element("p", element("a", "\u2190 All runs", href="/"), class_="back"))


@dataclass(frozen=True)
class ServedPage:
    """A page and what its server answers to it.

    Attributes:
        version: what the page adds to its requests, so that all answers are about the same rows.
        html: the page.
        index: the columns of its rows, as deflated JSON.
        evidence: returns the evidence of some rows, as plain JSON values.
        rows: how many rows it has.
        metrics: the metrics, with their scales.
        names: what labels call the rows.
    """

    version: str
    html: str
    index: bytes
    evidence: Callable[[Sequence[int]], Any]
    rows: int
    metrics: Mapping[str, tuple[float, float] | None]
    names: frozenset[str] = frozenset()

    def block(self, number: int) -> bytes | None:
        """Return the evidence of a block of rows as deflated JSON; None if there is no such block."""
        rows = range(self.rows)[number * SERVED_ROWS : (number + 1) * SERVED_ROWS]
        return deflated(self.evidence(rows)) if rows else None


def run_page(path: Path, name: str, most: int | None = None, note: str = "") -> ServedPage:
    """Return the page of a run.

    Args:
        path: where the run is.
        name: what the page calls it, as the list of runs does.
        most: how many lines of its file are read; None: all.
        note: what readers must know of this page first.

    Raises:
        InvalidInput: the run cannot be read.
    """
    run = ScoredRows.of(LoadedRun.of(path, most))
    rows = RunRows(run)
    summary = summary_of(run, also=rows.add)
    with closing(Exchanges(run.run_dir, run.settings, rows.run.columns)) as exchanges:
        content = run_content(summary, rows, exchanges, None, name)

    def evidence(wanted: Sequence[int]) -> Any:
        # opened each time: the journal of a run that goes on must not be kept open
        with closing(Exchanges(run.run_dir, run.settings, scales)) as journal:
            return [evidence_of(run.records[row], journal, run.metrics) for row in wanted]

    scales = _scales(run.metrics)
    live = element("p", class_="live", id="live", role="status", hidden=True)
    version, names = token_hex(8), frozenset(row.name for row in rows.run.rows)
    content = replace(
        content, parts={**content.parts, "calibration": section("calibration", "Judge and people", LABELLED)}
    )
    html, index = _with_head(content, note, live).served(version, first=most is not None)
    return ServedPage(version, html, index, evidence, len(run), scales, names)


def comparison_page(before: Path, after: Path, names: tuple[str, str]) -> ServedPage:
    """Return the page of a comparison of two runs.

    Raises:
        InvalidInput: the runs cannot be read or compared.
    """
    runs = ScoredRows.load(before), ScoredRows.load(after)
    for run in runs:
        run.check_all_rows("a comparison")
    found = compared(*runs, by=None, cluster=None, margin=MARGIN, allow_different_judges=False)
    if found.paired is None:
        raise InvalidInput("this comparison has no rows")
    content = comparison_content(replace(found, before=names[0], after=names[1]), found.paired.read(), None)
    version = token_hex(8)
    html, index = _with_head(content).served(version)
    return ServedPage(
        version,
        html,
        index,
        lambda wanted: [content.evidence(row) for row in wanted],
        len(content.order),
        _scales(runs[0].metrics),
    )


def _scales(metrics: Sequence[MetricColumn]) -> dict[str, tuple[float, float] | None]:
    return {item.name: item.scale for item in metrics}


def _with_head(content: Content, note: str = "", live: Html | None = None) -> Content:
    """Return the content with the way back above its header, and a note and what changes while the page is open below it."""
    said = notice("Not all rows yet", note) if note else None
    return replace(content, parts={**content.parts, "header": joined([BACK, content.parts["header"], said, live])})


LABELLED = element("p", id="labelled")
"""The place in the page of a run for what its labels are now."""

NO_LABELS = "no row has a label yet: label rows to see how far the judge agrees with people"


def with_labels(html: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of a run with the number of its labels, and the way to what they say of the judge."""
    given = [line for line in lines if line["label"] is not None]
    people = count_of(len({line["annotator"] for line in given}), "annotator")
    labels = f"{count_of(len(given), 'label')} on {count_of(len({line['id'] for line in given}), 'row')} by {people}: "
    link = element("a", "how far judge and people agree", href="agreement")
    words = [labels, link] if given else [as_sentence(NO_LABELS), " ", element("a", "Label rows", href="#labelling")]
    return html.replace(LABELLED, element("p", *words, id="labelled"), 1)


def agreement_page(path: Path, name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the page that says how far the judge of a run agrees with the labels so far.

    Raises:
        InvalidInput: the run cannot be read, or there are too few labels.
    """
    if all(line["label"] is None for line in lines):
        raise InvalidInput(NO_LABELS)
    calibration = replace(calibrated(ScoredRows.load(path), lines, None, None, None), run=name)
    back = element("p", element("a", "\u2190 Back to the labels", href="./#labelling"), class_="back")
    header = joined([back, element("p", element("bdi", name), class_="kicker"), element("h1", "Agreement so far")])
    overview = joined([calibration_section(calibration, "./"), calibration_remarks(calibration)])
    return framed(f"Agreement so far \u2013 {name}", {"header": header, "overview": overview}, REPORT, served=True)


def message_page(title: str, text: str, back: str = "/") -> str:
    """Return a page that says one thing, such as why there is no other."""
    way = BACK if back == "/" else element("p", element("a", "\u2190 Back", href=back), class_="back")
    header = joined([way, element("h1", title), element("p", text, class_="lead", dir="auto")])
    return framed(title, {"header": header, "overview": Html("")}, RUNS, served=True)


def runs_page(title: str, overview: Html) -> str:
    """Return the page that lists runs."""
    header = joined([element("p", "ragmetrics runs", class_="kicker"), element("h1", title, dir="auto")])
    script = "".join(["'use strict';\n(() => {\n", source("dom.js"), source("runs.js"), "})();\n"])
    return framed(f"{title} \u2013 ragmetrics", {"header": header, "overview": overview}, RUNS, script, served=True)
