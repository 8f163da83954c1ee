"""What outlives a run: the run directory, the journal of replies, the scores file, labels; and rows kept in memory.

`_run_dir` is a run directory that a run writes: the `_journal` (every reply), the `_scores_file` (one line per finished row) and
``run.json``, with the settings of the run (`_run_settings`), its usage and costs (`_prices`) and how it ended. `_lock` lets one
run at a time write there. `_batch_ledger` keeps what was sent to a provider in batches. `_segments` keep replies for many
machines; `_reply_bytes` is how any store writes one. `_loaded_run` reads a directory back, or a file of scores alone. `_records`
are finished rows, in memory or in a file; `_exchanges` finds messages and raw replies; `_labels` reads what people say of rows;
`_files` writes files whole or not at all.
"""
