"""Reads samples: a path, rows in memory, a data frame or a data set becomes a stream of ``Row``s.

Strategy. Every input first becomes a stream of *raw rows*: a place ("questions.jsonl, line 7") and either a value or the problem
that prevented reading it. Only ``rows_of`` makes samples from raw rows, by means of ``Columns``. So names of columns, missing
cells and messages are the same for all inputs. A raw row that is not a sample does not end the stream: it becomes a row with a
``problem``, and the code that runs the metrics decides whether the problem stops the run. Two problems stop the reading here: a
file that cannot be read at all, and a first row of the wrong shape, which shows that the data is of another kind than the caller
expects. Rows are pulled lazily. Messages count rows from 1, as editors count lines.
"""
