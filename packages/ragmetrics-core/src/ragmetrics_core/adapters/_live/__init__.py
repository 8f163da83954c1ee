"""The evaluation of a running application, beside it.

From the framework's events to the user's function: an adapter finds out what was asked, found and answered (a ``Finished`` call of
the application) and hands it to its ``LiveEvaluation`` (``_live_evaluation``), whose settings are the same in every adapter
(``_live_settings``). That has it judged by ``LiveJudging`` (``_live_judging``), which keeps the account and never makes the
application wait, on the threads of a ``Background`` (``_background``). ``_judging`` marks what the judges do; ``_counts`` counts.
"""

from __future__ import annotations

from ._background import Background, settled
from ._counts import Counts
from ._judging import is_judging, judging
from ._live_evaluation import Finished, LiveEvaluation
from ._live_judging import LiveJudging
from ._live_settings import LiveSettings, current_names

__all__ = [
    "Background",
    "Counts",
    "Finished",
    "LiveEvaluation",
    "LiveJudging",
    "LiveSettings",
    "current_names",
    "is_judging",
    "judging",
    "settled",
]
