"""``evaluate``: rows in, an ``Evaluation`` out.

`_api` has the public functions, and `_options` checks their arguments. `_run` joins the rows (`_read`), the engine (`_engine`),
the store of finished rows (`_store`) and the result (`_evaluation`). `_batch_run` asks in batches of a provider.
"""
