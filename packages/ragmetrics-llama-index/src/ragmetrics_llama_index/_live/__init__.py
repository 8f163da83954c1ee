"""Evaluation of the queries of a running application, in the background.

``_listening`` knows which queries are open, and when the user has read a streaming answer; ``_handler`` passes answered queries
to the judges; ``_evaluations`` holds what each judge gets and says.
"""
