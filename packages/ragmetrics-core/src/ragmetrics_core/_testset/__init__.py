"""Test sets: questions with reference answers, written from documents, or read from the files of other tools.

Strategy. What is asked, and what is made of the replies, are plain programs, as with a metric (``_kinds``). Which passages they are
about, and in which order, is a plan that ``_collect`` follows, with checks that need no model (``_similar``), over the engine of
``evaluate``. ``_generate`` checks the arguments, runs all of it and keeps it. The result is a ``Testset`` (``_testset``): samples
that any metric takes once a response is added, and an account of everything that did not work.
"""

from __future__ import annotations

from ._generate import agenerate_testset, generate_testset
from ._testset import Problem, Testset

__all__ = ["Problem", "Testset", "agenerate_testset", "generate_testset"]
