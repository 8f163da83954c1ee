"""From gates, and the run or the two runs that they are about, to a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._compare._drops import drop_evidence
from .._gate._decision import decide
from .._gate._evidence import evidence_of
from .._gate._gates import Conditions, Gate, check_mean
from .._gate._results import Decision

if TYPE_CHECKING:
    from .._compare._comparison import Comparison
    from ._evaluation import Evaluation


def gated(
    evaluation: Evaluation,
    gates: Sequence[Gate],
    conditions: Conditions,
    *,
    by: str | None,
    cluster: str | None,
    comparison: Comparison | None,
) -> Decision:
    """Decide all gates of one call together: means by the run, drops by its comparison with an earlier one.

    Raises:
        InvalidInput: a gate is about nothing that is here, or out of reach; or a path names no column to go by.
    """
    scales = {item.name: item.scale for item in evaluation.metrics}
    for gate in gates:
        if comparison is None or gate.of == "mean":
            check_mean(gate, scales)
    means = {gate.metric: scales[gate.metric] for gate in gates if gate.of == "mean"}
    items = () if comparison is None else (*comparison.metrics, *comparison.slices)
    absent = {(item.name, item.by, item.label): item.absent for item in items if item.absent}
    found = evidence_of(evaluation.records, means, by, cluster, conditions=conditions, absent=absent) if means else {}
    drops = [gate for gate in gates if gate.of == "drop"]
    dropped = drop_evidence(comparison, drops, conditions) if comparison is not None else {}
    return decide(
        [(gate, evidence) for gate in gates for evidence in (found if gate.of == "mean" else dropped)[gate.metric]]
    )
