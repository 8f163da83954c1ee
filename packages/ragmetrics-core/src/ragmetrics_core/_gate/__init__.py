"""Gates: the conditions that a run or a comparison must meet to pass, and how they are decided.

`_gates` parses gates and has their conditions, `_evidence` collects what rows show, `_decision` decides, `_results` has the
results.

A new condition that counts rows, scored rows or failed rows changes two files: `_gates.py`, where it is a field of ``Conditions``
and a sentence of ``Conditions.unmet`` (gates on means and on drops share it); and `_evaluate/_evaluation.py`, where it is an
argument of ``Evaluation.gate`` and ``Comparison.gate``. If it counts anything else, `_evidence.py` and `_compare/_drops.py`, which
call ``unmet``, must pass that too. An option of the command line is also a constant of `cli/_parsing.py`, which parses it, and a
parameter of the commands in `cli/_evaluate.py` and `cli/_compare.py`.
"""

from __future__ import annotations

__all__: list[str] = []
