"""Score rows concurrently: scheduling, batches, retries, timeouts, rate limits and the budget.

The engine takes rows and metrics, answers the requests of the metrics, and returns finished rows. It knows nothing of files, tables
or results. Its modules, from the rows down to the wire:

* ``_schedule`` decides which row is scored when. ``_programs`` runs programs that belong to no row.
* ``_questions`` decides which requests become calls. ``_pending`` decides which requests are equal, and ``_reply_keys`` computes
the
  keys of their replies in the journal. ``_tasks`` has the workers of one run, and the calls that they wait for.
* ``_transport`` holds the route to one model, and ``_batches`` merges many requests into one call.
* ``_calls`` makes the calls. ``_gate`` and ``_window`` limit how many are made at a time, ``_deadline`` limits how long each may
  take, and ``_budget`` limits what they may cost. ``_traffic`` keeps what was learnt about each server for the next run.
"""
