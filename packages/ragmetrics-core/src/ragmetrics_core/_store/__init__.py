"""What outlives a run, and what a run keeps while it goes on.

`_in_memory` and `_run_dir` keep finished rows. A run directory holds the `_journal` (every reply that was paid
for), the `_scores_file` (one line per finished row) and the `_account` (``run.json``: what the run was and what it cost,
`_prices`); `_same_rows` tells what is finished already. A `_loaded_run` is what is read back, from such a directory or from a file
of scores alone (`_score_lines`). `_records` are finished rows, wherever they are kept; `_files` writes files whole or not at all.
`_labels` is what people say of rows, read in the words of `_label_fields`.
"""

from __future__ import annotations

__all__: list[str] = []
