"""Test sets: questions with reference answers, written from documents or read from the files of other tools.

Strategy. ``_kinds`` writes the prompts and interprets the replies in plain programs, as metrics do. ``_collect`` decides which
passages are asked about and in which order, and runs these programs over the engine of ``evaluate``. ``_similar`` finds
near-duplicates without a model. ``_generate`` checks the arguments, runs everything and keeps the result on disk. The result is a
``Testset`` (``_testset``): samples that any metric takes once a response is added, and a list of everything that did not work.
"""

from __future__ import annotations

from ._generate import agenerate_testset, generate_testset
from ._testset import Problem, Testset

__all__ = ["Problem", "Testset", "agenerate_testset", "generate_testset"]
