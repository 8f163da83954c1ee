"""A block that keeps what was raised in it, for those who must not raise from where it was caught."""

from __future__ import annotations


class Kept:
    """A block that keeps the exception that ended it, as ``error``, for later. Cancellation and Ctrl-C go through."""

    error: Exception

    def __enter__(self) -> None:
        """Nothing has been raised yet."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True
