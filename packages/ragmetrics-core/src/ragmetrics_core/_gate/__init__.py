"""Gates: what a run or a comparison must show before it passes, and how that is decided.

`_gates` reads gates and holds their conditions, `_evidence` collects what rows show, `_decision` decides, `_results` says what
became of it.

A new condition, such as a least number of rows, touches two files: `_gates.py`, where it is a field of ``Conditions`` and a
sentence of ``Conditions.unmet`` (gates on means and on drops share it); and `_evaluate/_evaluation.py`, where it is an argument
of ``Evaluation.gate`` and ``Comparison.gate``. An option of the command line is also a constant of `cli/_parsing.py`, which reads
it, and a parameter of the commands in `cli/_evaluate.py` and `cli/_compare.py`.
"""

from __future__ import annotations

__all__: list[str] = []
