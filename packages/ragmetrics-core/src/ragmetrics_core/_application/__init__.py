"""Asks an application the questions of a data set and keeps its answers as rows for ``evaluate``.

``_run_app`` has the public function and joins the rest. ``_calls`` puts questions to the application, many at a time, each within
a time limit. ``_apps`` makes one function of every kind of application, ``_http`` is the one for an address, and ``_answers`` reads
what an application returns. ``_kept`` is the file of answers.
"""
