"""What the log says of judgements that failed: each cause once, and once more where the metric has scored in between.

Strategy. A judge that is down fails every call, so all but the first failure are only counted. A cause is a metric and a class of
error, or the field that is missing, so that a missing field hides no dead judge. After a recovery the next failure is logged
again. A judge that fails now and then recovers all the time: each warning of a cause therefore needs twice as many scores in a
row before it as the one before.
Errors that are no failure of a model or of a row are logged with their traceback.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from .._kernel._errors import MissingInput, RagmetricsError

if TYPE_CHECKING:
    import logging

MISSING = MissingInput.__name__
NEEDED = re.compile(r"needs '\w+'")


class FailureLog:
    """Logs the failures of metrics, and of functions of the user's.

    Args:
        logger: the adapter's.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.RLock()  # a stream that is collected meanwhile may fail too, on the same thread
        self._logged: dict[tuple[str, str, bool], int] = {}
        self._in_a_row: dict[str, int] = {}

    def succeeded(self, name: str) -> None:
        """A call with this name did not fail."""
        if name in self._in_a_row:
            with self._lock:
                self._in_a_row[name] += 1

    def failed(self, name: str, problem: BaseException | str, further: str = "are only counted, see counts") -> bool:
        """Note a failure; whether only a field of the row is missing.

        Args:
            name: of the metric or of the function.
            problem: what was raised, or what a score says, which begins with the class of the error.
            further: what becomes of further failures, in words.
        """
        raised = problem if isinstance(problem, BaseException) else None
        kind = str(problem).partition(": ")[0] if raised is None else type(raised).__name__
        kind = kind if kind.isidentifier() else ""  # any other text could be another one each time
        is_missing = isinstance(raised, MissingInput) or kind == MISSING
        with self._lock:
            field = NEEDED.search(str(problem)) if is_missing else None
            cause = (name, field[0] if field else kind, bool(getattr(raised, "fatal", False)))
            times = self._logged.get(cause, 0)
            in_a_row = self._in_a_row.get(name, 0)
            is_told = times > 0 and (is_missing or in_a_row < 2 ** (times - 1))
            if not is_missing:
                self._in_a_row[name] = 0
            if not is_told:
                self._logged[cause] = times + 1
        if not is_told:
            said = str(problem) or type(problem).__name__
            more = "rows with missing fields" if is_missing else "failures"
            trace = raised if raised is not None and not isinstance(raised, RagmetricsError) else None
            self._logger.warning("%s failed: %s; further %s %s", name, said, more, further, exc_info=trace)
        return is_missing
