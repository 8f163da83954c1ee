"""A digest of what a metric reads of a row, so that a label says which texts it is about.

Strategy. The digest must change with every text that is judged, and with nothing else: not with the order of columns and keys, the
Unicode form, spaces, or fields that the metric does not read. So fields are put into one form first, as rows are compared.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from .._kernel._sample import ALIASES, Sample
from ._records import json_value
from ._setting_digests import digest_of


def row_digest(sample: Sample, inputs: Iterable[str]) -> str:
    """The digest of these fields or columns of a row; empty ones are as good as missing."""
    read = {ALIASES.get(name, name): _plain(json_value(sample.get(name))) for name in inputs}
    return digest_of(
        json.dumps({name: value for name, value in read.items() if value not in (None, "", [], {})}, sort_keys=True)
    )


def _plain(value: Any) -> Any:
    """The value in the one form in which it is compared."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", " ".join(value.split()))
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
