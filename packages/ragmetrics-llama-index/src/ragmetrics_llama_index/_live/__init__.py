"""The queries of a running application, evaluated beside it.

``_open_queries`` knows which queries are open, ``_streams`` when a streamed answer is read; ``_handler`` hands those that are
answered over to the judges, and ``_evaluations`` is what each is given and says.
"""
