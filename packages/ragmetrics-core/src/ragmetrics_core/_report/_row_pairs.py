"""Which rows of two runs are the same row.

Rows are paired by their id where both runs have ids, and by a digest of question and reference where they have not. Rows of a run
that cannot be told apart in this way are repeats of one row. What is paired by an id must ask the same question: ids that count
the lines of a file name other rows as soon as a line is added, and then all that follows would be nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .._kernel._counts import count_of
from .._kernel._errors import InvalidInput
from .._kernel._sample import ALIASES
from ._compared_rows import REFERENCES, Run, RunRow
from ._table import cut_middle

Unit = tuple[int | None, int | None]
"""A row by its position in either run; None where that run has not got it."""

LONGEST_QUESTION, LONGEST_NAME = 60, 40
"""Characters of a question and of an id that a message shows."""

EXAMPLES = 3
"""Rows that a message names of each run."""


@dataclass(frozen=True)
class Pairing:
    """Two runs, row by row.

    Attributes:
        before: the first run, with each row once.
        after: the second one.
        pairs: positions of the rows that are the same, in the order of the first run.
        only_before: positions of rows that only the first run has.
        only_after: positions of rows that only the second run has.
        by_id: whether ids were looked at.
    """

    before: Run
    after: Run
    pairs: Sequence[tuple[int, int]]
    only_before: Sequence[int]
    only_after: Sequence[int]
    by_id: bool

    def units(self) -> list[Unit]:
        """Every row once: pairs, then the rows that only the first run has, then those that only the second has."""
        before: list[Unit] = [(row, None) for row in self.only_before]
        after: list[Unit] = [(None, row) for row in self.only_after]
        return [*self.pairs, *before, *after]

    def other_references(self, metric: str) -> int:
        """How many pairs have something else in either run that the metric holds responses or contexts against."""
        sides = self.before, self.after
        inputs = next((found for run in sides if (found := run.columns[metric].metric.inputs) is not None), None)
        names = (
            REFERENCES
            if inputs is None
            else [name for name in REFERENCES if name in {ALIASES.get(each, each) for each in inputs}]
        )
        rows = ((self.before.rows[one].references, self.after.rows[two].references) for one, two in self.pairs)
        return sum(one != two and any(one.get(name) != two.get(name) for name in names) for one, two in rows)

    @property
    def words(self) -> str:
        """What rows are paired by."""
        if not self.by_id:
            return "question and reference"
        rows = (run.rows[pair[side]] for pair in self.pairs for side, run in enumerate((self.before, self.after)))
        return "id" if all(row.id is not None for row in rows) else "id, else by question and reference"


def paired(before: Run, after: Run) -> Pairing:
    """Pair the rows of two runs.

    Raises:
        InvalidInput: a run has no row; an id stands for several questions, in one run or in both; or the runs share no row.
    """
    for run in (before, after):
        if not run.rows:
            raise InvalidInput(f"{run.name} has no finished row: there is nothing to compare")
    by_id = before.has_ids and after.has_ids
    before, after = (run.merged(list(_once(run, by_id=by_id))) for run in (before, after))
    pairs = sorted(_matches(before, after, by_id=by_id))
    found = [{pair[side] for pair in pairs} for side in (0, 1)]
    only_before, only_after = (
        [row for row in range(len(run.rows)) if row not in known]
        for run, known in zip((before, after), found, strict=True)
    )
    if not pairs:
        raise InvalidInput(_nothing_shared(before, after, by_id=by_id))
    return Pairing(before, after, pairs, only_before, only_after, by_id)


def _once(run: Run, *, by_id: bool) -> Iterator[RunRow]:
    """The rows of a run, repeats gathered in the first of them."""
    rows: dict[tuple[str, object], RunRow] = {}
    for position, row in enumerate(run.rows):
        key: tuple[str, object] = ("row", position)
        if by_id and row.id is not None:
            key = ("id", row.id)
        elif row.texts is not None:
            key = ("texts", row.texts)
        there = rows.get(key)
        if there is None:
            rows[key] = replace(row, records=list(row.records))
            continue
        if key[0] == "id":
            _check_repeat(run, there, row)
        there.records += row.records
    yield from rows.values()


def _check_repeat(run: Run, there: RunRow, row: RunRow) -> None:
    """Two rows with one id must be the same row."""
    where = f"{run.name}: the id {_quoted(row.id, LONGEST_NAME)} stands in {there.place} and in {row.place}"
    if there.question != row.question:
        questions = " and ".join(_quoted(item.question) for item in (there, row))
        raise InvalidInput(f"{where}, with different questions ({questions}): give each row an id of its own")
    if row.question is None and (row.texts is None or row.texts != there.texts):
        raise InvalidInput(
            f"{where}, and nothing tells whether these are one row, as they have no question: give each row an id of its own"
        )


def _matches(before: Run, after: Run, *, by_id: bool) -> Iterator[tuple[int, int]]:
    """The pairs, in any order."""
    left = [set(range(len(run.rows))) for run in (before, after)]
    if by_id:
        ids = {row.id: position for position, row in enumerate(after.rows) if row.id is not None}
        same = [(position, ids[row.id]) for position, row in enumerate(before.rows) if row.id in ids]
        _check_questions(before, after, same)
        for mine, other in same:
            left[0].discard(mine)
            left[1].discard(other)
        yield from same
    yield from _by_texts(before, after, left, by_id=by_id)


def _by_texts(before: Run, after: Run, left: Sequence[Iterable[int]], *, by_id: bool) -> Iterator[tuple[int, int]]:
    """Pairs among the rows that are left; two rows that both have an id are different rows."""
    places: dict[object, list[int]] = {}
    for position in sorted(left[1]):
        texts = after.rows[position].texts
        if texts is not None:
            places.setdefault(texts, []).append(position)
    for position in sorted(left[0]):
        row = before.rows[position]
        there = places.get(row.texts, [])
        other = next((item for item in there if not by_id or row.id is None or after.rows[item].id is None), None)
        if other is not None:
            there.remove(other)
            yield position, other


def _check_questions(before: Run, after: Run, same: Iterable[tuple[int, int]]) -> None:
    rows = ((before.rows[mine], after.rows[other]) for mine, other in same)
    wrong = [(one, two) for one, two in rows if one.question and two.question and one.question != two.question]
    if not wrong:
        return
    one, two = wrong[0]
    more = f" (and {len(wrong) - 1:,} more {'id' if len(wrong) == 2 else 'ids'})" if len(wrong) > 1 else ""
    raise InvalidInput(
        f"the id {_quoted(one.id, LONGEST_NAME)} is another question in each run: {_quoted(one.question)} in {before.name}, "
        f"{_quoted(two.question)} in {after.name}{more}: compare runs of the same questions; where ids only count the rows, leave "
        "them out of the data, and rows are paired by question and reference"
    )


def _nothing_shared(before: Run, after: Run, *, by_id: bool) -> str:
    """Why no row was paired, with examples of both sides."""
    there, here = (_examples(run, by_id=by_id) for run in (before, after))
    text = f"{before.name} and {after.name} share no row: {there} there, {here} here"
    known = {row.texts for row in before.rows if row.texts is not None}
    same = sum(row.texts in known for row in after.rows) if by_id else 0
    if same:
        rows = "row has" if same == 1 else "rows have"
        return (
            f"{text}. But {same:,} {rows} the same question and reference: leave the ids out of the data of one run, and rows "
            "are paired by these"
        )
    if not by_id and not all(any(row.texts for row in run.rows) for run in (before, after)):
        return f"{text}. Nothing tells which rows are the same: give each an id"
    return f"{text}: compare runs of the same questions"


def _examples(run: Run, *, by_id: bool) -> str:
    """A few rows by what they would be paired by."""
    if by_id:
        shown = [_quoted(row.id, LONGEST_NAME) for row in run.rows if row.id is not None]
        what = "id"
    elif any(row.question for row in run.rows):
        shown = [_quoted(row.question) for row in run.rows if row.question]
        what = "question"
    else:
        return f"{count_of(len(run.rows), 'row')} without id and question"
    return f"{what}{'s' * (len(shown) > 1)} {'such as ' * (len(shown) > EXAMPLES)}{', '.join(shown[:EXAMPLES])}"


def _quoted(text: str | None, longest: int = LONGEST_QUESTION) -> str:
    return "none" if text is None else f"'{cut_middle(text, longest)}'"
