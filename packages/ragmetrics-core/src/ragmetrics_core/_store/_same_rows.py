"""Rows of an earlier run and rows of this one: which are finished, and which are the same."""

from __future__ import annotations

import json

from .._kernel._errors import InvalidInput, ModelError
from .._kernel._not_asked import is_asked
from .._kernel._sample import Sample
from .._read import Columns
from ._records import Record, json_value, roundtripped
from ._scores_file import ScoresFile
from ._setting_digests import digest_of


def rows_finished(scores: ScoresFile) -> int:
    """How many rows of the data set there are at least, up to the last that is finished."""
    return 1 + next((index for index in reversed(scores.indexes()) if is_finished(scores.read(index))), -1)


def is_finished(record: Record) -> bool:
    """Whether any of the scores that were asked for did not fail."""
    return any(score.error is None and is_asked(score) for score in record.scores.values())


def is_unanswered(error: str | None) -> bool:
    """Whether a score failed because a model could not answer, and not because its answer could not be read."""
    return error is not None and error.startswith(f"{ModelError.__name__}: ")


def signature(sample: Sample) -> str:
    """What makes a row the same row in an edited data set: its question; where it has none, its id; else all of it."""
    if isinstance(sample.user_input, str):
        return f"question {sample.user_input}"
    if sample.id is not None:
        return f"id {sample.id}"
    return digest_of(json.dumps(json_value(roundtripped(sample)), sort_keys=True))


def changed(there: Sample, here: Sample) -> str:
    """The names of the fields that differ.

    More columns are understood than when the row was written, perhaps: then it is read once more, as rows are read today.
    """
    return _differing(there, here) and _differing(_read_again(there), here)


def _read_again(sample: Sample) -> Sample:
    fields = {name: value for name, value in sample.to_dict().items() if name != "metadata"}
    try:
        return Columns().sample({**sample.metadata, **fields})
    except InvalidInput:
        return sample


def _differing(there: Sample, here: Sample) -> str:
    old, new = (json_value(sample) for sample in (there, roundtripped(here)))
    names = sorted(old.keys() | new.keys())
    return ", ".join(
        name for name in names if json.dumps(old.get(name), sort_keys=True) != json.dumps(new.get(name), sort_keys=True)
    )
