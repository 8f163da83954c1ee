"""Where samples come from: a path, rows in memory, a data frame or a data set becomes a stream of ``Row``s.

Strategy. Every input is first a stream of *raw rows*: a place ("questions.jsonl, line 7") and either a value or the
problem that kept it from being read. Only ``rows_of`` makes samples of them, by way of ``Columns``, so names of columns, missing
cells and messages are the same whatever the input. A raw row that is not a sample does not end the stream: it becomes a row with a
``problem``, and the code that runs the metrics decides whether that stops the run. Two things do stop it here: a file that
cannot be read at all, and a first row of the wrong shape, because then the data is of another kind than the caller expects.
Rows are pulled lazily; messages count them from 1, as editors count lines.
"""
