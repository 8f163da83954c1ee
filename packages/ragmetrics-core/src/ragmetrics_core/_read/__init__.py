"""Where samples come from: a path, rows in memory, a DataFrame, a data set; all become a stream of ``Row``s.

Strategy. Every source is first a stream of *records*: a place ("questions.jsonl, line 7") and either a value or the
problem that kept it from being read. Only ``rows_of`` turns records into samples, so aliases, missing cells and
messages are the same whatever the source. A record that is not a sample does not end the stream: it becomes a row with a
``problem``, and whoever runs the metrics decides whether that stops the run. Two things do stop it here: a file that
cannot be read at all, and a first record of the wrong shape, because then the data is not what the caller takes it for.
Sources are pulled lazily; rows are counted from 1 in messages, as editors count lines.
"""

from __future__ import annotations

from ._random_rows import sampled
from ._rows import OpenRows, open_rows

__all__ = ["OpenRows", "open_rows", "sampled"]
