"""Test sets: questions with reference answers, written from documents, or read from files that others wrote.

Strategy. What is asked, and what is made of the replies, is a plain program per document (``_program``), as with a metric;
``_generate`` runs it and decides how many documents are worked on side by side and how many calls are in flight. The result is
a ``Testset`` (``_values``): samples that any metric takes once a response is added, and an account of everything that did not
work.
"""

from __future__ import annotations

from ._generate import agenerate_testset, generate_testset
from ._values import Problem, Testset

__all__ = ["Problem", "Testset", "agenerate_testset", "generate_testset"]
