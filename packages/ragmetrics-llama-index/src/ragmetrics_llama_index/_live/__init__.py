"""Evaluation of the queries of a running application, in the background.

``_open_queries`` knows which queries are open, ``_streams`` when the user has read a streaming answer; ``_handler`` passes answered
queries to the judges; ``_evaluations`` holds what each judge gets and says.
"""
